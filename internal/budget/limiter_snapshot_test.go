package budget

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A snapshot shows what the service has told, as long as it holds.
func TestSnapshotShowsWhatWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fresh(t, Config{PerMinute: 120}, told(120, 60, 30*time.Second))
		at := time.Now()
		time.Sleep(10 * time.Second)
		require.Equal(t, WindowState{
			Limit: 120, Documented: true, Used: 1, Remaining: 60, ResetAt: at.Add(30 * time.Second),
		}, l.Snapshot().Minute)
		time.Sleep(time.Minute)
		require.Equal(t, WindowState{Limit: 120, Documented: true, Remaining: -1}, l.Snapshot().Minute)
	})
}

// Only a request that was sent tells how long a request takes.
func TestWhatWasNotSentTookNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{PerMinute: 120})
		took := func(after time.Duration, o Observation) {
			p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
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

// A snapshot says so when nothing is left.
func TestSnapshotOfAWindowThatIsUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.Zero(t, fresh(t, Config{PerMinute: 120}, told(120, 0, 30*time.Second)).Snapshot().Minute.Remaining)
	})
}

// A signal to a waiter that is busy is kept until it looks.
func TestNoSignalIsLost(t *testing.T) {
	shared := NewShared(Config{}, &StoreClient{Timeout: time.Second}, func(context.Context, *Ask) (Reply, error) {
		return Reply{Now: second, State: *opened(lists(), told(120, 0, time.Minute)), Denied: Delay{Until: minute}}, nil
	})
	alone := New(lists())
	alone.queue.State = *opened(lists(), told(120, 0, time.Minute))
	for name, l := range map[string]*Limiter{"alone": alone, "shared": shared} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				go func() { _, _ = l.Acquire(ctx, Request{MaxWait: aWhile}) }()
				synctest.Wait()
				l.mu.Lock()
				w := l.queue.Head()
				w.signal() // it wakes, and cannot go on
				for len(w.wake) > 0 {
					runtime.Gosched()
				}
				w.signal()
				kept := len(w.wake)
				l.mu.Unlock()
				cancel()
				require.Equal(t, 1, kept)
			})
		})
	}
}
