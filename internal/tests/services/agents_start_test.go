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

// startFails is the error of a start.
type startFails struct {
	outcome prospectkit.Outcome
	is      []error
	says    string
}

var (
	nameHeld    = startFails{prospectkit.OutcomeNotApplied, []error{prospectkit.CodeListNameTaken}, ""}
	draftUnseen = startFails{prospectkit.OutcomeUnknown, []error{prospectkit.ErrOutcomeUnknown}, ""}
)

type steps = []tests.RoundTrip

// starting says what CreateAndStart comes to: the responses it gets, and what it makes of them.
var starting = []struct {
	name  string
	steps steps
	sends string // kinds of requests, in order
	agent string // status of the agent; empty: an error
	fails startFails
	took  time.Duration // at least
}{
	{
		name: "all goes well", sends: "list,create,activate", agent: "processing",
		steps: steps{tests.OtherAgents, tests.DraftSaved, activated},
	},
	{
		name: "the activation's response tells nothing", sends: "list,create,activate,get", agent: "active",
		steps: steps{tests.OtherAgents, tests.DraftSaved, tests.Always(204, ""), tests.Sees("active")},
	},
	{
		name: "the draft's response is lost", sends: "list,create,list,adjust,activate", agent: "processing",
		steps: steps{tests.OtherAgents, tests.CutOff, tests.OurDraft, adjusted, activated},
	},
	{
		name: "the draft shows late", sends: "list,create,list,list,list,adjust,activate", agent: "processing", took: 3 * time.Second,
		steps: steps{tests.OtherAgents, tests.CutOff, tests.OtherAgents, tests.OtherAgents, tests.OurDraft, adjusted, activated},
	},
	{
		name: "the draft's response cannot be read", sends: "list,create,list,activate", agent: "processing",
		steps: steps{tests.OtherAgents, tests.Always(201, "{"), tests.OurDraft, activated},
	},
	{
		name: "the activation's response is lost", sends: "list,create,activate,get", agent: "active",
		steps: steps{tests.OtherAgents, tests.DraftSaved, tests.CutOff, tests.Sees("active")},
	},
	{
		name: "the activation's response cannot be read", sends: "list,create,activate,get", agent: "something new",
		steps: steps{tests.OtherAgents, tests.DraftSaved, tests.Always(200, "{"), tests.Sees("something new")},
	},
	{
		name: "both responses are lost", sends: "list,create,list,adjust,activate,get,get", agent: "processing",
		steps: steps{tests.OtherAgents, tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")), tests.OurDraft, adjusted, tests.Always(504, "<html>"), tests.Sees("initializing"), tests.Sees("processing")},
	},
	{
		name: "the activation was lost before it arrived", sends: "list,create,activate,get,get,get,get,get,get,get,get,activate,get", agent: "active", took: 65 * time.Second,
		steps: append(append(steps{tests.OtherAgents, tests.DraftSaved, tests.CutOff},
			tests.Times(8, tests.Sees("initializing"))...), tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")),
	},
	{
		name: "a gateway repeats that it has started", sends: "list,create,activate,get", agent: "active",
		steps: steps{tests.OtherAgents, tests.DraftSaved, tests.Always(502, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")},
	},
	{
		name: "the service starts a draft automatically", sends: "list,create", agent: "active",
		steps: steps{tests.OtherAgents, tests.Always(201, tests.AgentJSON("active"))},
	},
	{
		name: "a list has the name", sends: "list,create,list,lists", fails: nameHeld,
		steps: steps{tests.OtherAgents, tests.NameTaken, tests.OtherAgents, tests.HoldingList},
	},
	{
		name: "the holder of the name does not show", sends: "list,create" + strings.Repeat(",list,lists", 8), took: 65 * time.Second,
		steps: append(steps{tests.OtherAgents, tests.NameTaken},
			slices.Repeat(steps{tests.OtherAgents, tests.Always(403, tests.Envelope("FORBIDDEN"))}, 8)...),
		fails: nameHeld,
	},
	{
		name: "an agent of another kind has the name", sends: "list,create,list", fails: nameHeld,
		steps: steps{tests.Listed([3]string{"people-watcher", "Funding", "active"}), tests.NameTaken, tests.Listed([3]string{"people-watcher", "Funding", "active"})},
	},
	{
		name: "an earlier run was killed before the activation", sends: "list,adjust,activate", agent: "processing",
		steps: steps{tests.OurDraft, adjusted, activated},
	},
	{
		name: "an earlier run was killed after the activation", sends: "list", agent: "active",
		steps: steps{tests.Listed([3]string{"web-monitor", "Funding", "active"})},
	},
	{
		name: "an earlier run was killed, and its draft shows late", sends: "list,create,list,lists,list,adjust,activate", agent: "processing", took: time.Second,
		steps: steps{tests.OtherAgents, tests.NameTaken, tests.OtherAgents, tests.Always(403, tests.Envelope("FORBIDDEN")), tests.OurDraft, adjusted, activated},
	},
	{
		name: "another process was faster to create it", sends: "list,create,list,adjust,activate,get", agent: "active",
		steps: steps{tests.OtherAgents, tests.NameTaken, tests.OurDraft, adjusted, tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")},
	},
	{
		name: "the draft never arrived", sends: "list,create" + strings.Repeat(",list", 8) + ",create,activate", agent: "processing", took: 65 * time.Second,
		steps: append(append(steps{tests.OtherAgents, tests.CutOff}, tests.Times(8, tests.OtherAgents)...), tests.DraftSaved, activated),
	},
	{
		name: "the draft's response is lost, and agents have no names", sends: "list,create,list", fails: draftUnseen,
		steps: steps{tests.OtherAgents, tests.CutOff, nameless},
	},
	{
		name: "the draft's response is lost, and another agent has no name", sends: "list,create,list,adjust,activate", agent: "processing",
		steps: steps{tests.OtherAgents, tests.CutOff, besideNameless, adjusted, activated},
	},
	{
		name: "the name is taken, and agents have no names", sends: "list,create,list", fails: nameHeld,
		steps: steps{tests.OtherAgents, tests.NameTaken, nameless},
	},
	{
		name: "the name is taken, and the agents cannot be read", sends: "list,create,list",
		steps: steps{tests.OtherAgents, tests.NameTaken, denied},
		fails: startFails{prospectkit.OutcomeNotApplied, []error{prospectkit.CodeListNameTaken, prospectkit.CodeInsufficientScope}, "could not be read"},
	},
	{
		name: "the activation's response is lost, and the agent has no status", sends: "list,create,activate,get",
		steps: steps{tests.OtherAgents, tests.DraftSaved, tests.CutOff, tests.Sees("")},
		fails: startFails{prospectkit.OutcomeUnknown, []error{prospectkit.ErrNotStarted}, seenNoStart},
	},
	{
		name: "the first listing cannot be read", sends: "list,create,list,adjust,activate", agent: "processing",
		steps: steps{tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND")), tests.CutOff, tests.OurDraft, adjusted, activated},
	},
	{
		name: "the listing fails, all else goes well", sends: "list,create,activate", agent: "processing",
		steps: steps{tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND")), tests.DraftSaved, activated},
	},
	{
		name: "an agent of another kind turns up", sends: "list,create,list", fails: draftUnseen,
		steps: steps{tests.OtherAgents, tests.CutOff, tests.Listed([3]string{"people-watcher", "Funding", "initializing"})},
	},
	{
		name: "credits are short", sends: "list,create,activate",
		steps: steps{tests.OtherAgents, tests.DraftSaved, tests.Always(402, tests.Envelope("INSUFFICIENT_CREDITS"))},
		fails: startFails{
			prospectkit.OutcomeNotApplied,
			[]error{prospectkit.ErrNotStarted, prospectkit.ErrInsufficientCredits},
			"add credits or ask for less; nothing was billed",
		},
	},
	{
		name: "the draft's response cannot be read, and the draft is not found", sends: "list,create,list",
		steps: steps{tests.OtherAgents, tests.Always(201, "{}"), denied},
		fails: startFails{
			prospectkit.OutcomeApplied, []error{prospectkit.ErrResponseLost}, "prospectkit: agents.create-and-start: a draft was saved, " +
				`but not found again, so it was not started: call again, and it is found by its name: the response has no "agent"`,
		},
	},
	{
		name: "another process was faster to start it", sends: "list,create,activate,get", agent: "active",
		steps: steps{tests.OtherAgents, tests.DraftSaved, tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")},
	},
	{
		name: "an earlier draft cannot be adjusted", sends: "list,adjust",
		steps: steps{tests.OurDraft, tests.Always(422, tests.Envelope("VALIDATION_FAILED"))},
		fails: startFails{prospectkit.OutcomeNotApplied, []error{prospectkit.ErrNotStarted, prospectkit.CodeValidationFailed}, notAdjusted},
	},
	{
		name: "an earlier draft cannot be adjusted on the assumed path", sends: "list,adjust",
		steps: steps{tests.OurDraft, tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND"))},
		fails: startFails{prospectkit.OutcomeNotApplied, []error{prospectkit.ErrNotStarted}, notAdjusted},
	},
	{
		name: "the adjustment may have been lost", sends: "list,adjust,adjust,adjust",
		steps: steps{tests.OurDraft, tests.CutOff, tests.CutOff, tests.CutOff},
		fails: startFails{prospectkit.OutcomeUnknown, []error{prospectkit.ErrNotStarted}, notAdjusted},
	},
	{
		name: "the adjustment's response is lost", sends: "list,adjust,adjust,activate", agent: "processing",
		steps: steps{tests.OurDraft, tests.CutOff, adjusted, activated},
	},
	{
		name: "the status cannot be read", sends: "list,create,activate,get",
		steps: steps{tests.OtherAgents, tests.DraftSaved, tests.CutOff, tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE"))},
		fails: startFails{
			prospectkit.OutcomeUnknown, []error{prospectkit.ErrNotStarted, prospectkit.CodeInsufficientScope, prospectkit.ErrOutcomeUnknown}, seenNoStart,
		},
	},
}

// What is said of a draft that was saved, and not seen to start, and of one that was found, and not started as it was.
const (
	seenNoStart = "the draft was saved, but not seen to start"
	notAdjusted = "a draft of this name was found, and not started, because it could not be adjusted to the spec: " +
		"call again, or adjust and activate it, or take another name"
)

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
		tests.InBubble(t, test.name, func(t *testing.T) {
			began := time.Now()
			s := tests.Stage(t, test.steps...)
			spec := tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = len(test.name)%2 == 0 }) // it does not matter
			agent, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), spec)
			require.Equal(t, strings.Split(test.sends, ","), kindsOf(t, s.Sent))
			s.Done()
			require.GreaterOrEqual(t, time.Since(began), test.took)
			if test.agent != "" {
				require.NoError(t, err)
				require.Equal(t, tests.AgentID, agent.ID)
				require.Equal(t, prospectkit.AgentStatus(test.agent), agent.Status)
				return
			}
			require.Equal(t, errors.Is(err, prospectkit.ErrNotStarted), agent != nil)
			require.True(t, agent == nil || agent.ID == tests.AgentID && agent.Draft())
			test.fails.check(t, err)
		})
	}
}

// check demands the error.
func (f startFails) check(t *testing.T, err error) {
	t.Helper()
	require.Equal(t, f.outcome, prospectkit.OutcomeOf(err))
	for _, is := range f.is {
		require.ErrorIs(t, err, is)
	}
	require.ErrorContains(t, err, f.says)
	if errors.Is(err, prospectkit.ErrNotStarted) {
		require.Equal(t, slog.KindGroup, tests.AsError(t, err).LogValue().Kind())
		require.True(t, strings.Contains(err.Error(), seenNoStart) || strings.Contains(err.Error(), notAdjusted), "%v", err)
	}
	require.Equal(t, tests.NoWait, tests.Waits(err))
}

// A draft that is never seen to start is activated three times, and comes back beside the error.
func TestCreateAndStart_GivesUpAfterThreeActivations(t *testing.T) {
	for name, response := range map[string]tests.RoundTrip{
		"cut off":                        tests.CutOff,
		"a gateway says that it started": tests.Always(502, tests.Envelope("AGENT_NOT_A_DRAFT")),
	} {
		tests.InBubble(t, name, func(t *testing.T) {
			began, activations := time.Now(), 0
			activate := tests.Counting(&activations, response)
			client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				switch {
				case r.Method == http.MethodPost && r.URL.Path == "/api/v1/business/agents/"+tests.AgentID+"/activate":
					return activate(r)
				case r.Method == http.MethodPost:
					return tests.DraftSaved(r)
				case r.URL.Path == "/api/v1/business/agents":
					return tests.OtherAgents(r)
				}
				return tests.Sees("initializing")(r)
			}))
			draft, err := client.Agents.CreateAndStart(t.Context(), tests.Capped())
			draftUnseen.check(t, err)
			require.ErrorIs(t, err, prospectkit.ErrNotStarted)
			require.True(t, draft.Draft())
			require.Equal(t, 3, activations)
			require.Equal(t, 3*65*time.Second, time.Since(began))
			require.Equal(t, prospectkit.OutcomeNotApplied, tests.Resolved(t, err).Outcome)
		})
	}
}

// An activation that cannot be read afterwards has still started the agent.
func TestCreateAndStart_UnreadableAgent(t *testing.T) {
	s := tests.Stage(t, tests.OtherAgents, tests.DraftSaved, tests.Always(204, ""), tests.Always(404, tests.Envelope("AGENT_NOT_FOUND")))
	agent, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), tests.Capped())
	require.NoError(t, err)
	require.Equal(t, &prospectkit.Agent{ID: tests.AgentID, Type: prospectkit.AgentTypeWebMonitor, Name: "Funding", Started: true}, agent)
	s.Done()
}

// One thing that activation would refuse is enough: no draft is saved for it.
func TestCreateAndStart_CreatesNoDraftThatMayNotStart(t *testing.T) {
	for name, spec := range map[string]prospectkit.AgentSpec{
		"listName must not be blank":                   tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.ListName = "" }),
		"prompt has 0 characters, must have 1 to 2000": tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Prompt = "" }),
		startNeedsCap: tests.Monitor(),
	} {
		agent, err := tests.NewClient(t, tests.Untouched(t)).Agents.CreateAndStart(t.Context(), spec)
		require.Nil(t, agent, name)
		require.Equal(t, []string{name}, tests.Refusals(t, err))
		require.ErrorContains(t, err, "agents.create-web-monitor")
	}
	_, err := tests.NewClient(t, tests.Untouched(t)).Agents.CreateAndStart(t.Context(), tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Prompt = "" }))
	require.Len(t, tests.Refusals(t, err), 2, "all at once")
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
		prospectkit.WithField("yourField", 1), prospectkit.WithInfo(&info), noRetry)
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
		draftUnseen.check(t, err)
		require.ErrorIs(t, err, prospectkit.ErrNotStarted)
		require.Equal(t, 7*time.Second, time.Since(began), "the next look would be too late")
		s.Done()
	})
}

// A draft that a teammate saves while the creation is lost is started with the spec, not with what the teammate gave it.
func TestCreateAndStart_DraftOfATeammate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Fail("agents.create-web-monitor", sandbox.First(1), sandbox.DropBefore())
		sb.Between("agents.list", func(tx *sandbox.Tx) {
			tx.CreateAgent(sandbox.Agent{Type: sandbox.WebMonitor, Name: "Funding", Config: []byte(`{"listName":"Funding","entityType":"person","prompt":"x"}`)})
		})
		agent, err := tests.SandboxClient(t, sb).Agents.CreateAndStart(t.Context(), tests.Capped())
		require.NoError(t, err)
		require.False(t, agent.Draft())
		require.Len(t, sb.Agents(), 1)
		require.Contains(t, string(sb.Agents()[0].Config), `"maxCreditSpend":1000`, "no run spends more")
	})
}

// No read shows an adjustment. One by CreateAndStart, which adjusts the draft again before it starts it, is watched until it cannot come late.
func TestCreateAndStart_AdjustmentInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Credits(5000))
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
			sb := sandbox.New(t, sandbox.Credits(5000))
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
		steps      steps
		sends      string
		created    bool
		wasStarted bool
		status     prospectkit.AgentStatus
	}{
		"new draft":                     {false, steps{tests.OtherAgents, tests.DraftSaved}, "list,create", true, false, "initializing"},
		"new, started":                  {true, steps{tests.OtherAgents, tests.DraftSaved, activated}, "list,create,activate", true, false, "processing"},
		"found draft":                   {false, steps{tests.OurDraft}, "list", false, false, "initializing"},
		"found draft, started":          {true, steps{tests.OurDraft, adjusted, activated}, "list,adjust,activate", false, false, "processing"},
		"found started":                 {true, steps{ourAgent}, "list", false, true, "active"},
		"found started, a draft":        {false, steps{ourAgent}, "list", false, true, "active"},
		"lost draft":                    {false, steps{tests.OtherAgents, tests.CutOff, tests.OurDraft}, "list,create,list", false, false, "initializing"},
		"lost, started since":           {true, steps{tests.OtherAgents, tests.CutOff, ourAgent}, "list,create,list", false, true, "active"},
		"unread draft":                  {false, steps{tests.OtherAgents, tests.Always(201, "{"), tests.OurDraft}, "list,create,list", true, false, "initializing"},
		"race for the start":            {true, steps{tests.OurDraft, adjusted, tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")}, "list,adjust,activate,get", false, false, "active"},
		"race, still processing":        {true, steps{tests.OurDraft, adjusted, tests.Always(409, tests.Envelope("AGENT_PROCESSING")), tests.Sees("active")}, "list,adjust,activate,get", false, false, "active"},
		"started before the adjustment": {true, steps{tests.OurDraft, tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")}, "list,adjust,get", false, true, "active"},
		"found without a kind":          {true, steps{untyped, adjusted, activated}, "list,adjust,activate", false, false, "processing"},
		"lost without a kind":           {false, steps{tests.OtherAgents, tests.CutOff, untyped}, "list,create,list", false, false, "initializing"},
		"taken without a kind":          {false, steps{tests.OtherAgents, tests.NameTaken, untyped}, "list,create,list", false, false, "initializing"},
		"found without a status":        {true, steps{statusless, adjusted, activated}, "list,adjust,activate", false, false, "processing"},
		"draft without a status":        {false, steps{statusless}, "list", false, false, ""},
		"start that tells naught":       {true, steps{tests.OurDraft, adjusted, tests.Always(204, ""), tests.Sees("active")}, "list,adjust,activate,get", false, false, "active"},
		"start that was lost first": {
			true, append(append(steps{tests.OurDraft, adjusted, tests.CutOff}, tests.Times(8, tests.Sees("initializing"))...), tests.Always(409, tests.Envelope("AGENT_NOT_A_DRAFT")), tests.Sees("active")),
			"list,adjust,activate,get,get,get,get,get,get,get,get,activate,get",
			false, false, "active",
		},
		"lost start": {true, steps{tests.OurDraft, adjusted, tests.CutOff, tests.Sees("active")}, "list,adjust,activate,get", false, false, "active"},
	} {
		tests.InBubble(t, name, func(t *testing.T) {
			s := tests.Stage(t, test.steps...)
			e, err := tests.NewClient(t, s).Agents.Ensure(t.Context(), tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = test.start }))
			require.NoError(t, err)
			require.Equal(t, strings.Split(test.sends, ","), kindsOf(t, s.Sent))
			s.Done()
			require.Equal(t, tests.AgentID, e.Agent.ID)
			require.Equal(t, test.status, e.Agent.Status)
			require.Equal(t, test.created, e.Created)
			require.Equal(t, test.wasStarted, e.WasStarted)
		})
	}
}

// Many processes that ensure the same agent at the same moment end with one agent, started once.
func TestEnsureAgent_Races(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Credits(5000))
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
		draftUnseen.check(t, err)
		require.ErrorIs(t, err, prospectkit.ErrNotStarted)
		require.ErrorIs(t, err, tests.ErrBroken)
		s.Done()
	})
}

// A draft whose state the listing does not show is the one that was created.
func TestResolve_AgentWithoutAStatus(t *testing.T) {
	client := tests.NewClient(t, tests.Stage(t, tests.CutOff, statusless))
	_, err := client.Agents.Create(t.Context(), tests.Capped())
	require.Equal(t, prospectkit.OutcomeApplied, tests.Resolved(t, err).Outcome)
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
