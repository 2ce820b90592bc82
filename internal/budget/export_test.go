package budget

import "time"

// Decision is the result of take: a permit, or a delay.
type Decision struct {
	Granted bool
	Permit  Permit
	Delay
}

func (s *State) Take(now Instant, p Priority) (d Decision) {
	d.Delay, d.Granted = s.take(now, p, &d.Permit)
	return d
}

func (s *State) Report(now Instant, p Permit, o Observation) { s.report(now, &p, &o) }

func (l *Limiter) waiting() int { return l.locked(func(q *Queue) int { return q.Waiting() }) }

func (l *Limiter) inFlight() int {
	return l.locked(func(q *Queue) int { return int(q.State.inFlight()) })
}

func (l *Limiter) left() int {
	n, _ := l.Left()
	return n
}

func (l *Limiter) heldUntil() time.Time {
	var until Instant
	l.locked(func(q *Queue) int { until = q.State.HeldUntil; return 0 }) // an int may have 32 bits
	return l.time(until)
}

func (l *Limiter) locked(of func(*Queue) int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return of(&l.queue)
}
