package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counters are variants of the sliding counter.
func counters(t *testing.T, run time.Duration, test func(c Config, name string)) {
	t.Helper()
	for _, limit := range []int{20, 30, 120} {
		for _, workers := range []int{1, 8, 32} {
			for seed := range uint64(4) {
				c := alone(seed, Counter, workers)
				c.PerMinute, c.Run = limit, run
				c.RoundDown, c.Lenient, c.RetryLate = seed%2 == 1, seed/2%2 == 1, seed%3 == 1
				c.Latency = []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, time.Second}[seed%3]
				test(c, fmt.Sprintf("%d a minute, %d workers, %s, seed %d", limit, workers, c.Latency, seed))
			}
		}
	}
}

// A service that weighs its last window is used as far as it can be. Its counting shows in the figures, without a refusal.
func TestSlidingCounter(t *testing.T) {
	counters(t, 10*time.Minute, func(c Config, name string) {
		r := Run(t, c)
		require.Zero(t, r.Refused, "%s: %s", name, r)
		if c.Workers > 1 || c.Latency < time.Second {
			require.Greater(t, float64(r.Calls), 0.9*float64(r.Servable), "%s: %s", name, r)
		}
	})
	c := alone(1, Counter, 8)
	c.Run = time.Hour
	require.LessOrEqual(t, Run(t, c).Refused, 1)
}

// Without figures, the pessimistic count keeps to it as well.
func TestSlidingCounterWithoutHeaders(t *testing.T) {
	counters(t, 10*time.Minute, func(c Config, name string) {
		c.Bare = true
		r := Run(t, c)
		require.Zero(t, r.Refused, "%s: %s", name, r)
		require.Zero(t, r.Failed, "%s: %s", name, r)
		if c.Workers > 1 || c.Latency < time.Second {
			require.Greater(t, float64(r.Calls), 0.86*float64(r.Servable), "%s: %s", name, r)
		}
	})
}

// The day of such a service gives back all the time, too.
func TestSlidingCounterOverThreeDays(t *testing.T) {
	for seed := range uint64(3) {
		c := alone(seed, Counter, 8)
		c.PerMinute, c.PerDay, c.Run, c.RoundDown = 20, 1000, 72*time.Hour, seed == 1
		r := Run(t, c)
		require.Zero(t, r.Refused, "seed %d: %s", seed, r)
		require.Greater(t, float64(r.Calls), 0.98*float64(r.Servable), "seed %d: %s", seed, r)
	}
}
