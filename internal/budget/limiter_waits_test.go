package budget

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// onLimiter runs a test in virtual time, after a first response.
func onLimiter(t *testing.T, c Config, first Observation, test func(t *testing.T, l *Limiter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := New(c)
		p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		l.Done(time.Now(), &Report{p, first})
		test(t, l)
	})
}

// came is how a call that was admitted, or not, ended.
type came struct {
	err   error
	after time.Duration
	p     Permit
}

func acquire(ctx context.Context, l *Limiter, r Request) <-chan came {
	began, end := time.Now(), make(chan came, 1)
	go func() {
		p, err := l.Acquire(ctx, r)
		end <- came{err, time.Since(began), p}
	}()
	synctest.Wait()
	return end
}

// A response by which nothing is left sends those home at once who cannot wait for the reset, and nobody else.
func TestWaitersLearnThatNothingIsLeft(t *testing.T) {
	onLimiter(t, Config{PerMinute: 20}, told(20, 1, 50*time.Second), func(t *testing.T, l *Limiter) {
		t.Helper()
		last, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		hurried := acquire(t.Context(), l, Request{MaxWait: 30 * time.Second})
		patient := acquire(t.Context(), l, Request{MaxWait: 2 * time.Minute})
		require.Equal(t, 2, l.waiting())
		time.Sleep(time.Second)
		l.Done(time.Now(), &Report{last, told(20, 0, 49*time.Second)})
		end := <-hurried
		var refused *WaitTooLongError
		require.ErrorAs(t, end.err, &refused)
		require.Equal(t, time.Second, end.after)
		require.InDelta(t, 50, refused.Wait.Seconds(), 1)
		require.False(t, refused.Deadline)
		end = <-patient
		require.NoError(t, end.err)
		require.InDelta(t, 51, end.after.Seconds(), 1.1)
	})
}

// A response that changes nothing of that sends nobody home.
func TestWaitersStayWithOtherNews(t *testing.T) {
	onLimiter(t, Config{PerMinute: 20}, told(20, 2, 50*time.Second), func(t *testing.T, l *Limiter) {
		t.Helper()
		one, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		_, err = l.Acquire(t.Context(), Request{MaxWait: aWhile})
		require.NoError(t, err)
		waits := acquire(t.Context(), l, Request{MaxWait: 30 * time.Second})
		l.Done(time.Now(), &Report{one, told(20, 1, 49*time.Second)})
		synctest.Wait()
		require.Empty(t, waits)
		require.Equal(t, 30*time.Second, (<-waits).after)
	})
}

// A call that does not wait is refused at once, with others in the queue too, and says when it would fit.
func TestNoWait(t *testing.T) {
	onLimiter(t, Config{PerMinute: 20, PerDay: 1000}, told(20, 0, 40*time.Second), func(t *testing.T, l *Limiter) {
		t.Helper()
		first := acquire(t.Context(), l, Request{MaxWait: time.Hour})
		for range 2 {
			end := <-acquire(t.Context(), l, Request{})
			var refused *WaitTooLongError
			require.ErrorAs(t, end.err, &refused)
			require.Zero(t, end.after)
			require.InDelta(t, 41, refused.Wait.Seconds(), 1.1)
			require.NotErrorIs(t, end.err, context.DeadlineExceeded)
			require.WithinDuration(t, time.Now().Add(refused.Wait), refused.FitsAt, time.Millisecond)
			require.Equal(t, 1, l.waiting())
		}
		require.NoError(t, (<-first).err)
	})
}

// A call whose deadline is near is refused as if it had ended, at once where it is hopeless, and else when it ends.
func TestNearDeadlines(t *testing.T) {
	onLimiter(t, Config{PerMinute: 20, PerDay: 1000}, told(20, 0, 40*time.Second), func(t *testing.T, l *Limiter) {
		t.Helper()
		for within, want := range map[time.Duration]time.Duration{10 * time.Second: 0, 30 * time.Second: 0} {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			end := <-acquire(ctx, l, Request{MaxWait: time.Hour})
			cancel()
			require.ErrorIs(t, end.err, context.DeadlineExceeded)
			require.NotErrorIs(t, end.err, context.Canceled)
			require.Equal(t, want, end.after)
		}
		far, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		end := <-acquire(far, l, Request{MaxWait: 10 * time.Second})
		require.NotErrorIs(t, end.err, context.DeadlineExceeded, "it is not the deadline that is near")
		require.Zero(t, end.after)
		require.NoError(t, (<-acquire(far, l, Request{MaxWait: aWhile})).err)
	})
	onLimiter(t, Config{}, told(1, 0, 0), func(t *testing.T, l *Limiter) {
		t.Helper()
		time.Sleep(2 * time.Second)
		_, err := l.Acquire(t.Context(), Request{MaxWait: aWhile}) // a probe that never comes back
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		end := <-acquire(ctx, l, Request{MaxWait: aWhile})
		require.ErrorIs(t, end.err, context.DeadlineExceeded)
		var refused *WaitTooLongError
		require.ErrorAs(t, end.err, &refused)
		require.Equal(t, 3*time.Second, end.after)
		why := errors.New("unrelated")
		require.NotErrorIs(t, end.err, why)
		cancelled, stop := context.WithCancel(t.Context())
		stop()
		require.Equal(t, context.Canceled, (<-acquire(cancelled, l, Request{MaxWait: aWhile})).err)
	})
}

// A call whose context has ended takes nothing, although there is room.
func TestEndedContextTakesNothing(t *testing.T) {
	onLimiter(t, Config{PerMinute: 20}, told(20, 10, 40*time.Second), func(t *testing.T, l *Limiter) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := l.Acquire(ctx, Request{MaxWait: aWhile})
		require.Equal(t, context.Canceled, err)
		require.Zero(t, l.inFlight())
		require.Equal(t, 10, l.left())
	})
}

// Whoever leaves the head of the queue leaves the next one in charge of the time.
func TestTheNextKeepsTheTime(t *testing.T) {
	onLimiter(t, Config{PerMinute: 20}, told(20, 0, 20*time.Second), func(t *testing.T, l *Limiter) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		first := acquire(ctx, l, Request{MaxWait: aWhile})
		second, third := acquire(t.Context(), l, Request{MaxWait: aWhile}), acquire(t.Context(), l, Request{MaxWait: aWhile})
		time.Sleep(time.Second)
		cancel()
		require.ErrorIs(t, (<-first).err, context.Canceled)
		end := <-second
		require.NoError(t, end.err)
		require.InDelta(t, 21, end.after.Seconds(), 1.1)
		l.Done(time.Now(), &Report{end.p, told(20, 19, time.Minute)})
		end = <-third
		require.NoError(t, end.err)
		require.InDelta(t, 21, end.after.Seconds(), 1.1)
		require.Zero(t, l.waiting())
	})
}

// What is left is what was told last, less what was sent since, as long as that holds.
func TestLeft(t *testing.T) {
	onLimiter(t, Config{PerMinute: 20}, told(20, 5, 40*time.Second), func(t *testing.T, l *Limiter) {
		t.Helper()
		for range 2 {
			_, err := l.Acquire(t.Context(), Request{MaxWait: aWhile})
			require.NoError(t, err)
		}
		began := time.Now()
		time.Sleep(10 * time.Second)
		n, reset := l.Left()
		require.Equal(t, 3, n)
		require.WithinDuration(t, began.Add(40*time.Second), reset, 2*time.Microsecond)
		time.Sleep(time.Minute)
		n, reset = l.Left()
		require.Equal(t, -1, n)
		require.Zero(t, reset)
	})
	onLimiter(t, Config{PerMinute: 20}, Observation{Limit: 20, Remaining: 0}, func(t *testing.T, l *Limiter) {
		t.Helper()
		n, reset := l.Left()
		require.Zero(t, n)
		require.Zero(t, reset, "none was told")
	})
	onLimiter(t, Config{PerMinute: 20}, hold(20*time.Second), func(t *testing.T, l *Limiter) {
		t.Helper()
		n, _ := l.Left()
		require.Equal(t, -1, n)
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

// A signal to a waiter that is busy is kept until it looks.
func TestNoSignalIsLost(t *testing.T) {
	onLimiter(t, lists(), told(120, 0, time.Minute), func(t *testing.T, l *Limiter) {
		t.Helper()
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
}

// Who has to wait is told so once, and keeps the place that it took when it arrived, however long it listens.
func TestWait_IsToldInItsPlace(t *testing.T) {
	onLimiter(t, Config{PerMinute: 1}, told(1, 0, time.Minute), func(t *testing.T, l *Limiter) {
		t.Helper()
		var waits []time.Duration
		first := acquire(t.Context(), l, Request{MaxWait: time.Hour, Told: func(wait time.Duration) {
			waits = append(waits, wait)
			time.Sleep(10 * time.Second) // and another one comes
		}})
		second := acquire(t.Context(), l, Request{MaxWait: time.Hour, Told: func(wait time.Duration) { waits = append(waits, wait) }})
		require.Equal(t, 2, l.waiting())
		end := <-first
		require.NoError(t, end.err)
		require.Empty(t, second)
		l.Done(time.Now(), &Report{end.p, told(1, 0, time.Minute)})
		require.NoError(t, (<-second).err)
		require.Len(t, waits, 2)
		require.InDelta(t, end.after.Seconds(), waits[0].Seconds(), 2)
		require.Greater(t, waits[1], waits[0])
	})
}

// A call that may go at once, or is refused, is not told of a wait; and one that panics then leaves the queue.
func TestWait_IsNotToldInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := func(time.Duration) { require.Fail(t, "there is no wait") }
		l := fresh(t, Config{PerMinute: 20}, told(20, 1, time.Minute))
		p, err := l.Acquire(t.Context(), Request{MaxWait: aWhile, Told: never})
		require.NoError(t, err)
		l.Done(time.Now(), &Report{p, told(20, 0, time.Minute)})
		for _, most := range []time.Duration{0, time.Second} {
			_, err = l.Acquire(t.Context(), Request{MaxWait: most, Told: never})
			require.ErrorAs(t, err, new(*WaitTooLongError))
		}
		require.PanicsWithValue(t, "observer", func() {
			_, _ = l.Acquire(t.Context(), Request{MaxWait: aWhile, Told: func(time.Duration) { panic("observer") }})
		})
		require.Zero(t, l.waiting())
	})
}
