package budget

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// shaky is a store that can be away, hang or panic.
type shaky struct {
	kept
	away, hangs, panics atomic.Bool
	asks                atomic.Int32
	last                atomic.Pointer[Ask]
}

var errAway = errors.New("the store is away")

func (s *shaky) ask(ctx context.Context, a *Ask) (Reply, error) {
	s.asks.Add(1)
	s.last.Store(a)
	switch {
	case s.panics.Load():
		panic("in the store")
	case s.hangs.Load():
		<-ctx.Done()
		return Reply{}, ctx.Err()
	case s.away.Load():
		return Reply{}, errAway
	}
	return s.kept.ask(ctx, a)
}

func opening(t *testing.T, l *Limiter, first Observation) {
	t.Helper()
	p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
	require.NoError(t, err)
	l.Done(time.Now(), &Report{p, first})
}

// While the store is away, the process uses its part, asks once a second, and says so once. What it sent meanwhile, the store learns.
func TestStoreThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var s shaky
		client := &StoreClient{Timeout: time.Second, Least: 4, Log: slog.New(slog.NewTextHandler(&log, nil))}
		l := NewShared(Config{PerMinute: 120}, client, s.ask)
		opening(t, l, told(120, 119, time.Minute))
		require.Empty(t, log.String())
		time.Sleep(time.Second)
		s.away.Store(true)
		asked := s.asks.Load()
		var permits []Permit
		take := func(n int) {
			for range n {
				p, err := l.Acquire(t.Context(), Request{})
				require.NoError(t, err)
				permits = append(permits, p)
				l.Done(time.Now(), &Report{p, NoFigures})
			}
		}
		take(5)
		require.Equal(t, asked+1, s.asks.Load())
		require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), log.String())
		require.Contains(t, log.String(), "the store is away")
		require.Contains(t, log.String(), "processes=4")
		time.Sleep(retryEvery - time.Millisecond)
		take(1)
		require.Equal(t, asked+1, s.asks.Load())
		time.Sleep(time.Millisecond)
		take(2)
		require.Equal(t, asked+2, s.asks.Load())
		require.Equal(t, 1+8, l.Snapshot().Minute.Used, "with its part of what was used before")
		late, err := l.Acquire(t.Context(), Request{})
		require.NoError(t, err)

		s.away.Store(false)
		time.Sleep(retryEvery)
		opening(t, l, told(120, 100, time.Minute))
		require.Equal(t, 1, strings.Count(log.String(), "level=INFO"), log.String())
		require.Equal(t, 1, strings.Count(log.String(), "level=WARN"))
		state, _, ok := decodeState(s.stored)
		require.True(t, ok)
		require.EqualValues(t, 1+8+1, state.Counts[Minute].Sum)
		l.Done(time.Now(), &Report{late, NoFigures}) // one of the time alone
		state, _, _ = decodeState(s.stored)
		require.EqualValues(t, 1+8+1+1, state.Counts[Minute].Sum)
		require.Len(t, permits, 8)
		require.Equal(t, 100-1, l.Snapshot().Minute.Remaining)
	})
}

// A request that the store let go, and that ends while the store is away, is in flight no more when it is back.
func TestEndsWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shaky
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Second}, s.ask)
		opening(t, l, told(120, 119, time.Minute))
		var permits []Permit
		for range 3 {
			p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
			require.NoError(t, err)
			permits = append(permits, p)
		}
		time.Sleep(time.Second)
		s.away.Store(true)
		for _, o := range []Observation{NoFigures, told(120, 110, time.Minute), {NotSent: true}} {
			l.Done(time.Now(), &Report{permits[0], o})
			permits = permits[1:]
		}
		time.Sleep(retryEvery)
		opening(t, l, NoFigures) // fails once more
		s.away.Store(false)
		time.Sleep(retryEvery)
		opening(t, l, told(120, 115, time.Minute))
		state, _, ok := decodeState(s.stored)
		require.True(t, ok)
		require.Zero(t, state.inFlight())
		require.EqualValues(t, 1+2+1+1, state.Completed)
		require.EqualValues(t, 1+2+1+1, state.Counts[Minute].Sum)
	})
}

// A store that hangs delays a call by its time limit, once, and no cancelled call loses a permit.
func TestStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shaky
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: 200 * time.Millisecond}, s.ask)
		opening(t, l, told(120, 119, time.Minute))
		s.hangs.Store(true)
		for _, want := range []time.Duration{200 * time.Millisecond, 0, 0} {
			end := <-acquire(t.Context(), l, Request{MaxWait: aWhile})
			require.NoError(t, end.err)
			require.Equal(t, want, end.after)
			l.Done(time.Now(), &Report{end.p, NoFigures})
		}
	})
}

// A store that panics ends the call that asked it. The others go on as if it were away.
func TestStoreThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shaky
		client := &StoreClient{Timeout: time.Second}
		l := NewShared(Config{PerMinute: 120}, client, s.ask)
		opening(t, l, told(120, 119, time.Minute))
		s.panics.Store(true)
		require.PanicsWithValue(t, "in the store", func() { _, _ = l.Acquire(t.Context(), Request{MaxWait: aWhile}) })
		require.Zero(t, l.Snapshot().Waiting)
		require.Zero(t, l.Snapshot().InFlight)
		require.False(t, client.usable())
		end := <-acquire(t.Context(), l, Request{MaxWait: aWhile})
		require.NoError(t, end.err)
		require.Zero(t, end.after)
		require.NotPanics(t, func() { l.Done(time.Now(), &Report{end.p, NoFigures}) })
		time.Sleep(retryEvery)
		require.Panics(t, func() { _, _ = l.Acquire(t.Context(), Request{MaxWait: aWhile}) })
		s.panics.Store(false)
		time.Sleep(retryEvery)
		opening(t, l, told(120, 110, time.Minute))
		require.Equal(t, 110, l.Snapshot().Minute.Remaining)
		require.Zero(t, l.Snapshot().InFlight)
	})
}

// The parts are those of the processes that were seen, or of more, if the configuration says so.
func TestProcessesThatShare(t *testing.T) {
	k := &StoreClient{}
	require.Equal(t, 1, k.parts())
	k.heard(3, nil)
	require.Equal(t, 3, k.parts())
	k.Least = 5
	require.Equal(t, 5, k.parts())
	k.heard(7, nil)
	require.Equal(t, 7, k.parts())
	require.True(t, k.usable())
	k.heard(0, errAway) // without a log
	require.False(t, k.usable())
	k.heard(2, nil)
	require.True(t, k.usable())
	require.Equal(t, 5, k.parts())
}

// While the store is away, a failed process is tried again once for all its surfaces.
func TestOneTryForAllSurfaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &StoreClient{}
		k.heard(0, errAway)
		time.Sleep(retryEvery - 1)
		require.False(t, k.usable())
		time.Sleep(time.Nanosecond)
		require.True(t, k.usable())
		require.False(t, k.usable(), "one is on its way")
		time.Sleep(retryEvery)
		require.True(t, k.usable())
	})
}

// One call asks for all that wait, in their order, and for no more than a few at once.
func TestOneAskForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shaky
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Second}, s.ask)
		opening(t, l, hold(20*time.Second))
		var ends []<-chan came
		for i := range 40 {
			ends = append(ends, acquire(t.Context(), l, Request{Priority: Priority(i % 2), MaxWait: aWhile}))
		}
		require.Equal(t, 40, l.Snapshot().Waiting)
		before := s.asks.Load()
		time.Sleep(10 * time.Second)
		require.LessOrEqual(t, s.asks.Load()-before, int32(12), "about once a second")
		require.Len(t, s.last.Load().Wanted, atOnce)
		require.Equal(t, []Priority{0, 0, 0, 1, 0, 0, 0, 1}, s.last.Load().Wanted[:8])
		time.Sleep(11*time.Second + pollResponse.Duration()*2/5) // between two looks for news
		probe := <-ends[0]
		require.NoError(t, probe.err)
		l.Done(time.Now(), &Report{probe.p, told(120, 119, time.Minute)})
		for _, end := range ends[1:] {
			next := <-end
			require.NoError(t, next.err)
			require.InDelta(t, 21.02, next.after.Seconds(), 0.01, "all that fit go at once")
		}
		require.Zero(t, l.Snapshot().Waiting)
		require.Equal(t, 39, l.Snapshot().InFlight)
	})
}

// A call that does not wait gets what there is, and leaves nothing behind where there is nothing.
func TestNoWaitWithAStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shaky
		l := NewShared(Config{PerMinute: 20}, &StoreClient{Timeout: time.Second}, s.ask)
		opening(t, l, told(20, 3, 50*time.Second))
		for i := range 5 {
			_, err := l.Acquire(t.Context(), Request{})
			require.Equal(t, i < 3, err == nil, i)
		}
		state, _, _ := decodeState(s.stored)
		require.EqualValues(t, 3, state.inFlight())
		require.Zero(t, l.Snapshot().Waiting)
		require.False(t, l.Take(time.Now(), Interactive, new(Permit)), "an exchange takes time")
	})
}

// A call whose own exchange panics may have been given a permit by the exchange of another one. The next exchange returns it.
func TestStorePanicLosesNoPermit(t *testing.T) {
	client := &StoreClient{Timeout: time.Second, Log: slog.New(slog.DiscardHandler)}
	l := NewShared(Config{PerMinute: 120}, client, new(shaky).ask)
	for _, caller := range []*Waiter{{Permit: Permit{Epoch: 1}}, {refusal: new(WaitTooLongError)}} {
		l.mu.Lock()
		a := l.ask()
		l.mu.Unlock()
		l.abandon(a, caller)
		require.Equal(t, []Permit{{Epoch: 1}}, l.unused, "of the one that was refused there is none")
		l.client = &StoreClient{Timeout: time.Second, Log: client.Log} // which has not panicked yet
	}
}

// The store learns of a refusal although the process had not reached it when it sent the request.
func TestStoreThatIsAwayAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shaky
		opening(t, NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Second}, s.ask), told(120, 119, time.Minute))
		time.Sleep(time.Hour)
		s.away.Store(true)
		l := NewShared(Config{PerMinute: 120}, &StoreClient{Timeout: time.Second}, s.ask)
		p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		s.away.Store(false)
		time.Sleep(2 * time.Second)
		l.Done(time.Now(), &Report{p, refused(func(o *Observation) { o.RetryAfter = 30 * time.Second })})
		_, err = l.Acquire(t.Context(), Request{})
		require.Error(t, err)
		require.LessOrEqual(t, l.queue.State.trip(), 2*second)
	})
}
