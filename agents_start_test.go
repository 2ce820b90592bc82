package prospectkit_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// listed answers with agents, each given by kind, name and status.
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
	draftSaved  = always(201, agentJSON("initializing"))
	activated   = always(200, agentJSON("processing"))
)

// starting says what CreateAndStart comes to: the answers it gets, and what it makes of them.
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
		name:  "the activation's answer tells nothing",
		steps: []roundTrip{otherAgents, draftSaved, always(204, ""), sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the draft's answer is lost",
		steps: []roundTrip{otherAgents, cutOff, ourDraft, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the draft shows late",
		steps: []roundTrip{otherAgents, cutOff, otherAgents, otherAgents, ourDraft, activated},
		sends: []string{"list", "create", "list", "list", "list", "activate"}, agent: "processing", took: 3 * time.Second,
	},
	{
		name:  "the draft's answer cannot be read",
		steps: []roundTrip{otherAgents, always(201, "<html>"), ourDraft, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the activation's answer is lost",
		steps: []roundTrip{otherAgents, draftSaved, cutOff, sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the activation's answer cannot be read",
		steps: []roundTrip{otherAgents, draftSaved, always(200, "<html>"), sees("something new")},
		sends: []string{"list", "create", "activate", "get"}, agent: "something new",
	},
	{
		name:  "both answers are lost",
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
		name:  "the service starts a draft by itself",
		steps: []roundTrip{otherAgents, always(201, agentJSON("active"))},
		sends: []string{"list", "create"}, agent: "active",
	},
	{
		name:  "the name is taken",
		steps: []roundTrip{otherAgents, always(409, envelope("LIST_NAME_TAKEN"))},
		sends: []string{"list", "create"},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		},
	},
	{
		name:  "an agent had the name before",
		steps: []roundTrip{ourDraft, cutOff},
		sends: []string{"list", "create"},
		check: requireUnknown,
	},
	{
		name:  "the listing cannot be read",
		steps: []roundTrip{always(404, envelope("ENDPOINT_NOT_FOUND")), cutOff},
		sends: []string{"list", "create"},
		check: requireUnknown,
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
		name:  "a teammate was faster",
		steps: []roundTrip{otherAgents, draftSaved, always(409, envelope("AGENT_NOT_A_DRAFT"))},
		sends: []string{"list", "create", "activate"},
		check: func(t *testing.T, err error) {
			t.Helper()
			start := requireStart(t, err, prospectkit.OutcomeNotApplied)
			require.ErrorIs(t, start, prospectkit.CodeAgentNotADraft)
		},
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

func TestCreateAndStartGivesUpAfterThreeActivations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, activations := time.Now(), 0
		client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost && r.URL.Path == "/api/v1/business/agents/"+agentID+"/activate":
				activations++
				return cutOff(r)
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
		var doubt *prospectkit.OutcomeUnknownError
		require.ErrorAs(t, start, &doubt)
		r, err := doubt.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.VerdictNotSeen, r.Verdict)
	})
}

// An activation that cannot be read afterwards has started the agent all the same.
func TestStartedAgentThatCannotBeRead(t *testing.T) {
	s := stage(t, otherAgents, draftSaved, always(204, ""), always(404, envelope("AGENT_NOT_FOUND")))
	agent, err := newClient(t, s).Agents.CreateAndStart(t.Context(), capped())
	require.NoError(t, err)
	require.Equal(t, &prospectkit.Agent{ID: agentID, Type: prospectkit.AgentTypeWebMonitor, Name: "Funding", Started: true}, agent)
	s.done()
}

func TestCreateAndStartLeavesNoDraftBehindThatMayNotStart(t *testing.T) {
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

func TestOptionsOfCreateAndStart(t *testing.T) {
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

func TestCreateAndStartEndsWithTheContext(t *testing.T) {
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

type agentCall func(context.Context, *prospectkit.AgentsService) error

func createDraft(ctx context.Context, a *prospectkit.AgentsService) error {
	_, err := a.Create(ctx, monitor())
	return err
}

func createStarted(ctx context.Context, a *prospectkit.AgentsService) error {
	_, err := a.Create(ctx, altered(capped(), func(s *monitorOf) { s.Start = true }))
	return err
}

func activateOne(ctx context.Context, a *prospectkit.AgentsService) error {
	_, err := a.Activate(ctx, agentID)
	return err
}

func pauseOne(ctx context.Context, a *prospectkit.AgentsService) error {
	_, err := a.Pause(ctx, agentID, prospectkit.WithRoute("POST /x/{agentId}"))
	return err
}

var namelessAgents = always(200, `{"agents":[{"id":"`+agentID+`","status":"active"}]}`)

// lostCalls are calls without an answer, and what is made of the state that is read afterwards.
var lostCalls = []struct {
	name    string
	call    agentCall
	reads   roundTrip
	verdict prospectkit.Verdict
	note    string // a part of it
	found   bool   // an agent comes with the verdict
	took    time.Duration
}{
	{"draft found", createDraft, ourDraft, prospectkit.VerdictHappened, "a teammate may have made it", true, 0},
	{"draft found, name trimmed", createDraft, listed([3]string{"", " Funding ", "initializing"}), prospectkit.VerdictHappened, "teammate", true, 0},
	{"draft not found", createDraft, otherAgents, prospectkit.VerdictNotSeen, "agent of that name", false, 65 * time.Second},
	{"case differs", createDraft, listed([3]string{"web-monitor", "funding", "initializing"}), prospectkit.VerdictNotSeen, "", false, 65 * time.Second},
	{"another kind", createDraft, listed([3]string{"people-watcher", "Funding", "initializing"}), prospectkit.VerdictNotSeen, "another kind", true, 0},
	{"no draft any more", createDraft, listed([3]string{"web-monitor", "Funding", "active"}), prospectkit.VerdictNotSeen, "left the draft state", true, 0},
	{"no names", createDraft, namelessAgents, prospectkit.VerdictUnknowable, "the listing has no names", false, 0},
	{"started found", createStarted, listed([3]string{"web-monitor", "Funding", "processing"}), prospectkit.VerdictHappened, "", true, 0},
	{"unknown state found", createStarted, listed([3]string{"web-monitor", "Funding", "odd"}), prospectkit.VerdictHappened, "", true, 0},
	{"only a draft found", createStarted, ourDraft, prospectkit.VerdictNotSeen, "is a draft", true, 65 * time.Second},
	{"activated", activateOne, sees("active"), prospectkit.VerdictHappened, "a draft never moves by itself", true, 0},
	{"in an unknown state", activateOne, sees("odd"), prospectkit.VerdictHappened, "", true, 0},
	{"still a draft", activateOne, sees("initializing"), prospectkit.VerdictNotSeen, "", true, 65 * time.Second},
	{"no status", activateOne, always(200, `{"agent":{}}`), prospectkit.VerdictUnknowable, "the agent has no status", true, 0},
	{"paused", pauseOne, sees("paused"), prospectkit.VerdictHappened, "status", true, 0},
	{"still active", pauseOne, sees("active"), prospectkit.VerdictNotSeen, "", true, 65 * time.Second},
}

func TestResolveLostAgentCalls(t *testing.T) {
	for _, test := range lostCalls {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lost := false
				client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
					if r.Method == http.MethodPost {
						require.False(t, lost, "a write is sent once")
						lost = true
						return nil, errors.New("cut")
					}
					return test.reads(r)
				}))
				err := test.call(t.Context(), client.Agents)
				requireUnknown(t, err)
				var doubt *prospectkit.OutcomeUnknownError
				require.ErrorAs(t, err, &doubt)
				began := time.Now()
				r, err := doubt.Resolve(t.Context())
				require.NoError(t, err)
				require.Equal(t, test.verdict, r.Verdict)
				require.Contains(t, r.Note, test.note)
				_, found := prospectkit.Resolved[prospectkit.Agent](r)
				require.Equal(t, test.found, found)
				require.Equal(t, test.took, time.Since(began))
			})
		})
	}
}

func TestResolveAmbiguousNames(t *testing.T) {
	client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return cutOff(r)
		}
		return always(200, `{"agents":[{"id":"65f0c0ffee65f0c0ffee6a01","name":"Funding"},{"id":"65f0c0ffee65f0c0ffee6a02","name":"Funding"}]}`)(r)
	}))
	_, err := client.Agents.Create(t.Context(), monitor())
	var doubt *prospectkit.OutcomeUnknownError
	require.ErrorAs(t, err, &doubt)
	_, err = doubt.Resolve(t.Context())
	require.ErrorIs(t, err, prospectkit.CodeListNameAmbiguous)
}

func TestAdjustCannotBeResolved(t *testing.T) {
	_, err := newClient(t, stage(t, cutOff)).Agents.Adjust(t.Context(), agentID, prospectkit.Fields{"x": 1})
	var doubt *prospectkit.OutcomeUnknownError
	require.ErrorAs(t, err, &doubt)
	r, err := doubt.Resolve(t.Context())
	require.NoError(t, err)
	require.Equal(t, prospectkit.VerdictUnknowable, r.Verdict)
	require.Contains(t, r.Note, "the configuration of a draft is not shown")
}
