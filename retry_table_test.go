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
	name                            string
	failure                         failure
	read, metered, laterPage, write step
}{
	{"notSent", notSent, resend, resend, resend, resend},
	{"unreachable", unreachable, stop, stop, stop, stop},
	{"refused", refused, resend, resend, resend, resend},
	{"limited", limited, wait, wait, wait, wait},
	{"rejected", rejected, stop, stop, stop, stop},
	{"cut", cut, repeat, doubt, doubt, doubt},
	{"serviceFault", serviceFault, repeat, repeat, doubt, doubt},
	{"gatewayFault", gatewayFault, repeat, doubt, doubt, doubt},
	{"otherFault", otherFault, stop, doubt, doubt, doubt},
	{"foreign", foreign, stop, doubt, doubt, doubt},
	{"strange", strange, repeat, doubt, doubt, doubt},
	{"answerLost", answerLost, repeat, lost, lost, lost},
	{"answerUnfit", answerUnfit, stop, lost, lost, lost},
	{"contextEnded", contextEnded, stop, doubt, doubt, doubt},
	{"waitRefused", waitRefused, stop, stop, stop, stop},
	{"truncated", truncated, stop, stop, stop, stop},
}

func TestDecisionTable(t *testing.T) {
	for _, row := range decided {
		t.Run(row.name, func(t *testing.T) {
			for _, later := range []bool{false, true} {
				require.Equal(t, row.read, decide(row.failure, op.Read, later), "read, later page %t", later)
				for _, class := range []op.Class{op.Idempotent, op.GuardedByName, op.GuardedByState, op.Unsafe, "of the future"} {
					require.Equal(t, row.write, decide(row.failure, class, later), "%s, later page %t", class, later)
				}
			}
			require.Equal(t, row.metered, decide(row.failure, op.MeteredRead, false), "first page")
			require.Equal(t, row.laterPage, decide(row.failure, op.MeteredRead, true), "later page")
		})
	}
}

// A failure without a row would read as a clean refusal.
func TestEveryFailureHasARow(t *testing.T) {
	names := constantsOfType(t, "retry.go", "failure")
	require.Len(t, decisions, len(names))
	require.Len(t, decided, len(names))
	for i, name := range names {
		require.Equal(t, name, decided[i].name)
		require.Equal(t, failure(i+1), decided[i].failure)
		require.Contains(t, decisions, decided[i].failure, name)
	}
}

func TestOnlyThreeStepsGoOn(t *testing.T) {
	for name, again := range map[step]bool{stop: false, doubt: false, lost: false, repeat: true, resend: true, wait: true} {
		require.Equal(t, again, name.again())
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
