package housekeeping

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	codeSpan  = regexp.MustCompile("`[^`]+`")
	quotation = regexp.MustCompile(`"[^"]*"`)
	// A name is not a part of a path, a header or a file, and not the key of a literal.
	goName = regexp.MustCompile(`(?:^|[^\w./\-$@%])([A-Za-z_]\w*(?:\.[A-Z]\w*)*)(?:[^\w./\-:]|\.\.\.|$)`)
	noGo   = regexp.MustCompile(`^[A-Z0-9_]+$`)     // an environment variable, a code or a method of HTTP
	drawn  = regexp.MustCompile(`\b[a-z]+[A-Z]\w*`) // in a block of text, which may be a diagram of Go functions
)

// names finds Go names that the prose of README files, of docs, and of the pages for agents and about security mentions, and that do not
// exist: a member that its type or package lacks, or a name that occurs nowhere in the Go code. In diagrams, it looks at namesLikeThis.
func names(root string) ([]string, error) {
	code, err := readCode(root)
	if err != nil {
		return nil, err
	}
	pages, err := read(root, func(p string) bool { return forUsers(p) || p == "SECURITY.md" })
	var findings []string
	for _, p := range pages {
		for _, block := range parts(p.text) {
			for _, name := range drawn.FindAllString(block.text, -1) {
				if block.fence == "```text" && !code.used[name] {
					findings = append(findings, fmt.Sprintf("%s:%d: no %s in the Go code", p.path, block.line, name))
				}
			}
		}
		for number, line := range prose(p.text) {
			for _, span := range codeSpan.FindAllString(line, -1) {
				for _, name := range namesIn(span) {
					if !code.has(name) {
						findings = append(findings, fmt.Sprintf("%s:%d: no %s in the Go code", p.path, number, name))
					}
				}
			}
		}
	}
	return findings, err
}

// namesIn returns the Go names of a code span: with a capital letter somewhere.
func namesIn(span string) (list []string) {
	text := quotation.ReplaceAllString(strings.Trim(span, "`"), " ")
	for {
		at := goName.FindStringSubmatchIndex(text)
		if at == nil {
			return list
		}
		name := text[at[2]:at[3]]
		last := name[strings.LastIndex(name, ".")+1:]
		if ast.IsExported(last) && !noGo.MatchString(name) {
			list = append(list, name)
		}
		text = text[at[3]:]
	}
}

// goCode is what the Go files of the repository declare and use.
type goCode struct {
	used     map[string]bool // every identifier
	packages map[string]*types.Package
	types    map[string][]types.Type // of these packages
}

func readCode(root string) (*goCode, error) {
	code := &goCode{map[string]bool{}, map[string]*types.Package{}, map[string][]types.Type{}}
	list, err := sources(root, func(p string) bool { return !within(p, "tools") })
	for _, s := range list {
		for n := range ast.Preorder(s.File) {
			if id, ok := n.(*ast.Ident); ok {
				code.used[id.Name] = true
			}
		}
	}
	if err != nil {
		return nil, err
	}
	modules, err := findModules(root)
	for _, m := range modules {
		err = errors.Join(err, code.addModule(m))
	}
	return code, err
}

// addModule adds the packages of a module that a user can import.
func (c *goCode) addModule(m module) error {
	if hidden(m.path) {
		return nil
	}
	exports, err := exportsOf(m, "./...")
	imports := importerOf(token.NewFileSet(), exports)
	for p, file := range exports {
		if p != m.path && !strings.HasPrefix(p, m.path+"/") || hidden(p) || file == "" {
			continue
		}
		pkg, err := imports.Import(p)
		if err != nil {
			return err
		}
		c.packages[pkg.Name()] = pkg
		for _, name := range pkg.Scope().Names() {
			if t, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok {
				c.types[name] = append(c.types[name], t.Type())
			}
		}
	}
	return err
}

// hidden reports whether no user can import a package.
func hidden(p string) bool { return within(p+"/", "internal", "cmd", "examples", "tools") }

// has reports whether a name exists. A variable is named after its type: client.With is that of a Client.
func (c *goCode) has(name string) bool {
	first, rest, chain := strings.Cut(name, ".")
	if !chain {
		return c.used[name] || strings.HasPrefix(name, "Test") && c.hasTest(name)
	}
	next, _, _ := strings.Cut(rest, ".")
	typ := cmp.Or(map[string]string{"sb": "Sandbox"}[first], strings.ToUpper(first[:1])+first[1:])
	if c.types[typ+"Service"] != nil {
		typ += "Service" // as Lists, of a Client
	}
	switch {
	case c.packages[first] != nil:
		return c.packages[first].Scope().Lookup(next) != nil && c.has(rest)
	case c.types[typ] != nil:
		return c.hasMember(typ, next) && c.has(rest)
	case ast.IsExported(first) && !c.used[first]:
		return false
	}
	for part := range strings.SplitSeq(rest, ".") { // of another package, or of a variable
		if !c.used[part] {
			return false
		}
	}
	return true
}

// hasTest reports whether the pattern of a run has a test.
func (c *goCode) hasTest(pattern string) bool {
	for name := range c.used {
		if strings.HasPrefix(name, pattern) {
			return true
		}
	}
	return false
}

func (c *goCode) hasMember(typ, name string) bool {
	return slices.ContainsFunc(c.types[typ], func(t types.Type) bool {
		member, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		return member != nil
	})
}

func namedCode(text string) map[string]string {
	return map[string]string{
		"client.go": clientGo + `
type RefusedError struct{ Rule string }
type Loose struct{ List }
var ErrGone, CodeBusy = 1, 2
func WithRetry(int) {}
`,
		"wide.go":         "package prospectkit\n\nimport \"net/http\"\n\ntype Wide struct{ *http.Client }\n",
		"spend/guard.go":  "package spend\n\ntype Guard struct{ state int }\n\nfunc (*Guard) Books() {}\n",
		"client_test.go":  "package prospectkit\n\nimport (\n\t\"net/http\"\n\t\"testing\"\n)\n\nfunc TestClient_All(*testing.T) { _ = http.Client{Timeout: 1}; errors.As() }\n",
		"internal/x/x.go": "package x\n\nfunc Hidden() {}\n",
		"docs/guide.md":   text,
	}
}

func TestNames_ThatExist(t *testing.T) {
	for _, text := range []string{
		"`Lists.Get`, `client.Lists.Get(ctx, id)`, `*prospectkit.List`, `List.Name`, `list.Name`", "`guard.Books()`, `spend.Guard`, `Guard.Books`",
		"`errors.As(err, ErrGone)`, `WithRetry(CodeBusy)`, `RefusedError{Rule: ...}`", "`Loose.Name`, `Wide.Timeout`", "`http.Client.Timeout`",
		"`Idempotency-Key`, `LIST_NAME_TAKEN`, `POST /Some/Path`, `NOTES.md`, `\"Quoted\"`, `Deprecated:`", "`go test ./x -run TestClient`",
		"```text\n`Lists.Old`\n```\nOld without a code span",
	} {
		require.Empty(t, findings(t, names, namedCode(text)), text)
	}
}

func TestNames_ThatDoNotExist(t *testing.T) {
	for _, name := range []string{
		"Lists.Old", "Lists.Name", "client.Lists.Old", "client.Old", "prospectkit.Gone", "spend.Books", "guard.Gone", "RefusedError.Gone", "Loose.Gone", "Loose.Get", "Wide.Gone",
		"ErrOther", "WithOther", "RuleOther", "Other.Name", "sb.Other", "http.Other", "x.Other", "TestOther",
	} {
		require.Equal(t, []string{"docs/guide.md:3: no " + name + " in the Go code"},
			findings(t, names, namedCode("# Title\n\nUse `"+name+"(x)`.\n")))
	}
	require.Equal(t, []string{"docs/guide.md:2: no goneBefore in the Go code"}, findings(t, names, namedCode("```text\nWithRetry\n|  goneBefore of Gone\n```\n")))
}
