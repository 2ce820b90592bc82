package housekeeping

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers holds the layers of docs/architecture.md against what the files of the root use.
func layers(root string) ([]string, error) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	fset, files, errRoot := parseRoot(root)
	return layerProblems(string(page), usesOfRoot(fset, files)), errors.Join(err, errRoot)
}

func TestLayers(t *testing.T) {
	require.Equal(t, []string{
		"call.go uses List of lists.go, in a higher layer", "docs/architecture.md names no layer for new.go", "use each other: call.go, lists.go, lists_rows.go",
	}, findings(t, layers, map[string]string{
		"docs/architecture.md": "1. Users: `lists*.go`.\n2. The call: `call.go`.\n3. Both: `errors.go`.\n",
		"lists.go":             "package prospectkit\n\ntype List struct{ Name string }\n\nfunc get() { do() }\n",
		"lists_rows.go":        "package prospectkit\n\nfunc rows(l List) string { return l.Name }\n",
		"call.go":              "package prospectkit\n\nfunc do() (l List) { return l }\n",
		"call_test.go":         "package prospectkit\n\nfunc test() { rows(do()) }\n",
		"errors.go":            "package prospectkit\n\nimport \"errors\"\n\nvar errDone = errors.New(\"done\")\n",
		"new.go":               "package prospectkit\n\nfunc end() error { return errDone }\n",
	}))
}

var (
	layer    = regexp.MustCompile(`(?ms)^[123]\. .*?\.$`)
	fileName = regexp.MustCompile("`([a-z_]+\\*?\\.go)`")
)

// layerProblems are the uses that go up, and the circles.
func layerProblems(page string, uses map[string]map[string]bool) (problems []string) {
	layerOf := func(file string) int {
		for n, text := range layer.FindAllString(page, 3) {
			for _, name := range fileName.FindAllStringSubmatch(text, -1) {
				if is, _ := filepath.Match(name[1], file); is {
					return n + 1
				}
			}
		}
		return 0
	}
	below := map[string][]string{}
	for _, pair := range slices.Sorted(maps.Keys(uses)) {
		from, to, _ := strings.Cut(pair, " ")
		names := strings.Join(slices.Sorted(maps.Keys(uses[pair])), " ")
		switch none := "docs/architecture.md names no layer for " + from; {
		case layerOf(from) == 0 && !slices.Contains(problems, none):
			problems = append(problems, none)
		case layerOf(from) > layerOf(to) && layerOf(to) > 0:
			problems = append(problems, fmt.Sprintf("%s uses %s of %s, in a higher layer", from, names, to))
		}
		below[from] = append(below[from], to)
	}
	for len(below) > 0 { // take away files that use none of the rest
		before := len(below)
		maps.DeleteFunc(below, func(_ string, all []string) bool {
			return !slices.ContainsFunc(all, func(f string) bool { return below[f] != nil })
		})
		if len(below) == before {
			return append(problems, "use each other: "+strings.Join(slices.Sorted(maps.Keys(below)), ", "))
		}
	}
	return problems
}

// parseRoot parses the files of the root, without its tests.
func parseRoot(root string) (fset *token.FileSet, files []*ast.File, err error) {
	pages, err := read(root, func(p string) bool {
		return !strings.Contains(p, "/") && strings.HasSuffix(p, ".go") && !strings.HasSuffix(p, "_test.go")
	})
	fset = token.NewFileSet()
	for _, p := range pages {
		file, problem := parser.ParseFile(fset, p.path, p.text, parser.SkipObjectResolution)
		files, err = append(files, file), errors.Join(err, problem)
	}
	return fset, files, err
}

// usesOfRoot are the names that a file of the root uses of another, by "from to". Names of fields are left out: they come
// with their type.
func usesOfRoot(fset *token.FileSet, files []*ast.File) map[string]map[string]bool {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	check := types.Config{Importer: noImports{}, Error: func(error) {}}
	root, _ := check.Check("root", fset, files, &info)
	uses := map[string]map[string]bool{}
	file := func(p token.Pos) string { return filepath.Base(fset.Position(p).Filename) }
	for ident, object := range info.Uses {
		v, isVar := object.(*types.Var)
		if object.Pkg() != root || isVar && (v.IsField() || v.Parent() != root.Scope()) || file(ident.Pos()) == file(object.Pos()) {
			continue
		}
		pair := file(ident.Pos()) + " " + file(object.Pos())
		if uses[pair] == nil {
			uses[pair] = map[string]bool{}
		}
		uses[pair][object.Name()] = true
	}
	return uses
}

// noImports is enough to tell which names of the root its files use.
type noImports struct{}

func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("only the root is checked")
}

// maxNames is how many names a reader of the package page of the root may meet, beside the codes of errors.
const maxNames = 260

// few keeps what few programs type in packages of its own.
func few(root string) ([]string, error) {
	var names []string
	_, files, err := parseRoot(root)
	for _, file := range files {
		names = append(names, exportedNames(file)...)
	}
	if len(names) <= maxNames {
		return nil, err
	}
	return []string{fmt.Sprintf("%d names, move what belongs to tools, or fold it: %v", len(names), names)}, err
}

func TestFew(t *testing.T) {
	code := "package prospectkit\n\ntype Code string\n\nconst CodeRed Code = \"RED\"\n\nfunc (Code) Error() string { return \"\" }\n\nvar ErrA, errB error\n"
	require.Empty(t, findings(t, few, map[string]string{"client.go": code}))
	for i := range maxNames - 1 {
		code += fmt.Sprintf("\nfunc Do%d() {}\n", i)
	}
	found := findings(t, few, map[string]string{"client.go": code})
	require.Len(t, found, 1)
	require.Contains(t, found[0], fmt.Sprint(maxNames+1, " names, move what belongs to tools, or fold it: [Code ErrA Do0 "))
}

// exportedNames are the constants, variables, functions and types of a file, without the constants of Code.
func exportedNames(file *ast.File) (names []string) {
	add := func(ident *ast.Ident) {
		if ident.IsExported() && (!strings.HasPrefix(ident.Name, "Code") || ident.Name == "Code" || ident.Name == "CodeOf") {
			names = append(names, ident.Name)
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				add(decl.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(name)
					}
				}
			}
		}
	}
	return names
}
