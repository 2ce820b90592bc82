package budget

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// Request is one call's request for a permit.
type Request struct {
	Priority Priority
	MaxWait  time.Duration // 0 refuses instead of waiting

	// Told, if set, is called before a wait, with how long it takes at least. The call has its place in the queue by then.
	Told func(time.Duration)
}

// Limiter admits calls below the limits of a surface. It starts no goroutine and no timer: waiting calls have theirs, and the first of
// them keeps the time for all.
type Limiter struct {
	mu     sync.Mutex
	state  state
	start  time.Time     // the epoch of the state's clock
	latest time.Duration // the last instant that the state got
	queues [2][]*waiter  // by Priority
	streak int           // interactive requests in a row while batch calls wait
	keeper *waiter       // which keeps the time for all waiters
	due    time.Duration // when the keeper will check again
}

// streakMax is how many interactive requests may pass a waiting batch call.
const streakMax = 3

// waiter is a call in the queue.
type waiter struct {
	priority Priority
	permit   Permit        // once granted
	wake     chan struct{} // a signal to check the fields again
	queued   bool
	away     bool // in Told: it keeps no time yet
	giveUp   time.Duration
	deadline bool // giveUp is the deadline of the context
}

// New returns the limiter of a surface that was never used.
func New(c Config) *Limiter { return &Limiter{state: newState(c)} }

// at converts a time. That of the state never runs backwards.
func (l *Limiter) at(t time.Time) time.Duration {
	if l.start.IsZero() {
		l.start = t
	}
	l.latest = max(l.latest, t.Sub(l.start))
	return l.latest
}

// Take is [Limiter.Acquire] without waiting, if nobody waits and there is room.
func (l *Limiter) Take(now time.Time, p Priority, permit *Permit) (granted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting() == 0 {
		_, granted = l.state.take(l.at(now), p == Batch, permit)
	}
	return granted
}

// Acquire waits until a request may be sent. Pass the permit to [Limiter.Done] exactly once. The error is a [*WaitTooLongError] if
// the wait would be or was too long, or the context's error if it was cancelled. Then nothing may be sent.
func (l *Limiter) Acquire(ctx context.Context, r Request) (Permit, error) {
	if err := ctx.Err(); err != nil {
		return Permit{}, err
	}
	w := &waiter{priority: r.Priority, wake: make(chan struct{}, 1), away: r.Told != nil}
	wait, err := l.join(ctx, w, r.MaxWait)
	if err != nil || wait == 0 {
		return w.permit, err
	}
	admitted := false
	defer func() {
		if !admitted {
			l.leave(w)
		}
	}()
	if r.Told != nil {
		r.Told(wait)
	}
	if err := l.await(ctx, w); err != nil {
		return Permit{}, err // a permit that comes now is returned by leave
	}
	admitted = true
	return w.permit, nil
}

// join puts a call into the queue, and says for how long, unless it may be sent at once or would wait too long.
func (l *Limiter) join(ctx context.Context, w *waiter, most time.Duration) (wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.at(time.Now())
	w.giveUp = now + min(most, math.MaxInt64-now)
	if at, ok := ctx.Deadline(); ok {
		if until := now + time.Until(at); until < w.giveUp {
			w.giveUp, w.deadline = until, true
		}
	}
	l.queues[w.priority], w.queued = append(l.queues[w.priority], w), true
	l.dispatch(now, w)
	if !w.queued {
		return 0, nil
	}
	refusal, hopeless := l.refusal(now, w)
	if most == 0 || hopeless {
		l.remove(w)
		return 0, refusal
	}
	return refusal.Wait, nil
}

// refusal says when a call in the queue fits, and whether it cannot wait so long.
func (l *Limiter) refusal(now time.Duration, w *waiter) (refusal *WaitTooLongError, hopeless bool) {
	at, least, window := l.state.opens(now, l.ahead(w), w.priority == Batch)
	if least > now {
		at = least
	}
	at = max(at, now+time.Millisecond)
	return &WaitTooLongError{Window: window, Wait: at - now, FitsAt: l.start.Add(at), Deadline: w.deadline}, least > w.giveUp
}

// await waits in the queue until the call is admitted, refused or cancelled.
func (l *Limiter) await(ctx context.Context, w *waiter) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		over, pause, err := l.check(w)
		if over {
			return err
		}
		timer.Reset(pause)
		select {
		case <-w.wake:
		case <-timer.C:
		case <-ctx.Done():
			return l.canceled(ctx, w)
		}
	}
}

// check returns the state of a waiter, and when to check again.
func (l *Limiter) check(w *waiter) (over bool, pause time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.at(time.Now())
	w.away = false
	if w.queued && (w == l.timekeeper() || now >= w.giveUp) {
		l.dispatch(now, w)
	}
	if !w.queued {
		return true, 0, nil
	}
	if refusal, hopeless := l.refusal(now, w); hopeless || now >= w.giveUp {
		return true, 0, refusal
	}
	next := w.giveUp
	if w == l.timekeeper() {
		next = min(next, l.due)
	}
	return false, max(time.Microsecond, next-now), nil
}

func (l *Limiter) canceled(ctx context.Context, w *waiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	w.deadline = true
	refusal, _ := l.refusal(l.at(time.Now()), w)
	return refusal
}

// leave removes a call that is not sent. A permit that it was granted meanwhile is returned.
func (l *Limiter) leave(w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.at(time.Now())
	if !w.queued {
		l.state.report(now, &w.permit, &Observation{NotSent: true})
		w.permit = Permit{}
	}
	l.remove(w)
	l.dispatch(now, nil)
}

// Done takes the report on a request, and the time of its end.
func (l *Limiter) Done(over time.Time, r *Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, epoch := l.at(over), l.state.epoch
	l.state.report(now, &r.Permit, &r.Observation)
	if l.state.epoch != epoch { // some may wait too long now
		for _, w := range slices.Concat(l.queues[Interactive], l.queues[Batch]) {
			w.signal()
		}
	}
	l.dispatch(now, nil)
}

// dispatch hands out permits, and wakes the call that keeps the time from now on, unless it is the caller.
func (l *Limiter) dispatch(now time.Duration, caller *waiter) {
	head, due := l.head(), l.due
	for head != nil {
		w, forced := head, false
		if batch := l.first(Batch); batch != nil && l.streak >= streakMax {
			w, forced = batch, true
		}
		until, granted := l.state.take(now, w.priority == Batch && !forced, &w.permit)
		if !granted {
			l.due = until
			break
		}
		l.streak++
		if w.priority == Batch || len(l.queues[Batch]) == 0 {
			l.streak = 0
		}
		l.remove(w)
		w.signal()
		head = l.head()
	}
	keeper := l.timekeeper()
	if keeper != nil && keeper != caller && (keeper != l.keeper || l.due < due) {
		keeper.signal()
	}
	l.keeper = keeper
}

// Left is what the service said last of its tighter window, less what is in flight, and when that window resets. It is -1 when unknown.
func (l *Limiter) Left() (requests int, resetAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, left := l.at(time.Now()), int64(-1)
	for _, w := range [...]Window{Minute, Day} {
		f := &l.state.figures[w]
		if room := max(0, f.left-l.state.open); now < f.reset && (left < 0 || room < left) {
			left, resetAt = room, l.start.Add(f.reset-rounding)
		}
	}
	return int(left), resetAt
}

// Own is what tests look at: requests that have a permit and were not reported yet, with the calls in the queue; requests of ours that
// count in the minute; and when a pause after a 429 ends, or has ended.
func (l *Limiter) Own() (inFlight, used int, held time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.state
	s.expire(l.at(time.Now()))
	return int(s.open) + l.waiting(), int(s.counts[Minute].sum + s.open), l.start.Add(s.held)
}

func (l *Limiter) waiting() int { return len(l.queues[Interactive]) + len(l.queues[Batch]) }

func (l *Limiter) first(p Priority) *waiter {
	if len(l.queues[p]) == 0 {
		return nil
	}
	return l.queues[p][0]
}

// head is the call that goes next.
func (l *Limiter) head() *waiter {
	if w := l.first(Interactive); w != nil {
		return w
	}
	return l.first(Batch)
}

// timekeeper is the first call that waits by now. It keeps the time for all, also for one whose observer takes long.
func (l *Limiter) timekeeper() *waiter {
	for _, p := range [...]Priority{Interactive, Batch} {
		for _, w := range l.queues[p] {
			if !w.away {
				return w
			}
		}
	}
	return nil
}

// ahead is the number of calls that will go before one in the queue: a batch call waits for all interactive ones, and gets every
// fourth request.
func (l *Limiter) ahead(w *waiter) int64 {
	n, others := max(0, slices.Index(l.queues[w.priority], w)), len(l.queues[1-w.priority])
	if w.priority == Batch {
		return int64(n + min(others, max(0, streakMax*(n+1)-l.streak)))
	}
	return int64(n + min(others, (l.streak+n)/streakMax))
}

func (l *Limiter) remove(w *waiter) {
	if i := slices.Index(l.queues[w.priority], w); i >= 0 {
		l.queues[w.priority] = slices.Delete(l.queues[w.priority], i, i+1)
	}
	w.queued = false
}

func (w *waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // one is due
	}
}
