package prospectkit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A wait gets longer by up to a tenth and a second, but never beyond the deadline.
func TestRetry_JitterStaysWithinTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{time.Second, time.Minute} {
			free := &call{plan: plan{ctx: t.Context()}}
			var most time.Duration
			for range 1000 {
				longer := free.jitter(d)
				require.GreaterOrEqual(t, longer, d)
				most = max(most, longer)
			}
			require.Greater(t, most, d, "callers that were paused together do not come back together")
			require.LessOrEqual(t, most, d+min(d/10, time.Second))

			ctx, cancel := context.WithTimeout(t.Context(), d+time.Nanosecond)
			bound := &call{plan: plan{ctx: ctx}}
			for range 1000 {
				require.Equal(t, d, bound.jitter(d))
			}
			cancel()
		}
	})
}

// A wait that ends with the deadline leaves no time for another attempt.
func TestRetry_WaitUpToTheDeadlineDoesNotFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c := &call{plan: plan{ctx: ctx}}
		require.True(t, c.afterDeadline(time.Second))
		require.False(t, c.afterDeadline(time.Second-time.Nanosecond))
		require.False(t, (&call{plan: plan{ctx: t.Context()}}).afterDeadline(time.Hour))
	})
}
