package prospectkit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// The decision table, written a second time: what follows each failure, per kind of call. Writes of every class are alike, and
// a later page of a scroll differs from the first in one line.
var decided = []struct {
	name                         string
	failure                      failure
	read, paid, laterPage, write step
}{
	{"failNotSent", failNotSent, stepResend, stepResend, stepResend, stepResend},
	{"failUnprocessed", failUnprocessed, stepResend, stepResend, stepResend, stepResend},
	{"failRateLimited", failRateLimited, stepWait, stepWait, stepWait, stepWait},
	{"failKeyRejected", failKeyRejected, stepRekey, stepRekey, stepRekey, stepRekey},
	{"failUnreachable", failUnreachable, stepStop, stepStop, stepStop, stepStop},
	{"failUnread", failUnread, stepStop, stepStop, stepStop, stepStop},
	{"failRejected", failRejected, stepStop, stepStop, stepStop, stepStop},
	{"failUpload", failUpload, stepStop, stepStop, stepStop, stepStop},
	{"failService", failService, stepRetry, stepRetry, stepUnknown, stepUnknown},
	{"failGateway", failGateway, stepRetry, stepUnknown, stepUnknown, stepUnknown},
	{"failCut", failCut, stepRetry, stepUnknown, stepUnknown, stepUnknown},
	{"failUnproved", failUnproved, stepRetry, stepUnknown, stepUnknown, stepUnknown},
	{"failOther", failOther, stepStop, stepUnknown, stepUnknown, stepUnknown},
	{"failRepeated", failRepeated, stepStop, stepUnknown, stepUnknown, stepUnknown},
	{"failNotService", failNotService, stepStop, stepUnknown, stepUnknown, stepUnknown},
	{"failCanceled", failCanceled, stepStop, stepUnknown, stepUnknown, stepUnknown},
	{"failLost", failLost, stepRetry, stepLost, stepLost, stepLost},
	{"failUnusable", failUnusable, stepStop, stepLost, stepLost, stepLost},
}

func TestRetry_DecisionTable(t *testing.T) {
	for _, row := range decided {
		t.Run(row.name, func(t *testing.T) {
			for _, later := range []bool{false, true} {
				require.Equal(t, row.read, decide(row.failure, op.Read, later), "read, later page %t", later)
				for _, class := range []op.Class{op.Idempotent, op.GuardedByName, op.GuardedByState, op.Unsafe, "of the future"} {
					require.Equal(t, row.write, decide(row.failure, class, later), "%s, later page %t", class, later)
				}
			}
			require.Equal(t, row.paid, decide(row.failure, op.PaidRead, false), "first page")
			require.Equal(t, row.laterPage, decide(row.failure, op.PaidRead, true), "later page")
		})
	}
}

// A failure without a row would read as a clean refusal.
func TestRetry_EveryFailureHasARow(t *testing.T) {
	names := constantsOfType(t, "call_retry.go", "failure")
	require.Len(t, decisions, 1+len(names))
	require.Len(t, decided, len(names))
	for i, name := range names {
		require.Equal(t, name, decided[i].name)
		require.Equal(t, failure(i+1), decided[i].failure)
		require.NotEmpty(t, decisions[i+1].reason, name)
	}
}

func TestRetry_OnlyFourStepsRetry(t *testing.T) {
	for next, retries := range map[step]bool{stepStop: false, stepUnknown: false, stepLost: false, stepRetry: true, stepResend: true, stepWait: true, stepRekey: true} {
		require.Equal(t, retries, next.retries())
	}
}

// constantsOfType lists the names of the block of constants that begins with the given type.
func constantsOfType(t *testing.T, file, typeName string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	for _, decl := range parsed.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		first, _ := block.Specs[0].(*ast.ValueSpec)
		if id, ok := first.Type.(*ast.Ident); !ok || id.Name != typeName {
			continue
		}
		for _, spec := range block.Specs {
			value, _ := spec.(*ast.ValueSpec)
			for _, name := range value.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}
