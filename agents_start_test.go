package prospectkit_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// listed responds with agents, each given by kind, name and status.
func listed(agents ...[3]string) roundTrip {
	body := ""
	for i, a := range agents {
		if i > 0 {
			body += ","
		}
		body += `{"id":"` + agentID + `","type":` + jsonText(a[0]) + `,"name":` + jsonText(a[1]) + `,"status":` + jsonText(a[2]) + `}`
	}
	return always(200, `{"agents":[`+body+`]}`)
}

var (
	otherAgents = listed([3]string{"web-monitor", "Another", "active"})
	ourDraft    = listed([3]string{"web-monitor", "Funding", "initializing"})
	untyped     = listed([3]string{"", "Funding", "initializing"}) // reads are not documented to show the kind
	ourAgent    = listed([3]string{"web-monitor", "Funding", "active"})
	statusless  = listed([3]string{"web-monitor", "Funding", ""})
	nameless    = listed([3]string{"web-monitor", "", "active"})
	// The names of others say nothing about the one that is found.
	besideNameless = always(200, `{"agents":[{"id":"`+listID+`","type":"web-monitor"},{"id":"`+agentID+`","type":"web-monitor","name":"Funding","status":"initializing"}]}`)
	denied         = always(403, envelope("INSUFFICIENT_SCOPE"))
	draftSaved     = always(201, agentJSON("initializing"))
	activated      = always(200, agentJSON("processing"))
	nameTaken      = always(409, envelope("LIST_NAME_TAKEN"))
	holdingList    = always(200, `{"data":[{"id":"a00000000000000000000001","name":"Funding","entityType":"contactList"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`)
)

// starting says what CreateAndStart comes to: the responses it gets, and what it makes of them.
var starting = []struct {
	name  string
	steps []roundTrip
	sends []string // kinds of requests, in order
	agent string   // status of the agent; empty: an error
	check func(*testing.T, error)
	took  time.Duration // at least
}{
	{
		name:  "all goes well",
		steps: []roundTrip{otherAgents, draftSaved, activated},
		sends: []string{"list", "create", "activate"}, agent: "processing",
	},
	{
		name:  "the activation's response tells nothing",
		steps: []roundTrip{otherAgents, draftSaved, always(204, ""), sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the draft's response is lost",
		steps: []roundTrip{otherAgents, cutOff, ourDraft, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the draft shows late",
		steps: []roundTrip{otherAgents, cutOff, otherAgents, otherAgents, ourDraft, activated},
		sends: []string{"list", "create", "list", "list", "list", "activate"}, agent: "processing", took: 3 * time.Second,
	},
	{
		name:  "the draft's response cannot be read",
		steps: []roundTrip{otherAgents, always(201, "<html>"), ourDraft, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the activation's response is lost",
		steps: []roundTrip{otherAgents, draftSaved, cutOff, sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the activation's response cannot be read",
		steps: []roundTrip{otherAgents, draftSaved, always(200, "<html>"), sees("something new")},
		sends: []string{"list", "create", "activate", "get"}, agent: "something new",
	},
	{
		name:  "both responses are lost",
		steps: []roundTrip{otherAgents, always(500, envelope("UNEXPECTED_ERROR")), ourDraft, always(504, "<html>"), sees("initializing"), sees("processing")},
		sends: []string{"list", "create", "list", "activate", "get", "get"}, agent: "processing",
	},
	{
		name: "the activation was lost before it arrived",
		steps: append(append([]roundTrip{otherAgents, draftSaved, cutOff},
			times(8, sees("initializing"))...), always(409, envelope("AGENT_NOT_A_DRAFT")), sees("active")),
		sends: []string{"list", "create", "activate", "get", "get", "get", "get", "get", "get", "get", "get", "activate", "get"},
		agent: "active", took: 65 * time.Second,
	},
	{
		name:  "a gateway repeats that it has started",
		steps: []roundTrip{otherAgents, draftSaved, always(502, envelope("AGENT_NOT_A_DRAFT")), sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the service starts a draft automatically",
		steps: []roundTrip{otherAgents, always(201, agentJSON("active"))},
		sends: []string{"list", "create"}, agent: "active",
	},
	{
		name:  "a list has the name",
		steps: []roundTrip{otherAgents, nameTaken, otherAgents, holdingList},
		sends: []string{"list", "create", "list", "lists"},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		},
	},
	{
		name: "the holder of the name does not show",
		steps: append([]roundTrip{otherAgents, nameTaken},
			slices.Repeat([]roundTrip{otherAgents, always(403, envelope("FORBIDDEN"))}, 8)...),
		sends: append([]string{"list", "create"}, slices.Repeat([]string{"list", "lists"}, 8)...),
		check: func(t *testing.T, err error) { t.Helper(); require.ErrorIs(t, err, prospectkit.CodeListNameTaken) },
		took:  65 * time.Second,
	},
	{
		name:  "an agent of another kind has the name",
		steps: []roundTrip{listed([3]string{"people-watcher", "Funding", "active"}), nameTaken, listed([3]string{"people-watcher", "Funding", "active"})},
		sends: []string{"list", "create", "list"},
		check: func(t *testing.T, err error) { t.Helper(); require.ErrorIs(t, err, prospectkit.CodeListNameTaken) },
	},
	{
		name:  "an earlier run was killed before the activation",
		steps: []roundTrip{ourDraft, activated},
		sends: []string{"list", "activate"}, agent: "processing",
	},
	{
		name:  "an earlier run was killed after the activation",
		steps: []roundTrip{listed([3]string{"web-monitor", "Funding", "active"})},
		sends: []string{"list"}, agent: "active",
	},
	{
		name:  "an earlier run was killed, and its draft shows late",
		steps: []roundTrip{otherAgents, nameTaken, otherAgents, always(403, envelope("FORBIDDEN")), ourDraft, activated},
		sends: []string{"list", "create", "list", "lists", "list", "activate"}, agent: "processing", took: time.Second,
	},
	{
		name:  "another process was faster to create it",
		steps: []roundTrip{otherAgents, nameTaken, ourDraft, always(409, envelope("AGENT_NOT_A_DRAFT")), sees("active")},
		sends: []string{"list", "create", "list", "activate", "get"}, agent: "active",
	},
	{
		name:  "the draft never arrived",
		steps: append(append([]roundTrip{otherAgents, cutOff}, times(8, otherAgents)...), draftSaved, activated),
		sends: append(append([]string{"list", "create"}, slices.Repeat([]string{"list"}, 8)...), "create", "activate"),
		agent: "processing", took: 65 * time.Second,
	},
	{
		name:  "the draft's response is lost, and agents have no names",
		steps: []roundTrip{otherAgents, cutOff, nameless},
		sends: []string{"list", "create", "list"},
		check: requireUnknown,
	},
	{
		name:  "the draft's response is lost, and another agent has no name",
		steps: []roundTrip{otherAgents, cutOff, besideNameless, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the name is taken, and agents have no names",
		steps: []roundTrip{otherAgents, nameTaken, nameless},
		sends: []string{"list", "create", "list"},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		},
	},
	{
		name:  "the name is taken, and the agents cannot be read",
		steps: []roundTrip{otherAgents, nameTaken, denied},
		sends: []string{"list", "create", "list"},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
			require.ErrorContains(t, err, "could not be read")
		},
	},
	{
		name:  "the activation's response is lost, and the agent has no status",
		steps: []roundTrip{otherAgents, draftSaved, cutOff, sees("")},
		sends: []string{"list", "create", "activate", "get"},
		check: func(t *testing.T, err error) {
			t.Helper()
			_ = requireStart(t, err, prospectkit.OutcomeUnknown)
		},
	},
	{
		name:  "the first listing cannot be read",
		steps: []roundTrip{always(404, envelope("ENDPOINT_NOT_FOUND")), cutOff, ourDraft, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the listing fails, all else goes well",
		steps: []roundTrip{always(404, envelope("ENDPOINT_NOT_FOUND")), draftSaved, activated},
		sends: []string{"list", "create", "activate"}, agent: "processing",
	},
	{
		name:  "an agent of another kind turns up",
		steps: []roundTrip{otherAgents, cutOff, listed([3]string{"people-watcher", "Funding", "initializing"})},
		sends: []string{"list", "create", "list"},
		check: requireUnknown,
	},
	{
		name:  "credits are short",
		steps: []roundTrip{otherAgents, draftSaved, always(402, envelope("INSUFFICIENT_CREDITS"))},
		sends: []string{"list", "create", "activate"},
		check: func(t *testing.T, err error) {
			t.Helper()
			start := requireStart(t, err, prospectkit.OutcomeNotApplied)
			require.ErrorIs(t, err, prospectkit.ErrInsufficientCredits)
			require.Equal(t, prospectkit.ActionBuyCredits, start.Advice().Action)
		},
	},
	{
		name:  "another process was faster to start it",
		steps: []roundTrip{otherAgents, draftSaved, always(409, envelope("AGENT_NOT_A_DRAFT")), sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the status cannot be read",
		steps: []roundTrip{otherAgents, draftSaved, cutOff, always(404, envelope("AGENT_NOT_FOUND"))},
		sends: []string{"list", "create", "activate", "get"},
		check: func(t *testing.T, err error) {
			t.Helper()
			start := requireStart(t, err, prospectkit.OutcomeUnknown)
			require.ErrorIs(t, err, prospectkit.CodeAgentNotFound)
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			require.Equal(t, prospectkit.ActionVerifyFirst, start.Advice().Action)
		},
	},
}

// requireStart demands the error that comes beside a draft.
func requireStart(t *testing.T, err error, outcome prospectkit.Outcome) *prospectkit.Error {
	t.Helper()
	var start *prospectkit.Error
	require.ErrorAs(t, err, &start)
	require.ErrorIs(t, err, prospectkit.ErrNotStarted)
	require.Equal(t, outcome, prospectkit.OutcomeOf(err))
	require.ErrorContains(t, err, "the draft was saved, but not seen to start")
	require.Equal(t, slog.KindGroup, start.LogValue().Kind())
	return start
}

// kindsOf names the requests of agents.
func kindsOf(t *testing.T, sent []string) []string {
	t.Helper()
	kinds := make([]string, len(sent))
	for i, line := range sent {
		switch line {
		case "GET /agents":
			kinds[i] = "list"
		case "GET /agents/" + agentID:
			kinds[i] = "get"
		case "POST /agents/" + agentID + "/activate":
			kinds[i] = "activate"
		case `POST /agents/web-monitor {"listName":"Funding","entityType":"company","prompt":"raised a round","start":false,"maxCreditSpend":1000}`:
			kinds[i] = "create"
		case "GET /lists?limit=1000&pageNum=1&search=Funding":
			kinds[i] = "lists"
		default:
			require.Fail(t, "an unexpected request", line)
		}
	}
	return kinds
}

func capped() prospectkit.WebMonitor {
	return altered(monitor(), func(s *monitorOf) { s.MaxCreditSpend = 1000 })
}

func TestCreateAndStart(t *testing.T) {
	for _, test := range starting {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := stage(t, test.steps...)
				spec := altered(capped(), func(s *monitorOf) { s.Start = len(test.name)%2 == 0 }) // it does not matter
				agent, err := newClient(t, s).Agents.CreateAndStart(t.Context(), spec)
				require.Equal(t, test.sends, kindsOf(t, s.sent))
				s.done()
				require.GreaterOrEqual(t, time.Since(began), test.took)
				if test.agent == "" {
					require.Equal(t, errors.Is(err, prospectkit.ErrNotStarted), agent != nil && agent.ID == agentID && agent.Draft())
					require.Equal(t, errors.Is(err, prospectkit.ErrNotStarted), agent != nil)
					test.check(t, err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, agentID, agent.ID)
				require.Equal(t, prospectkit.AgentStatus(test.agent), agent.Status)
			})
		})
	}
}

func TestCreateAndStart_GivesUpAfterThreeActivations(t *testing.T) {
	for name, response := range map[string]roundTrip{
		"cut off":                        cutOff,
		"a gateway says that it started": always(502, envelope("AGENT_NOT_A_DRAFT")),
	} {
		t.Run(name, func(t *testing.T) { givesUpAfterThreeActivations(t, response) })
	}
}

func givesUpAfterThreeActivations(t *testing.T, response roundTrip) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began, activations := time.Now(), 0
		client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost && r.URL.Path == "/api/v1/business/agents/"+agentID+"/activate":
				activations++
				return response(r)
			case r.Method == http.MethodPost:
				return draftSaved(r)
			case r.URL.Path == "/api/v1/business/agents":
				return otherAgents(r)
			}
			return sees("initializing")(r)
		}))
		draft, err := client.Agents.CreateAndStart(t.Context(), capped())
		start := requireStart(t, err, prospectkit.OutcomeUnknown)
		require.True(t, draft.Draft(), "the draft comes back beside the error")
		require.Equal(t, 3, activations)
		require.Equal(t, 3*65*time.Second, time.Since(began))
		var unknown *prospectkit.OutcomeUnknownError
		require.ErrorAs(t, start, &unknown)
		r, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictNotSeen, r.Verdict)
	})
}

// An activation that cannot be read afterwards has still started the agent.
func TestCreateAndStart_UnreadableAgent(t *testing.T) {
	s := stage(t, otherAgents, draftSaved, always(204, ""), always(404, envelope("AGENT_NOT_FOUND")))
	agent, err := newClient(t, s).Agents.CreateAndStart(t.Context(), capped())
	require.NoError(t, err)
	require.Equal(t, &prospectkit.Agent{ID: agentID, Type: prospectkit.AgentTypeWebMonitor, Name: "Funding", Started: true}, agent)
	s.done()
}

func TestCreateAndStart_CreatesNoDraftThatMayNotStart(t *testing.T) {
	_, err := newClient(t, untouched(t)).Agents.CreateAndStart(t.Context(), altered(monitor(), func(s *monitorOf) { s.Prompt = "" }))
	require.Equal(t, []string{startNeedsCap, "prompt has 0 characters, must have 1 to 2000"}, refusals(t, err))
	require.ErrorContains(t, err, "agents.create-web-monitor")
	for _, rule := range []prospectkit.Option{prospectkit.NoSpend(), prospectkit.ReadOnly()} {
		_, err := newClient(t, untouched(t)).Agents.CreateAndStart(t.Context(), capped(), rule)
		require.ErrorIs(t, err, prospectkit.ErrRefusedLocally)
		require.ErrorContains(t, err, "agents.activate")
	}
	_, err = newClient(t, stage(t, otherAgents)).Agents.CreateAndStart(t.Context(), capped(), prospectkit.WithField("prompt", "x"))
	require.Equal(t, []string{`body cannot be encoded: field "prompt" is set by the call itself`}, refusals(t, err))
}

func TestCreateAndStart_Options(t *testing.T) {
	var info prospectkit.Info
	s := stage(t, otherAgents, draftSaved, activated)
	_, err := newClient(t, s).Agents.CreateAndStart(t.Context(), capped(),
		prospectkit.WithField("yourField", 1), prospectkit.WithInfo(&info), prospectkit.WithRetry(prospectkit.NoRetry))
	require.NoError(t, err)
	require.Contains(t, s.sent[1], `"yourField":1`)
	require.Equal(t, "POST /agents/"+agentID+"/activate", s.sent[2])
	require.Equal(t, "agents.create-web-monitor", info.Op)
	s.done()
}

func TestCreateAndStart_EndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s := stage(t, append([]roundTrip{otherAgents, draftSaved, cutOff}, times(4, sees("initializing"))...)...)
		began := time.Now()
		draft, err := newClient(t, s).Agents.CreateAndStart(ctx, capped())
		require.Equal(t, agentID, draft.ID)
		start := requireStart(t, err, prospectkit.OutcomeUnknown)
		require.ErrorIs(t, start, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, 7*time.Second, time.Since(began), "the next look would be too late")
		s.done()
	})
}

// An activation whose outcome is unknown stays so, whatever is refused after it: the first one may have spent.
func TestCreateAndStart_StaysUnknown(t *testing.T) {
	for code, status := range map[string]int{"INSUFFICIENT_CREDITS": 402, "AGENT_NOT_FOUND": 404, "VALIDATION_FAILED": 422} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{Name: "main", Credits: 5000}}}))
			sb.Fail("agents.activate", sandbox.Nth(1), sandbox.DropBefore())
			sb.Fail("agents.activate", sandbox.Nth(2), sandbox.Status(status, code))
			draft, err := sandboxClient(t, sb).Agents.CreateAndStart(t.Context(), capped())
			require.ErrorIs(t, err, prospectkit.ErrNotStarted)
			require.True(t, draft.Draft())
			require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
			require.Equal(t, prospectkit.ActionVerifyFirst, prospectkit.AdviceOf(err).Action)
			require.ErrorIs(t, err, prospectkit.Code(code), "why it ended is told, too")
		})
	}
}

// Ensure tells what it did: whatever stands there before, there is one agent at the end, started once at most.
func TestEnsureAgent(t *testing.T) {
	for name, test := range map[string]struct {
		start      bool
		steps      []roundTrip
		sends      []string
		created    bool
		wasStarted bool
		status     prospectkit.AgentStatus
	}{
		"new draft":               {false, []roundTrip{otherAgents, draftSaved}, []string{"list", "create"}, true, false, "initializing"},
		"new, started":            {true, []roundTrip{otherAgents, draftSaved, activated}, []string{"list", "create", "activate"}, true, false, "processing"},
		"found draft":             {false, []roundTrip{ourDraft}, []string{"list"}, false, false, "initializing"},
		"found draft, started":    {true, []roundTrip{ourDraft, activated}, []string{"list", "activate"}, false, false, "processing"},
		"found started":           {true, []roundTrip{ourAgent}, []string{"list"}, false, true, "active"},
		"found started, a draft":  {false, []roundTrip{ourAgent}, []string{"list"}, false, true, "active"},
		"lost draft":              {false, []roundTrip{otherAgents, cutOff, ourDraft}, []string{"list", "create", "list"}, false, false, "initializing"},
		"lost, started since":     {true, []roundTrip{otherAgents, cutOff, ourAgent}, []string{"list", "create", "list"}, false, true, "active"},
		"unread draft":            {false, []roundTrip{otherAgents, always(201, "<html>"), ourDraft}, []string{"list", "create", "list"}, true, false, "initializing"},
		"race for the start":      {true, []roundTrip{ourDraft, always(409, envelope("AGENT_NOT_A_DRAFT")), sees("active")}, []string{"list", "activate", "get"}, false, false, "active"},
		"race, still processing":  {true, []roundTrip{ourDraft, always(409, envelope("AGENT_PROCESSING")), sees("active")}, []string{"list", "activate", "get"}, false, false, "active"},
		"found without a kind":    {true, []roundTrip{untyped, activated}, []string{"list", "activate"}, false, false, "processing"},
		"lost without a kind":     {false, []roundTrip{otherAgents, cutOff, untyped}, []string{"list", "create", "list"}, false, false, "initializing"},
		"taken without a kind":    {false, []roundTrip{otherAgents, nameTaken, untyped}, []string{"list", "create", "list"}, false, false, "initializing"},
		"found without a status":  {true, []roundTrip{statusless, activated}, []string{"list", "activate"}, false, false, "processing"},
		"draft without a status":  {false, []roundTrip{statusless}, []string{"list"}, false, false, ""},
		"start that tells naught": {true, []roundTrip{ourDraft, always(204, ""), sees("active")}, []string{"list", "activate", "get"}, false, false, "active"},
		"start that was lost first": {
			true, append(append([]roundTrip{ourDraft, cutOff}, times(8, sees("initializing"))...), always(409, envelope("AGENT_NOT_A_DRAFT")), sees("active")),
			[]string{"list", "activate", "get", "get", "get", "get", "get", "get", "get", "get", "activate", "get"},
			false, false, "active",
		},
		"lost start": {true, []roundTrip{ourDraft, cutOff, sees("active")}, []string{"list", "activate", "get"}, false, false, "active"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := stage(t, test.steps...)
				e, err := newClient(t, s).Agents.Ensure(t.Context(), altered(capped(), func(s *monitorOf) { s.Start = test.start }))
				require.NoError(t, err)
				require.Equal(t, test.sends, kindsOf(t, s.sent))
				s.done()
				require.Equal(t, agentID, e.Agent.ID)
				require.Equal(t, test.status, e.Agent.Status)
				require.Equal(t, test.created, e.Created)
				require.Equal(t, test.wasStarted, e.WasStarted)
			})
		})
	}
}

// Many processes that ensure the same agent at the same moment end with one agent, started once.
func TestEnsureAgent_Races(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{Name: "main", Credits: 5000}}}))
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				e, err := sandboxClient(t, sb).Agents.Ensure(t.Context(), altered(capped(), func(s *monitorOf) { s.Start = true }))
				if err != nil || e.Agent.Draft() {
					t.Errorf("%v, %v", e, err)
				}
			})
		}
		all.Wait()
		started := 0
		for _, e := range sb.Journal() {
			if e.Op == "agents.activate" && e.Status < 300 {
				started++
			}
		}
		require.Equal(t, 1, started)
		require.Len(t, sb.Agents(), 1)
	})
}

// Whatever the kind, it is the activation that spends: the creation saves a draft.
func TestEnsureAgent_CreatesDraftsOfEveryKind(t *testing.T) {
	person := discovery()
	person.MaxCreditSpend, person.Start = 1000, true
	people := watcher()
	people.MaxCreditSpend, people.Start = 1000, true
	for _, spec := range []prospectkit.AgentSpec{person, people, altered(capped(), func(s *monitorOf) { s.Start = true })} {
		s := stage(t, otherAgents, draftSaved, activated)
		e, err := newClient(t, s).Agents.Ensure(t.Context(), spec)
		require.NoError(t, err)
		require.True(t, e.Created)
		require.Contains(t, s.sent[1], `"start":false`)
		require.Contains(t, s.sent[2], "/activate")
	}
}

// A draft costs nothing, so that a guard which knows no price does not refuse it.
func TestEnsureAgent_DraftsNeedNoPrice(t *testing.T) {
	s := stage(t, otherAgents, draftSaved)
	_, err := newClient(t, s, prospectkit.WithSpendGuard(spend.NewGuard(1, nil))).Agents.Ensure(t.Context(), monitor())
	require.NoError(t, err)
	s.done()
}

// lastingBook is a journal that cannot note how a call ended.
type lastingBook struct{ *notebook }

func (lastingBook) Ended(context.Context, string, journal.Outcome) error { return errBroken }

// An activation that the journal keeps in doubt is not sent again.
func TestEnsureAgent_JournalThatCannotSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stage(t, append([]roundTrip{ourDraft, cutOff}, times(8, sees("initializing"))...)...)
		client := newClient(t, s, prospectkit.WithJournal(lastingBook{new(notebook)}))
		_, err := client.Agents.CreateAndStart(t.Context(), capped())
		_ = requireStart(t, err, prospectkit.OutcomeUnknown)
		require.ErrorIs(t, err, errBroken)
		s.done()
	})
}

// A draft whose state the listing does not show is the one that was created.
func TestResolve_AgentWithoutAStatus(t *testing.T) {
	client := newClient(t, stage(t, cutOff, statusless))
	_, err := client.Agents.Create(t.Context(), capped())
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	require.True(t, ok)
	r, err := unknown.Resolve(t.Context())
	require.NoError(t, err)
	require.Equal(t, prospectkit.VerdictHappened, r.Verdict)
}

func TestEnsureAgent_RefusesBadSpecs(t *testing.T) {
	_, err := newClient(t, untouched(t)).Agents.Ensure(t.Context(), nil)
	require.Equal(t, []string{"spec must not be nil"}, refusals(t, err))
	_, err = newClient(t, untouched(t)).Agents.Ensure(t.Context(), altered(monitor(), func(s *monitorOf) { s.Start = true }))
	require.Equal(t, []string{startNeedsCap}, refusals(t, err))
	e, err := newClient(t, stage(t, otherAgents, draftSaved)).Agents.Ensure(t.Context(), monitor())
	require.NoError(t, err)
	require.True(t, e.Agent.Draft(), "a draft needs no cap")
}
