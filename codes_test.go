package prospectkit_test

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
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
	for _, row := range tests.DocumentedCodes(t) {
		documented = append(documented, string(row.Code))
	}
	require.ElementsMatch(t, documented, constants)
}

// The constants show their values to readers of the documentation; the table has them, too.
func TestActions_AreThoseOfTheTable(t *testing.T) {
	used := map[string]bool{}
	for _, row := range op.Codes {
		used[string(row.Action)] = true
	}
	actions := []prospectkit.Action{
		prospectkit.ActionNever, prospectkit.ActionAfterDelay, prospectkit.ActionAfterState, prospectkit.ActionMayPass,
		prospectkit.ActionFixInput, prospectkit.ActionNewKey, prospectkit.ActionBuyCredits, prospectkit.ActionVerifyFirst,
	}
	for _, a := range actions {
		require.Contains(t, used, string(a))
	}
	require.Len(t, used, len(actions))
}
