package sim

import (
	"time"

	"example.com/prospectkit/internal/budget"
)

// Strategy is a way to handle the limit.
type Strategy string

// The strategies.
const (
	Retry Strategy = "no limiter, wait Retry-After"     // for ever
	Four  Strategy = "no limiter, four retries"         // like the defaults of go-retryablehttp
	Even  Strategy = "x/time/rate, burst 1"             // even pacing
	Burst Strategy = "x/time/rate, burst of a minute"   // a token bucket
	Gate  Strategy = "header gate"                      // closes when a response says that none are left
	Ours  Strategy = "this package"                     // with the default share left to others
	Whole Strategy = "this package, nothing for others" // with no share
	Blind Strategy = "this package, without a rhythm"   // of bursts; not in Strategies
)

// Strategies are all of them, in the order of the table.
var Strategies = []Strategy{Retry, Four, Even, Burst, Gate, Ours, Whole}

// abandon ends a process.
func abandon(p plan) {
	if o, ok := p.(*ours); ok {
		o.gone = true
	}
}

func newPlan(w *world) plan {
	switch w.conf.Strategy {
	case Even:
		return &bucket{world: w, each: time.Minute / time.Duration(w.conf.PerMinute)}
	case Burst:
		return &bucket{world: w, each: time.Minute / time.Duration(w.conf.PerMinute), depth: time.Minute, next: -time.Minute}
	case Gate:
		return &gate{world: w}
	case Four:
		return &retry{world: w, most: 5}
	case Retry:
		return &retry{world: w}
	default:
		return newOurs(w)
	}
}

// retry sends at once, and again after each refusal.
type retry struct {
	world *world
	most  int // tries; 0 means no end
}

func (p *retry) ask(t *try) { p.world.send(p, t) }

func (p *retry) done(t *try, a answer, _ bool) {
	w := p.world
	switch {
	case !a.refused:
		w.finish(t, true)
	case p.most > 0 && t.tries >= p.most:
		w.finish(t, false)
	default:
		w.at(w.now+a.retryAfter, func() { p.ask(t) })
	}
}

// bucket admits requests at the rate of the minute, and saved-up ones at once.
type bucket struct {
	world *world
	each  time.Duration
	depth time.Duration
	next  time.Duration // when the bucket has a request for the next caller
}

func (p *bucket) ask(t *try) {
	now := p.world.now
	p.next = max(p.next, now-max(0, p.depth-p.each)) // no more than its depth is saved
	at := max(p.next, now)
	p.next += p.each
	p.world.at(at, func() { p.world.send(p, t) })
}

func (p *bucket) done(t *try, a answer, _ bool) {
	if !a.refused {
		p.world.finish(t, true)
		return
	}
	p.world.at(p.world.now+a.retryAfter, func() { p.ask(t) })
}

// gate closes when a response says that none are left, until the reset it names.
type gate struct {
	world  *world
	closed time.Duration
}

func (p *gate) ask(t *try) {
	if p.world.now < p.closed {
		p.world.at(p.closed, func() { p.ask(t) })
		return
	}
	p.world.send(p, t)
}

func (p *gate) done(t *try, a answer, _ bool) {
	w := p.world
	if a.refused {
		p.closed = max(p.closed, w.now+a.retryAfter)
		p.ask(t)
		return
	}
	if !a.bare && a.remaining == 0 {
		p.closed = max(p.closed, w.now+a.reset)
	}
	w.finish(t, true)
}

// attempts is how often a call of ours may be refused: as often as the client tries.
const attempts = 3

// ours is the queue and the state of the package, driven by events.
type ours struct {
	world   *world
	queue   budget.Queue
	tries   map[*budget.Waiter]*try
	alarm   time.Duration
	granted []*budget.Waiter
	gone    bool // the process was restarted
}

func newOurs(w *world) *ours {
	c := budget.Config{Share: budget.DefaultShare}
	if w.conf.Strategy == Whole {
		c.Share = 0
	}
	if w.conf.Documents {
		c.PerMinute, c.PerDay = w.conf.PerMinute, w.conf.PerDay
	}
	return &ours{world: w, queue: budget.Queue{State: budget.NewState(c)}, tries: map[*budget.Waiter]*try{}}
}

func (p *ours) instant() budget.Instant { return budget.Instant(1 + p.world.now/time.Microsecond) }

func (p *ours) ask(t *try) {
	waiter := &budget.Waiter{}
	p.tries[waiter] = t
	p.queue.Join(waiter)
	p.pump()
}

func (p *ours) pump() {
	if p.gone {
		return
	}
	granted, d := p.queue.Pump(p.instant(), p.granted[:0])
	for _, waiter := range granted {
		t := p.tries[waiter]
		delete(p.tries, waiter)
		t.permit = waiter.Permit
		p.world.send(p, t)
	}
	p.granted = granted
	if p.queue.Waiting() == 0 {
		return
	}
	at := time.Duration(d.Until) * time.Microsecond
	if p.alarm <= p.world.now || at < p.alarm {
		p.alarm = at
		p.world.at(at, func() {
			if p.alarm == at {
				p.alarm = 0
				p.pump()
			}
		})
	}
}

func (p *ours) done(t *try, a answer, lost bool) {
	w := p.world
	o := observation(a)
	o.Jitter = w.random.Float64()
	if lost {
		o = budget.NoFigures
		o.Lost = true
	}
	p.queue.State.Report(p.instant(), t.permit, o)
	if w.conf.Strategy == Blind {
		p.queue.State.Others.Regular = 0
	}
	if p.gone {
		return
	}
	if a.refused {
		t.refused++
	}
	switch {
	case t.refused == attempts:
		w.finish(t, false)
	case a.refused || lost:
		p.ask(t)
	default:
		w.finish(t, true)
	}
	p.pump()
}
