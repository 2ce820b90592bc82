package prospectkit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// A call that would have to wait longer than its context lasts says that the deadline was too near, also if it may not wait at all.
func TestContext_DeadlineBeforeTheWait(t *testing.T) {
	for _, longest := range []time.Duration{0, time.Second, time.Hour} {
		for within, want := range map[time.Duration]bool{5 * time.Second: true, 10 * time.Minute: false} {
			if longest == time.Hour && !want {
				continue // it waits
			}
			synctest.Test(t, func(t *testing.T) {
				none := always(200, oneUser, "RateLimit-Limit", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", "40")
				client := newClient(t, none, prospectkit.WithMaxWait(longest))
				_, err := client.Account.Me(t.Context())
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				_, err = client.Account.Me(ctx)
				var wait *prospectkit.RateLimitWaitError
				require.ErrorAs(t, err, &wait)
				require.InDelta(t, 41, wait.Wait.Seconds(), 1.5)
				if want {
					require.ErrorIs(t, err, context.DeadlineExceeded)
				} else {
					require.NotErrorIs(t, err, context.DeadlineExceeded)
				}
			})
		}
	}
}
