package housekeeping

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// known are the packages that a fragment may name without importing them, beside our own.
var known = strings.Fields(`bytes context crypto/sha256 encoding/csv encoding/json errors fmt io iter log log/slog maps net/http net/http/httptest net/url
	os os/signal path/filepath slices strconv strings sync testing testing/synctest time github.com/jarcoal/httpmock
	github.com/stretchr/testify/require go.opentelemetry.io/otel/attribute go.opentelemetry.io/otel/propagation
	github.com/jackc/pgx/v5/pgxpool`)

// renamed are those whose paths end in something else than their names.
var renamed = map[string]string{
	"rand": "math/rand/v2", "prospectpg": "example.com/prospectkit/contrib/postgres",
}

// A module is the root module or a nested one.
type module struct {
	dir      string
	path     string
	version  string // of Go
	requires string // the paths of the modules whose packages it imports, each between spaces
}

// has reports whether an import is of the module, of the standard library, or of a module that it requires.
func (m module) has(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") || imported == m.path || strings.HasPrefix(imported, m.path+"/") {
		return true
	}
	for p := imported; p != "."; p = path.Dir(p) {
		if strings.Contains(m.requires, " "+p+" ") {
			return true
		}
	}
	return false
}

// snippets type-checks the Go code in README files, in docs and on the page for agents.
func snippets(root string) ([]string, error) {
	modules, err := findModules(root)
	if err != nil {
		return nil, err
	}
	pages, err := read(root, forUsers)
	files, findings := parseAll(pages, ownImports(modules))
	return append(findings, typeCheck(files, modules)...), err
}

// parseAll parses the snippets of some files, and returns what cannot be parsed as findings.
func parseAll(pages []page, imports map[string]string) (files []checked, findings []string) {
	for _, p := range pages {
		for _, s := range goBlocks(p.path, p.text) {
			if c, err := parse(s, imports); err != nil {
				findings = append(findings, err.Error())
			} else {
				files = append(files, c)
			}
		}
	}
	return files, findings
}

// findModules lists the modules below root, the root's first.
func findModules(root string) (list []module, err error) {
	paths, err := walk(root, func(p string) bool { return path.Base(p) == "go.mod" })
	for _, p := range paths {
		dir := filepath.Join(root, filepath.FromSlash(path.Dir(p)))
		mod, err := readGoMod(dir)
		if err != nil {
			return nil, err
		}
		m := module{dir, mod.Module.Mod.Path, "go" + mod.Go.Version, " "}
		for _, r := range mod.Require {
			if !r.Indirect {
				m.requires += r.Mod.Path + " "
			}
		}
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b module) int { return len(a.path) - len(b.path) })
	return list, err
}

// ownImports are the paths of the packages that a fragment may name, ours too.
func ownImports(modules []module) map[string]string {
	own := maps.Clone(renamed)
	for _, p := range known {
		own[path.Base(p)] = p
	}
	for _, m := range modules {
		own[path.Base(m.path)] = m.path
	}
	for p := range strings.FieldsSeq("filter journal ratelimit sandbox sandbox/fixture spend") {
		own[path.Base(p)] = modules[0].path + "/" + p
	}
	return own
}

// A checked snippet has been parsed and waits for its types.
type checked struct {
	fset     *token.FileSet
	file     *ast.File
	fragment bool // statements, wrapped in a function
}

// parse makes a file of a snippet: a program as it stands, declarations under a package clause, statements in a function.
func parse(s snippet, imports map[string]string) (checked, error) {
	line := fmt.Sprintf("\n//line %s:%d\n", s.path, s.line)
	if strings.Contains("\n"+s.code, "\npackage ") {
		return parseFile(line + s.code)
	}
	const clause = "package snippet"
	head, tail := line, ""
	c, err := parseFile(clause + head + s.code + tail)
	fragment := err != nil
	if fragment {
		head, tail = "\nfunc _("+parameters(s)+") (err error) {\n{"+line, "\n}\nreturn nil\n}\n"
		if c, err = parseFile(clause + head + s.code + tail); err != nil {
			return checked{}, err
		}
	}
	c, err = parseFile(clause + missing(c.file, imports) + head + s.code + tail)
	c.fragment = fragment
	return c, err
}

// parameters are what every fragment may use, and what its comment adds.
func parameters(s snippet) string {
	return strings.TrimSuffix("ctx context.Context, client *prospectkit.Client, t *testing.T, "+s.given, ", ")
}

func parseFile(code string) (checked, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", code, 0)
	return checked{fset: fset, file: file}, err
}

// missing writes the import declarations for the packages that a file names. A file with imports has to have them all.
func missing(file *ast.File, imports map[string]string) string {
	if len(file.Imports) > 0 {
		return ""
	}
	unresolved := map[string]bool{}
	for _, name := range file.Unresolved {
		unresolved[name.Name] = true
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(unresolved)) {
		if p, ok := imports[name]; ok {
			fmt.Fprintf(&b, "; import %q", p)
		}
	}
	return b.String()
}

func importPath(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value) // the parser accepted it
	return p
}

// typeCheck reports what the compiler would. A fragment may leave variables unused: it is there to be read.
func typeCheck(files []checked, modules []module) []string {
	byModule := map[module][]checked{}
	for _, c := range files {
		m := moduleOf(c.file, modules)
		byModule[m] = append(byModule[m], c)
	}
	var findings []string
	for _, m := range modules {
		exports, err := exportFiles(m, byModule[m])
		if err != nil {
			findings = append(findings, err.Error())
			continue
		}
		for _, c := range byModule[m] {
			findings = append(findings, c.mistakes(exports, modules[0].version)...)
		}
	}
	return findings
}

// moduleOf is the module whose go.mod has what a file imports: the one with the longest path among those it names, or the first
// that has the modules of others.
func moduleOf(file *ast.File, modules []module) module {
	best := modules[0]
	for _, spec := range file.Imports {
		for _, m := range modules {
			if p := importPath(spec); (p == m.path || strings.HasPrefix(p, m.path+"/")) && len(m.path) > len(best.path) {
				best = m
			}
		}
	}
	hasAll := func(m module) bool {
		return !slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return !m.has(importPath(spec)) })
	}
	if i := slices.IndexFunc(modules, hasAll); i >= 0 && !hasAll(best) {
		return modules[i]
	}
	return best
}

// exportFiles are the exportsOf what the files import.
func exportFiles(m module, files []checked) (map[string]string, error) {
	imports := map[string]bool{}
	for _, c := range files {
		for _, spec := range c.file.Imports {
			imports[importPath(spec)] = true
		}
	}
	if len(imports) == 0 {
		return map[string]string{}, nil
	}
	return exportsOf(m, slices.Sorted(maps.Keys(imports))...)
}

// exportsOf compiles packages, and maps them and those that they need to their export data.
func exportsOf(m module, packages ...string) (map[string]string, error) {
	args := append([]string{"list", "-e", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, packages...)
	out, err := goTool(m.dir, args...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for line := range strings.Lines(out) {
		if p, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			exports[p] = file
		}
	}
	return exports, nil
}

// mistakes type-checks one file on its own.
func (c checked) mistakes(exports map[string]string, goVersion string) []string {
	var list []string
	report := func(pos token.Pos, text string) {
		p := c.fset.Position(pos)
		list = append(list, fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, text))
	}
	for _, spec := range c.file.Imports {
		if p := importPath(spec); slices.Contains(strings.Split(p, "/"), "internal") {
			report(spec.Pos(), "a reader cannot import "+p)
		}
	}
	conf := types.Config{
		GoVersion: goVersion,
		Importer:  importerOf(c.fset, exports),
		Error: func(err error) {
			e, _ := errors.AsType[types.Error](err) // it always is one
			if unused := strings.HasPrefix(e.Msg, "declared and not used"); !unused || !c.fragment {
				report(e.Pos, e.Msg)
			}
		},
	}
	_, _ = conf.Check("snippet", c.fset, []*ast.File{c.file}, nil) // every error has been reported
	return list
}

// importerOf reads the packages that exportFiles has compiled.
func importerOf(fset *token.FileSet, exports map[string]string) types.Importer {
	return importer.ForCompiler(fset, "gc", func(p string) (io.ReadCloser, error) {
		if exports[p] == "" {
			return nil, fmt.Errorf("no package %s", p)
		}
		return os.Open(exports[p])
	})
}

const clientGo = `package prospectkit

import "context"

type Client struct{ Lists *ListsService }
type List struct{ Name string }
type ListsService struct{}

func New(url string) (*Client, error) { return &Client{}, nil }
func (*ListsService) Get(ctx context.Context, id string) (*List, error) { return &List{}, nil }
`

const goodReadme = `# Title

A program:

` + "```go" + `

import (
	"fmt"

	"example.com/prospectkit"
)

func main() { fmt.Println(prospectkit.New("x")) }
` + "```" + `

Declarations:

` + "```go" + `
func TestIt(t *testing.T) {
	_, err := prospectkit.New("x")
	check(t, err)
}

func check(t *testing.T, err error) {
	if errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}
` + "```" + `

Statements, with a variable that is never used:

` + "```go" + `
client, err := prospectkit.New("x")
if err != nil {
	return err
}
list, err := client.Lists.Get(ctx, "1")
` + "```" + `

<!-- given: list *prospectkit.List -->

` + "```go" + `
fmt.Println(strings.ToUpper(list.Name))
defer slog.Info("bye")
` + "```" + `

Not Go:

` + "```sh" + `
go run ./nothing
` + "```" + `
`

func TestSnippetsThatCompile(t *testing.T) {
	require.Empty(t, findings(t, snippets, map[string]string{
		"client.go":     clientGo,
		"docs/guide.md": goodReadme,
		"README.md":     "```go\nfmt.Println(client.Lists.Get(ctx, \"1\"))\nt.Fatal(err)\nreturn err\n```\n",
	}))
}

func TestSnippetsThatDoNotCompile(t *testing.T) {
	for name, c := range map[string]struct{ code, want string }{
		"renamed method": {"client.Lists.Fetch(ctx)", "README.md:2: client.Lists.Fetch undefined (type *prospectkit.ListsService has no field or method Fetch)"},
		"later line":     {"x := 1\n_ = x + \"a\"", "README.md:3: invalid operation: x + \"a\" (mismatched types int and untyped string)"},
		"unknown name":   {"show(list)", "README.md:2: undefined: show"},
		"syntax":         {"x :=", "README.md:4: expected operand, found '}' (and 2 more errors)"},
		"program":        {"package main\n\nfunc main() { x := 1 }", "README.md:4: declared and not used: x"},
		"internal":       {"import \"example.com/prospectkit/internal/x\"\n\nvar _ = x.X", "README.md:2: a reader cannot import example.com/prospectkit/internal/x"},
		"not imported":   {"import \"fmt\"\n\nvar _ = strings.ToUpper(fmt.Sprint(1))", "README.md:4: undefined: strings"},
		"no package":     {"import \"example.com/prospectkit/gone\"\n\nvar _ = gone.X", "README.md:2: could not import example.com/prospectkit/gone (no package example.com/prospectkit/gone)"},
	} {
		t.Run(name, func(t *testing.T) {
			list := findings(t, snippets, map[string]string{
				"client.go": clientGo, "internal/x/x.go": "package x\n\nvar X int\n",
				"README.md": "```go\n" + c.code + "\n```\n",
			})
			require.NotEmpty(t, list)
			require.Equal(t, c.want, list[0])
		})
	}
}

func TestSnippetOfANestedModule(t *testing.T) {
	files := map[string]string{
		"client.go": clientGo,
		"contrib/extra/go.mod": "module example.com/prospectkit/contrib/extra\n\ngo 1.26.0\n\n" +
			"require example.com/prospectkit v0.0.0\n\nreplace example.com/prospectkit => ../..\n",
		"contrib/extra/extra.go":  "package extra\n\nfunc New() int { return 1 }\n",
		"contrib/extra/README.md": "```go\nfmt.Println(extra.New())\n```\n",
		"contrib/extra/NOTES.md":  "```go\nnot checked\n```\n",
		"testdata/docs/README.md": "```go\nnot checked\n```\n",
	}
	require.Empty(t, findings(t, snippets, files))
	files["contrib/extra/README.md"] = "```go\nextra.Old()\n```\n"
	require.Equal(t, []string{"contrib/extra/README.md:2: undefined: extra.Old"}, findings(t, snippets, files))
}

func TestThePageForAgents(t *testing.T) {
	files := map[string]string{
		"client.go":          clientGo,
		"sandbox/sandbox.go": "package sandbox\n\ntype Sandbox struct{}\n\nfunc (*Sandbox) Calls(string) int { return 0 }\n",
		"llms.txt": "Use `prospectkit.New`, `client.Lists.Get(ctx, id)`, `*prospectkit.List` and `sb.Calls`, not `client`.\n" +
			"```text\n`client.Lists.Old`\n```\n```go\nlist, err := client.Lists.Get(ctx, \"1\")\n```\n",
	}
	require.Empty(t, findings(t, snippets, files))
	require.Empty(t, findings(t, names, files))
	files["llms.txt"] = "`client.Lists.Old`\n\nand `*prospectkit.Gone`, `sb.Lists`\n```go\nclient.Close()\n```\n[x](gone.md)\n"
	require.Equal(t, []string{"llms.txt:5: client.Close undefined (type *prospectkit.Client has no field or method Close)"}, findings(t, snippets, files))
	require.Equal(t, []string{
		"llms.txt:1: no client.Lists.Old in the Go code",
		"llms.txt:3: no prospectkit.Gone in the Go code",
		"llms.txt:3: no sb.Lists in the Go code",
	}, findings(t, names, files))
	require.Equal(t, []string{"llms.txt: no file gone.md"}, findings(t, references, files))
}

func TestGoBlocks(t *testing.T) {
	text := "```text\n```go\n```\n<!-- given: a int -->\n```go\na++\n```\n\n  ```go\n  b++\n  ```\n"
	require.Equal(t, []snippet{
		{path: "x.md", line: 6, given: "a int", code: "a++\n"},
		{path: "x.md", line: 10, code: "  b++\n"},
	}, goBlocks("x.md", text))
}
