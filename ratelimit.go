package prospectkit

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/ratelimit"
)

// Budget is the rate limiter of one workspace: it paces requests, so that they use its rate limits
// and rarely get a 429. (For credits, see [WithSpendGuard].) It
// knows the documented limits of each surface, learns from the rate headers, leaves room for
// teammates, and pauses the whole surface after a 429.
//
// Clients derived by [Client.With] share one; [WithBudget] shares it with others of the same
// workspace. Calls are queued for as long as [WithMaxWait] and the context allow. They are refused
// at once with a [RuleRateLimit] if that cannot be enough.
type Budget struct {
	conf     BudgetConfig
	link     *budget.StoreClient // to the store
	bad      check.Violations
	mu       sync.Mutex
	surfaces map[op.Surface]*surface
}

// BudgetConfig configures a [Budget]. The zero value is for one process and the documented limits.
type BudgetConfig struct {
	// Reserve is how many requests of each window are kept for interactive calls; see
	// [WithPriority].
	Reserve int

	// TrustHeaders ignores the documented limits, for a plan or a server with others. Only the rate
	// headers count then, or, without those, 429s.
	TrustHeaders bool

	// Store shares the budget between processes of one workspace. Each process queues its own
	// calls; the store decides for all, and 429s and rate headers count for all.
	//
	// While the store is away, a process uses its part of the documented or learned limits, and
	// still obeys the headers. Its calls retry the store once a second.
	Store ratelimit.Store

	// StoreTimeout is how long the store may take to respond before it counts as away; default 250
	// ms. A call may wait for two responses before it is sent, and for two after it: for the one that
	// is due when it comes, and for the next, which is also its own.
	StoreTimeout time.Duration

	// Processes is the least number of processes that share the store; default 2. While the store
	// is away, the part of each is the limits divided by this number, or by the number of processes
	// that the store saw lately, if larger.
	Processes int

	// Logger gets one line when the store goes away, and one when it is back. Nil logs nothing.
	Logger *slog.Logger
}

// NewBudget returns a new budget. It starts no goroutine and no timer. [New] refuses an invalid
// configuration.
func NewBudget(c BudgetConfig) *Budget {
	b := &Budget{surfaces: make(map[op.Surface]*surface), conf: c}
	b.bad.Must(c.Reserve >= 0, "BudgetConfig.Reserve", "is %d, must not be negative", c.Reserve)
	b.bad.Must(c.StoreTimeout >= 0, "BudgetConfig.StoreTimeout", "is %s, must not be negative", c.StoreTimeout)
	b.bad.Must(c.Processes >= 0, "BudgetConfig.Processes", "is %d, must not be negative", c.Processes)
	if c.Store != nil {
		b.bad.Must(!check.IsNil(c.Store), "BudgetConfig.Store", "is nil")
		timeout := cmp.Or(c.StoreTimeout, budget.DefaultTimeout)
		b.link = &budget.StoreClient{Timeout: timeout, Least: cmp.Or(c.Processes, 2), Log: c.Logger}
	} else if c.StoreTimeout != 0 || c.Processes != 0 || c.Logger != nil {
		b.bad.Add("BudgetConfig.Store", "is missing, but its timeout, processes or logger are set")
	}
	return b
}

// Snapshot returns what is known about each surface in use, sorted by name.
func (b *Budget) Snapshot() []ratelimit.SurfaceState {
	b.mu.Lock()
	states := slices.Collect(maps.Values(b.surfaces))
	b.mu.Unlock()
	surfaces := make([]ratelimit.SurfaceState, 0, len(states))
	for _, p := range states {
		s := p.limiter.Snapshot()
		surfaces = append(surfaces, ratelimit.SurfaceState{
			Surface: ratelimit.Surface(p.name), Minute: ratelimit.WindowState(s.Minute), Day: ratelimit.WindowState(s.Day),
			HeldUntil: s.HeldUntil, OtherRate: s.Others, InFlight: s.InFlight, Waiting: s.Waiting,
		})
	}
	slices.SortFunc(surfaces, func(a, b ratelimit.SurfaceState) int { return cmp.Compare(a.Surface, b.Surface) })
	return surfaces
}

// Forecast estimates how long a number of further requests of a surface will take, after those in the
// queue: for 1,000 pages of rows, about 8 minutes. It assumes an even pace, so it can be up to a
// minute too long, and the present rate of teammates. It is zero if the requests fit at once, or if
// no limit is known.
func (b *Budget) Forecast(s ratelimit.Surface, requests int) time.Duration {
	return b.surface(op.Surface(s)).limiter.Forecast(requests)
}

func (b *Budget) surface(s op.Surface) *surface {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.surfaces[s]
	if !ok {
		limits := budget.Config{Reserve: b.conf.Reserve, Share: budget.DefaultShare}
		if documented := op.DocumentedLimits[s]; !b.conf.TrustHeaders {
			limits.PerMinute, limits.PerDay = documented.PerMinute, documented.PerDay
		}
		p = &surface{name: s, limiter: b.limiter(s, limits)}
		b.surfaces[s] = p
	}
	return p
}

// surface is the limiter and the retry allowance of one surface.
type surface struct {
	name      op.Surface
	limiter   *budget.Limiter
	allowance budget.RetryAllowance
}

func (s *surface) headers(rate ratehdr.Rate, now time.Time) ratelimit.Headers {
	documented := op.DocumentedLimits[s.name]
	window := budget.WindowOf(rate.Limit, rate.Reset, int64(documented.PerMinute), int64(documented.PerDay))
	w := ratelimit.Headers{
		Surface: ratelimit.Surface(s.name), Window: ratelimit.Window(window.String()), Limit: rate.Limit, Remaining: rate.Remaining, At: now,
	}
	if rate.HasReset {
		w.ResetAt = now.Add(rate.Reset)
	}
	return w
}

func (b *Budget) limiter(s op.Surface, c budget.Config) *budget.Limiter {
	if b.conf.Store == nil {
		return budget.New(c)
	}
	return budget.NewShared(c, b.link, func(ctx context.Context, a *budget.Ask) (budget.Reply, error) {
		reply, err := b.conf.Store.Exchange(ctx, ratelimit.Surface(s), ratelimit.NewAsk(a))
		return reply.Internal(), err
	})
}
