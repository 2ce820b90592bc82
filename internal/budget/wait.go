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
	Wait     time.Duration // at least
	FitsAt   time.Time     // the earliest moment at which it could be let go
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
		at, window := l.line.State.Earliest(now, ahead, w.Priority)
		l.drop(w, now)
		l.mu.Unlock()
		return Permit{}, l.refuse(now, at, window, false)
	}
	l.mu.Unlock()
	return l.stand(ctx, w)
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

// stand waits in the line until the call is let go, refused or cancelled.
func (l *Limiter) stand(ctx context.Context, w *Waiter) (Permit, error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		over, pause, err := l.look(w)
		if over {
			return w.Permit, err
		}
		timer.Reset(pause)
		select {
		case <-w.wake:
		case <-timer.C:
		case <-ctx.Done():
			return Permit{}, l.leave(w, ctx.Err())
		}
	}
}

// look tells a waiter how it stands, and when to look again.
func (l *Limiter) look(w *Waiter) (over bool, pause time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	next := w.giveUp
	if w.queued && (l.line.Head() == w || now >= w.giveUp) {
		if l.pump(now, w); l.keeper == w {
			next = min(next, l.due)
		}
	}
	switch {
	case w.refusal != nil:
		return true, 0, w.refusal
	case !w.queued:
		return true, 0, nil
	case now >= w.giveUp:
		at, window := l.line.State.Earliest(now, 0, w.Priority)
		l.drop(w, now)
		return true, 0, l.refuse(now, at, window, w.deadline)
	}
	return false, max(time.Microsecond, (next - now).Duration()), nil
}

// leave takes a cancelled call out of the line. A permit that was granted in the same instant goes back.
func (l *Limiter) leave(w *Waiter, cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if w.refusal == nil && !w.queued {
		l.line.State.Return(w.Permit)
	}
	l.drop(w, now)
	if errors.Is(cause, context.DeadlineExceeded) {
		at, window := l.line.State.Earliest(now, 0, w.Priority)
		return l.refuse(now, at, window, true)
	}
	return cause
}

// drop removes a waiter, and lets the others close up.
func (l *Limiter) drop(w *Waiter, now Instant) {
	l.line.Leave(w)
	l.pump(now, nil)
}
