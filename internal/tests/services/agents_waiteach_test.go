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

// What the tests below wait for, and what they show of it.
var (
	agentA, agentB, agentC = strings.Repeat("a", 24), strings.Repeat("b", 24), strings.Repeat("c", 24)

	noneListed = tests.Always(200, `{"agents":[]}`)
	noRetry    = prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})
)

// alone responds with one agent.
func alone(id, status string) tests.RoundTrip {
	return tests.Always(200, fmt.Sprintf(`{"agent":{"id":%q,"name":"Funding","status":%q}}`, id, status))
}

// bothActive lists two agents that are active.
func bothActive(one, two string) tests.RoundTrip {
	return tests.Always(200, fmt.Sprintf(`{"agents":[{"id":%q,"status":"active"},{"id":%q,"status":"active"}]}`, one, two))
}

// What is seen of a wait: each agent once, with the code of its error.
func TestAgents_WaitEach(t *testing.T) {
	lower, upper := agentB, strings.ToUpper(agentB)
	failing, denied := tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")), tests.Always(403, tests.Envelope("INSUFFICIENT_SCOPE"))
	for name, c := range map[string]struct {
		ids    []string
		steps  []tests.RoundTrip
		seen   []string
		asked  string // ids of the agents that are read alone, one letter each
		enough bool   // after the first
	}{
		"the unlisted are read alone, one a poll, one after the other": {
			[]string{agentA, lower, upper, agentC},
			[]tests.RoundTrip{
				noneListed, alone(agentA, "processing"), noneListed, alone(agentB, "active"), noneListed, alone(agentC, "processing"),
				noneListed, alone(agentA, "failed"), noneListed, alone(agentC, "paused"),
			},
			[]string{agentB, agentA, agentC},
			"abcac", false,
		},
		"an id is the same in whichever case, on either side": {
			[]string{strings.ToUpper(agentA), lower}, []tests.RoundTrip{bothActive(agentA, upper)}, []string{agentA, upper}, "", false,
		},
		"a failure that may pass ends a poll and no wait, any other the wait for one agent": {
			[]string{agentA, agentB},
			[]tests.RoundTrip{failing, noneListed, failing, noneListed, denied, noneListed, alone(agentB, "active")},
			[]string{agentA + "INSUFFICIENT_SCOPE", agentB},
			"aab", false,
		},
		"enough, listed": {[]string{agentA, agentB}, []tests.RoundTrip{bothActive(agentA, agentB)}, []string{agentA}, "", true},
		"enough, alone":  {[]string{agentA, agentB}, []tests.RoundTrip{noneListed, denied}, []string{agentA + "INSUFFICIENT_SCOPE"}, "a", true},
	} {
		tests.InBubble(t, name, func(t *testing.T) {
			s := tests.Stage(t, c.steps...)
			var seen []string
			for agent, err := range tests.NewClient(t, s, noRetry).Agents.WaitEach(t.Context(), c.ids...) {
				seen = append(seen, fmt.Sprint(agent.ID, prospectkit.CodeOf(err)))
				require.Equal(t, err == nil, agent.Status.Settled())
				require.True(t, err != nil || c.asked == "" || agent.Name == "Funding", "it is as whole as those of a listing")
				if c.enough {
					break
				}
			}
			require.Equal(t, c.seen, seen)
			s.Done()
			asked := ""
			for _, line := range s.Sent {
				if id, ok := strings.CutPrefix(line, "GET /agents/"); ok {
					require.Len(t, id, 24)
					asked += id[:1]
				}
			}
			require.Equal(t, c.asked, asked)
		})
	}
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
