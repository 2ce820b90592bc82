package budget

// ownLimit keeps a process that is on its own within its part, whatever the figures say.
func (s *State) ownLimit(now Instant) (Delay, bool) {
	for w, limit := range [...]int{Minute: s.Config.PerMinute, Day: s.Config.PerDay} {
		if limit == 0 {
			continue
		}
		if d, full := s.full(now, Window(w), int64(limit)); full {
			return d, true
		}
	}
	return Delay{}, false
}

// alone is the state of one of n processes that can no longer ask the others: it may use one nth of each window, of which one nth
// of what all of them used is gone, and it knows no figures, because the others go on.
func (s *State) alone(now Instant, n int) State {
	s.expire(now)
	c, parts := s.Config, int64(max(n, 1))
	c.Alone = true
	c.PerMinute, c.PerDay = part(s.Limits[Minute].Max, parts), part(s.Limits[Day].Max, parts)
	t := NewState(c)
	t.Born, t.Epoch = int64(now), int64(now)
	t.Limits, t.RoundsUp, t.Told, t.Silent = s.Limits, s.RoundsUp, s.Told, s.Silent
	t.Strikes, t.HeldUntil, t.HeldIn = s.Strikes, s.HeldUntil, s.HeldIn
	t.Open[0].From, t.Open[1].From = now, now
	for _, w := range [...]Window{Minute, Day} {
		t.Ledgers[w].divide(&s.Ledgers[w], now, w.length(), s.underWay(), parts)
	}
	return t
}

// part is never nothing: a limit of zero is none.
func part(limit, parts int64) int {
	if limit == 0 {
		return 0
	}
	return int(max(1, limit/parts))
}

// divide enters one of so many parts of what another ledger holds, and of what is under way, rounded up once.
func (l *Ledger) divide(all *Ledger, now, length Instant, underWay, parts int64) {
	sum := int64(0)
	enter := func(at Instant, n int64) {
		sum += n
		if missing := (sum+parts-1)/parts - l.Sum; missing > 0 {
			l.add(at, length, missing)
		}
	}
	for i := range all.Used {
		slot := (all.Head + i) % slots
		enter(all.At[slot], all.N[slot])
	}
	enter(now, underWay)
}
