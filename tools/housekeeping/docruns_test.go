package housekeeping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The programs of the documentation write once, whatever fails: every Go block of the pages that is no test, and every example of the
// root package. Each is run under every failure at every request, and again as long as it returns an error.
func TestDocs_WriteOnce(t *testing.T) {
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	var programs strings.Builder
	runDocs(t, root, runnable(t, root, &programs))
	t.Logf("%d programs", strings.Count(programs.String(), "{\""))
}

// runDocs runs the tests of internal/tests/docruns, with files that are not stored there.
func runDocs(t *testing.T, root string, files map[string][]byte, flags ...string) (said string) {
	t.Helper()
	scratch, overlay := t.TempDir(), map[string]string{}
	for name, text := range files {
		file := filepath.Join(scratch, name)
		require.NoError(t, os.WriteFile(file, text, 0o600))
		overlay[filepath.Join(root, "internal", "tests", "docruns", name)] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	list := filepath.Join(scratch, "overlay.json")
	require.NoError(t, os.WriteFile(list, text, 0o600))
	args := append([]string{"test", "-count=1", "-vet=off", "-overlay=" + list}, flags...)
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./internal/tests/docruns")...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// runnable are the files that the package docruns needs to run all programs, by name.
func runnable(t *testing.T, root string, programs *strings.Builder) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	modules, err := findModules(root)
	require.NoError(t, err)
	imports := ownImports(modules)
	imports["docruns"] = modules[0].path + "/internal/tests/docruns"
	var blocks []checked
	pages, err := read(root, forUsers)
	require.NoError(t, err)
	for _, p := range pages {
		for _, s := range goBlocks(p.path, p.text) {
			if needsNoRun.MatchString(s.code+s.given) || asksForMore.MatchString(s.code) {
				continue
			}
			c, err := parse(s, imports)
			require.NoError(t, err)
			if !c.fragment || moduleOf(c.file, modules) != modules[0] {
				continue
			}
			name := fmt.Sprintf("block%d", len(blocks))
			text := asProgram(t, s, name)
			c, err = parseFile("package docruns_test" + missing(must(t, "package docruns_test\n"+text), imports) + "\n" + text)
			require.NoError(t, err, text)
			blocks = append(blocks, c)
			fmt.Fprintf(programs, "\t{%q, %s, false},\n", fmt.Sprintf("%s:%d", s.path, s.line), name)
		}
	}
	exports, err := exportFiles(modules[0], blocks)
	require.NoError(t, err)
	for i, c := range blocks {
		use(c, unused(c, exports, modules[0].version))
		files[fmt.Sprintf("block%d_test.go", i)] = printed(t, c)
	}
	maps.Copy(files, examplePrograms(t, root, programs))
	files["all_test.go"] = []byte("package docruns_test\n\nimport (\n\t\"testing\"\n\n\t\"" + imports["docruns"] +
		"\"\n)\n\nfunc TestAll(t *testing.T) { docruns.All(t, programs) }\n\nvar programs = []docruns.Program{\n" + programs.String() + "}\n")
	return files
}

// needsNoRun finds blocks that are part of a test, or that talk to something else than the service.
var needsNoRun = regexp.MustCompile(`\bt\.|testing\.|sandbox\.|httpmock|http\.|\bstart\(|Path: path,`)

// asksForMore finds what a program does if a second effect is no harm to it.
var asksForMore = regexp.MustCompile(`AllowRetryUnknown\(|RepeatUnknown\(`)

// asProgram makes a function of a block, with what its text supplies.
func asProgram(t *testing.T, s snippet, name string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "func %s(w *docruns.World) (err error) {\nctx, client := w.Context(), w.Client()\n_, _ = ctx, client\n", name)
	if s.given != "" {
		f := must(t, "package p\nfunc _("+s.given+")")
		for _, group := range f.Decls[0].(*ast.FuncDecl).Type.Params.List {
			for _, id := range group.Names {
				fmt.Fprintf(&b, "%s := docruns.Given[%s](w, %q)\n_ = %s\n", id.Name, types.ExprString(group.Type), id.Name, id.Name)
			}
		}
	}
	code := strings.NewReplacer("prospectkit.New(", "w.New(", "prospectkit.FromEnv(", `w.New("", "", `).Replace(s.code)
	fmt.Fprintf(&b, "{\n%s\n}\nreturn nil\n}\n", code)
	return b.String()
}

func must(t *testing.T, code string) *ast.File {
	t.Helper()
	c, err := parseFile(code)
	require.NoError(t, err, code)
	return c.file
}

// unused are the variables that a block leaves unused, as it may.
func unused(c checked, exports map[string]string, version string) map[token.Pos]bool {
	found := map[token.Pos]bool{}
	conf := types.Config{GoVersion: version, Importer: importerOf(c.fset, exports), Error: func(err error) {
		if e, ok := err.(types.Error); ok && strings.HasPrefix(e.Msg, "declared and not used") { //nolint:errorlint // it always is one
			found[e.Pos] = true
		}
	}}
	_, _ = conf.Check("docruns", c.fset, []*ast.File{c.file}, nil)
	return found
}

// use adds a use of each such variable behind the statement that declares it.
func use(c checked, unused map[token.Pos]bool) {
	ast.Inspect(c.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = withUses(n.List, unused)
		case *ast.CaseClause:
			n.Body = withUses(n.Body, unused)
		}
		return true
	})
}

func withUses(list []ast.Stmt, unused map[token.Pos]bool) (all []ast.Stmt) {
	for _, s := range list {
		all = append(all, s)
		assign, ok := s.(*ast.AssignStmt)
		if !ok || assign.Tok != token.DEFINE {
			continue
		}
		for _, left := range assign.Lhs {
			if id, ok := left.(*ast.Ident); ok && unused[id.Pos()] {
				all = append(all, &ast.AssignStmt{Lhs: []ast.Expr{ast.NewIdent("_")}, Tok: token.ASSIGN, Rhs: []ast.Expr{ast.NewIdent(id.Name)}})
			}
		}
	}
	return all
}

func printed(t *testing.T, c checked) []byte {
	t.Helper()
	var b bytes.Buffer
	c.file.Comments = nil
	require.NoError(t, format.Node(&b, c.fset, c.file))
	return b.Bytes()
}

var (
	madeSandbox = regexp.MustCompile(`sandbox\.New\(nil(, )?`)
	ownClock    = regexp.MustCompile(`sandbox\.WithClock\(sandbox\.NewManualClock\([^()]*(\(\))?\)\),?\s*`)
)

// examplePrograms are the files of examples of the root package, on the service of the run.
func examplePrograms(t *testing.T, root string, programs *strings.Builder) map[string][]byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "example*_test.go"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	files := map[string][]byte{}
	for _, name := range slices.Sorted(slices.Values(found)) {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		text := madeSandbox.ReplaceAllString(string(content), "docruns.Sandbox(")
		text = ownClock.ReplaceAllString(text, "")
		text = strings.NewReplacer("package prospectkit_test", "package docruns_test", "sb.Transport()", "docruns.Transport()", "log.Fatal(", "docruns.Fatal(",
			"sb.Do(", "docruns.Do(sb, ", "sb.Fail(", "docruns.Fail(sb, ", "sb.Advance(", "docruns.Advance(sb, ", "func Example", "func example").Replace(text)
		c, err := parseFile(text)
		require.NoError(t, err)
		for _, d := range c.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && strings.HasPrefix(f.Name.Name, "example") && f.Type.Params.NumFields() == 0 && f.Type.Results.NumFields() == 0 &&
				!asksForMore.MatchString(text[c.fset.Position(f.Pos()).Offset:c.fset.Position(f.End()).Offset]) {
				fmt.Fprintf(programs, "\t{%q, func(*docruns.World) error { %s(); return nil }, true},\n", "E"+f.Name.Name[1:], f.Name.Name)
			}
		}
		files[filepath.Base(name)] = imported(c, text)
	}
	return files
}

// imported fits the imports of a file to what is left of it.
func imported(c checked, text string) []byte {
	names := map[string]bool{}
	ast.Inspect(c.file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				names[x.Name] = true
			}
		}
		return true
	})
	var keep strings.Builder
	for _, spec := range c.file.Imports {
		p := importPath(spec)
		if names[strings.TrimSuffix(path.Base(p), "/v2")] || spec.Name != nil {
			keep.WriteString("\t" + text[c.fset.Position(spec.Pos()).Offset:c.fset.Position(spec.End()).Offset] + "\n")
		}
	}
	if names["docruns"] {
		keep.WriteString("\t\"example.com/prospectkit/internal/tests/docruns\"\n")
	}
	begin := strings.Index(text, "import (")
	end := begin + strings.Index(text[begin:], "\n)\n")
	return []byte(text[:begin] + "import (\n" + keep.String() + text[end+1:])
}
