package budget

import (
	"cmp"
	"math"
	"time"
)

// foresight tells how long a wait will be. It plays a copy of the state forward: State.take admits the next request, each takes a round
// trip, and a model of the service says what its response will tell, which is reported to the copy. So a told wait is true as long as the
// service does what is known of it, and rests on no second version of the decision.
//
// Read it as: foresee starts with the requests that are on their way (fly) and a model of the service (serve). admits plays until enough
// requests are admitted (next), and delivers responses in between (respond, response).
type foresight struct {
	s        State
	now      Instant
	trip     Instant
	p        Priority
	admitted []Instant // when each next request was
	flight   []flight  // in the order of their responses
	permit   Permit
	start    Instant
	of       [5]int64 // what changes with each request and report

	// The model of the service.
	window  Window
	silent  bool    // it sends no figures
	fixed   bool    // its windows reset as a whole: else it slides, weighs or refills
	refills bool    // it has a bucket
	drips   bool    // it tells when the next token is there, not when the bucket is full
	total   int64   // requests that a fixed window serves, counted like Dispatched
	reset   Instant // of a fixed window
	rate    float64 // of others
	since   Instant // from which on that is not in the figures
	others  float64 // their part of a window that gives back all the time
}

// flight is a request on its way.
type flight struct {
	permit Permit
	number int64 // among all requests
	over   Instant
}

// foresees is how many steps are played, at most.
const foresees = 4096

// foresee starts with what is known now.
func (s *State) foresee(now Instant, p Priority, roundTrip Instant) *foresight {
	f := &foresight{s: *s, now: now, start: now, of: s.turn(), p: p, trip: cmp.Or(roundTrip, firstRoundTrip)}
	f.s.expire(now)
	f.fly()
	f.serve()
	return f
}

// turn tells states apart.
func (s *State) turn() [5]int64 {
	return [5]int64{s.Dispatched, s.Completed, s.late(), s.Epoch, s.inFlight()}
}

// holds reports whether nothing has happened since, so that many calls that join together are told by one foresight.
func (f *foresight) holds(s *State, now Instant, p Priority) bool {
	return f != nil && f.p == p && f.of == s.turn() && now >= f.start && now-f.start <= 10*millisecond
}

// fly assumes that the requests on their way are as old as they are if they were sent one after the other. A probe that takes longer
// than usual is not waited for.
func (f *foresight) fly() {
	s := &f.s
	n := min(s.Open[0].N, s.inFlight())
	number := s.Dispatched - n
	if sent := s.ProbeUntil - probeLease; n > 0 && f.now < s.ProbeUntil && sent >= s.Open[0].From {
		number++
		n--
		if sent+f.trip > f.now {
			f.flight = append(f.flight, flight{Permit{Then: s.Completed, Epoch: s.Epoch, At: sent, Probe: true, Bare: true}, number, sent + f.trip})
		}
	}
	for i := range n {
		over := f.now + f.trip*Instant(i+1)/Instant(n)
		permit := Permit{Then: s.Completed, Epoch: s.Epoch, At: max(over-f.trip, s.Open[0].From), Bare: !s.Figures.Valid}
		f.flight = append(f.flight, flight{permit, number + i + 1, over})
	}
}

// serve makes the model: the service counts in the way that is known, the figures are right, and a window of which nothing is known is new.
func (f *foresight) serve() {
	s, g := &f.s, &f.s.Figures
	f.silent, f.window, f.since, f.rate = s.silent() && !g.Valid, cmp.Or(g.Window, Minute), f.now, s.Others.Rate(f.now)
	limit := float64(s.Limits[f.window])
	f.drips = !s.flows() && g.Valid && g.Window == Minute && s.Drips == drips
	f.refills = f.drips || s.refills() && !s.weighs()
	switch {
	case s.flows() || f.refills:
		f.reset = s.resetIn()
		if g.Valid {
			arrived := g.Sent + (g.At-g.Sent)/2
			f.others = limit - float64(g.Remaining) - f.load(arrived) // all that are complete were counted
			f.others -= min(max(f.others, 0), float64(s.inFlight()))  // and others of ours, rather than of teammates
		}
	case s.Others.Slides > 0 && f.window == Minute && limit > 0:
		f.others = s.Others.Level
	default:
		f.fixed = true
		f.total, f.reset = s.Dispatched-int64(len(f.flight))+s.perMinute(), max(f.now, s.HeldUntil)+minute
		if g.Valid {
			f.total, f.reset, f.since = s.Dispatched+s.cover(), s.resetIn(), g.At
		}
	}
}

// load is what our requests take of a window that gives back all the time.
func (f *foresight) load(at Instant) float64 {
	s, length := &f.s, f.window.length()
	if f.refills {
		return s.Buckets[f.window].missing(at, length, s.Limits[f.window])
	}
	from := f.reset + floor(at-f.reset, length)*length
	return s.Counts[f.window].weighed(at, length, from, from)
}

// resetIn is when the window resets, in the middle of what is known about it.
func (s *State) resetIn() Instant {
	g, e := &s.Figures, s.Edges[s.Figures.Window]
	if !g.HasReset {
		return s.resetAt()
	}
	if e.By == 0 || e.width() >= 4*second {
		return g.ResetBy - second/2
	}
	e.By = max(e.By-second, e.From) // told resets are rounded up, most likely
	middle := e.From + e.width()/2
	if s.opensWithRequest() {
		middle = e.By
	}
	return middle + floor(g.ResetBy-middle+g.Window.length()/2, g.Window.length())*g.Window.length()
}

// next admits one more request.
func (f *foresight) next() {
	for range foresees {
		d, granted := f.s.take(f.now, f.p, &f.permit)
		if granted {
			f.flight = append(f.flight, flight{f.permit, f.s.Dispatched, f.now + f.trip})
			f.admitted = append(f.admitted, f.now)
			return
		}
		f.now = max(d.Until, f.now+millisecond)
		if len(f.flight) > 0 && f.flight[0].over <= f.now {
			f.respond()
		}
	}
	f.admitted = append(f.admitted, f.now)
}

// respond delivers the next response.
func (f *foresight) respond() {
	r := f.flight[0]
	f.flight = f.flight[1:]
	f.now = r.over
	o := f.response(r)
	f.s.report(f.now, &r.permit, &o)
}

// response is what the service is expected to tell.
func (f *foresight) response(r flight) Observation {
	if f.silent {
		return NoFigures
	}
	s, arrived := &f.s, r.over-f.trip/2
	if f.fixed && arrived >= f.reset {
		f.window = Minute
		f.reset += (1 + floor(arrived-f.reset, minute)) * minute
		if s.opensWithRequest() {
			f.reset = arrived + minute
		}
		f.total, f.since = r.number-1+s.perMinute(), arrived
	}
	limit := s.Limits[f.window]
	o := Observation{Limit: int(cmp.Or(limit, mostTold)), HasReset: true}
	l, length := &s.Counts[f.window], f.window.length()
	var left float64
	reset := minute
	switch {
	case f.fixed:
		left = float64(f.total-r.number) - f.rate*float64(arrived-f.since)
		reset = f.reset - arrived
	case s.flows() || f.refills:
		left = float64(limit-1) - f.load(arrived) - f.others + 0.5 // to the nearest
		if reset = f.reset - arrived - floor(f.reset-arrived, length)*length; f.refills {
			missing := float64(limit) - left
			if f.drips {
				missing -= math.Floor(missing)
			}
			reset = Instant(missing * float64(length) / float64(max(1, limit)))
		}
	default:
		l.expire(f.now, length)
		left = float64(limit-1-l.Sum) - f.others
		if l.Used > 0 {
			reset = l.At[l.Head] + length - arrived
		}
	}
	o.Remaining = int(min(max(0, left), float64(o.Limit-1)))
	o.Reset = (min(reset, length) + second - 1).Duration().Truncate(time.Second)
	return o
}

// opensWithRequest reports whether windows seem to begin with a request: the last one began with one of ours, and none has kept to an
// earlier one's end.
func (s *State) opensWithRequest() bool {
	e, l := &s.Edges[Minute], &s.Counts[Minute]
	if e.By == 0 || s.Completed-e.Since >= s.Limits[Minute] || l.Past+l.Used == 0 {
		return false
	}
	return e.By-minute >= l.At[l.slot(-l.Past)]-s.trip()-step(minute)
}

// admits is when a request with so many ahead of it will be admitted. What is further away than a thousand requests and two minutes is
// told at the pace until then.
func (f *foresight) admits(ahead int) Instant {
	most := int(min(max(1000, 2*f.s.perMinute()), 20_000))
	for len(f.admitted) <= min(ahead, most) {
		f.next()
	}
	at := f.admitted[min(ahead, most)]
	if later := float64(ahead - most); later > 0 {
		at += Instant(min(later*float64(at-f.admitted[most/2])/float64(most-most/2), float64(2*day)))
	}
	return at
}
