package tests_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/tests"
)

// maxNames is how many names a reader of the package page of the root may meet, beside the codes of errors.
const maxNames = 260

// TestNames_OfTheRootAreFew keeps what few programs type in packages of its own.
func TestNames_OfTheRootAreFew(t *testing.T) {
	paths, err := filepath.Glob(tests.Path("*.go"))
	require.NoError(t, err)
	var names []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
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
