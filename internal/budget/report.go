package budget

import (
	"cmp"
	"time"
)

// How long a 429 pauses a surface: no documented window is longer than a day.
const (
	MinHold     = 500 * time.Millisecond
	LongestHold = 24 * time.Hour
)

// maxMinuteReset is the longest reset of a minute window, rounding included. A longer one is the day's.
const maxMinuteReset = 62 * time.Second

const (
	minHold     = Instant(MinHold / time.Microsecond)
	longestHold = Instant(LongestHold / time.Microsecond)
	widest      = 30 * second // of the spread after many 429s
	mostAllowed = 1 << 20     // in flight on an unlimited surface
	mostTold    = 1 << 30     // higher figures are absurd
)

// report takes the result of a request, which may be wrong in any way: a surface is never paused for more than a day.
func (s *State) report(now Instant, p *Permit, o *Observation) {
	if !p.Valid() {
		return
	}
	s.expire(now)
	if o.NotSent {
		s.Return(*p)
		return
	}
	if !s.closes(p) {
		s.Dispatched++
	}
	s.Open[0].Trip = max(s.Open[0].Trip, now-p.At)
	replays := int64(min(max(o.Replays, 0), 100))
	s.Dispatched += replays
	s.count(now, 1+replays, o.Lost)
	switch {
	case o.RateLimited:
		s.refuse(now, p, o)
	case p.Epoch != s.Epoch: // it says nothing about the present
	case o.Lost:
		s.blindProbe(now, p)
	case o.Remaining >= 0:
		s.Strikes = 0
		w := s.learn(o)
		s.observe(now, p, o, w, replays)
	default:
		s.Strikes, s.BlindAt = 0, max(s.BlindAt, now)
		s.Others.High++ // it need not have been counted
		s.bare(p)
		s.blindProbe(now, p)
	}
	s.releaseProbe(p)
}

// count adds completed requests to both window counts, and to the total. Lost ones follow when they can arrive no more.
func (s *State) count(now Instant, n int64, lost bool) {
	if !lost {
		s.complete(now, n)
		return
	}
	if s.late() == 0 {
		s.LateTurn = now + lateGrace
	}
	s.BlindAt = now + lateGrace
	s.LateNew = min(s.LateNew+n, s.Dispatched-s.Completed-s.LateOld)
}

// complete adds requests that count from now on, at the latest.
func (s *State) complete(now Instant, n int64) {
	for _, w := range [...]Window{Minute, Day} {
		s.Counts[w].add(now, w.length(), n)
		s.Buckets[w].take(now, w.length(), s.Limits[w], n)
	}
	s.Completed = min(s.Completed+n, s.Dispatched-s.late())
}

// blindProbe delays the next probe: one without figures may have taken the only request that the minute gave back, as long as our own count
// of the last minute does not say otherwise. Whether it slides may be unknown.
func (s *State) blindProbe(now Instant, p *Permit) {
	over := s.overMinute()
	if !p.Probe || s.Limits[Minute] == 0 || over <= 0 {
		return
	}
	room := max(now, s.Counts[Minute].roomAt(over, minute))
	if s.Figures.Valid {
		s.NextLook = max(room, s.resetAt())
	} else { // a 429 named a time for one request
		s.HeldUntil = max(s.HeldUntil, room)
	}
}

// bare records a response without figures. It counts only if figures were expected.
func (s *State) bare(p *Permit) {
	s.Allowed = min(s.Allowed+1, mostAllowed)
	if !p.Bare {
		return
	}
	if s.Silent++; s.silent() {
		s.Silent, s.Figures.Valid = min(s.Silent, silence), false
	}
}

// refuse pauses the surface. Requests that were admitted before an earlier 429 only confirm it, and lengthen the pause at most.
func (s *State) refuse(now Instant, p *Permit, o *Observation) {
	fresh := p.Epoch == s.Epoch
	if fresh {
		s.doubtWeighing(now)
	}
	if o.Remaining == 0 { // else something between the service and us may have refused
		s.blameOthers(now, p)
	}
	if fresh {
		s.Epoch++
		s.Strikes++
		s.Allowed, s.ProbeUntil = 1, 0
		s.Figures = Figures{Window: s.Figures.Window}
	}
	doublings := min(max(s.Strikes-1, 0), 6)
	wait := max(bounded(o.RetryAfter), minHold)
	spread := min(min(wait/10, second)<<doublings, widest)
	if o.Within > 0 {
		spread = max(0, min(spread, instant(o.Within)-wait))
	}
	until := now + min(wait+Instant(min(max(o.Jitter, 0), 1)*float64(spread)), longestHold)
	if until > s.HeldUntil || fresh {
		s.HeldUntil = max(until, s.HeldUntil)
		s.HeldIn = heldIn(wait)
	}
}

// blameOthers learns from a refusal that others took what the cap had covered.
func (s *State) blameOthers(now Instant, p *Permit) {
	o := &s.Others
	switch {
	case p.Epoch == s.Epoch && s.Figures.Valid && s.Figures.Window == Minute:
		o.watch(now, s.Dispatched-1, o.Level)
	case p.Epoch == s.Epoch-1 && s.HeldIn == Minute: // of the same herd: one more
		o.watch(now, o.High-1, o.Level)
	}
}

// heldIn is the window that a pause after a 429 waits for.
func heldIn(wait Instant) Window {
	if wait > instant(maxMinuteReset) {
		return Day
	}
	return Minute
}

func bounded(d time.Duration) Instant { return min(max(instant(d), 0), longestHold) }

// WindowOf is the window that the headers of a response describe, which do not name it: by the distance of its reset, zero if there
// is none, else by its limit.
func WindowOf(limit int, reset time.Duration, perMinute, perDay int64) Window {
	switch l := int64(limit); {
	case reset > maxMinuteReset:
		return Day
	case l > 0 && l == perMinute:
		return Minute
	case l > 0 && l == perDay:
		return Day
	}
	return Unknown
}

// learn replaces a limit that the service contradicts: another plan, or a surface with undocumented limits. What is documented of the
// other window does not bind a plan that allows more.
func (s *State) learn(o *Observation) Window {
	s.Told, s.Silent = true, 0
	w := cmp.Or(WindowOf(o.Limit, o.Reset, s.Limits[Minute], s.Limits[Day]), Minute)
	if limit := int64(o.Limit); limit > 0 && limit <= mostTold && limit != s.Limits[w] {
		s.Limits[w], s.Learned[w] = limit, true
		if other := Minute + Day - w; limit > s.Config.limits()[w] && !s.Learned[other] {
			s.Limits[other] = 0
		}
	}
	return w
}

// observe merges the figures of a response into what is known.
func (s *State) observe(now Instant, p *Permit, o *Observation, w Window, replays int64) {
	left := min(int64(o.Remaining), mostTold)
	if o.Limit > 0 {
		left = min(left, int64(o.Limit))
	}
	known := p.Then + 1 + replays
	next := Figures{
		Valid: true, Remaining: left, Known: known, Mark: s.Completed, Window: w, HasReset: o.HasReset, At: now, Sent: p.At,
		ResetFrom: p.At + bounded(o.Reset) - second, ResetBy: now + bounded(o.Reset),
	}
	s.learnRefilling(p, o, w, left)
	s.learnWeighing(now, p, o, w, left, known)
	before := s.Figures
	if p.At >= s.BlindAt { // else it does not know what the look took
		s.NextLook = 0
	}
	switch f := &s.Figures; {
	case !f.Valid, p.Then >= f.Mark, next.laterThan(*f): // a request that was sent later tells more, even if the service's clock went on
		*f = next
	case f.laterThan(next):
		return
	default:
		f.merge(next, 1+replays)
	}
	if w == Minute && o.Limit > 0 && p.Then >= s.Others.Mark {
		s.Others.Mark = s.Completed
		level := float64(s.Limits[Minute] - left - p.Own - s.Dispatched)
		if f, o := &s.Figures, &s.Others; before.Valid && before.HasReset && f.HasReset && before.Window == w && left+known > o.High {
			if now < o.Until && s.Weighs >= 0 && s.late() == 0 && s.settled(w) { // given back although the window has not ended
				s.Weighs = min(s.Weighs+1, weighsMost)
			}
			if !s.flows() {
				o.learnSliding(f.ResetBy - before.ResetBy)
			}
		}
		if s.flows() {
			o := &s.Others
			o.Slides, level = 2*sure, level-uncertainty
		}
		s.Others.note(now, next.ResetFrom, left+known, left+s.Dispatched, max(0, level))
	}
}

// laterThan reports whether a response definitely describes a later state than another: its window resets later.
func (f *Figures) laterThan(g Figures) bool {
	return f.HasReset && g.HasReset && f.Window == g.Window && f.ResetFrom > g.ResetBy
}

// merge adds an overlapping response. Whichever was given first, at the time of the later one at least the lower figure was left, and
// every request counted in either was counted.
func (f *Figures) merge(g Figures, n int64) {
	known := max(f.Known, g.Known-n) + n
	if g.Remaining < f.Remaining || g.Remaining == f.Remaining && g.ResetBy >= f.ResetBy {
		*f = g
	} else if g.Remaining == f.Remaining {
		f.Mark = g.Mark
	}
	f.Known = known
}
