package call_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A call that would have to wait longer than its context lasts says that the deadline was too near, also if it may not wait at all.
func TestContext_DeadlineBeforeTheWait(t *testing.T) {
	for _, longest := range []time.Duration{0, time.Second, time.Hour} {
		for within, want := range map[time.Duration]bool{5 * time.Second: true, 10 * time.Minute: false} {
			if longest == time.Hour && !want {
				continue // it waits
			}
			synctest.Test(t, func(t *testing.T) {
				none := tests.Always(200, tests.OneUser, "RateLimit-Limit", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", "40")
				client := tests.NewClient(t, none, prospectkit.WithMaxWait(longest))
				_, err := client.Account.Me(t.Context())
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				_, err = client.Account.Me(ctx)
				require.InDelta(t, 41, time.Until(tests.FitsAt(t, err)).Seconds(), 1.5)
				if want {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.NotErrorIs(t, err, context.DeadlineExceeded)
				}
			})
		}
	}
}

// A call that ends because the wait for a rate limit does not fit says when it would, whether the service said so, in the error of its
// response, or the budget knew, and nothing was sent.
func TestContext_RefusedWaitsSayWhen(t *testing.T) {
	for name, test := range map[string]struct {
		retryAfter string
		within     time.Duration // the deadline; 0: none
		opts       []prospectkit.ClientOption
		wait       time.Duration // 0: less than a second
		window     string
	}{
		"deadline":               {"60", 2 * time.Second, nil, time.Minute, "minute"},
		"deadline, one attempt":  {"60", 2 * time.Second, []prospectkit.ClientOption{prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})}, time.Minute, "minute"},
		"longest wait":           {"3600", 0, nil, time.Hour, "day"},
		"no wait":                {"1", 0, []prospectkit.ClientOption{prospectkit.WithMaxWait(0)}, time.Second, "minute"},
		"no wait, none was told": {"", 0, []prospectkit.ClientOption{prospectkit.WithMaxWait(0)}, 0, "minute"},
		"never":                  {"99999999999", 2 * time.Second, nil, 24 * time.Hour, "day"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if test.within > 0 {
					within, cancel := context.WithTimeout(ctx, test.within)
					defer cancel()
					ctx = within
				}
				client := tests.NewClient(t, tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", test.retryAfter), test.opts...)
				for n := range 2 {
					_, err := client.Account.Me(ctx)
					wait := time.Until(tests.FitsAt(t, err))
					if n > 0 || name != "never" { // which the service asked for, and nobody waits for
						require.InDelta(t, test.wait.Seconds(), wait.Seconds(), 1.1, "with jitter")
					}
					require.Positive(t, wait)
					require.GreaterOrEqual(t, tests.Waits(err), wait)
					require.ErrorContains(t, err, "the rate limit of surface account ("+test.window+") has room in ")
					require.Equal(t, test.within > 0, errors.Is(err, context.DeadlineExceeded))
					e, answered := errors.AsType[*prospectkit.Error](err)
					require.Equal(t, n == 0, answered)
					require.Equal(t, n == 1, errors.As(err, new(*prospectkit.RefusedError)))
					if answered {
						require.Equal(t, 429, e.Status)
						require.Len(t, e.Attempts, 1)
					}
				}
			})
		})
	}
}

// A 429 whose attempts are used up, and whose wait would fit, is the service's refusal alone.
func TestContext_AttemptsThatAreUsedUpAreNoRefusedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := tests.NewClient(t, tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "7")).Account.Me(t.Context())
		require.NotContains(t, err.Error(), "has room in")
		require.Len(t, tests.AsError(t, err).Attempts, 3)
		require.Equal(t, 7*time.Second, tests.Waits(err))
	})
}

// A call that failed, and then had no time to wait for the rate limit, says how long that takes.
func TestContext_WaitAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := tests.NewClient(t, tests.Always(503, "", "RateLimit-Limit", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", "40"), prospectkit.WithMaxWait(10*time.Second))
		_, err := client.Account.Me(t.Context())
		require.Equal(t, 503, tests.AsError(t, err).Status)
		require.WithinDuration(t, time.Now().Add(tests.Waits(err)), tests.FitsAt(t, err), time.Millisecond)
	})
}
