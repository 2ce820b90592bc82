package budget

// Two kinds of service give back a little all the time, so that waiting for a reset would waste what they have:
//
//   - One that weighs counts in fixed windows, and adds those of the last window, weighted by what is left of it (a sliding counter). A
//     third of a window after 120 requests, they count as 80.
//   - One that refills has a bucket of tokens. Its reset is as far away as it takes to refill what is missing.
//
// Which kind a service is, is learned from its figures: [State.Weighs] and [State.Refills] count evidence. Read on with takeWeighed, which
// decides then (spare is its sum), load, which is our own part by the same rule, and learnWeighing and learnRefilling, which find out.

// Edge is what is known about when the windows of a service begin: between From and By, and every length before and after.
type Edge struct {
	From, By Instant // zero when unknown
	Since    int64   // requests complete when it was first known
}

const (
	weighs      = 2          // the evidence from which on a service weighs its last window
	weighsMost  = 4          // evidence is not counted beyond this, in either direction
	settled     = 5 * second // of use at the full rate, after which an edge that did not move is one
	refillsMost = 100
	drips       = 3  // told resets after which those of a bucket are known to be when the next token is there
	tellable    = 20 // a smaller limit is refilled so slowly that many resets would fit
	uncertainty = 2  // requests by which a fitting figure may differ
)

// weighs reports whether the service certainly weighs its last window. Until the opposite is certain, our requests keep to both.
func (s *State) weighs() bool { return s.Weighs >= weighs }

// refills reports whether the service certainly has a bucket: its reset is when all that is missing will have been refilled.
func (s *State) refills() bool { return int64(s.Refills) >= s.refillsFrom() }

func (s *State) refillsFrom() int64 { return min(4+s.Limits[Minute]/15, refillsMost) }

// flows reports whether the service gives back a little all the time, by a rule that is known.
func (s *State) flows() bool { return s.weighs() || s.refills() }

// at is the edge before or at an instant.
func (e Edge) at(now, length Instant) (from, to Instant) {
	if e.By == 0 || e.By-e.From >= length {
		return now - length, now
	}
	from = e.From + floor(now-e.From, length)*length
	return from, from + e.By - e.From
}

func (e Edge) width() Instant { return e.By - e.From }

func floor(i, length Instant) Instant {
	if i < 0 {
		i -= length - 1
	}
	return i / length
}

// load is how much of a window our complete requests take, at most.
func (s *State) load(now Instant, w Window) float64 {
	l, length := &s.Counts[w], w.length()
	switch {
	case s.refills() && !s.weighs():
		return s.Buckets[w].missing(now, length, s.Limits[w])
	case s.Weighs < 0:
		return float64(l.Sum)
	}
	from, to := s.Edges[w].at(now, length)
	if to <= now {
		return l.weighed(now, length, from, to)
	}
	return max(l.weighed(now, length, from, now), l.weighed(now, length, now-length, to-length))
}

// loadedUntil is when our complete requests will take no more than this of a window.
func (s *State) loadedUntil(now Instant, w Window, room int64) Instant {
	l, length := &s.Counts[w], w.length()
	if s.Weighs < 0 && !s.refills() {
		return l.roomAt(l.Sum-room, length)
	}
	room = max(room, 0)
	return firstWhen(now, now+2*length, length/6000, func(at Instant) bool { return s.load(at, w) <= float64(room) })
}

// ends is when the window has certainly ended.
func (s *State) ends(now Instant, w Window) Instant {
	_, to := s.Edges[w].at(now, w.length())
	if to <= now {
		to += w.length()
	}
	return to
}

// before is how many requests the window certainly had that ended between two instants.
func (s *State) before(w Window, lower, upper Instant) int64 {
	n, _ := s.Counts[w].before(w.length(), lower, upper, s.trip())
	return n
}

// regained is how much a window gives back between two instants: the weight that our own requests of the last window have certainly
// lost.
func (s *State) regained(w Window, from, until Instant) (regained float64) {
	length := w.length()
	if !s.weighs() {
		return float64(s.Limits[w]) * float64(until-from) / float64(length)
	}
	from = max(from, until-2*length)
	for from < until {
		lower, upper := s.Edges[w].at(from, length)
		before, to := s.before(w, lower, upper), lower+length
		if from < upper { // the edge is near: either window may be the last one
			before, to = min(before, s.before(w, lower-length, upper-length)), upper
		}
		to = min(max(to, from+1), until)
		regained += float64(before) * float64(to-from) / float64(length)
		from = to
	}
	return regained
}

// spare is what the figures cover and the window has given back since, less what others take and what is left to them.
func (s *State) spare(now Instant, p Priority) (covered, spare float64) {
	f := &s.Figures
	covered = float64(f.Remaining+f.Known-s.Dispatched) + s.regained(f.Window, f.At, now)
	covered = min(covered, float64(s.Limits[f.Window]-s.uncounted()))
	left := s.ends(now, f.Window) - now
	if !s.weighs() {
		left = f.Window.length()
	}
	if s.Others.Rate(now) == 0 { // what was left is rounded down, and was counted before the response arrived
		covered += 1 + s.regained(f.Window, f.Sent, f.At)
	}
	return covered, covered - s.reserve(p) - s.keepBack(now, left)
}

// takeWeighed uses what a service has left that gives back all the time. Its windows do not reset. It grants a request if the
// figures and what was given back since cover one. If the figures are old, that request is a probe, and so is one without cover that
// looks after a while whether more was given back.
func (s *State) takeWeighed(now Instant, p Priority, permit *Permit) (d Delay, granted bool) {
	f, w := &s.Figures, s.Figures.Window
	looks := max(f.At+staleness, now)
	switch {
	case f.Remaining > margin:
	case !s.weighs() && s.Others.Rate(now) == 0:
		looks = max(looks, f.At+(margin+1)*w.length()/Instant(max(1, s.Limits[w])))
	default:
		looks = max(s.ends(f.At, w)+lookahead, now)
	}
	covered, left := s.spare(now, p)
	switch fit := covered >= 1 && left > 0; {
	case fit && now-f.At < minute:
		s.PacedUntil = now + s.gap(now)
		return s.grant(now, false, false, permit)
	case fit, s.inFlight() == 0 && looks <= now:
		return s.probe(now, permit)
	}
	fits := func(at Instant) bool {
		covered, left := s.spare(at, p)
		return covered >= 1 && left > 0
	}
	from, to := now, s.ends(now, w)-1
	if !fits(to) { // what is left to others is more again when a window begins
		from, to = to, to+w.length()
	}
	return Delay{Until: max(min(firstWhen(from, to, w.length()/6000, fits), looks), now+millisecond)}, false
}

// followEdge narrows down when windows begin, and reports whether the told reset agrees with the earlier ones.
func (s *State) followEdge(p *Permit, now, reset Instant, w Window) (agrees bool) {
	e, length := &s.Edges[w], w.length()
	next := Edge{p.At + reset - second, now + reset + second, s.Completed}
	known := e.By != 0
	if known && next.By-next.From+e.By-e.From >= length { // it may agree with two of them
		return true
	}
	if known {
		shift := -floor(e.By-next.From, length) * length // the first one that is not before
		e.From, e.By = e.From+shift, e.By+shift
		if e.From <= next.By && next.From <= e.By {
			if now-s.Figures.At < length { // else one that slides may have begun again since
				next.From, next.By = max(e.From, next.From), min(e.By, next.By)
			}
			e.From, e.By = next.From, next.By
			return true
		}
	}
	*e = next
	return !known
}

// learnWeighing compares the figures of a response with our own count, if they certainly describe the same.
func (s *State) learnWeighing(now Instant, p *Permit, o *Observation, w Window, left, known int64) {
	if !o.HasReset || s.Limits[w] == 0 {
		return
	}
	agrees := s.followEdge(p, now, bounded(o.Reset), w)
	if !agrees {
		s.Weighs = max(s.Weighs-1, -weighsMost)
	}
	l, length, limit := &s.Counts[w], w.length(), s.Limits[w]
	if known != s.Completed || s.inFlight() > 0 {
		return
	}
	from, to := s.Edges[w].at(now, length)
	before, current, unsure := l.certain(length, from, to, s.trip())
	faded := float64(before) * (1 - float64(now-from)/float64(length))
	used := float64(limit - left)
	switch least := float64(current) + faded; {
	case used < least-float64(uncertainty+limit/8):
		s.Weighs = -weighsMost
	case !agrees || to > p.At || bounded(o.Reset) < length/2 || faded < max(4, float64(limit)/4) || !s.settled(w):
	case used >= least+float64(unsure)-uncertainty && used <= s.load(p.At, w)+uncertainty:
		s.Weighs = min(s.Weighs+weighs, weighsMost)
	}
}

// trip is the longest recent round trip.
func (s *State) trip() Instant { return max(s.Open[0].Trip, s.Open[1].Trip) }

// settled reports whether the edge did not move while it would have, and whether responses are young enough to tell.
func (s *State) settled(w Window) bool {
	return s.trip() < settled && float64(s.Completed-s.Edges[w].Since)*float64(w.length())/float64(s.Limits[w]) > float64(settled)
}

// doubtWeighing takes a refusal that no other request explains.
func (s *State) doubtWeighing(now Instant) {
	switch {
	case s.refills():
		s.Refills = 0
	case s.Weighs < 0:
		s.Weighs = 0
	case s.weighs() && s.Others.Rate(now) == 0:
		s.Weighs--
	}
}

// earliestWeighed is when a window that gives back a little all the time may serve n requests and one more: it gives back no more than
// its limit in its length, and nothing before our own requests fit.
func (s *State) earliestWeighed(now Instant, n int64) Instant {
	w := s.Figures.Window
	limit := max(1, s.Limits[w])
	over := float64(n+1+s.uncounted()-limit) + s.load(now, w)
	given := now + Instant(min(over/float64(limit), 2*24*60)*float64(w.length()))
	return max(now, max(given, s.loadedUntil(now, w, limit-s.uncounted()-1))-staleness)
}

// learnRefilling looks for a reset that is as far away as it takes to refill what is missing.
func (s *State) learnRefilling(p *Permit, o *Observation, w Window, left int64) {
	limit, length := s.Limits[w], w.length()
	if !o.HasReset || limit < tellable || w != Minute {
		return
	}
	each := length / Instant(limit)
	full := Instant(limit-left) * each
	switch f := &s.Figures; {
	case full <= settled:
	case bounded(o.Reset) > each+second:
		s.Drips = 0
	case f.Valid && f.HasReset && f.Window == w && p.At >= f.ResetBy:
		s.Drips = min(s.Drips+1, drips)
	}
	switch off := bounded(o.Reset) - full; {
	case off < -each-second || off > second:
		s.Refills = 0
	case full > settled:
		s.Refills = min(s.Refills+1, refillsMost)
	}
}

// Level is what our own requests take of a bucket.
type Level struct {
	Missing float64
	At      Instant
}

func (b *Level) missing(now, length Instant, limit int64) float64 {
	return max(0, b.Missing-float64(limit)*float64(now-b.At)/float64(length))
}

func (b *Level) take(now, length Instant, limit, n int64) {
	b.Missing, b.At = b.missing(now, length, limit)+float64(n), now
	if limit > 0 {
		b.Missing = min(b.Missing, float64(limit))
	}
}
