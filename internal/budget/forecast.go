package budget

import (
	"cmp"
	"math"
)

// Expected is when a request with so many ahead of it will be admitted, at the pace of [State.Take] and with requests that take a
// round trip each. Errors report this time. [State.Earliest] decides which calls to refuse.
func (s *State) Expected(now Instant, ahead int, p Priority, roundTrip Instant) (Instant, Window) {
	at, w := s.Earliest(now, ahead, p)
	n, opens := float64(ahead), s.opens(now, roundTrip)
	if s.countsOwn() && now >= s.HeldUntil {
		if d, full := s.overloaded(now, p); full {
			opens = max(opens, d.Until)
		}
	}
	switch f := &s.Figures; {
	case f.Valid && s.flows():
		at = max(at, s.weighedRoom(now, opens, n, p))
	case s.silent() && !f.Valid && now >= s.HeldUntil:
		at = max(at, opens, s.counted(opens, n, p, roundTrip))
	case !f.Valid:
		opens = max(opens, s.HeldUntil)
		at = max(at, s.served(opens, opens+minute, n, s.perMinute(), p, roundTrip))
	case now < s.ProbeUntil && now >= s.resetAt(): // that response tells what is left
		at = max(at, s.served(opens, opens+minute, n, s.perMinute()-1, p, roundTrip))
	case f.Window == Day:
		at = max(at, opens)
	default:
		at = max(at, s.covered(now, opens, n, p, roundTrip))
	}
	return max(at, now+millisecond), w
}

// opens is when the response to a probe is expected, or another may be sent.
func (s *State) opens(now, roundTrip Instant) Instant {
	until := s.probing(now)
	if at := s.ProbeUntil - probeLease + cmp.Or(roundTrip, firstRoundTrip); at > now {
		until = min(at, until)
	}
	return max(now, until)
}

func (s *State) perMinute() float64 {
	if limit := s.Limits[Minute].Max; limit > 0 {
		return float64(limit)
	}
	return mostTold
}

// cover is what the figures will allow once all requests in flight have their responses. Overlapping responses arrive in any order, and
// each alone does not tell how many requests in flight it counted. The total that was proved before, less the use of others, bounds that.
func (s *State) cover() float64 {
	f, o := &s.Figures, &s.Others
	total := f.Remaining + max(f.Known, f.Mark)
	if f.Window == Minute {
		total = max(total, min(o.Low-o.Seen, o.High))
	}
	return float64(total - s.Dispatched)
}

// served is when the minutes from then on have served n others, with so much room in the first of them.
func (s *State) served(from, reset Instant, n, room float64, p Priority, roundTrip Instant) Instant {
	rate := min(s.Others.rate(from), fairShare*s.perMinute()/float64(minute))
	each := max(s.perMinute()-s.reserve(p)-rate*float64(minute+lookahead), 1)
	for {
		theirs := 0.0
		if rate > 0 {
			theirs = rate * float64(reset-from+lookahead)
		}
		spare := room - s.reserve(p) - n
		switch {
		case spare > theirs && spare > s.keepBack(from, reset-from):
			return from
		case spare > theirs:
			return s.keepsLess(from, reset, spare)
		}
		n -= max(0, room-s.reserve(p)-theirs)
		from, room = reset, s.perMinute()
		if n <= 0 {
			return from // it is the probe
		}
		skip := Instant(min(n/each, 2*24*60))
		n -= float64(skip) * each
		from, reset = from+skip*minute+roundTrip, reset+(skip+1)*minute
	}
}

// covered is when the minute that the figures describe, or a later one, serves a request. While others are active, a probe is admitted
// every few seconds at least.
func (s *State) covered(now, opens Instant, n float64, p Priority, roundTrip Instant) Instant {
	room, rate, latest := s.cover(), s.Others.rate(now), Instant(math.MaxInt64)
	if rate > 0 {
		room -= rate * float64(now-s.Figures.At)
		opens = max(opens, s.soonest(now, p))
		if n == 0 || n*(1+rate*float64(staleness)) < room-s.reserve(p)-margin {
			latest = opens + Instant(n)*staleness
		}
	}
	if gap := s.gap(now); gap > 0 {
		opens = max(opens, s.PacedUntil) + Instant(n)*gap
	}
	if n < room-s.reserve(p) || s.Others.Slides == 0 { // a single observation makes it likely, but admits nobody
		return min(latest, s.served(opens, max(opens, s.resetAt()), n, room, p, roundTrip))
	}
	return min(latest, max(opens, s.slid(now, int64(n+s.reserve(p)))))
}

// counted is when the documented limits have room for so many requests and one more, one after the other while that tells how the
// service counts.
func (s *State) counted(now Instant, n float64, p Priority, roundTrip Instant) Instant {
	at := now
	for _, w := range [...]Window{Minute, Day} {
		limit := s.Limits[w].Max - int64(s.reserve(p))
		d, full := s.full(now, w, limit)
		switch over := s.Counts[w].Sum + s.inFlight() + 1 - limit; {
		case !full || s.Limits[w].Max == 0:
		case s.weighs():
			at = max(at, d.Until+Instant(n*float64(w.length())/float64(max(1, limit-1))))
		case over <= 0:
			at = max(at, now+Instant(n*float64(roundTrip)))
		}
	}
	return at
}

// soonest is when a request is admitted if no other response comes: while others are active, at the next probe.
func (s *State) soonest(now Instant, p Priority) Instant {
	later, permit := *s, Permit{}
	for range 200 {
		d, granted := later.take(now, p, &permit)
		if granted {
			break
		}
		now = max(d.Until, now+millisecond)
	}
	return now
}

// slid is when a sliding minute has given back what so many requests and one more of ours need.
func (s *State) slid(now Instant, n int64) Instant {
	l, limit := &s.Counts[Minute], s.Limits[Minute].Max
	over := l.Sum + s.inFlight() + 1 + n - limit
	rounds := max(0, over-1) / max(1, limit) // of the whole minute, before the part of one that is left
	return max(now, l.roomAt(over-rounds*limit, minute)) + Instant(rounds)*minute
}

// Earliest is the first moment at which a request with so many ahead of it could be admitted in the best case: others take nothing,
// and windows give everything back at once. It is used to refuse hopeless calls, so it errs on the early side.
func (s *State) Earliest(now Instant, ahead int, p Priority) (Instant, Window) {
	s.expire(now)
	at, w := s.earliest(now, int64(ahead), p)
	if c := &s.Config; c.Alone {
		own, which := s.earliestByCount(now, int64(ahead), [3]int64{Minute: int64(c.PerMinute), Day: int64(c.PerDay)})
		if own > at {
			return own, which
		}
	}
	return at, w
}

func (s *State) earliest(now Instant, n int64, p Priority) (Instant, Window) {
	switch f := &s.Figures; {
	case now < s.HeldUntil:
		return s.rounds(s.HeldUntil, n-s.Limits[Minute].Max), s.HeldIn
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
			at = min(at, s.slid(now, n))
		}
		return at, Minute
	case s.silent():
		return s.earliestByCount(now, n+int64(s.reserve(p)), [3]int64{Minute: s.Limits[Minute].Max, Day: s.Limits[Day].Max})
	}
	return s.rounds(now, n-s.Limits[Minute].Max), Minute
}

func (s *State) earliestByCount(now Instant, ahead int64, limits [3]int64) (at Instant, w Window) {
	at, w = now, Minute
	for _, window := range [...]Window{Minute, Day} {
		l, limit := &s.Counts[window], limits[window]
		over := l.Sum + s.inFlight() + 1 + ahead - limit
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
	if limit := s.Limits[Minute].Max; limit > 0 && n > 0 {
		at += Instant(min(n/limit, 2*24*60)) * minute
	}
	return at
}

// Forecast is how long n more requests will take, at the rate that the windows sustain and others leave to us. It is zero if they fit
// at once, or if no limit is known.
func (s *State) Forecast(now Instant, n int) Instant {
	s.expire(now)
	wait := max(0, s.HeldUntil-now)
	need := float64(n) + float64(s.inFlight())
	perMinute, perDay := float64(s.Limits[Minute].Max), float64(s.Limits[Day].Max)
	if n <= 0 || perMinute == 0 && perDay == 0 {
		return wait
	}
	if perDay == 0 {
		return wait + s.paced(now+wait, need)
	}
	today, reset := s.today(now)
	if need <= today {
		return wait + s.paced(now+wait, need)
	}
	need -= today
	days := Instant((need - 1) / perDay)
	rest := need - float64(days)*perDay
	tail := Instant(0)
	if perMinute > 0 {
		tail = Instant(rest / perMinute * float64(minute))
	}
	return max(wait, reset-now) + days*day + tail
}

// paced is how long the minutes make so many requests last.
func (s *State) paced(from Instant, need float64) Instant {
	limit := float64(s.Limits[Minute].Max)
	limit -= min(s.Others.rate(from)*float64(minute), fairShare*limit)
	room, reset := limit, from+minute
	if f := &s.Figures; f.Valid && f.Window == Minute && from < s.resetAt() {
		room, reset = float64(max(0, f.Remaining+f.Known-s.Dispatched)+s.inFlight()), s.resetAt()
	}
	if limit == 0 || need <= room {
		return 0
	}
	return reset - from + Instant((need-room)/limit*float64(minute))
}

// today is what is left of the day as far as is known, and when it ends at the latest.
func (s *State) today(now Instant) (left float64, reset Instant) {
	l := &s.Counts[Day]
	left, reset = float64(max(0, s.Limits[Day].Max-l.Sum)), now+day
	if l.Used > 0 {
		reset = l.At[l.Head] + day
	}
	if f := &s.Figures; f.Valid && f.Window == Day && now < s.resetAt() {
		left, reset = float64(max(0, f.Remaining+f.Known-s.Dispatched)+s.inFlight()), s.resetAt()
	}
	if s.HeldIn == Day && now < s.HeldUntil {
		left, reset = 0, s.HeldUntil
	}
	return left, reset
}
