package tests

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// TestResolve_EveryCall loses the response, or the request, of each call that may change or cost something.
func TestResolve_EveryCall(t *testing.T) {
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		for _, arrives := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				time.Sleep(time.Hour) // so that what the seed holds is older than the call
				sb := EverySandbox(t, begin)
				fault := sandbox.DropBefore()
				if arrives {
					fault = sandbox.DropAfter()
				}
				sb.Fail(row.Name, sandbox.Nth(1), fault)
				client := SandboxClient(t, sb)
				_, err := call(t.Context(), client)
				if row.Class == op.Read {
					require.NoError(t, err)
					return
				}
				RequireUnknown(t, err)
				unknown, _ := errors.AsType[*prospectkit.OutcomeUnknownError](err)
				require.Equal(t, row.Name, unknown.Op)
				resolves(t, sb, unknown, row, arrives)

				read := len(sb.Journal())
				_, err = client.Resolve(t.Context(), unknown.Ticket())
				require.NoError(t, err)
				require.Equal(t, row.Resolves, len(sb.Journal()) > read, "a ticket is looked for with the same function")
			})
		}
	})
}

// resolves demands the truth about a call: that it happened, or did not, read from the service, or that nobody can tell.
func resolves(t *testing.T, sb *sandbox.Sandbox, unknown *prospectkit.OutcomeUnknownError, row *op.Op, happened bool) {
	t.Helper()
	before := len(sb.Journal())
	r, err := unknown.Resolve(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, r.Note)
	require.Equal(t, 1, sb.Calls(row.Name), "nothing is retried")
	asked := sb.Journal()[before:]
	shows := row.Name + ": its row Resolves, so its service needs a look for it, in looks, which reads in the sandbox's state whether it happened; it says: %s"
	switch {
	case !row.Resolves:
		require.Equal(t, prospectkit.VerdictUnknowable, r.Verdict, "%s: its service has a look for it, so its row in internal/op/table.go Resolves", row.Name)
		require.Equal(t, row.Verify, r.Note, "the reason is that of the table")
		require.Empty(t, asked)
		return
	case happened:
		require.Equal(t, prospectkit.VerdictHappened, r.Verdict, shows, r.Note)
		require.NotNil(t, r.Object)
	default:
		require.Equal(t, prospectkit.VerdictNotSeen, r.Verdict, shows, r.Note)
		require.Equal(t, !row.Background, r.Final)
	}
	require.NotEmpty(t, asked)
	for _, e := range asked {
		looked, ok := op.ByName(e.Op)
		require.True(t, ok)
		require.Equal(t, op.Read, looked.Class, "%s was looked for with %s", row.Name, e.Op)
	}
}
