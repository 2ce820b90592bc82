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
	Begun    bool          // it belongs to an operation that has sent others, and does not wait for our part as long as they are few
	MaxWait  time.Duration // 0 refuses instead of waiting

	// Told, if set, is called before a wait, with how long it takes at least. The call has its place in the queue by then.
	Told func(time.Duration)
}

// Limiter admits calls below the limits of a surface. Its timer runs while calls wait, and starts nothing but the next of them.
type Limiter struct {
	mu     sync.Mutex
	state  state
	start  time.Time     // the epoch of the state's clock
	latest time.Duration // the last instant that the state got
	queues [2][]*waiter  // by Priority
	streak int           // interactive requests in a row while batch calls wait
	timer  *time.Timer   // until the next call may go; nil if none waits
}

// streakMax is how many interactive requests may pass a waiting batch call.
const streakMax = 3

// waiter is a call in the queue.
type waiter struct {
	priority Priority
	begun    bool
	permit   Permit            // once admitted
	refusal  *WaitTooLongError // or else, once it turned out that it cannot be in time
	over     chan struct{}     // closed then
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
func (l *Limiter) Take(now time.Time, r *Request, permit *Permit) (granted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting() == 0 {
		_, granted = l.state.take(l.at(now), r.Priority == Batch, r.Begun, permit)
	}
	return granted
}

// Acquire waits until a request may be sent. Pass the permit to [Limiter.Done] exactly once. The error is a [*WaitTooLongError] if
// the wait would be or was too long, or the context's error if it was cancelled. Then nothing may be sent.
func (l *Limiter) Acquire(ctx context.Context, r Request) (permit Permit, err error) {
	if err := ctx.Err(); err != nil {
		return Permit{}, err
	}
	w := &waiter{priority: r.Priority, begun: r.Begun, over: make(chan struct{})}
	wait, most := l.join(ctx, w, r.MaxWait)
	returned := false
	defer func() { permit, err = l.leave(ctx, w, returned) }()
	if wait > 0 {
		if r.Told != nil {
			r.Told(wait)
		}
		timer := time.NewTimer(most)
		defer timer.Stop()
		select {
		case <-w.over:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	returned = true
	return permit, err
}

// join puts a call into the queue, and says how long it waits, at least and at most: zero if it is over.
func (l *Limiter) join(ctx context.Context, w *waiter, longest time.Duration) (wait, most time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.at(time.Now())
	w.giveUp = now + min(longest, math.MaxInt64-now)
	if at, ok := ctx.Deadline(); ok {
		if until := now + time.Until(at); until < w.giveUp {
			w.giveUp, w.deadline = until, true
		}
	}
	l.queues[w.priority] = append(l.queues[w.priority], w)
	l.dispatch(now)
	if !w.queued() {
		return 0, 0
	}
	refusal, hopeless := l.refusal(now, w)
	if longest == 0 || hopeless {
		w.refusal = refusal
		l.remove(w)
		return 0, 0
	}
	return refusal.Wait, w.giveUp - now
}

// refusal says when a call in the queue fits, and whether it cannot wait so long.
func (l *Limiter) refusal(now time.Duration, w *waiter) (refusal *WaitTooLongError, hopeless bool) {
	at, least, window := l.state.opens(now, l.ahead(w), w.priority == Batch, w.begun)
	if least > now {
		at = least
	}
	at = max(at, now+time.Millisecond)
	return &WaitTooLongError{Window: window, Wait: at - now, FitsAt: l.start.Add(at), Deadline: w.deadline}, least > w.giveUp
}

// leave is the end of a wait. What was admitted, and does not return, gives its permit back.
func (l *Limiter) leave(ctx context.Context, w *waiter, returns bool) (Permit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.at(time.Now())
	if ctx.Err() == nil {
		l.dispatch(now) // it may be due at this very moment
	}
	switch err := ctx.Err(); {
	case w.refusal != nil:
		return Permit{}, w.refusal
	case !w.queued() && returns:
		return w.permit, nil
	case !w.queued():
		l.state.report(now, &w.permit, &Observation{NotSent: true})
		l.dispatch(now)
		return Permit{}, nil
	default:
		w.deadline = w.deadline || errors.Is(err, context.DeadlineExceeded)
		w.refusal, _ = l.refusal(now, w)
		l.remove(w)
		l.dispatch(now)
		if errors.Is(err, context.Canceled) {
			return Permit{}, err
		}
		return Permit{}, w.refusal
	}
}

// Holds reports whether a permit still allows to send: nothing has paused the surface since.
func (l *Limiter) Holds(p *Permit) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return p.epoch == l.state.epoch && l.state.held <= l.at(time.Now())
}

// Done takes the report on a request, and the time of its end.
func (l *Limiter) Done(over time.Time, r *Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, epoch := l.at(over), l.state.epoch
	l.state.report(now, &r.Permit, &r.Observation)
	if l.state.epoch != epoch { // some may wait too long now
		for _, w := range slices.Concat(l.queues[Interactive], l.queues[Batch]) {
			l.refuseLate(now, w)
		}
	}
	l.dispatch(now)
}

// refuseLate refuses a call in the queue that cannot be in time.
func (l *Limiter) refuseLate(now time.Duration, w *waiter) bool {
	refusal, hopeless := l.refusal(now, w)
	if hopeless {
		w.refusal = refusal
		l.remove(w)
	}
	return hopeless
}

// dispatch hands out permits, and sets the timer for the next one.
func (l *Limiter) dispatch(now time.Duration) {
	for l.waiting() > 0 {
		w, forced := l.head(), false
		if batch := l.first(Batch); batch != nil && l.streak >= streakMax {
			w, forced = batch, true
		}
		until, granted := l.state.take(now, w.priority == Batch && !forced, w.begun, &w.permit)
		if !granted && l.refuseLate(now, w) {
			continue
		}
		if !granted {
			l.wake(max(time.Microsecond, until-now))
			return
		}
		l.streak++
		if w.priority == Batch || len(l.queues[Batch]) == 0 {
			l.streak = 0
		}
		l.remove(w)
	}
}

// wake sets the timer.
func (l *Limiter) wake(after time.Duration) {
	if l.timer != nil {
		l.timer.Reset(after)
		return
	}
	l.timer = time.AfterFunc(after, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.dispatch(l.at(time.Now()))
	})
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

// ahead is the number of calls that will go before one in the queue: a batch call waits for all interactive ones, and gets every
// fourth request.
func (l *Limiter) ahead(w *waiter) int64 {
	n, others := max(0, slices.Index(l.queues[w.priority], w)), len(l.queues[1-w.priority])
	if w.priority == Batch {
		return int64(n + min(others, max(0, streakMax*(n+1)-l.streak)))
	}
	return int64(n + min(others, (l.streak+n)/streakMax))
}

// remove ends the wait of a call.
func (l *Limiter) remove(w *waiter) {
	i := slices.Index(l.queues[w.priority], w)
	l.queues[w.priority] = slices.Delete(l.queues[w.priority], i, i+1)
	close(w.over)
	if l.waiting() == 0 && l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

func (w *waiter) queued() bool {
	select {
	case <-w.over:
		return false
	default:
		return true
	}
}
