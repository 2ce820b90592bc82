package sim

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"example.com/prospectkit/internal/budget"
)

// Live runs the shipped limiter with a real goroutine for each worker, inside a testing/synctest bubble. Of the configuration it
// knows the model, the limits, workers, latency and the length of the run.
func Live(c Config) Result {
	if c.Latency == 0 {
		c.Latency = 200 * time.Millisecond
	}
	l := &live{
		conf: c, random: rand.New(rand.NewPCG(c.Seed, 1)), start: time.Now(), served: make([]int, c.Workers),
		limiter: budget.New(budget.Config{PerMinute: c.PerMinute, PerDay: c.PerDay, Share: budget.DefaultShare}),
	}
	l.server = newServer(c, l.random.Float64())
	ctx, cancel := context.WithTimeout(context.Background(), c.Run)
	defer cancel()
	var workers sync.WaitGroup
	for i := range c.Workers {
		workers.Go(func() { l.work(ctx, i) })
	}
	workers.Wait()
	w := world{conf: c, res: l.res, served: l.served}
	return w.result()
}

type live struct {
	conf    Config
	limiter *budget.Limiter
	start   time.Time

	mu     sync.Mutex
	random *rand.Rand
	server *server
	served []int
	res    Result
}

func (l *live) work(ctx context.Context, worker int) {
	for ctx.Err() == nil {
		wanted := time.Now()
		told := time.Duration(0)
		known := l.limiter.Snapshot().Known
		permit, err := l.limiter.Acquire(ctx, budget.Request{NoWait: true, WaitDay: true})
		if full, ok := errors.AsType[*budget.WaitTooLongError](err); ok {
			told = full.Wait
			permit, err = l.limiter.Acquire(ctx, budget.Request{MaxWait: l.conf.Run, WaitDay: true})
		}
		if err != nil {
			return
		}
		l.waited(Wait{told, time.Since(wanted), !known.Certain() || known != l.limiter.Snapshot().Known})
		trip := l.trip()
		time.Sleep(trip / 2)
		a := l.arrive()
		time.Sleep(trip - trip/2)
		l.limiter.Done(time.Now(), &budget.Report{Permit: permit, Observation: observation(a)})
		l.finish(worker, a, time.Since(wanted))
	}
}

func (l *live) trip() time.Duration {
	spread := 0.35
	if l.conf.Steady {
		spread = 0.01
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(float64(l.conf.Latency) * math.Exp(spread*l.random.NormFloat64()))
}

// waited records a wait.
func (l *live) waited(w Wait) {
	if w.Told == 0 && w.Waited == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.res.Waits = append(l.res.Waits, w)
}

func (l *live) arrive() answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server.arrive(time.Since(l.start))
}

func (l *live) finish(worker int, a answer, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.res.Sent++; a.refused {
		l.res.Refused++
		return
	}
	l.res.Calls++
	l.served[worker]++
	l.res.LongestWait = max(l.res.LongestWait, took)
}

// observation is what a client reads from a response.
func observation(a answer) budget.Observation {
	o := budget.NoFigures
	if a.refused {
		o.RateLimited, o.HasRetry, o.RetryAfter = true, true, a.retryAfter
	}
	if !a.bare {
		o.Limit, o.Remaining, o.Reset, o.HasReset = a.limit, a.remaining, a.reset, true
	}
	return o
}
