package services_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

var (
	untyped    = tests.Listed([3]string{"", "Funding", "initializing"}) // reads are not documented to show the kind
	ourAgent   = tests.Listed([3]string{"web-monitor", "Funding", "active"})
	statusless = tests.Listed([3]string{"web-monitor", "Funding", ""})
	nameless   = tests.Listed([3]string{"web-monitor", "", "active"})
	// The names of others say nothing about the one that is found.
	besideNameless = tests.Always(200, `{"agents":[{"id":"`+tests.ListID+`","type":"web-monitor"},{"id":"`+tests.AgentID+`","type":"web-monitor","name":"Funding","status":"initializing"}]}`)
	denied         = tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE"))

	activated = tests.Always(200, tests.AgentJSON("processing"))
	adjusted  = tests.Always(200, "{}")
)

// starting says what CreateAndStart comes to: the responses it gets, and what it makes of them.
var starting = []struct {
	name  string
	steps []tests.RoundTrip
	sends []string // kinds of requests, in order
	agent string   // status of the agent; empty: an error
	check func(*testing.T, error)
	took  time.Duration // at least
}{
	{
		name:  "all goes well",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, activated},
		sends: []string{"list", "create", "activate"}, agent: "processing",
	},
	{
		name:  "the activation's response tells nothing",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.Always(204, ""), tests.Sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the draft's response is lost",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.CutOff, tests.OurDraft, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the draft shows late",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.CutOff, tests.OtherAgents, tests.OtherAgents, tests.OurDraft, activated},
		sends: []string{"list", "create", "list", "list", "list", "activate"}, agent: "processing", took: 3 * time.Second,
	},
	{
		name:  "the draft's response cannot be read",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.Always(201, "{"), tests.OurDraft, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the activation's response is lost",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.CutOff, tests.Sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the activation's response cannot be read",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.Always(200, "{"), tests.Sees("something new")},
		sends: []string{"list", "create", "activate", "get"}, agent: "something new",
	},
	{
		name:  "both responses are lost",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")), tests.OurDraft, tests.Always(504, "<html>"), tests.Sees("initializing"), tests.Sees("processing")},
		sends: []string{"list", "create", "list", "activate", "get", "get"}, agent: "processing",
	},
	{
		name: "the activation was lost before it arrived",
		steps: append(append([]tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.CutOff},
			tests.Times(8, tests.Sees("initializing"))...), tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")),
		sends: []string{"list", "create", "activate", "get", "get", "get", "get", "get", "get", "get", "get", "activate", "get"},
		agent: "active", took: 65 * time.Second,
	},
	{
		name:  "a gateway repeats that it has started",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.Always(502, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "the service starts a draft automatically",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.Always(201, tests.AgentJSON("active"))},
		sends: []string{"list", "create"}, agent: "active",
	},
	{
		name:  "a list has the name",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.NameTaken, tests.OtherAgents, tests.HoldingList},
		sends: []string{"list", "create", "list", "lists"},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		},
	},
	{
		name: "the holder of the name does not show",
		steps: append([]tests.RoundTrip{tests.OtherAgents, tests.NameTaken},
			slices.Repeat([]tests.RoundTrip{tests.OtherAgents, tests.Always(403, tests.Envelope("FORBIDDEN"))}, 8)...),
		sends: append([]string{"list", "create"}, slices.Repeat([]string{"list", "lists"}, 8)...),
		check: func(t *testing.T, err error) { t.Helper(); require.ErrorIs(t, err, prospectkit.CodeListNameTaken) },
		took:  65 * time.Second,
	},
	{
		name:  "an agent of another kind has the name",
		steps: []tests.RoundTrip{tests.Listed([3]string{"people-watcher", "Funding", "active"}), tests.NameTaken, tests.Listed([3]string{"people-watcher", "Funding", "active"})},
		sends: []string{"list", "create", "list"},
		check: func(t *testing.T, err error) { t.Helper(); require.ErrorIs(t, err, prospectkit.CodeListNameTaken) },
	},
	{
		name:  "an earlier run was killed before the activation",
		steps: []tests.RoundTrip{tests.OurDraft, adjusted, activated},
		sends: []string{"list", "adjust", "activate"}, agent: "processing",
	},
	{
		name:  "an earlier run was killed after the activation",
		steps: []tests.RoundTrip{tests.Listed([3]string{"web-monitor", "Funding", "active"})},
		sends: []string{"list"}, agent: "active",
	},
	{
		name:  "an earlier run was killed, and its draft shows late",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.NameTaken, tests.OtherAgents, tests.Always(403, tests.Envelope("FORBIDDEN")), tests.OurDraft, adjusted, activated},
		sends: []string{"list", "create", "list", "lists", "list", "adjust", "activate"}, agent: "processing", took: time.Second,
	},
	{
		name:  "another process was faster to create it",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.NameTaken, tests.OurDraft, adjusted, tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")},
		sends: []string{"list", "create", "list", "adjust", "activate", "get"}, agent: "active",
	},
	{
		name:  "the draft never arrived",
		steps: append(append([]tests.RoundTrip{tests.OtherAgents, tests.CutOff}, tests.Times(8, tests.OtherAgents)...), tests.DraftSaved, activated),
		sends: append(append([]string{"list", "create"}, slices.Repeat([]string{"list"}, 8)...), "create", "activate"),
		agent: "processing", took: 65 * time.Second,
	},
	{
		name:  "the draft's response is lost, and agents have no names",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.CutOff, nameless},
		sends: []string{"list", "create", "list"},
		check: tests.RequireUnknown,
	},
	{
		name:  "the draft's response is lost, and another agent has no name",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.CutOff, besideNameless, activated},
		sends: []string{"list", "create", "list", "activate"}, agent: "processing",
	},
	{
		name:  "the name is taken, and agents have no names",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.NameTaken, nameless},
		sends: []string{"list", "create", "list"},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		},
	},
	{
		name:  "the name is taken, and the agents cannot be read",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.NameTaken, denied},
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
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.CutOff, tests.Sees("")},
		sends: []string{"list", "create", "activate", "get"},
		check: func(t *testing.T, err error) {
			t.Helper()
			_ = requireStart(t, err, prospectkit.OutcomeUnknown)
		},
	},
	{
		name:  "the first listing cannot be read",
		steps: []tests.RoundTrip{tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND")), tests.CutOff, tests.OurDraft, adjusted, activated},
		sends: []string{"list", "create", "list", "adjust", "activate"}, agent: "processing",
	},
	{
		name:  "the listing fails, all else goes well",
		steps: []tests.RoundTrip{tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND")), tests.DraftSaved, activated},
		sends: []string{"list", "create", "activate"}, agent: "processing",
	},
	{
		name:  "an agent of another kind turns up",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.CutOff, tests.Listed([3]string{"people-watcher", "Funding", "initializing"})},
		sends: []string{"list", "create", "list"},
		check: tests.RequireUnknown,
	},
	{
		name:  "credits are short",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.Always(402, tests.Envelope("INSUFFICIENT_CREDITS"))},
		sends: []string{"list", "create", "activate"},
		check: func(t *testing.T, err error) {
			t.Helper()
			_ = requireStart(t, err, prospectkit.OutcomeNotApplied)
			require.ErrorIs(t, err, prospectkit.ErrInsufficientCredits)
			require.ErrorContains(t, err, "add credits or ask for less; nothing was billed")
		},
	},
	{
		name:  "the draft's response cannot be read, and the draft is not found",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.Always(201, "{}"), denied},
		sends: []string{"list", "create", "list"},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err), "the draft was saved")
			require.ErrorIs(t, err, prospectkit.ErrResponseLost)
			require.Equal(t, tests.NoWait, tests.Waits(err))
			require.ErrorContains(t, err, "prospectkit: agents.create-and-start: a draft was saved, but not found again, so it was not started: call again, and it is found by its name: the response has no \"agent\"")
		},
	},
	{
		name:  "another process was faster to start it",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")},
		sends: []string{"list", "create", "activate", "get"}, agent: "active",
	},
	{
		name:  "an earlier draft cannot be adjusted",
		steps: []tests.RoundTrip{tests.OurDraft, tests.Always(422, tests.Envelope("VALIDATION_FAILED"))},
		sends: []string{"list", "adjust"},
		check: func(t *testing.T, err error) {
			t.Helper()
			requireNoStart(t, err, prospectkit.OutcomeNotApplied)
			require.ErrorIs(t, err, prospectkit.CodeValidationFailed)
		},
	},
	{
		name:  "an earlier draft cannot be adjusted on the assumed path",
		steps: []tests.RoundTrip{tests.OurDraft, tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND"))},
		sends: []string{"list", "adjust"},
		check: func(t *testing.T, err error) {
			t.Helper()
			requireNoStart(t, err, prospectkit.OutcomeNotApplied)
		},
	},
	{
		name:  "the adjustment may have been lost",
		steps: []tests.RoundTrip{tests.OurDraft, tests.CutOff, tests.CutOff, tests.CutOff},
		sends: []string{"list", "adjust", "adjust", "adjust"},
		check: func(t *testing.T, err error) {
			t.Helper()
			requireNoStart(t, err, prospectkit.OutcomeUnknown)
		},
	},
	{
		name:  "the adjustment's response is lost",
		steps: []tests.RoundTrip{tests.OurDraft, tests.CutOff, adjusted, activated},
		sends: []string{"list", "adjust", "adjust", "activate"}, agent: "processing",
	},
	{
		name:  "the status cannot be read",
		steps: []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.CutOff, tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE"))},
		sends: []string{"list", "create", "activate", "get"},
		check: func(t *testing.T, err error) {
			t.Helper()
			_ = requireStart(t, err, prospectkit.OutcomeUnknown)
			require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			require.Equal(t, tests.NoWait, tests.Waits(err))
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

// requireNoStart demands the error of a draft that was found, and not started as it was.
func requireNoStart(t *testing.T, err error, outcome prospectkit.Outcome) {
	t.Helper()
	require.ErrorIs(t, err, prospectkit.ErrNotStarted)
	require.Equal(t, outcome, prospectkit.OutcomeOf(err))
	require.ErrorContains(t, err, "a draft of this name was found, and not started, because it could not be adjusted to the spec: call again, or adjust and activate it, or take another name")
	require.Equal(t, tests.NoWait, tests.Waits(err))
}

// adjustment gives a draft all that the spec says, and what is documented of the rest: synctest begins on 2000-01-01.
const adjustment = `PATCH /agents/` + tests.AgentID + ` {"entityType":"company","expirationDate":"2000-02-01","maxCreditSpend":1000,"numResults":10,"prompt":"raised a round","searchPeriod":"1d"}`

// kindsOf names the requests of agents.
func kindsOf(t *testing.T, sent []string) []string {
	t.Helper()
	kinds := make([]string, len(sent))
	for i, line := range sent {
		switch line {
		case "GET /agents":
			kinds[i] = "list"
		case "GET /agents/" + tests.AgentID:
			kinds[i] = "get"
		case "POST /agents/" + tests.AgentID + "/activate":
			kinds[i] = "activate"
		case adjustment:
			kinds[i] = "adjust"
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

func TestCreateAndStart(t *testing.T) {
	for _, test := range starting {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := tests.Stage(t, test.steps...)
				spec := tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = len(test.name)%2 == 0 }) // it does not matter
				agent, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), spec)
				require.Equal(t, test.sends, kindsOf(t, s.Sent))
				s.Done()
				require.GreaterOrEqual(t, time.Since(began), test.took)
				if test.agent == "" {
					require.Equal(t, errors.Is(err, prospectkit.ErrNotStarted), agent != nil && agent.ID == tests.AgentID && agent.Draft())
					require.Equal(t, errors.Is(err, prospectkit.ErrNotStarted), agent != nil)
					test.check(t, err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, tests.AgentID, agent.ID)
				require.Equal(t, prospectkit.AgentStatus(test.agent), agent.Status)
			})
		})
	}
}

func TestCreateAndStart_GivesUpAfterThreeActivations(t *testing.T) {
	for name, response := range map[string]tests.RoundTrip{
		"cut off":                        tests.CutOff,
		"a gateway says that it started": tests.Always(502, tests.Envelope("AGENT_NOT_A_DRAFT")),
	} {
		t.Run(name, func(t *testing.T) { givesUpAfterThreeActivations(t, response) })
	}
}

func givesUpAfterThreeActivations(t *testing.T, response tests.RoundTrip) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began, activations := time.Now(), 0
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost && r.URL.Path == "/api/v1/business/agents/"+tests.AgentID+"/activate":
				activations++
				return response(r)
			case r.Method == http.MethodPost:
				return tests.DraftSaved(r)
			case r.URL.Path == "/api/v1/business/agents":
				return tests.OtherAgents(r)
			}
			return tests.Sees("initializing")(r)
		}))
		draft, err := client.Agents.CreateAndStart(t.Context(), tests.Capped())
		start := requireStart(t, err, prospectkit.OutcomeUnknown)
		require.True(t, draft.Draft(), "the draft comes back beside the error")
		require.Equal(t, 3, activations)
		require.Equal(t, 3*65*time.Second, time.Since(began))
		var unknown *prospectkit.OutcomeUnknownError
		require.ErrorAs(t, start, &unknown)
		r, err := unknown.Resolve(t.Context())
		require.NoError(t, err)
		require.Equal(t, prospectkit.OutcomeNotApplied, r.Outcome)
	})
}

// An activation that cannot be read afterwards has still started the agent.
func TestCreateAndStart_UnreadableAgent(t *testing.T) {
	s := tests.Stage(t, tests.OtherAgents, tests.DraftSaved, tests.Always(204, ""), tests.Always(404, tests.Envelope("AGENT_NOT_FOUND")))
	agent, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), tests.Capped())
	require.NoError(t, err)
	require.Equal(t, &prospectkit.Agent{ID: tests.AgentID, Type: prospectkit.AgentTypeWebMonitor, Name: "Funding", Started: true}, agent)
	s.Done()
}

func TestCreateAndStart_CreatesNoDraftThatMayNotStart(t *testing.T) {
	_, err := tests.NewClient(t, tests.Untouched(t)).Agents.CreateAndStart(t.Context(), tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Prompt = "" }))
	require.Equal(t, []string{startNeedsCap, "prompt has 0 characters, must have 1 to 2000"}, tests.Refusals(t, err))
	require.ErrorContains(t, err, "agents.create-web-monitor")
	for _, rule := range []prospectkit.Option{prospectkit.NoSpend(), prospectkit.ReadOnly()} {
		_, err := tests.NewClient(t, tests.Untouched(t)).Agents.CreateAndStart(t.Context(), tests.Capped(), rule)
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.ErrorContains(t, err, "agents.activate")
	}
	_, err = tests.NewClient(t, tests.Stage(t, tests.OtherAgents)).Agents.CreateAndStart(t.Context(), tests.Capped(), prospectkit.WithField("prompt", "x"))
	require.Equal(t, []string{`body cannot be encoded: field "prompt" is set by the call itself`}, tests.Refusals(t, err))
}

func TestCreateAndStart_Options(t *testing.T) {
	var info prospectkit.Info
	s := tests.Stage(t, tests.OtherAgents, tests.DraftSaved, activated)
	_, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), tests.Capped(),
		prospectkit.WithField("yourField", 1), prospectkit.WithInfo(&info), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
	require.NoError(t, err)
	require.Contains(t, s.Sent[1], `"yourField":1`)
	require.Equal(t, "POST /agents/"+tests.AgentID+"/activate", s.Sent[2])
	require.Equal(t, "agents.create-web-monitor", info.Op)
	s.Done()
}

func TestCreateAndStart_EndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		s := tests.Stage(t, append([]tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, tests.CutOff}, tests.Times(4, tests.Sees("initializing"))...)...)
		began := time.Now()
		draft, err := tests.NewClient(t, s).Agents.CreateAndStart(ctx, tests.Capped())
		require.Equal(t, tests.AgentID, draft.ID)
		start := requireStart(t, err, prospectkit.OutcomeUnknown)
		require.ErrorIs(t, start, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, 7*time.Second, time.Since(began), "the next look would be too late")
		s.Done()
	})
}

// No read shows an adjustment. One by CreateAndStart, which adjusts the draft again before it starts it, is watched until it cannot come late.
func TestCreateAndStart_AdjustmentInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Name: "main", Credits: 5000}}}))
		book := prospectkit.WithJournal(new(journal.MemoryJournal))
		client := tests.SandboxClient(t, sb, book)
		draft, err := client.Agents.Ensure(t.Context(), tests.Capped())
		require.NoError(t, err)
		sb.Fail("agents.adjust", sandbox.First(4), sandbox.DropBefore())
		_, err = client.Agents.CreateAndStart(t.Context(), tests.Capped())
		require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
		_, err = client.Agents.Adjust(t.Context(), draft.Agent.ID, prospectkit.Fields{"maxCreditSpend": 1000})
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)

		later := tests.SandboxClient(t, sb, book)
		resolve := func() (again []bool) {
			for ticket, err := range later.InDoubt(t.Context()) {
				require.NoError(t, err)
				r, err := later.Resolve(t.Context(), ticket)
				require.NoError(t, err)
				require.Equal(t, prospectkit.OutcomeUnknown, r.Outcome)
				require.Zero(t, r.Again, "no read would tell")
				require.GreaterOrEqual(t, time.Since(ticket.LastSent), 65*time.Second, "it may come late, after another adjustment")
				again = append(again, strings.Contains(r.Note, "Ensure adjusts it again before it starts it"))
			}
			return again
		}
		require.Equal(t, []bool{true, false}, resolve())
		agent, err := later.Agents.CreateAndStart(t.Context(), tests.Capped())
		require.NoError(t, err)
		require.False(t, agent.Draft())
		later = tests.SandboxClient(t, sb, book)
		require.Equal(t, []bool{true, false}, resolve(), "still unknown")
	})
}

// An activation whose outcome is unknown stays so, whatever is refused after it: the first one may have spent.
func TestCreateAndStart_StaysUnknown(t *testing.T) {
	for code, status := range map[string]int{"INSUFFICIENT_CREDITS": 402, "AGENT_NOT_FOUND": 404, "VALIDATION_FAILED": 422} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Name: "main", Credits: 5000}}}))
			sb.Fail("agents.activate", sandbox.Nth(1), sandbox.DropBefore())
			sb.Fail("agents.activate", sandbox.Nth(2), sandbox.Status(status, code))
			draft, err := tests.SandboxClient(t, sb).Agents.CreateAndStart(t.Context(), tests.Capped())
			require.ErrorIs(t, err, prospectkit.ErrNotStarted)
			require.True(t, draft.Draft())
			require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
			require.Equal(t, tests.NoWait, tests.Waits(err))
			require.ErrorIs(t, err, prospectkit.Code(code), "why it ended is told, too")
		})
	}
}

// Ensure tells what it did: whatever stands there before, there is one agent at the end, started once at most.
func TestEnsureAgent(t *testing.T) {
	for name, test := range map[string]struct {
		start      bool
		steps      []tests.RoundTrip
		sends      []string
		created    bool
		wasStarted bool
		status     prospectkit.AgentStatus
	}{
		"new draft":                     {false, []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved}, []string{"list", "create"}, true, false, "initializing"},
		"new, started":                  {true, []tests.RoundTrip{tests.OtherAgents, tests.DraftSaved, activated}, []string{"list", "create", "activate"}, true, false, "processing"},
		"found draft":                   {false, []tests.RoundTrip{tests.OurDraft}, []string{"list"}, false, false, "initializing"},
		"found draft, started":          {true, []tests.RoundTrip{tests.OurDraft, adjusted, activated}, []string{"list", "adjust", "activate"}, false, false, "processing"},
		"found started":                 {true, []tests.RoundTrip{ourAgent}, []string{"list"}, false, true, "active"},
		"found started, a draft":        {false, []tests.RoundTrip{ourAgent}, []string{"list"}, false, true, "active"},
		"lost draft":                    {false, []tests.RoundTrip{tests.OtherAgents, tests.CutOff, tests.OurDraft}, []string{"list", "create", "list"}, false, false, "initializing"},
		"lost, started since":           {true, []tests.RoundTrip{tests.OtherAgents, tests.CutOff, ourAgent}, []string{"list", "create", "list"}, false, true, "active"},
		"unread draft":                  {false, []tests.RoundTrip{tests.OtherAgents, tests.Always(201, "{"), tests.OurDraft}, []string{"list", "create", "list"}, true, false, "initializing"},
		"race for the start":            {true, []tests.RoundTrip{tests.OurDraft, adjusted, tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")}, []string{"list", "adjust", "activate", "get"}, false, false, "active"},
		"race, still processing":        {true, []tests.RoundTrip{tests.OurDraft, adjusted, tests.Always(409, tests.Envelope("AGENT_PROCESSING")), tests.Sees("active")}, []string{"list", "adjust", "activate", "get"}, false, false, "active"},
		"started before the adjustment": {true, []tests.RoundTrip{tests.OurDraft, tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")}, []string{"list", "adjust", "get"}, false, true, "active"},
		"found without a kind":          {true, []tests.RoundTrip{untyped, adjusted, activated}, []string{"list", "adjust", "activate"}, false, false, "processing"},
		"lost without a kind":           {false, []tests.RoundTrip{tests.OtherAgents, tests.CutOff, untyped}, []string{"list", "create", "list"}, false, false, "initializing"},
		"taken without a kind":          {false, []tests.RoundTrip{tests.OtherAgents, tests.NameTaken, untyped}, []string{"list", "create", "list"}, false, false, "initializing"},
		"found without a status":        {true, []tests.RoundTrip{statusless, adjusted, activated}, []string{"list", "adjust", "activate"}, false, false, "processing"},
		"draft without a status":        {false, []tests.RoundTrip{statusless}, []string{"list"}, false, false, ""},
		"start that tells naught":       {true, []tests.RoundTrip{tests.OurDraft, adjusted, tests.Always(204, ""), tests.Sees("active")}, []string{"list", "adjust", "activate", "get"}, false, false, "active"},
		"start that was lost first": {
			true, append(append([]tests.RoundTrip{tests.OurDraft, adjusted, tests.CutOff}, tests.Times(8, tests.Sees("initializing"))...), tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")),
			[]string{"list", "adjust", "activate", "get", "get", "get", "get", "get", "get", "get", "get", "activate", "get"},
			false, false, "active",
		},
		"lost start": {true, []tests.RoundTrip{tests.OurDraft, adjusted, tests.CutOff, tests.Sees("active")}, []string{"list", "adjust", "activate", "get"}, false, false, "active"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := tests.Stage(t, test.steps...)
				e, err := tests.NewClient(t, s).Agents.Ensure(t.Context(), tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = test.start }))
				require.NoError(t, err)
				require.Equal(t, test.sends, kindsOf(t, s.Sent))
				s.Done()
				require.Equal(t, tests.AgentID, e.Agent.ID)
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
		sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Name: "main", Credits: 5000}}}))
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				e, err := tests.SandboxClient(t, sb).Agents.Ensure(t.Context(), tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = true }))
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
	person := tests.Discovery()
	person.MaxCreditSpend, person.Start = 1000, true
	people := tests.Watcher()
	people.MaxCreditSpend, people.Start = 1000, true
	for _, spec := range []prospectkit.AgentSpec{person, people, tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = true })} {
		s := tests.Stage(t, tests.OtherAgents, tests.Made, activated)
		e, err := tests.NewClient(t, s).Agents.Ensure(t.Context(), spec)
		require.NoError(t, err)
		require.True(t, e.Created)
		require.Contains(t, s.Sent[1], `"start":false`)
		require.Contains(t, s.Sent[2], "/activate")
	}
}

// A draft costs nothing, so that a guard which knows no price does not refuse it.
func TestEnsureAgent_DraftsNeedNoPrice(t *testing.T) {
	s := tests.Stage(t, tests.OtherAgents, tests.DraftSaved)
	_, err := tests.NewClient(t, s, prospectkit.WithSpendGuard(spend.NewGuard(1, nil))).Agents.Ensure(t.Context(), tests.Monitor())
	require.NoError(t, err)
	s.Done()
}

// lastingBook is a journal that cannot note how a call ended.
type lastingBook struct{ *tests.Notebook }

func (lastingBook) Ended(context.Context, string, journal.End) error { return tests.ErrBroken }

// An activation that the journal keeps in doubt is not sent again.
func TestEnsureAgent_JournalThatCannotSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tests.Stage(t, append([]tests.RoundTrip{tests.OurDraft, adjusted, tests.CutOff}, tests.Times(8, tests.Sees("initializing"))...)...)
		client := tests.NewClient(t, s, prospectkit.WithJournal(lastingBook{new(tests.Notebook)}))
		_, err := client.Agents.CreateAndStart(t.Context(), tests.Capped())
		_ = requireStart(t, err, prospectkit.OutcomeUnknown)
		require.ErrorIs(t, err, tests.ErrBroken)
		s.Done()
	})
}

// A draft whose state the listing does not show is the one that was created.
func TestResolve_AgentWithoutAStatus(t *testing.T) {
	client := tests.NewClient(t, tests.Stage(t, tests.CutOff, statusless))
	_, err := client.Agents.Create(t.Context(), tests.Capped())
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	require.True(t, ok)
	r, err := unknown.Resolve(t.Context())
	require.NoError(t, err)
	require.Equal(t, prospectkit.OutcomeApplied, r.Outcome)
}

func TestEnsureAgent_RefusesBadSpecs(t *testing.T) {
	_, err := tests.NewClient(t, tests.Untouched(t)).Agents.Ensure(t.Context(), nil)
	require.Equal(t, []string{"spec must not be nil"}, tests.Refusals(t, err))
	_, err = tests.NewClient(t, tests.Untouched(t)).Agents.Ensure(t.Context(), tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Start = true }))
	require.Equal(t, []string{startNeedsCap}, tests.Refusals(t, err))
	e, err := tests.NewClient(t, tests.Stage(t, tests.OtherAgents, tests.DraftSaved)).Agents.Ensure(t.Context(), tests.Monitor())
	require.NoError(t, err)
	require.True(t, e.Agent.Draft(), "a draft needs no cap")
}
