package housekeeping

import (
	"cmp"
	"fmt"
	"go/ast"
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
	used     map[string]bool     // every identifier
	packages map[string]bool     // those that a user can import
	members  map[string]bool     // of these packages and of their types: List.Name
	parts    map[string][]string // of each of these types: those that it embeds or stands for; empty if one is of another package
	services map[string]string   // the types of the fields of Client
}

func readCode(root string) (*goCode, error) {
	list, err := sources(root, func(p string) bool { return !within(p, "tools") })
	code := &goCode{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string][]string{}, map[string]string{}}
	for _, s := range list {
		for n := range ast.Preorder(s.File) {
			if id, ok := n.(*ast.Ident); ok {
				code.used[id.Name] = true
			}
		}
		if !strings.HasSuffix(s.path, "_test.go") && s.Name.Name != "main" && !within(s.path, "internal", "examples") {
			code.add(s)
		}
	}
	return code, err
}

func (c *goCode) add(s source) {
	pkg := s.Name.Name
	c.packages[pkg] = true
	for _, decl := range s.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			of := pkg
			if d.Recv != nil {
				of = receiver(d)
			}
			c.members[of+"."+d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						c.members[pkg+"."+name.Name] = true
					}
				case *ast.TypeSpec:
					c.members[pkg+"."+spec.Name.Name] = true
					c.addType(spec.Name.Name, spec.Type)
				}
			}
		}
	}
}

// addType adds the fields of a struct, the methods of an interface, or the type that another one stands for.
func (c *goCode) addType(name string, of ast.Expr) {
	parts := []string{}
	embed := func(part ast.Expr) {
		if p, ok := part.(*ast.StarExpr); ok {
			part = p.X
		}
		other := ""
		switch t := part.(type) {
		case *ast.Ident:
			other = t.Name
			c.members[name+"."+other] = true
		case *ast.SelectorExpr:
			c.members[name+"."+t.Sel.Name] = true
		}
		parts = append(parts, other)
	}
	fields := new(ast.FieldList)
	switch t := of.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	case *ast.FuncType, *ast.MapType, *ast.ArrayType:
	default:
		embed(t)
	}
	for _, field := range fields.List {
		for _, id := range field.Names {
			c.members[name+"."+id.Name] = true
			if p, ok := field.Type.(*ast.StarExpr); ok && name == "Client" {
				c.services[id.Name] = types.ExprString(p.X)
			}
		}
		if len(field.Names) == 0 {
			embed(field.Type)
		}
	}
	c.parts[name] = append(parts, c.parts[name]...)
}

// has reports whether a name exists. A variable is named after its type: client.With is that of a Client.
func (c *goCode) has(name string) bool {
	first, rest, chain := strings.Cut(name, ".")
	if !chain {
		return c.used[name] || strings.HasPrefix(name, "Test") && c.hasTest(name)
	}
	next, _, _ := strings.Cut(rest, ".")
	typ := cmp.Or(c.services[first], map[string]string{"sb": "Sandbox"}[first], strings.ToUpper(first[:1])+first[1:])
	switch {
	case c.packages[first]:
		return c.members[first+"."+next] && c.has(rest)
	case c.parts[typ] != nil:
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

// hasMember also looks at the types that a type embeds, except those it came by: another package may have types of the same names.
func (c *goCode) hasMember(typ, name string, by ...string) bool {
	by = append(by, typ)
	return c.members[typ+"."+name] || slices.ContainsFunc(c.parts[typ], func(part string) bool {
		return part == "" && c.used[name] || !slices.Contains(by, part) && c.hasMember(part, name, by...)
	})
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*"), "[")
	return name
}

func namedCode(text string) map[string]string {
	return map[string]string{
		"client.go": clientGo + `
type RefusedError struct{ Rule string }
type Loose struct{ List }
type Wide struct{ *http.Client }
var ErrGone, CodeBusy = 1, 2
func WithRetry(int) {}
`,
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
