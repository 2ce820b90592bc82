package services_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// A draft that an earlier run has left is started as this run wants it: no read shows what it was saved with.
func TestCreateAndStart_AsSpecified(t *testing.T) {
	titles := func(title string) prospectkit.Fields { return prospectkit.Fields{"jobTitles": []string{title}} }
	first := prospectkit.PersonDiscovery{ListName: "Heads", MaxCreditSpend: 20_000, Expires: prospectkit.NeverExpires, Filters: titles("Head of Sales")}
	monitor := tests.Altered(tests.Capped(), func(m *tests.MonitorOf) { m.NumResults, m.SearchPeriod = 90, prospectkit.SearchPeriodHour })
	watcher := tests.Watcher()
	watcher.Frequency, watcher.MaxCreditSpend = 30, 9000
	for name, test := range map[string]struct {
		first, second prospectkit.AgentSpec
		opts          []prospectkit.CallOption
		config        string
	}{
		"less, for others": {
			first,
			prospectkit.PersonDiscovery{ListName: "Heads", MaxCreditSpend: 1000, Filters: titles("VP of Sales")},
			[]prospectkit.CallOption{prospectkit.WithField("mine", 7)},
			`{"listName":"Heads","maxCreditSpend":1000,"expirationDate":"2000-02-01","jobTitles":["VP of Sales"],"mine":7}`,
		},
		"a cap at last": {
			tests.Altered(first, func(d *tests.DiscoveryOf) { d.MaxCreditSpend, d.Unlimited = 0, true }), first, nil,
			`{"listName":"Heads","maxCreditSpend":20000,"expirationDate":null,"jobTitles":["Head of Sales"]}`,
		},
		"no cap": {
			first, tests.Altered(first, func(d *tests.DiscoveryOf) { d.MaxCreditSpend, d.Unlimited = 0, true }), nil,
			`{"listName":"Heads","maxCreditSpend":20000,"expirationDate":null,"jobTitles":["Head of Sales"]}`,
		},
		"the defaults": {
			monitor, tests.Capped(), nil,
			`{"listName":"Funding","maxCreditSpend":1000,"expirationDate":"2000-02-01","entityType":"company","prompt":"raised a round","numResults":10,"searchPeriod":"1d"}`,
		},
		"the default of a watcher": {
			watcher, tests.Altered(watcher, func(w *prospectkit.PeopleWatcher) { w.Frequency = 0 }), nil,
			`{"listName":"` + watcher.ListName + `","maxCreditSpend":9000,"expirationDate":"2000-02-01","eventType":"` + string(watcher.EventType) + `","listId":"` + watcher.ListID + `","frequency":1}`,
		},
	} {
		tests.InBubble(t, name, func(t *testing.T) {
			ws := tests.SeededList("People", sandbox.ContactList)
			ws.Name, ws.Lists[0].ID, ws.Credits = "main", tests.ListID, 50_000
			ws.Lists[0].Rows = sandbox.Rows(sandbox.Row{"socialUrl": "https://social.example/ada"})
			sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{ws}}))
			agents := tests.SandboxClient(t, sb).Agents
			sb.Fail("agents.activate", sandbox.Nth(1), sandbox.Status(http.StatusPaymentRequired, "INSUFFICIENT_CREDITS"))
			_, err := agents.CreateAndStart(t.Context(), test.first)
			require.ErrorIs(t, err, prospectkit.CodeInsufficientCredits)
			require.ErrorContains(t, err, "add credits or ask for less; nothing was billed")
			require.NoError(t, tests.Discard(agents.CreateAndStart(t.Context(), test.second, test.opts...)))
			require.JSONEq(t, test.config, string(sb.Agents()[0].Config))
			require.NotEqual(t, "initializing", sb.Agents()[0].Status)
		})
	}
}

// An agent that runs keeps what it was started with, and the result says that it is not the spec's.
func TestEnsure_WasStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Credits(50_000))
		agents := tests.SandboxClient(t, sb).Agents
		spec := tests.Altered(tests.Capped(), func(m *tests.MonitorOf) { m.MaxCreditSpend, m.Start = 20_000, true })
		e, err := agents.Ensure(t.Context(), spec)
		require.NoError(t, err)
		require.Equal(t, []bool{true, false}, []bool{e.Created, e.WasStarted})
		e, err = agents.Ensure(t.Context(), tests.Altered(spec, func(m *tests.MonitorOf) { m.MaxCreditSpend = 1000 }))
		require.NoError(t, err)
		require.Equal(t, []bool{false, true}, []bool{e.Created, e.WasStarted})
		require.Zero(t, sb.Calls("agents.adjust"))
	})
}

// What the call would refuse to create, it does not make of a draft either.
func TestCreateAndStart_NoOtherField(t *testing.T) {
	for problem, extra := range map[string]prospectkit.Fields{
		`body cannot be encoded: field "maxcreditspend"`: {"maxcreditspend": 200_000},
		"note is not valid UTF-8":                        {"note": "\xff"},
		`is set by the call itself, as "maxCreditSpend"`: {"MaxCreditSpend": 200_000},
	} {
		s := tests.Stage(t, tests.OurDraft)
		_, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), tests.Altered(tests.Capped(), func(m *tests.MonitorOf) { m.Extra = extra }))
		require.ErrorIs(t, err, prospectkit.ErrNotStarted)
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.ErrorContains(t, err, problem)
		s.Done()
	}
}

// A month from now ends by the service's clock.
func TestCreateAndStart_AMonthByTheServicesClock(t *testing.T) {
	dated := func(r *http.Request) (*http.Response, error) {
		resp, err := tests.OurDraft(r)
		resp.Header.Set("Date", "Sat, 15 Jun 2030 12:00:00 GMT")
		return resp, err
	}
	s := tests.Stage(t, dated, tests.Always(200, "{}"), tests.Always(200, tests.AgentJSON("processing")))
	_, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), tests.Capped())
	require.NoError(t, err)
	require.Contains(t, s.Sent[1], `"expirationDate":"2030-07-15"`)
	s.Done()
}

// A proxy that removes the rate headers keeps no draft from being started: the response to the adjustment names the draft.
func TestCreateAndStart_WithoutRateHeaders(t *testing.T) {
	listed := func(r *http.Request) (*http.Response, error) {
		resp, err := tests.OurDraft(r)
		for i := 0; i < len(tests.Bare); i += 2 {
			resp.Header.Del(tests.Bare[i])
		}
		return resp, err
	}
	for name, adjusted := range map[string]string{"enveloped": tests.AgentJSON("initializing"), "bare": `{"id":"` + tests.AgentID + `"}`} {
		t.Run(name, func(t *testing.T) {
			s := tests.Stage(t, listed, tests.Always(200, adjusted, tests.Bare...), tests.Always(200, tests.AgentJSON("processing"), tests.Bare...))
			_, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), tests.Capped())
			require.NoError(t, err)
			s.Done()
		})
	}
}

// The error after a draft was saved has the fields of the response that refused to start it.
func TestCreateAndStart_RefusalAfterTheDraft(t *testing.T) {
	for op, method := range map[string]func(*prospectkit.AgentsService) error{
		"agents.create-and-start": func(s *prospectkit.AgentsService) error {
			return tests.Discard(s.CreateAndStart(t.Context(), tests.Capped()))
		},
		"agents.ensure": func(s *prospectkit.AgentsService) error {
			return tests.Discard(s.Ensure(t.Context(), tests.Altered(tests.Capped(), func(m *tests.MonitorOf) { m.Start = true })))
		},
	} {
		s := tests.Stage(t, tests.OtherAgents, tests.DraftSaved,
			tests.Always(402, `{"error":{"type":"x","code":"INSUFFICIENT_CREDITS","message":"no credits","requestId":"req-7"}}`))
		err := method(tests.NewClient(t, s).Agents)
		require.ErrorIs(t, err, prospectkit.ErrNotStarted)
		require.ErrorIs(t, err, prospectkit.CodeInsufficientCredits)
		refused := tests.AsError(t, err)
		require.Equal(t, op, refused.Op)
		require.Equal(t, 402, refused.Status)
		require.Equal(t, prospectkit.CodeInsufficientCredits, refused.Code)
	}
}

// The first creation may have made what holds the name: that the name is taken does not make its outcome known.
func TestEnsureAgent_StaysUnknownWhenTheNameIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		created := 0
		service := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost:
				if created++; created == 1 {
					return tests.CutOff(r)
				}
				return tests.NameTaken(r)
			case strings.HasSuffix(r.URL.Path, "/lists") && created == 2:
				return tests.HoldingList(r)
			case strings.HasSuffix(r.URL.Path, "/lists"):
				return tests.Always(200, `{"data":[],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":0}}`)(r)
			}
			return tests.OtherAgents(r)
		})
		_, err := tests.NewClient(t, service).Agents.Ensure(t.Context(), tests.Capped())
		require.Equal(t, 2, created)
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
	})
}

// What has the name, and is of another kind, stands beside the error of Ensure, and is never taken for the draft of CreateAndStart.
func TestAgents_NameOfAnotherKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
			Name: "main", Credits: 5000, Agents: []sandbox.Agent{{ID: tests.AgentID, Name: tests.Capped().ListName, Type: sandbox.PersonDiscovery, Status: "initializing"}},
		}}}))
		agents := tests.SandboxClient(t, sb).Agents
		held, err := agents.Ensure(t.Context(), tests.Capped())
		require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Equal(t, tests.AgentID, held.Agent.ID)
		require.False(t, held.Created)
		agent, err := agents.CreateAndStart(t.Context(), tests.Capped())
		require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		require.Nil(t, agent)
		require.Zero(t, sb.Calls("agents.activate")+sb.Calls("agents.adjust"))
	})
}
