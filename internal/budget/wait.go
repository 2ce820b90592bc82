package budget

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// WaitTooLongError says that a call was not admitted, because it would have had to wait longer than it may. Nothing was sent.
type WaitTooLongError struct {
	Window   Window        // that it would wait for
	Wait     time.Duration // expected
	FitsAt   time.Time     // when it can be admitted, as far as is known
	Deadline bool          // the context's deadline was too near
}

// TooLong is the refusal of a call that may not wait as long as a 429 pauses its surface.
func TooLong(now time.Time, hold time.Duration, deadline bool) *WaitTooLongError {
	return &WaitTooLongError{Window: heldIn(instant(hold)), Wait: hold, FitsAt: now.Add(hold), Deadline: deadline}
}

func (r *WaitTooLongError) Error() string {
	return fmt.Sprintf("budget: %s window: the request fits in %s", r.Window, r.Wait.Round(time.Millisecond))
}

// Is matches context.DeadlineExceeded if the deadline was too near.
func (r *WaitTooLongError) Is(target error) bool {
	return r.Deadline && target == context.DeadlineExceeded
}

// wait joins the queue, and waits in it.
func (l *Limiter) wait(ctx context.Context, r Request) (Permit, error) {
	w := &Waiter{Priority: r.Priority, wake: make(chan struct{}, 1), noWait: r.MaxWait == 0}
	l.mu.Lock()
	now := l.now()
	w.giveUp = now + instant(r.MaxWait)
	if at, ok := ctx.Deadline(); ok {
		if until := now + instant(time.Until(at)); until < w.giveUp {
			w.giveUp, w.deadline = until, true
		}
	}
	ahead := l.queue.Ahead(w.Priority)
	if ahead > 0 {
		w.refusal = l.hopeless(now, ahead, w)
	}
	if w.refusal == nil {
		l.queue.Join(w)
	}
	l.mu.Unlock()
	l.tend(w, true)
	if ctx.Err() != nil {
		return Permit{}, l.leave(ctx, w)
	}
	if l.refuseHopeless(w, ahead); r.Told != nil {
		l.announce(ctx, w, r.Told)
	}
	return l.await(ctx, w)
}

// announce tells a call that it has to wait, and for how long, as far as is known. It keeps its place.
func (l *Limiter) announce(ctx context.Context, w *Waiter, told func(time.Duration)) {
	l.mu.Lock()
	if !w.queued {
		l.mu.Unlock()
		return
	}
	wait := l.tooLate(l.now(), w, false).Wait
	l.mu.Unlock()
	panicked := true
	defer func() {
		if panicked {
			_ = l.leave(ctx, w)
		}
	}()
	told(wait)
	panicked = false
}

// refuseHopeless refuses a new call whose wait is hopeless by the latest state.
func (l *Limiter) refuseHopeless(w *Waiter, ahead int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.queued {
		return
	}
	now := l.now()
	w.refusal = l.hopeless(now, ahead, w)
	if w.refusal == nil && w.noWait {
		w.refusal = l.tooLate(now, w, false)
	}
	if w.refusal != nil {
		l.quit(w)
	}
}

// tend admits calls, if this waiter has to do it.
func (l *Limiter) tend(w *Waiter, arrived bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); w.queued && (arrived || l.queue.Head() == w || now >= w.giveUp) {
		l.dispatch(now, w)
	}
}

// await waits in the queue until the call is admitted, refused or cancelled.
func (l *Limiter) await(ctx context.Context, w *Waiter) (Permit, error) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		l.tend(w, false)
		over, pause, err := l.check(w)
		if over {
			return w.Permit, err
		}
		timer.Reset(pause)
		select {
		case <-w.wake:
		case <-timer.C:
		case <-ctx.Done():
			return Permit{}, l.leave(ctx, w)
		}
	}
}

// check returns the state of a waiter, and when to check again.
func (l *Limiter) check(w *Waiter) (over bool, pause time.Duration, err error) {
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
	if l.queue.Head() == w {
		next = min(next, l.due)
	}
	return false, max(time.Microsecond, (next - now).Duration()), nil
}

// leave removes a cancelled call from the queue. A permit that was granted at the same time is returned.
func (l *Limiter) leave(ctx context.Context, w *Waiter) error {
	l.mu.Lock()
	granted := !w.queued && w.refusal == nil
	err := ctx.Err()
	if errors.Is(err, context.DeadlineExceeded) {
		err = l.tooLate(l.now(), w, true)
	}
	l.quit(w)
	l.mu.Unlock()
	if granted {
		l.Done(time.Now(), &Report{w.Permit, Observation{NotSent: true}})
	}
	return err
}

// quit removes a waiter from the queue. If it was the first, the next one keeps the time.
func (l *Limiter) quit(w *Waiter) {
	first := l.queue.Head() == w
	if l.queue.Leave(w); first {
		l.call(nil)
	}
}

// call wakes the first in queue, unless it is the caller.
func (l *Limiter) call(caller *Waiter) {
	if head := l.queue.Head(); head != nil && head != caller {
		head.signal()
	}
}

// tooLate is the refusal of a call that has to leave, with what it would have had to wait for.
func (l *Limiter) tooLate(now Instant, w *Waiter, deadline bool) *WaitTooLongError {
	return l.refuse(now, l.queue.before(w), w.Priority, deadline)
}
