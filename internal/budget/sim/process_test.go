package sim

import (
	"time"

	"example.com/prospectkit/internal/budget"
)

// attempts is how often a call of ours may be refused: as often as the client tries.
const attempts = 3

// process is the shipped queue and state, driven by events.
type process struct {
	world   *world
	queue   budget.Queue
	tries   map[*budget.Waiter]*try
	alarm   time.Duration
	granted []*budget.Waiter
	gone    bool // the process was restarted
}

func newProcess(w *world) *process {
	c := budget.Config{Share: budget.DefaultShare}
	if w.conf.Whole {
		c.Share = 0
	}
	if w.conf.Documents {
		c.PerMinute, c.PerDay = w.conf.PerMinute, w.conf.PerDay
	}
	return &process{world: w, queue: budget.Queue{State: budget.NewState(c)}, tries: map[*budget.Waiter]*try{}}
}

func (p *process) instant() budget.Instant { return budget.Instant(1 + p.world.now/time.Microsecond) }

func (p *process) ask(t *try) {
	waiter := &budget.Waiter{}
	p.tries[waiter] = t
	p.queue.Join(waiter)
	p.pump()
}

func (p *process) pump() {
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

func (p *process) done(t *try, a answer, lost bool) {
	w := p.world
	o := observation(a)
	o.Jitter = w.random.Float64()
	if lost {
		o = budget.NoFigures
		o.Lost = true
	}
	p.queue.State.Report(p.instant(), t.permit, o)
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
