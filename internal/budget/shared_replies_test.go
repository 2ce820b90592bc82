package budget

import (
	"context"
	"sync"
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
			if len(a.Wanted) == 2 {
				<-gate
			}
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
		time.Sleep(time.Second) // one of them asks for both
		cancel()
		require.ErrorIs(t, <-leaves, context.Canceled)
		l.Done(time.Now(), &Report{look, told(120, 100, time.Minute)})
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

// A reply that was overtaken by a later one does not bring the earlier state back.
func TestAnOvertakenReplyChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k kept
		var slow atomic.Bool
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Minute}, func(ctx context.Context, a *Ask) (Reply, error) {
			overtaken := slow.Swap(false)
			reply, err := k.ask(ctx, a)
			if overtaken {
				time.Sleep(time.Second)
			}
			return reply, err
		})
		opening(t, l, told(120, 119, time.Minute))
		first, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		second, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		slow.Store(true)
		go l.Done(time.Now(), &Report{first, told(120, 117, time.Minute)})
		synctest.Wait()
		l.Done(time.Now(), &Report{second, hold(20 * time.Second)})
		held := l.queue.State.Epoch
		time.Sleep(2 * time.Second)
		require.Equal(t, held, l.queue.State.Epoch)
	})
}

// While the store takes its time to answer the first in the queue, a call that gives up further behind asks nothing.
func TestOnlyTheFirstAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var k kept
		var asks, most atomic.Int32
		l := NewShared(Config{}, &StoreClient{Timeout: time.Second}, func(ctx context.Context, a *Ask) (Reply, error) {
			most.Store(max(most.Load(), asks.Add(1)))
			defer asks.Add(-1)
			time.Sleep(200 * time.Millisecond)
			return k.ask(ctx, a)
		})
		_, err := l.Acquire(t.Context(), Request{MaxWait: aWhile}) // the others wait for its response
		require.NoError(t, err)
		var all sync.WaitGroup
		for i := range 2 * atOnce {
			all.Go(func() {
				_, _ = l.Acquire(t.Context(), Request{MaxWait: 5*time.Second - time.Duration(i)*10*time.Millisecond})
			})
		}
		time.Sleep(4 * time.Second)
		most.Store(0)
		all.Wait()
		require.EqualValues(t, 1, most.Load())
	})
}

// A store may decide in another order than it was asked in. The state of its last decision counts.
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
		_, err = l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		time.Sleep(time.Millisecond)
		close(gate)
		synctest.Wait()
		s.away.Store(true)
		_, err = l.Acquire(t.Context(), Request{})
		require.Error(t, err)
	})
}
