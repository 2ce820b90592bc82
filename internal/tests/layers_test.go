package tests_test

import (
	"errors"
	"fmt"
	"go/ast"
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

	"example.com/prospectkit/internal/tests"
)

// TestLayers holds the layers of docs/architecture.md against what the files of the root use.
func TestLayers(t *testing.T) {
	page, err := os.ReadFile(tests.Path("docs", "architecture.md"))
	require.NoError(t, err)
	uses := usesOfRoot(t)
	require.Empty(t, layerProblems(string(page), uses))

	uses["errors.go call.go"] = map[string]bool{"do": true}
	problems := layerProblems(string(page), uses)
	require.Contains(t, problems, "errors.go uses do of call.go, in a higher layer")
	require.Contains(t, fmt.Sprint(problems), "use each other: ")

	uses = map[string]map[string]bool{"lists_new.go call.go": {"do": true}, "new.go call.go": {"do": true}, "new.go lists.go": {"List": true}}
	require.Equal(t, []string{"docs/architecture.md names no layer for new.go"}, layerProblems(string(page), uses))
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

// usesOfRoot are the names that a file of the root uses of another, by "from to". Names of fields are left out: they come
// with their type.
func usesOfRoot(t *testing.T) map[string]map[string]bool {
	t.Helper()
	fset, files := tests.ParseDir(t, "")
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

// TestNames_OfTheRootAreFew keeps what few programs type in packages of its own.
func TestNames_OfTheRootAreFew(t *testing.T) {
	var names []string
	_, files := tests.ParseDir(t, "")
	for _, file := range files {
		names = append(names, exportedNames(file)...)
	}
	require.Contains(t, names, "ErrOutcomeUnknown")
	require.LessOrEqual(t, len(names), maxNames, "move what belongs to tools, or fold it: %v", names)
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
