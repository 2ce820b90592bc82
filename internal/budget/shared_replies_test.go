package budget

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A wait for a time that is known asks the store about once a second. Only a wait for the answer of another process asks more often.
func TestAHeldSurfaceIsAskedForOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k kept
		var asks atomic.Int32
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Second}, func(ctx context.Context, a *Ask) (Reply, error) {
			asks.Add(1)
			return k.ask(ctx, a)
		})
		first, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		refused := hold(30 * time.Second)
		l.Done(time.Now(), &Report{first, refused})
		asks.Store(0)
		_, err = l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		require.LessOrEqual(t, asks.Load(), int32(40))
	})
}

// A permit that comes for somebody who has left goes back to the store unused.
func TestAPermitOfOneWhoLeftGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k kept
		var unused atomic.Int32
		gate := make(chan struct{})
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Second}, func(ctx context.Context, a *Ask) (Reply, error) {
			for _, r := range a.Reports {
				if r.Observation.NotSent {
					unused.Add(1)
				}
			}
			defer func() {
				if len(a.Reports) == 1 && len(a.Wanted) == 2 {
					<-gate
				}
			}()
			return k.ask(ctx, a)
		})
		look, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		stays, leaves := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
			stays <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := l.Acquire(ctx, Request{MaxWait: aWhile})
			leaves <- err
		}()
		synctest.Wait()
		go l.Done(time.Now(), &Report{look, told(120, 100, time.Minute)}) // it asks for both
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-leaves, context.Canceled)
		require.Empty(t, stays)
		close(gate)
		require.NoError(t, <-stays)
		synctest.Wait()
		require.EqualValues(t, 1, unused.Load())
		state, _, ok := decodeState(k.stored)
		require.True(t, ok)
		require.EqualValues(t, 1, state.inFlight())
	})
}

// While the first in the queue asks a store that takes its time, a call that gives up further behind neither asks nor waits for that.
func TestOnlyTheFirstAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k kept
		l := NewShared(Config{}, &StoreClient{Timeout: time.Second}, func(ctx context.Context, a *Ask) (Reply, error) {
			time.Sleep(200 * time.Millisecond)
			return k.ask(ctx, a)
		})
		_, err := l.Acquire(t.Context(), Request{MaxWait: aWhile}) // the others wait for its response
		require.NoError(t, err)
		var ends []<-chan came
		for i := range 2 * atOnce {
			ends = append(ends, acquire(t.Context(), l, Request{MaxWait: 5*time.Second - time.Duration(i)*10*time.Millisecond}))
		}
		for i, end := range ends[1:] {
			require.Equal(t, 5*time.Second-time.Duration(i+1)*10*time.Millisecond, (<-end).after)
		}
		require.Error(t, (<-ends[0]).err)
	})
}

// A call that comes while a 429 is on its way to the store does not make the process forget the pause: the last decision counts.
func TestTheLastDecisionCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shaky
		gate, gated := make(chan struct{}), atomic.Bool{}
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Second}, func(ctx context.Context, a *Ask) (Reply, error) {
			if gated.CompareAndSwap(true, false) {
				<-gate
			}
			return s.ask(ctx, a)
		})
		opening(t, l, told(120, 119, time.Minute))
		p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		gated.Store(true)
		go l.Done(time.Now(), &Report{p, hold(30 * time.Second)})
		synctest.Wait()
		_ = acquire(t.Context(), l, Request{MaxWait: time.Second})
		time.Sleep(time.Millisecond)
		close(gate)
		synctest.Wait()
		s.away.Store(true)
		_, err = l.Acquire(t.Context(), Request{})
		require.Error(t, err)
		time.Sleep(2 * time.Second)
	})
}
