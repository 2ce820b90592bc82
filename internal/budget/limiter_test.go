package budget

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fresh is a limiter whose first answer said how much is left.
func fresh(t *testing.T, c Config, first Observation) *Limiter {
	t.Helper()
	l := New(c)
	p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
	require.NoError(t, err)
	l.Done(time.Now(), &Report{p, first})
	return l
}

// aWhile is for how long the calls of tests wait, unless they say otherwise.
const aWhile = 2 * time.Minute

func hold(after time.Duration) Observation {
	return Observation{Limit: -1, Remaining: -1, RateLimited: true, RetryAfter: after, Jitter: 1e-9}
}

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fresh(t, Config{PerMinute: 120}, hold(30*time.Second))
		served := make([]Instant, 200)
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				p, err := l.Acquire(t.Context(), Request{MaxWait: time.Hour})
				require.NoError(t, err)
				served[i] = p.At*1000 + Instant(p.Then) // a permit knows when it was granted
				l.Done(time.Now(), &Report{p, told(120, 5, time.Minute)})
			})
			synctest.Wait()
		}
		all.Wait()
		require.True(t, slices.IsSorted(served), "%v", served)
	})
}

func TestInteractiveFirstEveryFourthToBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fresh(t, Config{PerMinute: 120}, hold(30*time.Second))
		var order []Priority
		var all sync.WaitGroup
		for i := range 16 {
			priority := Batch - Priority(i/8) // the batch calls come first
			all.Go(func() {
				p, err := l.Acquire(t.Context(), Request{Priority: priority, MaxWait: aWhile})
				require.NoError(t, err)
				order = append(order, priority)
				l.Done(time.Now(), &Report{p, told(120, 1, 0)})
			})
			synctest.Wait()
		}
		all.Wait()
		require.Equal(t, []Priority{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1}, order)
	})
}

func TestHopelessWaitsAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := fresh(t, Config{PerMinute: 20, PerDay: 1000}, told(20, 0, 40*time.Second))
		near, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		for _, tc := range []struct {
			ctx      context.Context //nolint:containedctx // a row of the table
			request  Request
			deadline bool
		}{
			{near, Request{MaxWait: aWhile}, true},
			{t.Context(), Request{}, false},
			{t.Context(), Request{MaxWait: 10 * time.Second}, false},
		} {
			_, err := l.Acquire(tc.ctx, tc.request)
			var refusal *WaitTooLongError
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, Minute, refusal.Window)
			require.InDelta(t, 41, refusal.Wait.Seconds(), 1)
			require.Equal(t, began.Add(refusal.Wait), refusal.FitsAt)
			require.Equal(t, tc.deadline, errors.Is(err, context.DeadlineExceeded))
			require.ErrorContains(t, err, "minute window")
		}
		require.Equal(t, began, time.Now(), "nobody waited")
		require.Zero(t, l.inFlight())
	})
}

func TestTheDayIsWaitedForAsFarAsAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fresh(t, Config{PerMinute: 20, PerDay: 1000}, told(1000, 0, 90*time.Second))
		_, err := l.Acquire(t.Context(), Request{MaxWait: time.Minute})
		var refusal *WaitTooLongError
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, Day, refusal.Window)
		began := time.Now()
		_, err = l.Acquire(t.Context(), Request{MaxWait: time.Hour})
		require.NoError(t, err)
		require.Equal(t, 91*time.Second, time.Since(began).Round(time.Second))
	})
}

func TestARefusalSendsHopelessWaitersHome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{PerMinute: 20})
		probe, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		began := time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				_, err := l.Acquire(t.Context(), Request{MaxWait: 10 * time.Second})
				var refusal *WaitTooLongError
				require.ErrorAs(t, err, &refusal)
				require.Equal(t, began, time.Now())
			})
		}
		synctest.Wait()
		require.LessOrEqual(t, l.waiting(), 50)
		l.Done(time.Now(), &Report{probe, hold(time.Hour)})
		all.Wait()
		require.Zero(t, l.waiting())
		require.Equal(t, began.Add(time.Hour), l.heldUntil().Round(time.Second))
	})
}

func TestWaitEndsWithMaxWaitOrContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Config{})
		_, err := l.Acquire(t.Context(), Request{MaxWait: aWhile}) // a probe that never comes back
		require.NoError(t, err)
		began := time.Now()
		_, err = l.Acquire(t.Context(), Request{MaxWait: 7 * time.Second})
		var refusal *WaitTooLongError
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, 7*time.Second, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err = l.Acquire(ctx, Request{MaxWait: aWhile})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorAs(t, err, &refusal)
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = l.Acquire(ctx, Request{MaxWait: aWhile})
		require.Equal(t, context.Canceled, err)
		_, err = l.Acquire(ctx, Request{MaxWait: aWhile})
		require.Equal(t, context.Canceled, err)
		_, err = l.Acquire(t.Context(), Request{MaxWait: 3 * time.Minute})
		require.NoError(t, err, "the probe is forgotten in the end")
	})
}

// TestNoPermitIsLost: under random cancellation every permit is either used or goes back, and everybody else is served in order.
func TestNoPermitIsLost(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 2))
			l := New(Config{PerMinute: 20, Share: DefaultShare})
			server := service{limit: 20, up: true}
			start := time.Now()
			var mu sync.Mutex
			used, refused := 0, 0
			var all sync.WaitGroup
			for range 100 {
				limit := time.Duration(random.IntN(240_000)) * time.Millisecond
				batch := Priority(random.IntN(2))
				trip := time.Duration(random.IntN(400)) * time.Millisecond
				all.Go(func() {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					time.AfterFunc(limit.Truncate(500*time.Millisecond), cancel)
					p, err := l.Acquire(ctx, Request{Priority: batch, MaxWait: time.Hour})
					if err != nil {
						require.ErrorIs(t, err, context.Canceled)
						return
					}
					mu.Lock()
					o, ok := server.arrive(instant(time.Since(start)))
					used++
					if !ok {
						refused++
					}
					mu.Unlock()
					time.Sleep(trip) // virtual
					l.Done(time.Now(), &Report{p, o})
				})
			}
			all.Wait()
			require.Zero(t, refused)
			s := &l.queue.State
			require.EqualValues(t, used, s.Dispatched)
			require.EqualValues(t, used, s.Completed)
			require.Zero(t, l.waiting())
			require.GreaterOrEqual(t, used, 40)
		})
	}
}

func TestPermitGrantedWhileCancelledGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := fresh(t, Config{PerMinute: 20}, told(20, 1, time.Minute))
		p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		w := &Waiter{wake: make(chan struct{}, 1), giveUp: day}
		l.queue.Join(w)
		l.Done(time.Now(), &Report{p, told(20, 5, time.Minute)})
		require.False(t, w.queued, "granted")
		cancel()
		require.Equal(t, context.Canceled, l.leave(ctx, w))
		require.Zero(t, l.inFlight())
		require.Equal(t, 5, l.left())
	})
}

func BenchmarkLimiter(b *testing.B) {
	room := told(1<<30, 1<<30, time.Minute)
	open := func(b *testing.B) *Limiter {
		b.Helper()
		l := New(Config{PerMinute: 1 << 30, PerDay: 1 << 30, Share: DefaultShare})
		p, err := l.Acquire(b.Context(), Request{MaxWait: aWhile})
		require.NoError(b, err)
		l.Done(time.Now(), &Report{p, room})
		b.ReportAllocs()
		return l
	}
	b.Run("alone", func(b *testing.B) {
		l, ctx := open(b), b.Context()
		for b.Loop() {
			p, _ := l.Acquire(ctx, Request{MaxWait: aWhile})
			l.Done(time.Now(), &Report{p, room})
		}
	})
	b.Run("64 goroutines", func(b *testing.B) {
		l, ctx := open(b), b.Context()
		b.SetParallelism(64 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				p, _ := l.Acquire(ctx, Request{MaxWait: aWhile})
				l.Done(time.Now(), &Report{p, room})
			}
		})
	})
}

// The callers read the clock before they come in, one after the other, in any order.
func TestTimeDoesNotRunBackwards(t *testing.T) {
	l := fresh(t, Config{PerMinute: 120}, told(120, 60, time.Minute))
	later := time.Now().Add(10 * time.Second)
	var before, after Permit
	require.True(t, l.Take(later, Interactive, &before))
	require.True(t, l.Take(later.Add(-9*time.Second), Interactive, &after))
	require.Equal(t, before.At, after.At)
	l.Done(later.Add(-8*time.Second), &Report{before, told(120, 59, 50*time.Second)})
	_, reset := l.Left()
	require.WithinDuration(t, later.Add(50*time.Second), reset, time.Millisecond)
}

// TestNoAllocations: where there is room, a call costs no memory.
func TestNoAllocations(t *testing.T) {
	l := fresh(t, Config{PerMinute: 1 << 30}, told(1<<30, 1<<30, time.Minute))
	waited := 0
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		p, err := l.Acquire(t.Context(), Request{})
		if err != nil {
			waited++
		}
		l.Done(time.Now(), &Report{p, told(1<<30, 1<<30, time.Minute)})
	}))
	require.Zero(t, waited)
}
