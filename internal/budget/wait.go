package budget

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// RefusedError says that a call was not let go, because it would have had to wait longer than it may. Nothing was sent.
type RefusedError struct {
	Window   Window        // that it would wait for
	Wait     time.Duration // expected
	FitsAt   time.Time     // when it can be let go, as far as is known
	Deadline bool          // the context's deadline is what was too near
}

func (r *RefusedError) Error() string {
	return fmt.Sprintf("budget: %s window: the request fits in %s", r.Window, r.Wait.Round(time.Millisecond))
}

// Is matches context.DeadlineExceeded if the deadline was too near.
func (r *RefusedError) Is(target error) bool { return r.Deadline && target == context.DeadlineExceeded }

// wait joins the line.
func (l *Limiter) wait(ctx context.Context, r Request) (Permit, error) {
	w := &Waiter{Priority: r.Priority, wake: make(chan struct{}, 1), waitDay: r.WaitDay}
	l.mu.Lock()
	now := l.now()
	l.limit(ctx, r, w, now)
	ahead := l.line.Ahead(w.Priority)
	if refusal := l.hopeless(now, ahead, w); refusal != nil {
		l.mu.Unlock()
		return Permit{}, refusal
	}
	l.line.Join(w)
	l.pump(now, w)
	if r.NoWait && w.queued {
		refusal := l.tooLate(now, w, false)
		l.quit(w)
		l.mu.Unlock()
		return Permit{}, refusal
	}
	l.mu.Unlock()
	return l.stand(ctx, l, w)
}

// limit notes how long a call may wait.
func (l *Limiter) limit(ctx context.Context, r Request, w *Waiter, now Instant) {
	if r.MaxWait == 0 {
		r.MaxWait = DefaultMaxWait
	}
	w.giveUp = now + instant(r.MaxWait)
	if r.NoWait {
		w.giveUp = now
	}
	if at, ok := ctx.Deadline(); ok {
		if until := now + instant(time.Until(at)); until < w.giveUp {
			w.giveUp, w.deadline = until, true
		}
	}
}

// tender is what the two limiters do differently while calls wait.
type tender interface {
	tend(ctx context.Context, w *Waiter) // lets those go who may, if it is on this waiter to see to it
	Done(over time.Time, r *Report)
}

func (l *Limiter) tend(_ context.Context, w *Waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); w.queued && (l.line.Head() == w || now >= w.giveUp) {
		l.pump(now, w)
	}
}

// stand waits in the line until the call is let go, refused or cancelled.
func (l *Limiter) stand(ctx context.Context, t tender, w *Waiter) (Permit, error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		t.tend(ctx, w)
		over, pause, err := l.look(w)
		if over {
			return w.Permit, err
		}
		timer.Reset(pause)
		select {
		case <-w.wake:
		case <-timer.C:
		case <-ctx.Done():
			return Permit{}, l.leave(ctx, t, w)
		}
	}
}

// look tells a waiter how it stands, and when to look again.
func (l *Limiter) look(w *Waiter) (over bool, pause time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	switch {
	case w.refusal != nil:
		return true, 0, w.refusal
	case !w.queued:
		return true, 0, nil
	case now >= w.giveUp:
		refusal := l.tooLate(now, w, w.deadline)
		l.quit(w)
		return true, 0, refusal
	}
	next := w.giveUp
	if l.line.Head() == w && l.asked < l.line.Waiting() { // else there is an answer to come
		next = min(next, l.due)
	}
	return false, max(time.Microsecond, (next - now).Duration()), nil
}

// leave takes a cancelled call out of the line. A permit that was granted in the same instant goes back.
func (l *Limiter) leave(ctx context.Context, t tender, w *Waiter) error {
	l.mu.Lock()
	granted := !w.queued && w.refusal == nil
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		err = l.tooLate(l.now(), w, true)
	}
	l.quit(w)
	l.mu.Unlock()
	if granted {
		t.Done(time.Now(), &Report{w.Permit, Observation{NotSent: true}})
	}
	return err
}

// quit takes a waiter out of the line. If it was the first, the next one keeps the time.
func (l *Limiter) quit(w *Waiter) {
	first := l.line.Head() == w
	if l.line.Leave(w); first {
		l.call(nil)
	}
}

// call wakes the first in line, unless it is the caller.
func (l *Limiter) call(caller *Waiter) {
	if head := l.line.Head(); head != nil && head != caller {
		head.nudge()
	}
}

// tooLate is the refusal of a call that has to go, with what it would have had to wait for.
func (l *Limiter) tooLate(now Instant, w *Waiter, deadline bool) *RefusedError {
	return l.refuse(now, l.line.before(w), w.Priority, deadline)
}
