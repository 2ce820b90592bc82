// Package sim tests the budget on models of servers, in virtual time: the shipped limiter, with a goroutine for each caller.
package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
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
	Steady    bool          // round trips take equally long, nearly
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
	Told      bool          // each call asks first how long it will have to wait
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
	Use         float64       // of the quota of the run, by us and the teammate together
	LongestWait time.Duration // of a call, from wanting to being served
	Jain        float64       // fairness between the workers: 1 is even
	Early       int           // calls served in the first 5 seconds
	Waits       []Wait        // of calls that waited or were told to
	Servable    int           // requests that the server would have served to callers without end
}

// Wait is the wait that a call was told, and the one it had.
type Wait struct {
	Told, Waited time.Duration
	News         bool // how the service counts was not known, or something else was learned meanwhile
}

func (r Result) String() string {
	return fmt.Sprintf("429 %d (mate %d of %d), %d calls of %d, use %.1f %%, longest wait %s, Jain %.3f, failed %d", r.Refused, r.MateRefused,
		r.MateRefused+r.MateCalls, r.Calls, r.Servable, 100*r.Use, r.LongestWait.Round(100*time.Millisecond), r.Jain, r.Failed)
}

// world is a run in progress.
type world struct {
	Config

	start time.Time

	mu      sync.Mutex
	server  *server
	served  []int // by worker
	res     Result
	strayed bool
}

// attempts is how often a call of ours may be refused: as often as the client tries.
const attempts = 3

// Run makes a run, in a bubble of its own.
func Run(t *testing.T, c Config) Result {
	t.Helper()
	if c.Latency == 0 {
		c.Latency = 200 * time.Millisecond
	}
	w := &world{Config: c, server: newServer(c), served: make([]int, c.Workers)}
	synctest.Test(t, func(*testing.T) { w.run() })
	return w.result()
}

func (w *world) run() {
	w.start = time.Now()
	for range w.PerMinute {
		if w.Drained {
			w.server.arrive(0)
		}
	}
	var all sync.WaitGroup
	all.Go(w.invite)
	life := w.Restart
	if life == 0 {
		life = w.Run
	}
	for began := time.Duration(0); began < w.Run; began += life {
		ctx, cancel := context.WithCancel(context.Background())
		var limiters []*budget.Limiter
		for range max(1, w.Processes) {
			limiters = append(limiters, budget.New(w.budget()))
		}
		for i := range w.Workers {
			all.Go(func() { w.work(ctx, limiters[i%len(limiters)], i) })
		}
		time.Sleep(min(life, w.Run-began))
		cancel()
	}
	all.Wait()
}

func (w *world) budget() budget.Config {
	c := budget.Config{Share: budget.DefaultShare}
	if w.Whole {
		c.Share = 0
	}
	if w.Documents {
		c.PerMinute, c.PerDay = w.PerMinute, w.PerDay
	}
	return c
}

// work makes one call after the other.
func (w *world) work(ctx context.Context, l *budget.Limiter, worker int) {
	random := rand.New(rand.NewPCG(w.Seed, uint64(worker)+2))
	spread := 0.35
	if w.Steady {
		spread = 0.01
	}
	time.Sleep(time.Duration(worker) * time.Nanosecond) // the same order in each run
	for wanted, refused := time.Now(), 0; ; {
		permit, err := w.acquire(ctx, l)
		if err != nil {
			return
		}
		trip := time.Duration(float64(w.Latency) * math.Exp(spread*random.NormFloat64()))
		time.Sleep(trip / 2)
		a := w.arrive()
		time.Sleep(trip - trip/2)
		o := observation(a)
		o.Jitter = random.Float64()
		lost := random.Float64() < w.Lost
		if lost {
			o = budget.NoFigures
			o.Lost = true
		}
		l.Done(time.Now(), &budget.Report{Permit: permit, Observation: o})
		if ctx.Err() != nil {
			return
		}
		if a.refused {
			refused++
		}
		if over := !a.refused && !lost; over || refused == attempts {
			w.finish(worker, over, time.Since(wanted))
			wanted, refused = time.Now(), 0
		}
	}
}

// acquire waits for a permit.
func (w *world) acquire(ctx context.Context, l *budget.Limiter) (budget.Permit, error) {
	patient := budget.Request{MaxWait: 2 * w.Run}
	if !w.Told {
		return l.Acquire(ctx, patient)
	}
	told, wanted, known := time.Duration(0), time.Now(), knows(l)
	permit, err := l.Acquire(ctx, budget.Request{})
	if full, ok := errors.AsType[*budget.WaitTooLongError](err); ok {
		told = full.Wait
		permit, err = l.Acquire(ctx, patient)
	}
	if waited := time.Since(wanted); err == nil && told+waited > 0 {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.res.Waits = append(w.res.Waits, Wait{told, waited, !known.certain() || known != knows(l)})
	}
	return permit, err
}

// knowledge is what a told wait rests on, apart from figures. The wait holds as long as it does not change.
type knowledge struct {
	refusals, refills, limit               int64
	figures, weighs, fixed, slides, others bool
	sliding, drips                         int8
}

// certain reports whether it is known how the service counts.
func (k knowledge) certain() bool {
	return !k.figures || k.fixed || k.weighs || k.slides || k.refills >= 4+k.limit/15
}

func knows(l *budget.Limiter) knowledge {
	s, now := l.State()
	k := knowledge{
		refusals: s.Epoch, figures: s.Figures.Valid, drips: s.Drips, sliding: min(s.Others.Slides, 2), slides: s.Others.Slides >= 2,
		weighs: s.Weighs >= 2, fixed: s.Weighs < 0, others: s.Others.Rate(now) > 0, limit: s.Limits[budget.Minute],
	}
	k.refills = min(int64(s.Refills), 4+k.limit/15, 100)
	return k
}

// arrive is the response to a request of ours.
func (w *world) arrive() answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Since(w.start)
	if w.Stray > 0 && now >= w.Stray && !w.strayed {
		w.strayed = true
		return answer{refused: true, bare: true, retryAfter: 3 * time.Second}
	}
	a := w.server.arrive(now)
	if a.refused && now <= w.Run {
		w.res.Refused++
	}
	a.bare = a.bare || a.refused && w.Untold
	return a
}

// finish ends a call.
func (w *world) finish(worker int, ok bool, took time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !ok {
		w.res.Failed++
		return
	}
	w.res.Calls++
	w.served[worker]++
	w.res.LongestWait = max(w.res.LongestWait, took)
	if time.Since(w.start) <= 5*time.Second {
		w.res.Early++
	}
}

// observation is what a client reads from a response.
func observation(a answer) budget.Observation {
	o := budget.NoFigures
	if a.refused {
		o.RateLimited, o.RetryAfter = true, a.retryAfter
	}
	if !a.bare {
		o.Limit, o.Remaining, o.Reset, o.HasReset = a.limit, a.remaining, a.reset, true
	}
	return o
}

// invite is the teammate.
func (w *world) invite() {
	m, random := w.Mate, rand.New(rand.NewPCG(w.Seed, 0))
	burst, pause := m.Burst, func() time.Duration { return m.Every }
	first := time.Duration(random.Float64() * float64(m.Every))
	if m.PerSecond > 0 {
		burst, pause = 1, func() time.Duration { return time.Duration(random.ExpFloat64() / m.PerSecond * float64(time.Second)) }
		first = pause()
	}
	for time.Sleep(m.From + first); burst > 0 && time.Since(w.start) < w.Run; time.Sleep(pause()) {
		w.mu.Lock()
		for range burst {
			if w.server.arrive(time.Since(w.start)).refused {
				w.res.MateRefused++
			} else {
				w.res.MateCalls++
			}
		}
		w.mu.Unlock()
	}
}

func (w *world) result() Result {
	r := w.res
	quota := float64(w.PerMinute) * w.Run.Minutes()
	if w.PerDay > 0 {
		quota = min(quota, float64(w.PerDay)*math.Ceil(w.Run.Hours()/24))
	}
	r.Use = float64(r.Calls+r.MateCalls) / quota
	r.Servable = servable(w.Config)
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
	s := newServer(c)
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

// raced says that the race detector runs, which makes fifty callers cost twenty times as much, and has seen them elsewhere.
var raced bool

// TestMain takes one processor: a run is one line of events, and others would only look for work.
func TestMain(m *testing.M) {
	if !raced {
		runtime.GOMAXPROCS(1)
	}
	m.Run()
}

// average is the mean of so many runs.
func average(t *testing.T, c Config, runs int) (mean Result) {
	t.Helper()
	for range runs {
		c.Seed++
		r := Run(t, c)
		mean.Calls, mean.Refused, mean.Use = mean.Calls+r.Calls, mean.Refused+r.Refused, mean.Use+r.Use/float64(runs)
		mean.MateCalls, mean.MateRefused = mean.MateCalls+r.MateCalls, mean.MateRefused+r.MateRefused
	}
	mean.Calls, mean.Refused = mean.Calls/runs, mean.Refused/runs
	return mean
}

// refusedMates is the part of the teammate's requests that is refused, in percent.
func (r Result) refusedMates() float64 {
	return 100 * float64(r.MateRefused) / float64(max(1, r.MateRefused+r.MateCalls))
}
