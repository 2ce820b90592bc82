package budget

// Others estimates what teammates take. Each response sets two bounds to the total of our requests (as Dispatched counts them)
// that the minute serves: it had counted at least those that were complete when it was sent, and at most all of them. Alone, no
// lower bound exceeds an upper one. When one does, others took the difference. So alone the estimate is exactly zero, whatever is
// in flight.
//
// In a minute that slides, what others took long ago is still taken. Level is that part, and it counts for the rate, too.
type Others struct {
	Low   int64   // the lower bound: highest since the window last gave something back
	High  int64   // the upper bound: lowest since then
	Seen  int64   // what others definitely took since then
	Until Instant // no response since then told an earlier reset
	Sum   float64 // what they took while we watched, decaying
	Span  float64 // for how long we watched, decaying alike; a window that is used up or has reset is not watched
	Level float64 // their part of a sliding minute
	At    Instant // of the last figures
	Mark  int64   // a request that was sent when so many were complete is later than they are

	Slides int8 // observations that the minute slides
}

const (
	memory    = 60 * second // over which the use of others decays
	prior     = 5 * second  // of watching are assumed to have seen nothing, so that one request is not a rate
	lookahead = 5 * second  // of their use is left to them even at the end of the minute
	fairShare = 0.75        // of what is left, at most, is left to others
	sure      = 2           // observations that make a minute a sliding one
)

// Rate is what others take, per microsecond.
func (o *Others) Rate(now Instant) float64 {
	if o.Sum == 0 && o.Level == 0 {
		return 0
	}
	r := o.Sum / (o.Span + float64(prior))
	if o.slides() { // else they may have taken it long ago, or we did before a restart
		r = max(r, o.Level/float64(minute))
	}
	r *= float64(memory) / float64(memory+max(0, now-o.At))
	if r*float64(minute) < 0.5 {
		return 0
	}
	return r
}

// note takes the reset that a response tells, the bounds that it sets to our total, and how much of the minute is neither left nor ours.
func (o *Others) note(now, reset Instant, low, high int64, level float64) {
	o.Until = min(o.Until, reset)
	if o.At == 0 || low > o.High {
		o.Low, o.High, o.Seen, o.Until = low, high, 0, reset
		if !o.slides() {
			o.Level, o.At = level, now
			return
		}
	}
	o.Low = max(o.Low, low)
	o.watch(now, high, level)
}

// watch adds what others took since the last response.
func (o *Others) watch(now Instant, high int64, level float64) {
	o.High = min(o.High, high)
	taken := max(0, o.Low-high-o.Seen)
	o.Seen += taken
	since := float64(max(0, now-o.At))
	fade := float64(memory) / (float64(memory) + since)
	o.Sum, o.Span = o.Sum*fade, o.Span*fade+since
	if o.Sum < 0.5 { // nobody came so far; one who comes has to be seen at once
		o.Span = 0
	}
	o.Sum += float64(taken)
	o.Level, o.At = level, now
}

// slides reports whether the minute slides, so that its reset says nothing about the rest of it.
func (o *Others) slides() bool { return o.Slides >= sure }

// learnSliding takes the advance of the reset while requests were given back: a fixed window's next reset is a whole minute later.
func (o *Others) learnSliding(advance Instant) {
	if advance < 50*second {
		o.Slides = min(o.Slides+1, 2*sure)
	} else {
		o.Slides = max(o.Slides-1, 0)
	}
}

// keepBack is how much of a minute is left to others when so much of it remains.
func (s *State) keepBack(now, left Instant) float64 {
	if s.Figures.Window == Day {
		return 0
	}
	limit := float64(s.Limits[Minute])
	left = min(max(left, 0), minute)
	part := float64(left) / float64(minute)
	keep := s.Config.Share * limit * part
	if rate := s.Others.Rate(now); rate > 0 {
		ahead := float64(left + lookahead)
		if s.flows() { // it gives back what they took before, too
			ahead = float64(lookahead)
		}
		keep = max(keep, min(rate, fairShare*limit/float64(minute))*ahead)
	}
	return keep
}

// gap is the pace that others leave to us if the minute slides: a burst leaves a gap a minute later.
func (s *State) gap(now Instant) Instant {
	limit, rate := float64(s.Limits[Minute]), s.Others.Rate(now)
	if rate == 0 || !s.Others.slides() || limit == 0 || s.Figures.Window == Day {
		return 0
	}
	ours := max(limit-rate*float64(minute+lookahead), limit*0.45)
	return Instant(float64(minute) / ours)
}

// probeDelay delays the probe after a reset while others are active, until the window has given back what is left to them.
func (s *State) probeDelay(left, keep float64) Instant {
	limit := s.Limits[Minute]
	if keep == 0 || limit == 0 || s.Figures.Window == Day || left > keep {
		return 0
	}
	return min(lookahead, Instant((keep-left+1)*float64(minute)/float64(limit)))
}
