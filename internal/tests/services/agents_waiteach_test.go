package services_test

import (
	"context"
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
)

func TestAgents_WaitEachRefusesWhatIsNoID(t *testing.T) {
	seen := 0
	for agent, err := range tests.NewClient(t, tests.Untouched(t)).Agents.WaitEach(t.Context(), tests.AgentID, "x") {
		seen++
		require.Nil(t, agent)
		require.Equal(t, []string{"agentIds must all be 24 hexadecimal digits; index 1 is not"}, tests.Refusals(t, err))
	}
	require.Equal(t, 1, seen)
}

// An agent that the listing lacks is read alone, and is as whole as the others.
func TestAgents_WaitEachReadsAlone(t *testing.T) {
	s := tests.Stage(t, tests.Always(200, `{"agents":[]}`), tests.Sees("active"))
	seen := 0
	for agent, err := range tests.NewClient(t, s).Agents.WaitEach(t.Context(), tests.AgentID) {
		seen++
		require.NoError(t, err)
		require.Equal(t, prospectkit.AgentStatusActive, agent.Status)
		require.NotEmpty(t, agent.Name)
		break
	}
	require.Equal(t, 1, seen)
	s.Done()
}

// What the tests below wait for, and what they show of it.
var (
	agentA, agentB, agentC = strings.Repeat("a", 24), strings.Repeat("b", 24), strings.Repeat("c", 24)

	noneListed = tests.Always(200, `{"agents":[]}`)
	noRetry    = prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})
)

// alone responds with one agent.
func alone(id, status string) tests.RoundTrip {
	return tests.Always(200, fmt.Sprintf(`{"agent":{"id":%q,"status":%q}}`, id, status))
}

// What the listing lacks is read alone, one agent a poll, one after the other.
func TestAgents_WaitEachReadsTheUnlistedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := tests.Stage(t, noneListed, alone(agentA, "processing"), noneListed, alone(agentB, "active"), noneListed, alone(agentC, "processing"),
			noneListed, alone(agentA, "failed"), noneListed, alone(agentC, "paused"))
		var seen []string
		for agent, err := range tests.NewClient(t, s).Agents.WaitEach(t.Context(), agentA, agentB, strings.ToUpper(agentB), agentC) {
			require.NoError(t, err)
			seen = append(seen, agent.ID)
		}
		require.Equal(t, []string{agentB, agentA, agentC}, seen)
		s.Done()
		for i, id := range []string{agentA, agentB, agentC, agentA, agentC} {
			require.Equal(t, "GET /agents/"+id, s.Sent[2*i+1])
		}
	})
}

// Those reads count, too: all together are at most 930 a day.
func TestAgents_WaitEachCountsTheUnlisted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if sent++; strings.HasSuffix(r.URL.Path, agentA) {
				return alone(agentA, "processing")(r)
			}
			return noneListed(r)
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		for _, err := range client.Agents.WaitEach(ctx, agentA) {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		require.InDelta(t, 925, sent, 5)
	})
}

// An id is the same in whichever case, on either side.
func TestAgents_WaitEachKnowsIDsInAnyCase(t *testing.T) {
	upper := strings.ToUpper(agentB)
	s := tests.Stage(t, tests.Always(200, fmt.Sprintf(`{"agents":[{"id":%q,"status":"active"},{"id":%q,"status":"active"}]}`, agentA, upper)))
	var seen []string
	for agent, err := range tests.NewClient(t, s).Agents.WaitEach(t.Context(), strings.ToUpper(agentA), agentB) {
		require.NoError(t, err)
		seen = append(seen, agent.ID)
	}
	require.Equal(t, []string{agentA, upper}, seen)
	s.Done()
}

// The end of the context while an agent is read alone ends no wait for that agent: whatever came of it is told without one.
func TestAgents_WaitEachEndsWhileItReadsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := tests.Stage(t, noneListed, func(r *http.Request) (*http.Response, error) {
			cancel()
			return tests.Always(404, tests.Envelope("AGENT_NOT_FOUND"))(r)
		})
		seen := 0
		for agent, err := range tests.NewClient(t, s).Agents.WaitEach(ctx, agentA) {
			require.Error(t, err)
			require.Nil(t, agent)
			seen++
		}
		require.Equal(t, 1, seen)
		s.Done()
	})
}

// A failure that may pass ends a poll and no wait. Any other ends the wait for one agent.
func TestAgents_WaitEachOutlivesFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failing := tests.Always(500, tests.Envelope("UNEXPECTED_ERROR"))
		s := tests.Stage(t, failing, noneListed, failing, noneListed, tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE")), noneListed, alone(agentB, "active"))
		var seen []string
		for agent, err := range tests.NewClient(t, s, noRetry).Agents.WaitEach(t.Context(), agentA, agentB) {
			seen = append(seen, fmt.Sprint(agent.ID, prospectkit.CodeOf(err)))
		}
		require.Equal(t, []string{agentA + "INSUFFICIENT_SCOPE", agentB}, seen)
		s.Done()
	})
}

// Whoever has enough sees nothing more, and nothing more is sent.
func TestAgents_WaitEachEnough(t *testing.T) {
	both := tests.Always(200, fmt.Sprintf(`{"agents":[{"id":%q,"status":"active"},{"id":%q,"status":"active"}]}`, agentA, agentB))
	for name, steps := range map[string][]tests.RoundTrip{
		"listed": {both},
		"alone":  {noneListed, tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE"))},
	} {
		s := tests.Stage(t, steps...)
		for agent, err := range tests.NewClient(t, s).Agents.WaitEach(t.Context(), agentA, agentB) {
			require.Equal(t, name == "alone", err != nil, name)
			require.Equal(t, agentA, agent.ID, name)
			break
		}
		s.Done()
	}
}

// The pace of all waiters together makes one wait. If its context ends meanwhile, it is told so, as between two polls.
func TestAgents_WaitEachEndsWhileItWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		longer, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var other sync.WaitGroup
		defer other.Wait()
		other.Go(func() {
			for _, err := range client.Agents.WaitEach(longer, agentA) {
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var ended error
		for agent, err := range client.Agents.WaitEach(ctx, agentB) {
			require.Nil(t, agent)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			ended = err
		}
		require.ErrorIs(t, ended, prospectkit.ErrNotSettled)
		require.ErrorContains(t, ended, "not settled after 1s and ")
	})
}
