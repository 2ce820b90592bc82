package services_test

import (
	"context"
	"errors"
	"fmt"
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

// nearly is the listing of a list with some name and kind, that was created at a time, and the time of the service.
func nearly(name, kind string, created time.Time) tests.RoundTrip {
	list := fmt.Sprintf(`{"id":%q,"name":%q,"entityType":%q,"createdAt":%q}`, tests.ListID, name, kind, created.UTC().Format(time.RFC3339))
	return func(r *http.Request) (*http.Response, error) {
		resp, err := tests.OnePage(list)(r)
		resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
		return resp, err
	}
}

// A young list of the other kind is not the one that was created.
func TestEnsure_OtherKindIsRuledOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := tests.Create(t, tests.NewClient(t, tests.Lost(nearly("Q1", "companyList", time.Now()))), tests.Q1)()
		require.Equal(t, prospectkit.OutcomeNotApplied, tests.Resolved(t, err).Outcome)
	})
}

// The text of an unknown creation says what was looked for and what has failed since, if anything has.
func TestEnsure_TextOfAnUnknownCreation(t *testing.T) {
	for name, look := range map[string]tests.RoundTrip{"it could not be resolved; and since: ": denied, "looked": tests.OnePage()} {
		synctest.Test(t, func(t *testing.T) {
			_, err := tests.NewClient(t, tests.Lost(look)).Lists.Ensure(t.Context(), tests.Q1)
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
	none := sandbox.Workspace{}
	for name, tc := range map[string]struct {
		seed    sandbox.Workspace
		fault   []sandbox.FaultOption
		hidden  time.Duration
		created bool
		certain bool
		sent    int
	}{
		"lost response":                {none, []sandbox.FaultOption{sandbox.DropAfter()}, 0, false, false, 1},
		"lost response, seen late":     {none, []sandbox.FaultOption{sandbox.DropAfter()}, 5 * time.Second, false, false, 1},
		"lost response, an older list": {tests.SeededList("Q1", sandbox.ContactList), []sandbox.FaultOption{sandbox.DropAfter()}, 0, false, true, 1},
		"lost request":                 {none, []sandbox.FaultOption{sandbox.DropBefore()}, 0, true, true, 2},
		"refused connection":           {none, []sandbox.FaultOption{sandbox.Refuse()}, 0, true, true, 1},
		"late gateway":                 {none, []sandbox.FaultOption{sandbox.HTML(504), sandbox.Applied()}, 0, false, false, 1},
		"early gateway":                {none, []sandbox.FaultOption{sandbox.HTML(502)}, 0, true, true, 2},
		"truncated response":           {none, []sandbox.FaultOption{sandbox.Truncate(10)}, 0, true, true, 1},
		"limited":                      {none, []sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(5)}, 0, true, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			tests.Ensuring(t, tc.seed, []sandbox.Option{sandbox.HideFor(tc.hidden)}, func(t *testing.T, sb *sandbox.Sandbox, client *prospectkit.Client) {
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
			s := tests.Stage(t, tests.Always(201, "{"), tests.OnePage(list))
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
		tests.InBubble(t, name, func(t *testing.T) {
			client := tests.NewClient(t, tests.Writes(tests.NameTaken, func(r *http.Request) (*http.Response, error) {
				if strings.Contains(r.URL.Path, "/agents") {
					return tests.OtherAgents(r)
				}
				return tests.OnePage()(r)
			}))
			for _, ensure := range []func(context.Context) error{
				func(ctx context.Context) error { return tests.Discard(client.Lists.Ensure(ctx, tests.Q1)) },
				func(ctx context.Context) error { return tests.Discard(client.Agents.Ensure(ctx, tests.Capped())) },
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

// Where a name is taken and only a list of another letter case is found, that list is beside the error, and no other.
func TestEnsure_NameThatDiffersInCase(t *testing.T) {
	found := tests.OnePage(`{"id":"a00000000000000000000001","name":" SPRING ","entityType":"contactList"}`,
		`{"id":"a00000000000000000000002","name":"Spring 2","entityType":"contactList"}`)
	for name, near := range map[string]string{"Spring": " SPRING ", "Summer": ""} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.Writes(tests.NameTaken, found))
			taken, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: name})
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, near != "", taken != nil)
			want := "prospectkit: lists.ensure: the name is taken, but no list has it: an agent may hold it, or a new list may show late"
			if near != "" {
				require.Equal(t, near, taken.List.Name)
				require.False(t, taken.Created || taken.Certain)
				want = "prospectkit: lists.ensure: the name is taken; a list's name differs from it in case, spaces or accents only, or is cut off"
			}
			require.EqualError(t, err, want)
		})
	}
}

// An older list whose name differs in case only explains the refusal: it is told at once. One that may be of this call does not, and only then
// the hint speaks of a repeated request.
func TestEnsure_OlderNameThatDiffersInCase(t *testing.T) {
	for age, patience := range map[time.Duration]time.Duration{time.Hour: 0, 0: 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			client := tests.NewClient(t, tests.Writes(tests.NameTaken, nearly("SPRING", "contactList", began.Add(-age))))
			taken, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Spring"})
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, "SPRING", taken.List.Name)
			require.Equal(t, patience, time.Since(began).Truncate(time.Second))
			require.Equal(t, age == 0, strings.Contains(err.Error(), "an intermediary may have sent the request twice"))
		})
	}
}

// A list that appears under nearly the name of a lost creation may be it: nothing is ruled out, and no second one is created.
func TestEnsure_NameInAnotherForm(t *testing.T) {
	const asked = "Caf\u00e9 Q1"
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // in a bubble
	for name, c := range map[string]struct {
		shown, kind string
		created     time.Time
		own         bool
	}{
		"decomposed":             {"Cafe\u0301 Q1", "contactList", now, true},
		"spaces":                 {"Caf\u00e9  Q1", "contactList", now, true},
		"case":                   {"CAF\u00c9 q1", "contactList", now, true},
		"no kind":                {"Caf\u00e9 q1", "", now, true},
		"of another kind":        {"Caf\u00e9 q1", "companyList", now, false},
		"older than the call":    {"Caf\u00e9 q1", "contactList", now.Add(-25 * time.Hour), false},
		"not the name, by a bit": {"Caf\u00e8 Q1", "contactList", now, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			posts := 0
			client := tests.NewClient(t, tests.Writes(tests.Counting(&posts, tests.CutOff), nearly(c.shown, c.kind, c.created)))
			r := tests.Resolved(t, tests.Create(t, client, prospectkit.NewList{Name: asked})())
			require.Equal(t, map[bool]prospectkit.Outcome{true: prospectkit.OutcomeUnknown, false: prospectkit.OutcomeNotApplied}[c.own], r.Outcome, "%s: %v", name, r)
			require.Zero(t, r.Again, name)

			posts = 0
			_, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: asked})
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			require.Equal(t, map[bool]int{true: 1, false: 3}[c.own], posts, name)
			if c.own {
				require.ErrorContains(t, err, "differs in case, spaces or accents only")
			}
		})
	}
}

// The service searches for a text in names (documented). What the client searches for finds the list in whatever form its name is kept.
func TestResolve_SearchFindsNamesInAnotherForm(t *testing.T) {
	long := strings.Repeat("Leads of the trade fair, ", 5)
	for asked, kept := range map[string]string{
		"Cafe\u0301 Q1": "Caf\u00e9 Q1", "Q1  Berlin": "Q1 Berlin", "Q1\u00a0Berlin": "Q1 Berlin", "Q1 Berlin": "q1 berlin", long: long[:50],
		"\u041c\u043e\u0441\u043a\u0432\u0430": "\u043c\u043e\u0441\u043a\u0432\u0430",
	} {
		synctest.Test(t, func(t *testing.T) {
			client := tests.NewClient(t, tests.Lost(func(r *http.Request) (*http.Response, error) {
				if !strings.Contains(strings.ToLower(kept), strings.ToLower(r.FormValue("search"))) {
					return tests.OnePage()(r)
				}
				return tests.OnePage(`{"id":"` + tests.ListID + `","name":"` + kept + `","entityType":"contactList"}`)(r)
			}))
			r := tests.Resolved(t, tests.Create(t, client, prospectkit.NewList{Name: asked})())
			require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome, "%q kept as %q", asked, kept)
		})
	}
}

// A list is found by its whole name and its kind, and none is created.
func TestNamed(t *testing.T) {
	ctx := t.Context()
	long := strings.Repeat("x", 300) // of the results of an agent, whose name has no documented maximum
	sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", User: sandbox.User{Email: "ada@workspace.example", Name: "Ada"},
		Lists: []sandbox.List{
			{Name: "Berlin 2", EntityType: sandbox.ContactList},
			{Name: "Berlin", EntityType: sandbox.ContactList},
			{Name: "Firms", EntityType: sandbox.CompanyList},
			{Name: long, EntityType: sandbox.ContactList},
		},
	}}}))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	for _, found := range []struct {
		name string
		kind prospectkit.ListKind
	}{
		{"Berlin", ""}, {" Berlin\t", prospectkit.ContactList}, {"Firms", ""}, {"Firms", prospectkit.CompanyList}, {long, ""},
	} {
		list, err := client.Lists.Named(ctx, found.name, found.kind)
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(found.name), list.Name)
	}
	for _, missing := range []struct {
		name string
		kind prospectkit.ListKind
	}{
		{"berlin", ""}, {"Berl", ""}, {"Berlin 3", prospectkit.ContactList}, {"Berlin", prospectkit.CompanyList}, {"Firms", prospectkit.ContactList},
	} {
		list, err := client.Lists.Named(ctx, missing.name, missing.kind)
		require.Nil(t, list)
		require.ErrorIs(t, err, prospectkit.ErrNotFound)
		require.Equal(t, prospectkit.CodeListNotFound, prospectkit.CodeOf(err))
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.EqualError(t, err, "prospectkit: lists.list: LIST_NOT_FOUND: no list of this kind has this name")
	}
	require.Len(t, sb.Lists(), 4)
}

func TestNamed_Refused(t *testing.T) {
	lists := tests.NewClient(t, tests.Untouched(t)).Lists
	for want, err := range map[string]error{
		"name must not be blank":  tests.Discard(lists.Named(t.Context(), " \t", "")),
		"name is not valid UTF-8": tests.Discard(lists.Named(t.Context(), tests.Latin1, "")),
		`entityType is "people", must be one of ["contactList" "companyList"]`: tests.Discard(lists.Named(t.Context(), "Berlin", "people")),
	} {
		require.Equal(t, []string{want}, tests.Refusals(t, err))
	}
}

// Names are documented as unique, and yet there is a code for several lists of one name.
func TestNamed_Several(t *testing.T) {
	berlin := func(id string) string { return `{"id":"` + id + `","name":"Berlin","entityType":"contactList"}` }
	client := tests.NewClient(t, tests.OnePage(berlin(tests.ListID), berlin(tests.ResultsID)))
	_, err := client.Lists.Named(t.Context(), "Berlin", "")
	require.ErrorIs(t, err, prospectkit.CodeListNameAmbiguous)
	require.NotErrorIs(t, err, prospectkit.ErrNotFound)
}
