package prospectkit_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCodes_AreTheDocumentedOnes(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "codes.go", nil, 0)
	require.NoError(t, err)
	var constants, documented []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			constants = append(constants, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		}
		return true
	})
	for _, row := range documentedCodes(t) {
		documented = append(documented, string(row.code))
	}
	require.ElementsMatch(t, documented, constants)
}
