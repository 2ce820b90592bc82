package tests

import (
	"regexp"
	"strings"
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
				unknown := Unknown(t, err)
				require.Equal(t, row.Name, unknown.Op)
				resolves(t, sb, unknown, row, arrives)

				read := len(sb.Journal())
				require.NoError(t, Discard(client.Resolve(t.Context(), unknown.Ticket())))
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
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "%s: its service has a look for it, so its row in internal/op/table.go Resolves", row.Name)
		require.Equal(t, row.Verify, r.Note, "the reason is that of the table")
		require.Empty(t, asked)
		return
	case happened:
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, shows, r.Note)
		require.NotNil(t, r.Object)
	default:
		want := prospectkit.OutcomeNotApplied
		if row.Background {
			want = prospectkit.OutcomeUnknown
		}
		require.Equal(t, want, r.Outcome, shows, r.Note)
		require.Equal(t, row.Background, r.Again.After(time.Now()), "it may yet show")
	}
	require.NotEmpty(t, asked)
	for _, e := range asked {
		looked, ok := op.ByName(e.Op)
		require.True(t, ok)
		require.Equal(t, op.Read, looked.Class, "%s was looked for with %s", row.Name, e.Op)
	}
}

// Whether a read shows the effect of a write is seen at the sandbox: then the write Resolves, or its Verify says why that read proves nothing.
func TestResolve_WhatAReadShows(t *testing.T) {
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	seen := func(sb *sandbox.Sandbox) map[string]string {
		bodies := make(map[string]string)
		for _, o := range op.All() {
			if o.FreeRead() && o.Shape != op.Raw {
				story := recorded(t, sb, o)
				bodies[o.Name] = story[strings.LastIndex(story, "\n\n"):]
			}
		}
		return bodies
	}
	unproved := regexp.MustCompile(`^no (documented )?read |undocumented`)
	EachOperation(t, func(t *testing.T, row *op.Op, _ AnyCall) {
		if !row.Write() {
			return
		}
		require.NotEqual(t, row.Resolves, unproved.MatchString(row.Verify), "Verify of %s in internal/op/table.go: "+
			"the row Resolves, and there is a look beside its method, or Verify begins with \"no documented read\" and says why", row.Name)
		if row.Resolves {
			return
		}
		sb := EverySandbox(t, begin, sandbox.WithClock(sandbox.NewManualClock(begin)))
		before := seen(sb)
		recorded(t, sb, row)
		for name, body := range seen(sb) {
			require.True(t, body == before[name] || regexp.MustCompile("proves|undocumented").MatchString(row.Verify), "after %s, the sandbox's handler of %s "+
				"shows more. If the description has that, the row in internal/op/table.go Resolves, or its Verify says with the word \"proves\" why it proves nothing; if not, the handler must not show it:\n%s", row.Name, name, body)
		}
	})
}
