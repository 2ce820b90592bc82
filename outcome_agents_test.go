package prospectkit_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

type agentCall func(context.Context, *prospectkit.AgentsService) error

func createDraft(ctx context.Context, a *prospectkit.AgentsService) error {
	_, err := a.Create(ctx, monitor())
	return err
}

var longName = strings.Repeat("Funding rounds in Berlin ", 4)

func createLong(ctx context.Context, a *prospectkit.AgentsService) error {
	_, err := a.Create(ctx, altered(monitor(), func(s *monitorOf) { s.ListName = longName }))
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

func TestResolve_AgentCalls(t *testing.T) {
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
				var unknown *prospectkit.OutcomeUnknownError
				require.ErrorAs(t, err, &unknown)
				began := time.Now()
				r, err := unknown.Resolve(t.Context())
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

func TestResolve_AmbiguousAgentNames(t *testing.T) {
	client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return cutOff(r)
		}
		return always(200, `{"agents":[{"id":"65f0c0ffee65f0c0ffee6a01","name":"Funding"},{"id":"65f0c0ffee65f0c0ffee6a02","name":"Funding"}]}`)(r)
	}))
	_, err := client.Agents.Create(t.Context(), monitor())
	var unknown *prospectkit.OutcomeUnknownError
	require.ErrorAs(t, err, &unknown)
	_, err = unknown.Resolve(t.Context())
	require.ErrorIs(t, err, prospectkit.CodeListNameAmbiguous)
}

func TestResolve_AdjustedAgents(t *testing.T) {
	_, err := newClient(t, stage(t, cutOff)).Agents.Adjust(t.Context(), agentID, prospectkit.Fields{"x": 1})
	var unknown *prospectkit.OutcomeUnknownError
	require.ErrorAs(t, err, &unknown)
	r, err := unknown.Resolve(t.Context())
	require.NoError(t, err)
	require.Equal(t, prospectkit.VerdictUnknowable, r.Verdict)
	require.Contains(t, r.Note, "the configuration of a draft is undocumented")
}

var namelessAgents = always(200, `{"agents":[{"id":"`+agentID+`","status":"active"}]}`)

// lostCalls are calls without a response, and what is made of the state that is read afterwards.
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
	{"case differs", createDraft, listed([3]string{"web-monitor", "funding", "initializing"}), prospectkit.VerdictUnknowable, "differs in case, spaces or accents only", false, 0},
	{"cut off", createLong, listed([3]string{"web-monitor", longName[:50], "initializing"}), prospectkit.VerdictUnknowable, "or is cut off", false, 0},
	{"case differs, another kind", createDraft, listed([3]string{"people-watcher", "funding", "initializing"}), prospectkit.VerdictNotSeen, "", false, 65 * time.Second},
	{"another kind", createDraft, listed([3]string{"people-watcher", "Funding", "initializing"}), prospectkit.VerdictNotSeen, "another kind", true, 0},
	{"no draft any more", createDraft, listed([3]string{"web-monitor", "Funding", "active"}), prospectkit.VerdictUnknowable, "left the draft state", true, 0},
	{"no names", createDraft, namelessAgents, prospectkit.VerdictUnknowable, "the listing has no names", false, 0},
	{"started found", createStarted, listed([3]string{"web-monitor", "Funding", "processing"}), prospectkit.VerdictHappened, "", true, 0},
	{"unknown state found", createStarted, listed([3]string{"web-monitor", "Funding", "odd"}), prospectkit.VerdictHappened, "", true, 0},
	{"only a draft found", createStarted, ourDraft, prospectkit.VerdictNotSeen, "is a draft", true, 65 * time.Second},
	{"activated", activateOne, sees("active"), prospectkit.VerdictHappened, "a draft never changes on its own", true, 0},
	{"in an unknown state", activateOne, sees("odd"), prospectkit.VerdictHappened, "", true, 0},
	{"still a draft", activateOne, sees("initializing"), prospectkit.VerdictNotSeen, "", true, 65 * time.Second},
	{"no status", activateOne, always(200, `{"agent":{}}`), prospectkit.VerdictUnknowable, "the agent has no status", true, 0},
	{"paused", pauseOne, sees("paused"), prospectkit.VerdictHappened, "status", true, 0},
	{"still active", pauseOne, sees("active"), prospectkit.VerdictNotSeen, "", true, 65 * time.Second},
}
