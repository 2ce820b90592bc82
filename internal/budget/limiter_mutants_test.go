package budget

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A snapshot says when the service told what it shows.
func TestSnapshotSaysWhenItWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fresh(t, Config{PerMinute: 120}, told(120, 60, 30*time.Second))
		at := time.Now()
		time.Sleep(10 * time.Second)
		require.Equal(t, WindowState{
			Limit: 120, Source: Documented, Used: 1, Remaining: 60, ToldAt: at, ResetAt: at.Add(30 * time.Second),
		}, l.Snapshot().Minute)
		time.Sleep(time.Minute)
		require.Equal(t, WindowState{Limit: 120, Source: Documented, Remaining: -1}, l.Snapshot().Minute)
	})
}

// Only a request that was sent tells how long a request takes.
func TestWhatWasNotSentTookNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{PerMinute: 120})
		took := func(after time.Duration, o Observation) {
			p, err := l.Acquire(t.Context(), Request{})
			require.NoError(t, err)
			time.Sleep(after)
			l.Done(time.Now(), &Report{p, o})
		}
		took(time.Millisecond, Observation{NotSent: true})
		require.Zero(t, l.roundTrip)
		took(time.Second, told(120, 100, time.Minute))
		require.Equal(t, second, l.roundTrip)
		took(time.Millisecond, Observation{NotSent: true})
		l.Done(time.Now(), &Report{Observation: told(120, 99, time.Minute)})
		require.Equal(t, second, l.roundTrip)
		took(5*time.Second, told(120, 98, time.Minute))
		require.Equal(t, 2*second, l.roundTrip)
	})
}
