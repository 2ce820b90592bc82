package budget

import (
	"cmp"
	"time"
)

// Config has the documented limits of a surface, 0 for none.
type Config struct {
	PerMinute int
	PerDay    int
}

// state is what is known about one surface, and decides. It has no clock: every method takes the time, which must not run backwards.
type state struct {
	config  Config
	limits  [3]int64 // by Window, 0 when unknown
	learned [3]bool  // from the headers of a response: the limit is not the documented one
	counts  [3]count
	late    count     // requests without a response that may yet be counted
	open    int64     // requests with a permit and without a result: they may be counted
	figures [3]figure // by Window
	share   share

	epoch    int64 // grows with each refusal; responses to older requests say nothing about the time after it
	strikes  int   // 429s in a row
	held     time.Duration
	heldIn   Window
	heard    time.Duration // when a response last told what is left, or that nobody tells
	probed   time.Duration // when a request was sent without knowing
	told     bool          // the service has sent figures
	bare     int           // responses in a row without figures
	possible int64         // requests in flight on a surface about which nothing is known
}

// figure is what responses say about a window.
type figure struct {
	left  int64         // the lowest since the window last gave something back
	late  int64         // requests without a response of which that of a minute need not know
	over  int64         // requests of ours that were complete with the last response
	reset time.Duration // when the window has definitely reset
}

const (
	never     = -time.Hour
	lateGrace = 10 * time.Second // a request without a response is counted within this, or never
	patience  = 2 * time.Second  // a request that takes longer was hardly refused: another may be sent
	staleness = 5 * time.Second  // after which a single request asks what is left
	rounding  = time.Second      // by which a told reset may be too early
	few       = 32               // requests in flight are no more than one in so many that are left, once others have used some
	silence   = 3                // responses in a row without figures after which the service counts as sending none
	overdraft = 10               // requests of operations that have begun may go before our part is due
	reserved  = 10               // one in so many requests of a window is not for batch calls
	mostTold  = 1 << 30          // higher figures are absurd
	widest    = 30 * time.Second // of the spread after many 429s
	farthest  = 2 * 24 * 60      // rounds that are told
)

// How long a 429 pauses a surface: no documented window is longer than a day.
const (
	MinHold     = 500 * time.Millisecond
	LongestHold = 24 * time.Hour
)

func newState(c Config) state {
	s := state{config: c, epoch: 1, possible: 1, heard: never, probed: never}
	s.limits = [...]int64{Minute: int64(c.PerMinute), Day: int64(c.PerDay)}
	s.late.length = lateGrace
	s.counts = [...]count{Minute: {length: time.Minute}, Day: {length: 24 * time.Hour}}
	return s
}

func (s *state) silent() bool { return s.bare >= silence || s.bare > 0 && !s.told }

// over is how many requests of ours are complete, since the beginning.
func (s *state) over() int64 { return s.counts[Minute].gone + s.counts[Minute].sum }

// expire drops what has become old.
func (s *state) expire(now time.Duration) {
	for w := range s.counts {
		s.counts[w].expire(now)
	}
	s.late.expire(now)
}

// take asks for one request, which may leave a part of each window to others. It says when to ask again: only a response can change that.
func (s *state) take(now time.Duration, polite, begun bool, permit *Permit) (until time.Duration, granted bool) {
	if until, _, _ = s.opens(now, 0, polite, begun); until > now {
		return until, false
	}
	if s.unsure(now) {
		s.probed = now
	}
	*permit = Permit{epoch: s.epoch, at: now, gone: s.counts[Minute].gone, over: s.over()}
	s.open++
	s.share.credit--
	return 0, true
}

// opens is when a request with so many ahead of it may be sent, as far as is known, the moment before which it cannot, and the window
// that it waits for. One of an operation that has begun does not wait for our part, unless many of them already have gone before it was due:
// where the wait is refused, the operation would begin again, and use up our part without an end.
func (s *state) opens(now time.Duration, ahead int64, polite, begun bool) (at, least time.Duration, w Window) {
	s.expire(now)
	if at, w = now, Minute; s.held > now {
		at, w = s.held, s.heldIn
	}
	later := func(t time.Duration, of Window) {
		if t > at {
			at, w = t, of
		}
	}
	for _, of := range [...]Window{Minute, Day} {
		if s.limits[of] > 0 {
			later(s.fits(now, of, ahead, polite), of)
		}
	}
	switch {
	case s.unsure(now):
		later(s.probed+patience, w)
	case s.limits == [3]int64{} && s.open >= s.possible:
		later(now+time.Minute, w)
	}
	least = at
	if begun {
		ahead -= overdraft
	}
	later(s.yields(now, ahead+s.open), Minute)
	if !s.shared(now) { // those in flight may be counted in what is left
		least = max(least, s.yields(now, ahead))
	}
	return at, least, w
}

// unsure reports whether it is not known what is left for another request, so that one has to ask.
func (s *state) unsure(now time.Duration) bool {
	f := &s.figures[Minute]
	left := f.left
	if now >= f.reset {
		left = 0
	}
	doubt := s.share.before || now-s.heard > staleness
	return s.heard == never || doubt && s.open*few >= left && !s.silent() && !s.shared(now)
}

// fits is when a window has room, by our own count and by the figures.
func (s *state) fits(now time.Duration, w Window, ahead int64, polite bool) time.Duration {
	c, f, limit := &s.counts[w], &s.figures[w], s.limits[w]
	most, left := limit, f.left-s.open-max(s.late.sum, f.late)-ahead
	if w == Minute && s.told && f.left == 0 && !s.shared(now) { // somebody may come, and find nothing in a minute that slides
		most = max(1, limit-(limit+59)/60)
	}
	if polite {
		part := (limit + reserved - 1) / reserved
		most, left = max(1, limit-part), left-part
	}
	over, at := c.sum+s.open+1+ahead-most, now
	if over > 0 {
		rounds := (over - 1) / most
		at = c.without(now, over-rounds*most) + time.Duration(min(rounds, farthest))*c.length
	}
	switch {
	case now >= f.reset || left >= 1:
	case w == Day || s.shared(now) || f.late > 0:
		at = max(at, f.reset)
	}
	return at
}

// report takes the result of a request, which may be wrong in any way: a surface is never paused for more than a day.
func (s *state) report(now time.Duration, p *Permit, o *Observation) {
	if p.epoch == 0 {
		return
	}
	s.expire(now)
	s.open--
	if s.probed == p.at {
		s.probed = never
	}
	if o.NotSent {
		s.share.credit++
		return
	}
	n := 1 + int64(min(max(o.Replays, 0), 100))
	counted := now
	if o.Lost {
		counted += lateGrace
		s.late.add(now, n)
		s.figures[Minute].late += n
	}
	s.counts[Minute].add(counted, n)
	s.counts[Day].add(counted, n)
	switch {
	case o.RateLimited:
		s.refuse(now, p, o)
	case p.epoch != s.epoch: // it says nothing about the present
	case o.Remaining >= 0 && !o.Lost:
		s.strikes = 0
		s.observe(now, p, o)
	case !o.Lost:
		s.strikes, s.heard = 0, now
		s.bare, s.possible = min(s.bare+1, silence), min(s.possible+1, mostTold)
		if s.shared(now) {
			s.share.grow(now, 0.3, float64(s.limits[Minute]))
		}
	}
}

// refuse pauses the surface. Requests that were admitted before an earlier 429 only confirm it, and lengthen the pause at most.
func (s *state) refuse(now time.Duration, p *Permit, o *Observation) {
	fresh := p.epoch == s.epoch
	wait := min(max(o.RetryAfter, MinHold), LongestHold)
	if fresh {
		if o.Remaining == 0 { // else it is about something else, such as requests at the same moment
			s.observe(now, p, o)
		}
		s.epoch++
		s.strikes++
		s.possible, s.heard, s.probed = 1, never, never
	}
	spread := min(min(wait/10, time.Second)<<min(max(s.strikes-1, 0), 6), widest)
	if o.Within > 0 {
		spread = max(0, min(spread, o.Within-wait))
	}
	jitter := min(max(o.Jitter, 0), 1)
	until := now + min(wait+time.Duration(jitter*float64(spread)), LongestHold)
	if until > s.held || fresh {
		s.held, s.heldIn = max(until, s.held), heldIn(wait)
	}
	if fresh && s.limits[Minute] > 0 {
		s.share.refused(now, s.held, jitter+float64(s.strikes-1), float64(s.limits[Minute]), s.silent())
	}
}

// heldIn is the window that a pause after a 429 waits for.
func heldIn(wait time.Duration) Window {
	if wait > maxMinuteReset {
		return Day
	}
	return Minute
}

// learn replaces a limit that the service contradicts: another plan, or a surface with undocumented limits. What is documented of the
// other window does not bind a plan that allows more.
func (s *state) learn(o *Observation) Window {
	s.told, s.bare = true, 0
	w := cmp.Or(WindowOf(o.Limit, o.Reset, int(s.limits[Minute]), int(s.limits[Day])), Minute)
	if limit := int64(o.Limit); limit > 0 && limit <= mostTold && limit != s.limits[w] {
		documented := [...]int{Minute: s.config.PerMinute, Day: s.config.PerDay}[w]
		s.limits[w], s.learned[w] = limit, true
		if other := Minute + Day - w; o.Limit > documented && !s.learned[other] {
			s.limits[other] = 0
		}
	}
	return w
}

// observe merges the figures of a response into what is known: the lowest of overlapping ones counts.
func (s *state) observe(now time.Duration, p *Permit, o *Observation) {
	w := s.learn(o)
	left := min(int64(o.Remaining), mostTold)
	if o.Limit > 0 {
		left = min(left, int64(o.Limit))
	}
	f, reset := &s.figures[w], w.length()
	if o.HasReset {
		reset = min(max(o.Reset, 0), LongestHold)
	}
	if known := f.reset - rounding - now; known > 0 && left <= f.left && (!o.HasReset || reset-known <= rounding) { // the same window
		reset = min(reset, known)
	}
	s.heard = now
	next := figure{left: left, over: s.over(), reset: now + reset + rounding}
	if w == Minute {
		next.late = s.late.sum
	}
	switch {
	case p.over >= f.over || next.reset > f.reset+2*rounding || now >= f.reset: // it was sent later, or its window resets later
		*f = next
	case next.reset < f.reset-2*rounding:
		return
	default:
		f.left, f.over = min(f.left, left), next.over
	}
	if w == Minute && s.limits[w] > 0 && !o.RateLimited {
		sent := s.over() + s.open
		s.share.see(now, view{
			over: p.over, done: next.over, low: float64(left + p.over + 1), high: float64(left + sent),
			limit: float64(s.limits[w]), left: float64(left), ours: float64(sent - p.gone), open: float64(f.left - s.open), rest: reset,
		})
	}
}
