package services_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

func TestEnsure_CreatesOrFinds(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		first, err := client.Lists.Ensure(t.Context(), tests.Q1)
		require.NoError(t, err)
		require.True(t, first.Created && first.Certain)
		require.Equal(t, "Q1", first.List.Name)
		time.Sleep(time.Minute)
		second, err := client.Lists.Ensure(t.Context(), tests.Q1)
		require.NoError(t, err)
		require.False(t, second.Created)
		require.True(t, second.Certain)
		require.Equal(t, first.List.ID, second.List.ID)
		require.Len(t, sb.Lists(), 1)
	})
}

// Where nothing goes wrong, one creation is enough.
func TestEnsure_SendsNothingMore(t *testing.T) {
	s := tests.Stage(t, tests.Always(201, `{"list":`+tests.OneList+`}`))
	got, err := tests.NewClient(t, s).Lists.Ensure(t.Context(), tests.Q1)
	require.NoError(t, err)
	require.True(t, got.Created && got.Certain)
	s.Done()
}

// A young list of the other kind is not the one that was created.
func TestEnsure_OtherKindIsRuledOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return tests.CutOff(r)
			}
			return tests.Respond(200, `{"data":[{"id":"`+tests.ListID+`","name":"Q1","entityType":"companyList","createdAt":"`+time.Now().UTC().Format(time.RFC3339)+`"}],
				"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`), nil
		}))
		err := tests.Create(t, client, tests.Q1)()
		unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
		require.True(t, ok)
		r, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.OutcomeNotApplied, r.Outcome)
	})
}

// The text of an unknown creation says what was looked for and what has failed since, if anything has.
func TestEnsure_TextOfAnUnknownCreation(t *testing.T) {
	for name, look := range map[string]tests.RoundTrip{
		"it could not be resolved; and since: ": denied,
		"looked":                                tests.Always(200, `{"data":[],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":0}}`),
	} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					return tests.CutOff(r)
				}
				return look(r)
			}))
			_, err := client.Lists.Ensure(t.Context(), tests.Q1)
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			require.ErrorContains(t, err, name)
			require.NotContains(t, err.Error(), "%!")
			require.Equal(t, name[0] == 'i', strings.Contains(err.Error(), "and since:"), err)
		})
	}
}

// A conflict tells a log who holds the name, and no names; the service's refusal stays reachable.
func TestNameConflict_Tells(t *testing.T) {
	tests.Ensuring(t, tests.SeededList("Q1", sandbox.CompanyList), nil, func(t *testing.T, _ *sandbox.Sandbox, client *prospectkit.Client) {
		_, err := client.Lists.Ensure(t.Context(), tests.Q1)
		require.Equal(t, 409, tests.AsError(t, err).Status)
		require.Equal(t, "[op=lists.ensure error.type=LIST_NAME_TAKEN reason=the name is held by a companyList, a contactList was wanted status=409 code=LIST_NAME_TAKEN "+
			"request_id=req_000001 outcome=not applied attempts=1]", tests.AsError(t, err).LogValue().String())
	})
}

// Whatever becomes of the first request, there is one list at the end, and Ensure knows whether it made it.
func TestEnsure_ThroughTrouble(t *testing.T) {
	for name, tc := range map[string]struct {
		fault   []sandbox.FaultOption
		hidden  time.Duration
		created bool
		certain bool
		sent    int
	}{
		"lost response":            {[]sandbox.FaultOption{sandbox.DropAfter()}, 0, false, false, 1},
		"lost response, seen late": {[]sandbox.FaultOption{sandbox.DropAfter()}, 5 * time.Second, false, false, 1},
		"lost request":             {[]sandbox.FaultOption{sandbox.DropBefore()}, 0, true, true, 2},
		"refused connection":       {[]sandbox.FaultOption{sandbox.Refuse()}, 0, true, true, 1},
		"late gateway":             {[]sandbox.FaultOption{sandbox.HTML(504), sandbox.Applied()}, 0, false, false, 1},
		"early gateway":            {[]sandbox.FaultOption{sandbox.HTML(502)}, 0, true, true, 2},
		"truncated response":       {[]sandbox.FaultOption{sandbox.Truncate(10)}, 0, true, true, 1},
		"limited":                  {[]sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(5)}, 0, true, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			tests.Ensuring(t, sandbox.Workspace{}, []sandbox.Option{sandbox.HideFor(tc.hidden)}, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
				sb.Fail("lists.create", append([]sandbox.FaultOption{sandbox.Nth(1)}, tc.fault...)...)
				got, err := client.Lists.Ensure(t.Context(), tests.Q1)
				require.NoError(t, err)
				require.Equal(t, tc.created, got.Created)
				require.Equal(t, tc.certain, got.Certain)
				require.Equal(t, tc.sent, sb.Calls("lists.create"))
				require.Len(t, sb.Lists(), 1)
				require.Equal(t, sb.Lists()[0].ID, got.List.ID)
			})
		})
	}
}

// Something else than the wanted list has the name.
func TestEnsure_NameConflict(t *testing.T) {
	for name, tc := range map[string]struct {
		seed   sandbox.Workspace
		in     prospectkit.NewList
		fault  []sandbox.FaultOption
		holder bool
		text   string
	}{
		"by the other kind":                {tests.SeededList("Q1", sandbox.ContactList), tests.Firms, nil, true, "held by a contactList"},
		"by the other kind, response lost": {tests.SeededList("Q1", sandbox.ContactList), tests.Firms, []sandbox.FaultOption{sandbox.DropAfter()}, true, "held by a contactList"},
		"by an agent":                      {sandbox.Workspace{Agents: []sandbox.Agent{{ID: "b00000000000000000000001", Name: "Q1", Type: "web-monitor", Status: "initializing"}}}, tests.Q1, nil, false, "an agent may hold it"},
		"by a list that shows to nobody":   {sandbox.Workspace{Lists: []sandbox.List{{ID: "a00000000000000000000002", Name: "Q1", EntityType: sandbox.ContactList, VisibleAt: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}}}, tests.Q1, nil, false, "no list has it"},
	} {
		t.Run(name, func(t *testing.T) {
			tests.Ensuring(t, tc.seed, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
				if tc.fault != nil {
					sb.Fail("lists.create", append([]sandbox.FaultOption{sandbox.Nth(1)}, tc.fault...)...)
				}
				held, err := client.Lists.Ensure(t.Context(), tc.in)
				require.ErrorContains(t, err, tc.text)
				require.Equal(t, tc.holder, held != nil)
				if tc.holder {
					require.Equal(t, sb.Lists()[0].ID, held.List.ID)
					require.False(t, held.Created)
				}
				require.Equal(t, "lists.ensure", tests.AsError(t, err).Op)
				require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
				require.ErrorIs(t, err, prospectkit.ErrConflict)
				require.Equal(t, prospectkit.CodeListNameTaken, prospectkit.CodeOf(err))
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
				require.Equal(t, tests.NoWait, tests.Waits(err))
				require.NotContains(t, tests.AsError(t, err).LogValue().String(), "Q1", "a name is the user's")
			})
		})
	}
}

// After a lost creation, a list that was there before counts as found, not as created.
func TestEnsure_FindsAnOlderListAfterALostResponse(t *testing.T) {
	tests.Ensuring(t, tests.SeededList("Q1", sandbox.ContactList), nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
		got, err := client.Lists.Ensure(t.Context(), tests.Q1)
		require.NoError(t, err)
		require.False(t, got.Created)
		require.True(t, got.Certain)
	})
}

// Fifty goroutines ensure the same list, while responses get lost: it exists once.
func TestEnsure_Races(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		sb.Fail("lists.create", sandbox.Every(3), sandbox.DropAfter())
		var group sync.WaitGroup
		ids := make([]string, 50)
		for i := range ids {
			group.Go(func() {
				got, err := client.Lists.Ensure(t.Context(), tests.Q1)
				require.NoError(t, err)
				ids[i] = got.List.ID
			})
		}
		group.Wait()
		require.Len(t, sb.Lists(), 1)
		for _, id := range ids {
			require.Equal(t, sb.Lists()[0].ID, id)
		}
	})
}

func TestEnsure_GivesUp(t *testing.T) {
	tests.Ensuring(t, sandbox.Workspace{}, nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		sb.Fail("lists.create", sandbox.Always(), sandbox.HTML(502))
		first := time.Now()
		_, err := client.Lists.Ensure(t.Context(), tests.Q1)
		var unknown *prospectkit.OutcomeUnknownError
		require.ErrorAs(t, err, &unknown)
		require.Equal(t, first, unknown.SentAt, "the first request with an unknown outcome")
		require.Equal(t, 3, sb.Calls("lists.create"), "after three rounds")

		short, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		_, err = client.Lists.Ensure(short, tests.Q1)
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown, "the context ends before it would definitely show")
		require.Less(t, time.Since(began), 3*time.Second)

		_, err = client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: " "})
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	})
}

// A response that proves a creation, and is hardly the service's, if the list of that name is older than the call.
func TestEnsure_CreatedAndOlder(t *testing.T) {
	for createdAt, created := range map[string]bool{`,"createdAt":"1999-01-01T00:00:00Z"`: false, ``: true} {
		synctest.Test(t, func(t *testing.T) {
			list := `{"id":"` + tests.ListID + `","name":"Q1","entityType":"contactList"` + createdAt + `}`
			s := tests.Stage(t, tests.Always(201, "{"), tests.Always(200, `{"data":[`+list+`],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`))
			got, err := tests.NewClient(t, s).Lists.Ensure(t.Context(), tests.Q1)
			require.NoError(t, err)
			require.Equal(t, created, got.Created)
			require.True(t, got.Certain)
			s.Done()
		})
	}
}

// With less time than a list or an agent may need to show, nobody knows what has the name that is taken.
func TestEnsure_LittleTime(t *testing.T) {
	for name, end := range map[string]error{"deadline": context.DeadlineExceeded, "cancelled": context.Canceled} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					switch {
					case r.Method == http.MethodPost:
						return tests.NameTaken(r)
					case strings.Contains(r.URL.Path, "/agents"):
						return tests.OtherAgents(r)
					}
					return tests.Respond(200, `{"data":[],"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`), nil
				}))
				for _, ensure := range []func(context.Context) error{
					func(ctx context.Context) error { _, err := client.Lists.Ensure(ctx, tests.Q1); return err },
					func(ctx context.Context) error { _, err := client.Agents.Ensure(ctx, tests.Capped()); return err },
				} {
					ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
					defer cancel()
					if errors.Is(end, context.Canceled) {
						time.AfterFunc(1500*time.Millisecond, cancel)
					}
					err := ensure(ctx)
					require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
					require.ErrorIs(t, err, end)
					require.ErrorContains(t, err, "too little time")
					require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
					require.ErrorContains(t, err, "call it again with more")
				}
			})
		})
	}
}

// Names are searched by their first 200 characters and compared whole; several lists of one name are an error with its code.
func TestEnsure_ComparesWholeNames(t *testing.T) {
	long := strings.Repeat("ä", 220)
	tests.Ensuring(t, tests.SeededList(long+"x", sandbox.ContactList), nil, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
		got, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: long + "y"})
		require.NoError(t, err)
		require.True(t, got.Created)
		sb.Do(func(tx *sandbox.Tx) {
			tx.CreateList(sandbox.List{Name: long + "y", EntityType: sandbox.ContactList})
		})
		_, err = client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: long + "y"})
		require.ErrorIs(t, err, prospectkit.CodeListNameAmbiguous)
	})
}
