package budget

// alone is the state of one of n processes that can no longer ask the others: it may use one nth of each window, of which one nth
// of what all of them used is gone, and it knows no figures, because the others continue.
func (s *State) alone(now Instant, n int) State {
	s.expire(now)
	c, parts := s.Config, int64(max(n, 1))
	c.Alone = true
	c.PerMinute, c.PerDay = part(s.Limits[Minute], parts), part(s.Limits[Day], parts)
	t := NewState(c)
	t.Born, t.Epoch = int64(now), int64(now)
	t.Limits, t.Learned, t.Told, t.Silent = s.Limits, s.Learned, s.Told, s.Silent
	t.Weighs, t.Edges = s.Weighs, s.Edges
	t.Strikes, t.HeldUntil, t.HeldIn = s.Strikes, s.HeldUntil, s.HeldIn
	t.Open[0].From, t.Open[1].From = now, now
	for _, w := range [...]Window{Minute, Day} {
		t.Counts[w].divide(&s.Counts[w], now, w.length(), s.uncounted(), parts)
	}
	return t
}

// part is at least one, because a limit of zero means none.
func part(limit, parts int64) int {
	if limit == 0 {
		return 0
	}
	return int(max(1, limit/parts))
}

// divide adds one of so many parts of another window count, and of the requests in flight, rounded up once.
func (l *WindowCount) divide(all *WindowCount, now, length Instant, inFlight, parts int64) {
	sum := int64(0)
	enter := func(at Instant, n int64) {
		sum += n
		if missing := (sum+parts-1)/parts - l.Sum; missing > 0 {
			l.add(at, length, missing)
		}
	}
	for i := -all.Past; i < 0; i++ {
		enter(all.At[all.slot(i)], all.N[all.slot(i)])
	}
	l.expire(now, length)
	sum = 0
	for i := range all.Used {
		enter(all.At[all.slot(i)], all.N[all.slot(i)])
	}
	enter(now, inFlight)
}
