package outcome_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// lostCall is a call whose response is lost.
type lostCall = func(ctx context.Context, c *prospectkit.Client) error

func create(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Lists.Create(ctx, tests.Q1))
}

func approveOne(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Campaigns.ApproveUnreviewed(ctx, tests.CampaignID))
}

func createDraft(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Agents.Create(ctx, tests.Monitor()))
}

var longName = strings.Repeat("Funding rounds in Berlin ", 4)

func createLong(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Agents.Create(ctx, tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.ListName = longName })))
}

func createStarted(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Agents.Create(ctx, tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Start = true })))
}

func activateOne(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Agents.Activate(ctx, tests.AgentID))
}

func pauseOne(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Agents.Pause(ctx, tests.AgentID))
}

// What a read shows of the agent decides. The error resolves it, and its ticket in another process, with the same result.
func TestResolve_AgentCalls(t *testing.T) {
	for _, test := range lostCalls {
		tests.InTime(t, test.name, func(t *testing.T) {
			lost := 0
			service := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodPost {
					lost++
				}
				return tests.LosesWrites(withDate{base: test.reads}.RoundTrip)(r)
			})
			client := tests.NewClient(t, service, tests.Journaled())
			_ = tests.Discard(client.Agents.Page(t.Context())) // it hears the clock
			err := test.call(t.Context(), client)
			unknown := tests.AsUnknown(t, err)
			ticket := tests.Written(t, unknown.Ticket())
			began := time.Now()
			r := resolved(t, unknown.Resolve)
			require.Equal(t, test.verdict, r.Outcome)
			require.Contains(t, r.Note, test.note)
			_, found := r.Object.(*prospectkit.Agent)
			require.Equal(t, test.found, found)
			require.Equal(t, test.took, time.Since(began))
			there := resolved(t, ofTicket(tests.NewClient(t, service, tests.Journaled()), ticket))
			require.Equal(t, r.Outcome, there.Outcome)
			require.Equal(t, r.Object, there.Object)
			require.Zero(t, there.Again, there)
			require.Equal(t, 1, lost, "a write is sent once")
		})
	}
}

func TestResolve_AmbiguousAgentNames(t *testing.T) {
	client := tests.NewClient(t, tests.LosesWrites(tests.Always(200, `{"agents":[{"id":"65f0c0ffee65f0c0ffee6a01","name":"Funding"},{"id":"65f0c0ffee65f0c0ffee6a02","name":"Funding"}]}`)))
	_, err := client.Agents.Create(t.Context(), tests.Monitor())
	unknown := tests.AsUnknown(t, err)
	require.ErrorIs(t, tests.Discard(unknown.Resolve(t.Context())), prospectkit.CodeListNameAmbiguous)
}

var namelessAgents = tests.Always(200, `{"agents":[{"id":"`+tests.AgentID+`","status":"active"}]}`)

// startedDraft is an agent whose status a start has not changed: what that is after a start is undocumented.
var startedDraft = tests.Always(200, `{"agent":{"id":"`+tests.AgentID+`","status":"initializing","started":true}}`)

// lostCalls are calls without a response, and what is made of the state that is read afterwards.
var lostCalls = []struct {
	name    string
	call    lostCall
	reads   tests.RoundTrip
	verdict prospectkit.Outcome
	note    string // a part of it
	found   bool   // an agent comes with the verdict
	took    time.Duration
}{
	{"draft found", createDraft, tests.OurDraft, prospectkit.OutcomeApplied, "a teammate may have made it", true, 0},
	{"draft found, name trimmed", createDraft, tests.Listed([3]string{"", " Funding ", "initializing"}), prospectkit.OutcomeApplied, "teammate", true, 0},
	{"draft not found", createDraft, tests.OtherAgents, prospectkit.OutcomeNotApplied, "agent of that name", false, 65 * time.Second},
	{"case differs", createDraft, tests.Listed([3]string{"web-monitor", "funding", "initializing"}), prospectkit.OutcomeUnknown, "differs in case, spaces or accents only", false, 65 * time.Second},
	{"cut off", createLong, tests.Listed([3]string{"web-monitor", longName[:50], "initializing"}), prospectkit.OutcomeUnknown, "or is cut off", false, 65 * time.Second},
	{"case differs, another kind", createDraft, tests.Listed([3]string{"people-watcher", "funding", "initializing"}), prospectkit.OutcomeNotApplied, "", false, 65 * time.Second},
	{"another kind", createDraft, tests.Listed([3]string{"people-watcher", "Funding", "initializing"}), prospectkit.OutcomeNotApplied, "another kind", true, 0},
	{"no draft any more", createDraft, tests.Listed([3]string{"web-monitor", "Funding", "active"}), prospectkit.OutcomeUnknown, "left the draft state", true, 0},
	{"no names", createDraft, namelessAgents, prospectkit.OutcomeUnknown, "the listing has no names", false, 0},
	{"started found", createStarted, tests.Listed([3]string{"web-monitor", "Funding", "processing"}), prospectkit.OutcomeApplied, "", true, 0},
	{"unknown state found", createStarted, tests.Listed([3]string{"web-monitor", "Funding", "odd"}), prospectkit.OutcomeApplied, "", true, 0},
	{"found without a status", createStarted, tests.Listed([3]string{"web-monitor", "Funding", ""}), prospectkit.OutcomeUnknown, "has no status", true, 0},
	{"only a draft found", createStarted, tests.OurDraft, prospectkit.OutcomeNotApplied, "is a draft", true, 65 * time.Second},
	{"activated", activateOne, tests.Sees("active"), prospectkit.OutcomeApplied, "a draft never changes on its own", true, 0},
	{"in an unknown state", activateOne, tests.Sees("odd"), prospectkit.OutcomeApplied, "", true, 0},
	{"still a draft", activateOne, tests.Sees("initializing"), prospectkit.OutcomeNotApplied, "", true, 65 * time.Second},
	{"started, and called a draft", activateOne, startedDraft, prospectkit.OutcomeApplied, "", true, 0},
	{"no status", activateOne, tests.Always(200, `{"agent":{}}`), prospectkit.OutcomeUnknown, "the agent has no status", true, 0},
	{"paused", pauseOne, tests.Sees("paused"), prospectkit.OutcomeApplied, "status", true, 0},
	{"still active", pauseOne, tests.Sees("active"), prospectkit.OutcomeNotApplied, "", true, 65 * time.Second},
}
