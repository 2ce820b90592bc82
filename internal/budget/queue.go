package budget

import "slices"

// Queue is a [State] with the calls that wait for it: first come, first served, interactive before batch, and every fourth request to
// a waiting batch call. Like the state it has neither clock nor lock.
type Queue struct {
	State  State
	queues [2][]*Waiter // by Priority
	streak int          // interactive requests in a row while batch calls wait
}

// streakMax is how many interactive requests may pass a waiting batch call.
const streakMax = 3

// Waiter is a call in the queue.
type Waiter struct {
	Priority Priority
	Permit   Permit // once granted

	queued   bool
	wake     chan struct{} // a signal to check the fields again
	giveUp   Instant
	deadline bool // giveUp is the deadline of the context
	noWait   bool // now or not at all
	refusal  *WaitTooLongError
}

// Waiting is the number of calls in the queue.
func (l *Queue) Waiting() int { return len(l.queues[Interactive]) + len(l.queues[Batch]) }

// Ahead is the number of calls that a new one would have to wait for.
func (l *Queue) Ahead(p Priority) int {
	if p == Batch {
		return l.Waiting()
	}
	return len(l.queues[Interactive])
}

// before is the number of calls that will go before one in the queue: a batch call waits for all interactive ones, and gets every
// fourth request.
func (l *Queue) before(w *Waiter) int {
	n, others := max(0, slices.Index(l.queues[w.Priority], w)), len(l.queues[1-w.Priority])
	if w.Priority == Batch {
		return n + min(others, max(0, streakMax*(n+1)-l.streak))
	}
	return n + min(others, (l.streak+n)/streakMax)
}

// Join puts a call at the end of its queue.
func (l *Queue) Join(w *Waiter) {
	l.queues[w.Priority], w.queued = append(l.queues[w.Priority], w), true
}

// Leave removes a call from the queue.
func (l *Queue) Leave(w *Waiter) {
	if i := slices.Index(l.queues[w.Priority], w); i >= 0 {
		l.queues[w.Priority], w.queued = slices.Delete(l.queues[w.Priority], i, i+1), false
	}
}

// Head is the call that keeps the time for all waiters.
func (l *Queue) Head() *Waiter {
	if w := l.first(Interactive); w != nil {
		return w
	}
	return l.first(Batch)
}

func (l *Queue) first(p Priority) *Waiter {
	if len(l.queues[p]) == 0 {
		return nil
	}
	return l.queues[p][0]
}

// Pump admits as many calls as the state allows, and tells of each. The decision says when to return if any are left.
func (l *Queue) Pump(now Instant, granted func(*Waiter)) Delay {
	for {
		w := l.turn()
		if w == nil {
			return Delay{}
		}
		d, ok := l.State.take(now, w.Priority, &w.Permit)
		if passes := l.first(Interactive); !ok && w.Priority == Batch && passes != nil {
			w = passes // the reserve is for it
			d, ok = l.State.take(now, w.Priority, &w.Permit)
		}
		if !ok {
			return d
		}
		l.passed(w)
		granted(w)
	}
}

func (l *Queue) turn() *Waiter {
	batch := l.first(Batch)
	if batch != nil && l.streak >= streakMax {
		return batch
	}
	return l.Head()
}

func (l *Queue) passed(w *Waiter) {
	l.Leave(w)
	if w.Priority == Interactive && len(l.queues[Batch]) > 0 {
		l.streak++
	} else {
		l.streak = 0
	}
}
