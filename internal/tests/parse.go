package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ParseDir parses the files of a folder of this repository, without its tests.
func ParseDir(t *testing.T, dir string) (fset *token.FileSet, files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(Path(dir, "*.go"))
	require.NoError(t, err)
	fset = token.NewFileSet()
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	require.NotEmpty(t, files, dir)
	return fset, files
}
