package outcome_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// outcomeUnknown makes a call whose response is lost and returns its error.
func outcomeUnknown(t *testing.T, sb *sandbox.Sandbox, op string, fault sandbox.FaultOption, call func() error) *prospectkit.OutcomeUnknownError {
	t.Helper()
	sb.Fail(op, sandbox.Nth(1), fault)
	unknown := tests.AsUnknown(t, call())
	require.Equal(t, 1, sb.Calls(op), "nothing is sent twice")
	return unknown
}

func TestResolve_Create(t *testing.T) {
	for name, tc := range map[string]struct {
		seed    sandbox.Workspace
		hidden  time.Duration
		in      prospectkit.NewList
		fault   sandbox.FaultOption
		outcome prospectkit.Outcome
		object  bool
		took    time.Duration // from the call on
		after   time.Duration // when it is looked for
	}{
		"happened":            {sandbox.Workspace{}, 0, tests.Q1, sandbox.DropAfter(), prospectkit.OutcomeApplied, true, 0, 0},
		"happened, seen late": {sandbox.Workspace{}, 4 * time.Second, tests.Q1, sandbox.DropAfter(), prospectkit.OutcomeApplied, true, 7 * time.Second, 0},
		"never arrived":       {sandbox.Workspace{}, 0, tests.Q1, sandbox.DropBefore(), prospectkit.OutcomeNotApplied, false, 10 * time.Second, 0},
		"an older list":       {tests.SeededList("Q1", sandbox.ContactList), 0, tests.Q1, sandbox.DropBefore(), prospectkit.OutcomeNotApplied, true, 0, 0},
		"the other kind":      {tests.SeededList("Q1", sandbox.ContactList), 0, tests.Firms, sandbox.DropBefore(), prospectkit.OutcomeNotApplied, true, 0, 0},
		"looked for later":    {sandbox.Workspace{}, 0, tests.Q1, sandbox.DropBefore(), prospectkit.OutcomeNotApplied, false, 10 * time.Second, 4 * time.Second},
		"an hour later":       {sandbox.Workspace{}, 0, tests.Q1, sandbox.DropAfter(), prospectkit.OutcomeApplied, true, time.Hour, time.Hour},
		"seen too late":       {sandbox.Workspace{}, time.Minute, tests.Q1, sandbox.DropAfter(), prospectkit.OutcomeNotApplied, false, 10 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tests.Ensuring(t, tc.seed, []sandbox.Option{sandbox.HideFor(tc.hidden)}, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
				unknown := outcomeUnknown(t, sb, "lists.create", tc.fault, tests.Create(t, client, tc.in))
				began := time.Now()
				time.Sleep(tc.after)
				r := resolved(t, unknown.Resolve)
				require.Equal(t, tc.outcome, r.Outcome, r.Note)
				require.Zero(t, r.Again, "it is known")
				list, found := r.Object.(*prospectkit.List)
				require.Equal(t, tc.object, found)
				if found {
					require.Equal(t, "Q1", list.Name)
				}
				require.Equal(t, tc.outcome == prospectkit.OutcomeNotApplied && !tc.object, strings.HasPrefix(r.Note, "looked for the list of that name"), r.Note)
				require.InDelta(t, tc.took.Seconds(), time.Since(began).Seconds(), 0.5)
				require.Equal(t, 1, sb.Calls("lists.create"), "resolving reads only")
			})
		})
	}
}

// The info of the caller holds the last read, in this process and from a ticket.
func TestResolve_FillsTheCallersInfo(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, client, tests.Q1))
		for name, resolve := range map[string]func(...prospectkit.CallOption) (*prospectkit.Resolution, error){
			"error": func(o ...prospectkit.CallOption) (*prospectkit.Resolution, error) {
				return unknown.Resolve(t.Context(), o...)
			},
			"ticket": func(o ...prospectkit.CallOption) (*prospectkit.Resolution, error) {
				return client.Resolve(t.Context(), unknown.Ticket(), o...)
			},
		} {
			info := prospectkit.Info{MaxBody: 1 << 10}
			r, err := resolve(prospectkit.WithInfo(&info))
			require.NoError(t, err, name)
			require.Equal(t, prospectkit.OutcomeApplied, r.Outcome, name)
			require.Equal(t, "lists.list", info.Op, name)
			require.Equal(t, http.StatusOK, info.Status, name)
			require.Contains(t, string(info.Body), "Q1", name)
		}
	})
}

// A teammate who makes the list in the same moment cannot be told from us, and the note says so.
func TestResolve_IsHonestAboutTeammates(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropBefore(), tests.Create(t, client, tests.Q1))
		sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "Q1", EntityType: sandbox.ContactList}) })
		r := resolved(t, unknown.Resolve)
		require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
		require.Contains(t, r.Note, "teammate")
	})
}

// A list at the root has a folderId of null. A list without one, or with one of another type, proves nothing.
func TestResolve_MoveNeedsAFolderID(t *testing.T) {
	for folder, outcomes := range map[string][2]prospectkit.Outcome{ // of a move into the folder, and of one to the root
		`"folderId":null,`: {prospectkit.OutcomeNotApplied, prospectkit.OutcomeApplied},
		`"folderId":"` + strings.ToUpper(tests.FolderID) + `",`: {prospectkit.OutcomeApplied, prospectkit.OutcomeNotApplied},
		`"folderId":"",`: {prospectkit.OutcomeUnknown, prospectkit.OutcomeUnknown},
		`"folderId":{"id":"` + tests.FolderID + `"},`: {prospectkit.OutcomeUnknown, prospectkit.OutcomeUnknown},
		`"folderId":7,`: {prospectkit.OutcomeUnknown, prospectkit.OutcomeUnknown},
		``:              {prospectkit.OutcomeUnknown, prospectkit.OutcomeUnknown},
	} {
		for i, want := range outcomes {
			synctest.Test(t, func(t *testing.T) {
				client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPatch {
						return tests.Consumed(r)
					}
					return tests.Respond(200, `{"list":{`+folder+`"id":"`+tests.ListID+`","name":"Q1","entityType":"contactList"}}`), nil
				}))
				_, err := client.Lists.Move(t.Context(), tests.ListID, tests.FolderID)
				if i == 1 {
					_, err = client.Lists.MoveToRoot(t.Context(), tests.ListID)
				}
				unknown := tests.AsUnknown(t, err)
				r := resolved(t, unknown.Resolve)
				require.Equal(t, want, r.Outcome, "%s: %s", folder, r.Note)
			})
		}
	}
}

// A listing that lacks a name or a kind proves nothing about a creation whose response was lost: neither that it was not applied, nor that
// the other kind has the name.
func TestResolve_CreateNeedsNameAndKind(t *testing.T) {
	for name, c := range map[string]struct {
		field string
		seed  sandbox.Workspace
		fault sandbox.FaultOption
	}{
		"no name": {"data.*.name", sandbox.Workspace{}, sandbox.DropAfter()}, "no kind": {"data.*.entityType", sandbox.Workspace{}, sandbox.DropAfter()},
		"an older one without a kind": {"data.*.entityType", tests.SeededList("Q1", sandbox.ContactList), sandbox.DropBefore()},
	} {
		tests.Ensuring(t, c.seed, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
			unknown := outcomeUnknown(t, sb, "lists.create", c.fault, tests.Create(t, client, tests.Q1))
			sb.Fail("lists.list", sandbox.Always(), sandbox.SetField(c.field, nil))
			r := resolved(t, unknown.Resolve)
			require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, name)
			require.Equal(t, name != "no name", r.Note == "the list of that name has no kind", r.Note)

			sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
			_, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Q2"})
			require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err), "%s: %v", name, err)
			require.Equal(t, 2, sb.Calls("lists.create"), "it is not made again")
		})
	}
}

// When the context ends first, a later read may tell; when reading fails, it is the error of the read.
func TestResolve_WithinTheContext(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropBefore(), tests.Create(t, client, tests.Q1))
		short := tests.Within(t, 4*time.Second)
		r, err := unknown.Resolve(short)
		require.NoError(t, err)
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
		require.WithinRange(t, r.Again, time.Now().Add(time.Second), unknown.SentAt.Add(10*time.Second))

		sb.Revoke(sb.Token())
		require.ErrorIs(t, tests.Discard(unknown.Resolve(t.Context())), prospectkit.CodeUnauthorized)
	})
}

// Errors that no call has made, or that were written down and read back, print, and say that they cannot look.
func TestResolve_OutcomesOfNoCall(t *testing.T) {
	var zero prospectkit.OutcomeUnknownError
	require.Equal(t, "prospectkit: outcome unknown, it may have happened", zero.Error())
	require.NotEmpty(t, zero.LogValue().String())
	r := resolved(t, zero.Resolve)
	require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
	require.Equal(t, "no call of this process made this error: if a journal has its ticket, resolve that", r.Note, "nobody knows what the service shows of it")

	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		unknown := outcomeUnknown(t, sb, "lists.create", sandbox.DropAfter(), tests.Create(t, client, tests.Q1))
		text, err := json.Marshal(unknown)
		require.NoError(t, err)
		var back prospectkit.OutcomeUnknownError
		require.NoError(t, json.Unmarshal(text, &back))
		require.ErrorContains(t, &back, "lists.create: outcome unknown")
		require.Len(t, back.Attempts, 1)
		require.Equal(t, "unknown", back.Attempts[0].Delivery)
		require.NoError(t, back.Attempts[0].Err, "JSON holds no errors")
		r := resolved(t, back.Resolve)
		require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
		require.Contains(t, r.Note, "no call of this process made")
		require.Contains(t, r.Note, "the list of that name")
	})
}

// A resolution is printed without its object, which may hold personal data.
func TestResolution_String(t *testing.T) {
	applied := &prospectkit.Resolution{Outcome: prospectkit.OutcomeApplied, Object: &prospectkit.List{Name: "Ada"}}
	require.Equal(t, "applied", fmt.Sprint(applied))
	applied.Note = "there may be another one"
	require.Equal(t, "applied: there may be another one", fmt.Sprintf("%v", *applied))
	open := prospectkit.Resolution{Outcome: prospectkit.OutcomeUnknown, Note: "looked for it", Again: time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)}
	require.Equal(t, "unknown: looked for it; to be read again at 2026-05-06T07:08:09Z", open.String())
	require.Equal(t, "<nil>", fmt.Sprint((*prospectkit.Resolution)(nil)))
}
