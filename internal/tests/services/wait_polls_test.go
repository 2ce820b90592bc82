package services_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A failed poll that names no time ends no wait early: the next one may have been in time, had the pause been shorter.
func TestWaitLastsToItsDeadlineAfterAFailedPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began := time.Now()
		failing := tests.Always(500, tests.Envelope("UNEXPECTED_ERROR"))
		_, err := tests.NewClient(t, failing, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})).Agents.WaitSettled(ctx, tests.AgentID)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
		require.Equal(t, 4*time.Second, time.Since(began))
	})
}

// Whoever cancels between two polls is told so, and not that a deadline is too near.
func TestWait_CanceledBetweenPolls(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := tests.NewClient(t, tests.Sees("processing"), tests.Watch(func(e prospectkit.Event) {
		if e.Kind == prospectkit.EventEnd {
			cancel()
		}
	}))
	agent, err := client.Agents.WaitSettled(ctx, tests.AgentID)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	require.NotNil(t, agent)
}

// A poll that is to come later does not end a wait whose deadline is later still.
func TestWait_LastsBeyondALongRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		limited := tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "600")
		agent, err := tests.NewClient(t, tests.Stage(t, tests.Sees("processing"), limited, tests.Sees("active"))).Agents.WaitSettled(ctx, tests.AgentID)
		require.NoError(t, err)
		require.Equal(t, prospectkit.AgentStatusActive, agent.Status)
	})
}

// A wait that ends because the next poll would be too late has ended for the deadline.
func TestWait_TooLateForThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		failing := tests.Always(429, "", "Retry-After", "300")
		_, err := tests.NewClient(t, tests.Stage(t, tests.Sees("processing"), failing), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})).Agents.WaitSettled(ctx, tests.AgentID)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "deadline is too near")
	})
}
