// Package sim tests the budget on models of servers, in virtual time.
//
// [Run] is a discrete-event simulation: many hours and hundreds of callers in milliseconds, the same for the same seed. It drives the
// shipped queue and state by events. [Live] runs the shipped limiter with real goroutines, inside a testing/synctest bubble.
package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"example.com/prospectkit/internal/budget"
)

// Config is a run.
type Config struct {
	Seed      uint64
	Model     Model
	PerMinute int
	PerDay    int
	RoundDown bool // RateLimit-Reset; up otherwise
	Bare      bool // no RateLimit headers, except on refusals Retry-After
	Run       time.Duration
	Workers   int           // callers, each with one call after another
	Processes int           // that do not share a budget; 1 when zero
	Latency   time.Duration // median of a log-normal round trip; 200 ms when zero
	Steady    bool          // round trips take equally long, nearly; of [Live] only
	Lost      float64       // share of responses that never arrive
	Restart   time.Duration // how often the process restarts; never when zero
	Mate      Mate
	Documents bool          // the limits are known beforehand
	Whole     bool          // nothing is left to others
	Lenient   bool          // the sliding counter rounds down what is left of the last window; up otherwise
	RetryLate bool          // the sliding counter's Retry-After is the end of the window; else when there is room
	NextToken bool          // the reset of a bucket is when the next token is there; when it is full otherwise
	Drained   bool          // somebody has used up the first window before the run
	Untold    bool          // refusals have no RateLimit headers
	Stray     time.Duration // when something in between refuses one request, for 3 seconds and without RateLimit headers; never when zero
}

// Mate is a teammate on the same workspace, who has no limiter.
type Mate struct {
	PerSecond float64       // at random moments
	Burst     int           // at once
	Every     time.Duration // a burst
	From      time.Duration // when it begins
}

// Result is the result of a run.
type Result struct {
	Calls       int // served
	Refused     int // 429s of ours
	MateCalls   int // of the teammate, served
	MateRefused int
	Failed      int           // calls given up
	Sent        int           // requests of ours
	Use         float64       // of the quota of the run, by us and the teammate together
	LongestWait time.Duration // of a call, from wanting to being served
	Jain        float64       // fairness between the workers: 1 is even
	Early       int           // calls served in the first 5 seconds
	PerDay      []int         // calls served on each day
	Waits       []Wait        // of calls that waited or were told to, of [Live] only
	Servable    int           // requests that the server would have served to callers without end
}

// Wait is the wait that a call was told, and the one it had.
type Wait struct {
	Told, Waited time.Duration
	News         bool // how the service counts was not known, or something else was learned meanwhile
}

func (r Result) String() string {
	return fmt.Sprintf("429 %d (mate %d of %d), %d calls, use %.1f %%, longest wait %s, Jain %.3f, failed %d",
		r.Refused, r.MateRefused, r.MateRefused+r.MateCalls, r.Calls, 100*r.Use, r.LongestWait.Round(100*time.Millisecond), r.Jain, r.Failed)
}

// Run simulates a run.
func Run(c Config) Result {
	c.Processes = max(c.Processes, 1)
	if c.Latency == 0 {
		c.Latency = 200 * time.Millisecond
	}
	w := &world{conf: c, random: rand.New(rand.NewPCG(c.Seed, 1))}
	w.server = newServer(c, w.random.Float64())
	w.served = make([]int, c.Workers)
	for range c.PerMinute {
		if c.Drained {
			w.server.arrive(0)
		}
	}
	for range c.Processes {
		w.processes = append(w.processes, newProcess(w))
	}
	for i := range c.Workers {
		w.at(0, func() { w.call(i) })
	}
	w.invite()
	w.restart()
	for len(w.events) > 0 {
		e := w.events.pop()
		if e.at > c.Run {
			break
		}
		w.now = e.at
		e.do()
	}
	return w.result()
}

// world is a run in progress.
type world struct {
	conf      Config
	random    *rand.Rand
	now       time.Duration
	events    events
	seq       int
	server    *server
	processes []*process
	served    []int // by worker
	res       Result

	strayed bool
}

// try is one request of a worker.
type try struct {
	worker  int
	wanted  time.Duration
	refused int
	permit  budget.Permit
}

func (w *world) at(t time.Duration, do func()) {
	w.seq++
	w.events.push(event{max(t, w.now), w.seq, do})
}

func (w *world) process(worker int) *process { return w.processes[worker%len(w.processes)] }

func (w *world) call(worker int) { w.process(worker).ask(&try{worker: worker, wanted: w.now}) }

// send puts a request on the wire.
func (w *world) send(p *process, t *try) {
	w.res.Sent++
	trip := w.latency()
	w.at(w.now+trip/2, func() {
		a := w.arrive()
		lost := w.conf.Lost > 0 && w.random.Float64() < w.conf.Lost
		w.at(w.now+trip-trip/2, func() { p.done(t, a, lost) })
	})
}

// arrive is the response to a request of ours.
func (w *world) arrive() answer {
	if at := w.conf.Stray; at > 0 && w.now >= at && !w.strayed {
		w.strayed = true
		return answer{refused: true, bare: true, retryAfter: 3 * time.Second}
	}
	a := w.server.arrive(w.now)
	if a.refused {
		w.res.Refused++
		a.bare = a.bare || w.conf.Untold
	}
	return a
}

// finish ends a call, and the worker makes the next.
func (w *world) finish(t *try, ok bool) {
	if ok {
		w.res.Calls++
		w.served[t.worker]++
		w.res.LongestWait = max(w.res.LongestWait, w.now-t.wanted)
		if w.now <= 5*time.Second {
			w.res.Early++
		}
		d := int(w.now / (24 * time.Hour))
		for len(w.res.PerDay) <= d {
			w.res.PerDay = append(w.res.PerDay, 0)
		}
		w.res.PerDay[d]++
	} else {
		w.res.Failed++
	}
	w.call(t.worker)
}

func (w *world) latency() time.Duration {
	return time.Duration(float64(w.conf.Latency) * math.Exp(0.35*w.random.NormFloat64()))
}

// invite starts the teammate.
func (w *world) invite() {
	m := w.conf.Mate
	request := func() {
		if w.server.arrive(w.now).refused {
			w.res.MateRefused++
		} else {
			w.res.MateCalls++
		}
	}
	if m.PerSecond > 0 {
		var next func()
		next = func() {
			request()
			w.at(w.now+time.Duration(w.random.ExpFloat64()/m.PerSecond*float64(time.Second)), next)
		}
		w.at(m.From+time.Duration(w.random.ExpFloat64()/m.PerSecond*float64(time.Second)), next)
	}
	if m.Burst > 0 {
		var next func()
		next = func() {
			for range m.Burst {
				request()
			}
			w.at(w.now+m.Every, next)
		}
		w.at(m.From+time.Duration(w.random.Float64()*float64(m.Every)), next)
	}
}

func (w *world) restart() {
	if w.conf.Restart == 0 {
		return
	}
	var next func()
	next = func() {
		for i := range w.processes {
			w.processes[i].gone = true
			w.processes[i] = newProcess(w)
		}
		for i := range w.conf.Workers {
			w.call(i)
		}
		w.at(w.now+w.conf.Restart, next)
	}
	w.at(w.conf.Restart, next)
}

func (w *world) result() Result {
	r := w.res
	quota := float64(w.conf.PerMinute) * w.conf.Run.Minutes()
	if w.conf.PerDay > 0 {
		quota = min(quota, float64(w.conf.PerDay)*math.Ceil(w.conf.Run.Hours()/24))
	}
	r.Use = float64(r.Calls+r.MateCalls) / quota
	r.Servable = servable(w.conf)
	var sum, squares float64
	for _, n := range w.served {
		sum += float64(n)
		squares += float64(n) * float64(n)
	}
	if squares > 0 {
		r.Jain = sum * sum / (float64(len(w.served)) * squares)
	}
	return r
}

// servable counts what a server gives to somebody who asks all the time.
func servable(c Config) (n int) {
	c.RetryLate = false
	s := newServer(c, rand.New(rand.NewPCG(c.Seed, 1)).Float64())
	for now := time.Duration(0); now <= c.Run; {
		a := s.arrive(now)
		if !a.refused {
			n++
			continue
		}
		now += max(time.Millisecond, min(a.exact, c.Run))
	}
	return n
}

type event struct {
	at  time.Duration
	seq int
	do  func()
}

// events is a heap: container/heap would allocate for each of millions.
type events []event

func (e events) before(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}

func (e *events) push(v event) {
	h := append(*e, v)
	for i := len(h) - 1; i > 0 && h.before(i, (i-1)/2); i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	*e = h
}

func (e *events) pop() event {
	h := *e
	first, last := h[0], len(h)-1
	h[0], h[last] = h[last], event{}
	h = h[:last]
	for i, next := 0, 1; next < last; i, next = next, 2*next+1 {
		if next+1 < last && h.before(next+1, next) {
			next++
		}
		if !h.before(next, i) {
			break
		}
		h[i], h[next] = h[next], h[i]
	}
	*e = h
	return first
}

// average is the mean of the runs, but the worst wait and fairness.
func average(c Config, seeds []uint64) Result {
	var mean Result
	mean.Jain = 1
	for _, seed := range seeds {
		c.Seed = seed
		r := Run(c)
		mean.Calls += r.Calls
		mean.Refused += r.Refused
		mean.MateCalls += r.MateCalls
		mean.MateRefused += r.MateRefused
		mean.Failed += r.Failed
		mean.Use += r.Use / float64(len(seeds))
		mean.LongestWait = max(mean.LongestWait, r.LongestWait)
		mean.Jain = min(mean.Jain, r.Jain)
	}
	n := max(1, len(seeds))
	mean.Calls, mean.Refused, mean.Failed = mean.Calls/n, mean.Refused/n, mean.Failed/n
	mean.MateCalls, mean.MateRefused = mean.MateCalls/n, mean.MateRefused/n
	return mean
}

// refusedMates is the part of the teammate's requests that is refused, in percent.
func (r Result) refusedMates() float64 {
	return 100 * float64(r.MateRefused) / float64(max(1, r.MateRefused+r.MateCalls))
}
