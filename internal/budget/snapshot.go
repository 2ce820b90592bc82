package budget

import "time"

// Snapshot is what is known about a surface.
type Snapshot struct {
	Minute, Day WindowState
	HeldUntil   time.Time // zero when the surface is not held
	Others      float64   // requests a second that others seem to take
	InFlight    int
	Waiting     int
}

// WindowState is what is known about one window.
type WindowState struct {
	Limit      int // 0 when unknown
	Documented bool
	Used       int       // by us, over one length of the window
	Remaining  int       // by the last response, minus requests sent since; -1 when unknown
	ResetAt    time.Time // zero when unknown
}

// Snapshot returns what is known now.
func (l *Limiter) Snapshot() Snapshot {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, s := l.now(), &l.queue.State
	s.expire(now)
	snap := Snapshot{
		Minute: l.describe(Minute, now), Day: l.describe(Day, now), InFlight: int(s.inFlight()),
		Waiting: l.queue.Waiting(), Others: s.Others.rate(now) * float64(second),
	}
	if now < s.HeldUntil {
		snap.HeldUntil = l.time(s.HeldUntil)
	}
	return snap
}

func (l *Limiter) describe(w Window, now Instant) WindowState {
	s := &l.queue.State
	state := WindowState{Limit: int(s.Limits[w]), Documented: s.Limits[w] > 0 && !s.Learned[w], Used: int(s.Counts[w].Sum), Remaining: -1}
	if f := &s.Figures; f.Valid && f.Window == w && now < s.resetAt() {
		state.Remaining = int(max(0, f.Remaining+f.Known-s.Dispatched))
		if f.HasReset {
			state.ResetAt = l.time(f.ResetBy)
		}
	}
	return state
}

// State returns a copy of the state, to read.
func (l *Limiter) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.State
}
