package budget

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Request is one call's request for a permit.
type Request struct {
	Priority Priority
	MaxWait  time.Duration // 0 refuses instead of waiting

	// Told, if set, is called before a wait, with what is expected of it. The call has its place in the queue by then.
	Told func(time.Duration)
}

// Limiter admits calls when the [State] of a surface allows it. It starts no goroutine and no timer: waiting calls have theirs, and
// the first of them keeps the time for all.
type Limiter struct {
	mu        sync.Mutex
	queue     Queue
	start     time.Time // the epoch of the state's clock
	latest    Instant   // the last instant that the state got
	roundTrip Instant   // the recent round trip of requests
	keeper    *Waiter   // which keeps the time for all waiters
	due       Instant   // when the keeper will check again
	foresight *foresight
}

// New returns the limiter of a surface that was never used.
func New(c Config) *Limiter { return &Limiter{queue: Queue{State: NewState(c)}} }

func (l *Limiter) now() Instant { return l.at(time.Now()) }

// at converts a time that was read before the lock was taken. The time of the state never runs backwards.
func (l *Limiter) at(t time.Time) Instant {
	if l.start.IsZero() {
		l.start = t
	}
	l.latest = max(l.latest, 1+instant(t.Sub(l.start)))
	return l.latest
}

func (l *Limiter) time(i Instant) time.Time {
	return l.start.Add((i - 1).Duration())
}

// Acquire waits until a request may be sent. Pass the permit to [Limiter.Done] exactly once. The error is a [*WaitTooLongError] if
// the wait would be or was too long, or the context's error if it was cancelled. Then nothing may be sent.
func (l *Limiter) Acquire(ctx context.Context, r Request) (Permit, error) {
	if err := ctx.Err(); err != nil {
		return Permit{}, err
	}
	var p Permit
	if l.Take(time.Now(), r.Priority, &p) {
		return p, nil
	}
	return l.wait(ctx, r)
}

// Take is [Limiter.Acquire] without waiting, if nobody waits and there is room.
func (l *Limiter) Take(now time.Time, p Priority, permit *Permit) (granted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.queue.Waiting() == 0 {
		_, granted = l.queue.State.take(l.at(now), p, permit)
	}
	return granted
}

// Done takes the report on a request, and the time of its end.
func (l *Limiter) Done(over time.Time, r *Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, s := l.at(over), &l.queue.State
	l.recordRoundTrip(now, r)
	epoch, left := s.Epoch, s.Figures.Remaining
	s.report(now, &r.Permit, &r.Observation)
	if l.queue.Waiting() == 0 {
		return
	}
	if s.Epoch != epoch || s.Figures.Remaining == 0 && left > 0 {
		l.review(now)
	}
	l.dispatch(now, nil)
}

// recordRoundTrip records how long a request took.
func (l *Limiter) recordRoundTrip(now Instant, r *Report) {
	switch took := now - r.Permit.At; {
	case !r.Permit.Valid() || r.Observation.NotSent || took < 0:
	case l.roundTrip == 0:
		l.roundTrip = took
	default:
		l.roundTrip += (took - l.roundTrip) / 4
	}
}

// Left is what the service said last of its tighter window, less what was sent since, and when that window resets. It is -1 when unknown.
func (l *Limiter) Left() (requests int, resetAt time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, s := l.now(), &l.queue.State
	f := &s.Figures
	if !f.Valid || now >= s.resetAt() {
		return -1, resetAt
	}
	if f.HasReset {
		resetAt = l.time(f.ResetBy)
	}
	return int(max(0, f.Remaining+f.Known-s.Dispatched)), resetAt
}

// InFlight is how many requests have a permit and were not reported yet, with the calls in the queue.
func (l *Limiter) InFlight() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(l.queue.State.inFlight()) + l.queue.Waiting()
}

// State returns a copy of the state, to read, and the time by its clock.
func (l *Limiter) State() (State, Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.State, l.now()
}

// dispatch hands out permits, and wakes the call that keeps the time from now on, unless it is the caller.
func (l *Limiter) dispatch(now Instant, caller *Waiter) {
	d, head := l.queue.Pump(now, (*Waiter).signal), l.queue.Head()
	if head != nil && head != caller && (head != l.keeper || d.Until < l.due) {
		head.signal()
	}
	l.keeper, l.due = head, d.Until
}

// review refuses calls whose wait has become hopeless.
func (l *Limiter) review(now Instant) {
	ahead := 0
	for p := range l.queue.queues {
		for _, w := range slices.Clone(l.queue.queues[p]) {
			if w.refusal = l.hopeless(now, ahead, w); w.refusal != nil {
				l.queue.Leave(w)
				w.signal()
			} else {
				ahead++
			}
		}
	}
}

// hopeless returns the refusal of a call that would have to wait longer than it may even in the best case.
func (l *Limiter) hopeless(now Instant, ahead int, w *Waiter) *WaitTooLongError {
	if at, _ := l.queue.State.Earliest(now, ahead, w.Priority); at <= w.giveUp {
		return nil
	}
	return l.refuse(now, ahead, w.Priority, w.deadline)
}

// refuse makes an error with the time at which the request is expected to fit.
func (l *Limiter) refuse(now Instant, ahead int, p Priority, deadline bool) *WaitTooLongError {
	s := &l.queue.State
	at, window := s.Earliest(now, ahead, p)
	if !l.foresight.holds(s, now, p) {
		l.foresight = s.foresee(now, p, l.roundTrip)
	}
	at = max(at, l.foresight.admits(ahead), now+millisecond)
	return &WaitTooLongError{Window: window, Wait: (at - now).Duration(), FitsAt: l.time(at), Deadline: deadline}
}

func (w *Waiter) signal() {
	select {
	case w.wake <- struct{}{}:
	default: // a response is due
	}
}
