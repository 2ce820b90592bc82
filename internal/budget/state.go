package budget

import "math"

// State is what is known about one surface, and decides. It has no clock: every method takes the time, which must not run backwards.
// It is not safe for concurrent use.
type State struct {
	Config     Config
	Dispatched int64 // admitted requests
	Completed  int64 // of those, the ones that are definitely counted by now, or never will be
	LateOld    int64 // of those, the ones that ended without a response and may still be counted
	LateNew    int64
	BlindAt    Instant // when the last one ended without figures
	NextLook   Instant // before which no other look is sent, after one without figures
	LateTurn   Instant // when the old late ones become complete, and the new ones old
	Open       [2]Span // of those not complete: admitted recently, and before
	PacedUntil Instant // while others are active and the minute slides

	Epoch      int64 // grows with each refusal; responses to older requests say nothing about the time after it
	Strikes    int   // 429s in a row
	HeldUntil  Instant
	HeldIn     Window
	ProbeUntil Instant // a probe is in flight until then, at the latest
	Figures    Figures
	Others     Others

	Told    bool  // the service has sent figures
	Silent  int   // probes in a row without figures
	Allowed int64 // requests in flight on a surface about which nothing is known

	Limits  [3]int64 // by Window, 0 when unknown
	Learned [3]bool  // from the headers of a response: the limit is not the documented one
	Counts  [3]WindowCount
	Edges   [3]Edge
	Buckets [3]Level
	Weighs  int8 // evidence that the service weighs its last window, or, if negative, that it does not
	Refills int8 // responses in a row by which it has a bucket that refills
	Drips   int8 // told resets in a row that gave back next to nothing, and were followed by another one as near as the next token
}

// Span counts requests in flight by when they were admitted.
type Span struct {
	From Instant
	N    int64
	Trip Instant // the longest of those that ended meanwhile
}

// Figures are what the responses said about the binding window, merged into one statement: when Known requests of ours were counted,
// Remaining were left.
type Figures struct {
	Valid     bool
	Remaining int64
	Known     int64
	Mark      int64 // a request that was sent when so many were complete is later than the one with the lowest figure
	Window    Window
	HasReset  bool
	At        Instant // when the response arrived
	Sent      Instant // when its request was sent
	ResetFrom Instant // the reset lies between these two
	ResetBy   Instant
}

const (
	lateGrace      = 10 * second // a request without a response is counted within this, or never
	probeLease     = 2 * minute  // an unreported probe is dropped
	patience       = 2 * second  // a probe that takes longer was hardly refused: another may be sent
	firstRoundTrip = second / 4  // the expected round trip before the first response
	forgotten      = 2 * minute  // unreported requests in flight are complete after this, or twice this at most
	staleness      = 5 * second  // how long until a probe checks again what others take
	margin         = 2           // more has to be left for a probe while others are active, as their estimate may be low
	silence        = 3           // probes without figures after which the service counts as sending none
)

// NewState returns the state of a surface that was never used.
func NewState(c Config) State {
	return State{Config: c, Epoch: 1, Allowed: 1, Limits: c.limits()}
}

// take asks for one request. It writes the permit to its place: copying it six times would take longer than the decision.
func (s *State) take(now Instant, p Priority, permit *Permit) (d Delay, granted bool) {
	s.expire(now)
	if now < s.HeldUntil {
		return Delay{Until: s.HeldUntil}, false
	}
	if s.silent() || s.Weighs >= 0 || s.refills() { // our own requests have to fit by their count, too
		if d, full := s.overloaded(now, p); full {
			return d, false
		}
	}
	switch {
	case !s.Figures.Valid:
		return s.probe(now, permit)
	case now < s.PacedUntil && s.gap(now) > 0:
		return Delay{Until: s.PacedUntil}, false
	case s.flows():
		return s.takeWeighed(now, p, permit)
	}
	return s.takeCovered(now, p, permit)
}

// Return takes back a permit whose request was not sent.
func (s *State) Return(p Permit) {
	if s.closes(&p) {
		s.Dispatched = max(s.Dispatched-1, s.Completed+s.late())
	}
	s.releaseProbe(&p)
}

// closes removes a request from those in flight. It is not there if it was dropped.
func (s *State) closes(p *Permit) bool {
	for i := range s.Open {
		if o := &s.Open[i]; p.At >= o.From && o.N > 0 {
			o.N--
			return true
		}
	}
	return false
}

func (s *State) releaseProbe(p *Permit) {
	if p.Probe && s.ProbeUntil == p.At+probeLease { // and not a dropped one
		s.ProbeUntil = 0
	}
}

// firstWhen is the first instant from which on something holds, found by halving. It holds at the end.
func firstWhen(from, to, step Instant, holds func(Instant) bool) Instant {
	for to-from > step {
		if middle := from + (to-from)/2; holds(middle) {
			to = middle
		} else {
			from = middle
		}
	}
	return to
}

func (s *State) late() int64     { return s.LateOld + s.LateNew }
func (s *State) inFlight() int64 { return s.uncounted() - s.late() }

// uncounted are the requests that may still be counted.
func (s *State) uncounted() int64 { return s.Dispatched - s.Completed }
func (s *State) silent() bool     { return s.Silent >= silence || s.Silent > 0 && !s.Told }

// expire drops what has become old.
func (s *State) expire(now Instant) {
	for s.late() > 0 && now >= s.LateTurn {
		old := s.LateOld
		s.LateOld, s.LateNew = s.LateNew, 0
		s.complete(s.LateTurn, old)
		s.LateTurn += lateGrace
	}
	s.Counts[Minute].expire(now, minute)
	s.Counts[Day].expire(now, day)
	if now >= s.Open[0].From+forgotten {
		s.forget(now)
	}
}

// forget completes unreported requests, and starts a new span.
func (s *State) forget(now Instant) {
	gone := s.Open[1].N
	s.Open[1] = s.Open[0]
	if now >= s.Open[0].From+2*forgotten {
		gone += s.Open[0].N
		s.Open[1] = Span{From: now}
	}
	s.Open[0] = Span{From: now}
	if gone > 0 {
		s.Completed = min(s.Completed+gone, s.Dispatched-s.late())
		s.Counts[Day].add(now, day, gone)
	}
}

func (s *State) grant(now Instant, probe, bare bool, permit *Permit) (Delay, bool) {
	*permit = Permit{Then: s.Completed, Epoch: s.Epoch, At: now, Probe: probe, Bare: bare}
	permit.Own = s.Counts[Minute].Sum + s.uncounted() - s.Dispatched
	if s.flows() {
		permit.Own = int64(math.Ceil(s.load(now, Minute))) + s.uncounted() - s.Dispatched
	}
	s.Dispatched++
	s.Open[0].N++
	if probe {
		s.ProbeUntil = now + probeLease
	}
	return Delay{}, true
}

// probe grants a request without a cap: the one that may be in flight, or, where no figures come, one of many.
func (s *State) probe(now Instant, permit *Permit) (Delay, bool) {
	silent := s.silent()
	switch until := s.probing(now); {
	case now < until:
		return Delay{Until: until, News: true}, false
	case silent && s.Limits == [3]int64{} && s.inFlight() >= s.Allowed:
		return Delay{Until: now + probeLease, News: true}, false
	}
	return s.grant(now, !silent, true, permit)
}

// probing is until when no other probe may be sent, unless the one in flight returns. One that takes long delays no call within a
// known limit.
func (s *State) probing(now Instant) Instant {
	until := s.ProbeUntil - probeLease + patience
	switch {
	case now >= s.ProbeUntil || s.Limits[Minute] == 0:
		return s.ProbeUntil
	case now < until:
		return until
	}
	for _, w := range [...]Window{Minute, Day} {
		l, limit := &s.Counts[w], s.Limits[w]
		if limit == 0 {
			continue
		}
		if d, full := s.full(now, w, limit); full {
			until = max(until, min(d.Until, s.ProbeUntil))
		}
		if over := l.Sum + s.uncounted() + 1 - limit; over > 0 { // the service may count all of the last minute
			until = max(until, min(l.roomAt(over, w.length()), s.ProbeUntil))
		}
	}
	return until
}

func (s *State) reserve(p Priority) float64 {
	if p == Batch {
		return float64(s.Config.Reserve)
	}
	return 0
}

// takeCovered uses what the cap covers, beyond what is kept back.
func (s *State) takeCovered(now Instant, p Priority, permit *Permit) (d Delay, granted bool) {
	f := &s.Figures
	cover := f.Remaining + f.Known - s.Dispatched
	reset := s.resetAt()
	keep, taken := s.keepBack(now, reset-now), s.Others.Rate(now)*float64(now-f.At)
	reserve := s.reserve(p)
	left := float64(f.Remaining) - taken
	switch {
	case float64(cover)-taken > keep+reserve:
		s.PacedUntil = now + s.gap(now)
		return s.grant(now, false, false, permit)
	case now < s.probing(now):
		return Delay{Until: s.probing(now), News: true}, false
	case now >= reset:
		at := reset + s.probeDelay(left, keep)
		if cover < 0 && f.Window == Minute && s.Others.slides() { // requests that the figures do not know took what they say comes back
			at = max(at, s.Counts[Minute].roomAt(s.overMinute(), minute))
		}
		if now < at {
			return Delay{Until: at}, false
		}
		return s.probe(now, permit)
	case left > reserve && s.pictureIsOld(now, cover, left, keep, reserve), cover <= 0 && reserve == 0 && s.slidingMinuteHasRoom(now):
		return s.probe(now, permit)
	}
	spare := float64(cover) - taken
	d = Delay{Until: reset, News: cover <= 0 && s.inFlight() > 0 && left > 0}
	if f.Window == Minute && s.Others.slides() && cover <= 0 {
		d.Until = min(reset, max(s.Counts[Minute].roomAt(s.overMinute(), minute), now+100*millisecond))
	}
	if spare > reserve && !d.News { // the rest is left to others for now
		keepsLess := func(at Instant) bool { return s.keepBack(at, reset-at) < spare-reserve }
		d.Until = min(d.Until, max(firstWhen(now, reset, 10*millisecond, keepsLess), now+millisecond))
		if s.Others.Rate(now) > 0 {
			d.Until = min(d.Until, max(f.At+staleness, now+second/4))
		}
	}
	return d, false
}

// pictureIsOld reports whether a probe is due although the window has not reset: because others were considered for long enough and
// have definitely left something, or because the merged figures are lower than possible now that nothing is in flight.
func (s *State) pictureIsOld(now Instant, cover int64, left, keep, reserve float64) bool {
	f := &s.Figures
	if s.inFlight() == 0 && (cover <= 0 || f.Known < s.Completed) && f.Sent >= s.BlindAt {
		return float64(f.Remaining) > keep+reserve
	}
	return s.Others.Rate(now) > 0 && now-f.At >= staleness && cover > 0 && left > reserve+margin
}

// slidingMinuteHasRoom reports whether so many of our own requests have left a sliding minute that, with no others active, it
// must have room.
func (s *State) slidingMinuteHasRoom(now Instant) bool {
	return s.Figures.Window == Minute && s.Others.slides() && s.Others.Rate(now) == 0 && s.overMinute() <= 0
}

// overMinute is by how many requests one more would exceed the minute, by our own count.
func (s *State) overMinute() int64 {
	return s.Counts[Minute].Sum + s.uncounted() + 1 - s.Limits[Minute]
}

// resetAt is when the window has definitely reset, even if resets are told in whole seconds that are rounded down, and another look may
// be sent.
func (s *State) resetAt() Instant {
	f := &s.Figures
	if !f.HasReset {
		return max(f.At+f.Window.length(), s.NextLook)
	}
	return max(f.ResetBy+second, s.NextLook)
}

// overloaded reports whether one more request of ours would not fit below the limits, as the service may count it.
func (s *State) overloaded(now Instant, p Priority) (Delay, bool) {
	for _, w := range [...]Window{Day, Minute} {
		if s.Limits[w] == 0 {
			continue
		}
		if d, full := s.full(now, w, s.Limits[w]-int64(s.reserve(p))); full {
			return d, true
		}
	}
	return Delay{}, false
}

// full reports whether our own requests leave no room below a limit.
func (s *State) full(now Instant, w Window, limit int64) (Delay, bool) {
	l, room := &s.Counts[w], limit-s.uncounted()-1
	slides := s.silent() && !s.flows() // it may, and no figures would tell
	switch {
	case l.Sum+l.Faded <= room, s.load(now, w) <= float64(room) && (l.Sum <= room || !slides):
		return Delay{}, false
	case l.Sum+l.Faded == 0 && s.late() > 0:
		return Delay{Until: max(s.LateTurn, now+millisecond), News: true}, true
	case l.Sum+l.Faded == 0 && s.inFlight() > 0:
		return Delay{Until: now + probeLease, News: true}, true
	}
	until := s.loadedUntil(now, w, room)
	if slides {
		until = max(until, l.roomAt(l.Sum-room, w.length()))
	}
	return Delay{Until: max(until, now+millisecond)}, true
}
