package budget

import "cmp"

func (s *State) perMinute() int64 { return cmp.Or(s.Limits[Minute], mostTold) }

// cover is what the figures will allow once all requests in flight have their responses. Overlapping responses arrive in any order, and
// each alone does not tell how many requests in flight it counted. The total that was proved before, less the use of others, bounds that.
func (s *State) cover() int64 {
	f, o := &s.Figures, &s.Others
	total := f.Remaining + max(f.Known, f.Mark)
	if f.Window == Minute {
		total = max(total, min(o.Low-o.Seen, o.High))
	}
	return total - s.Dispatched
}

// Earliest is the first moment at which a request with so many ahead of it could be admitted in the best case: others take nothing,
// and windows give everything back at once. It is used to refuse hopeless calls, so it errs on the early side.
func (s *State) Earliest(now Instant, ahead int, p Priority) (Instant, Window) {
	s.expire(now)
	return s.earliest(now, int64(ahead), p)
}

func (s *State) earliest(now Instant, n int64, p Priority) (Instant, Window) {
	switch f := &s.Figures; {
	case now < s.HeldUntil:
		return s.rounds(s.HeldUntil, n-s.Limits[Minute]), s.HeldIn
	case f.Valid && s.flows():
		return s.earliestWeighed(now, n+int64(s.reserve(p))), f.Window
	case f.Valid:
		room := max(f.Remaining+f.Known-s.Dispatched, min(f.Remaining, f.Remaining*s.inFlight())) - int64(s.reserve(p))
		reset := s.resetAt()
		if n < room {
			return now, f.Window
		}
		if f.Window == Day && now < reset {
			return reset, Day
		}
		at := s.rounds(max(now, reset), n-max(room, 0))
		if s.Others.slides() {
			slid, _ := s.earliestByCount(now, n, [3]int64{Minute: s.Limits[Minute]})
			at = min(at, slid)
		}
		return at, Minute
	case s.silent():
		return s.earliestByCount(now, n+int64(s.reserve(p)), s.Limits)
	}
	return s.rounds(now, n-s.Limits[Minute]), Minute
}

func (s *State) earliestByCount(now Instant, ahead int64, limits [3]int64) (at Instant, w Window) {
	at, w = now, Minute
	for _, window := range [...]Window{Minute, Day} {
		l, limit := &s.Counts[window], limits[window]
		over := l.Sum + s.uncounted() + 1 + ahead - limit
		if limit == 0 || over <= 0 {
			continue
		}
		rounds := (over - 1) / limit
		later := now + window.length() // those that may be sent now are the first to be given back
		if over -= rounds * limit; over <= l.Sum {
			later = max(now, l.roomAt(over, window.length()))
		}
		later += Instant(rounds) * window.length()
		if later > at {
			at, w = later, window
		}
	}
	return at, w
}

// rounds adds the minutes that n more requests than the first minute has room for must wait for.
func (s *State) rounds(at Instant, n int64) Instant {
	if limit := s.Limits[Minute]; limit > 0 && n > 0 {
		at += Instant(min(n/limit, 2*24*60)) * minute
	}
	return at
}
