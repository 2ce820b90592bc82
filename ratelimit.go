package prospectkit

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
)

// Surface is a pool of requests with its own minute and day window, shared by all keys and teammates of a workspace.
type Surface string

// The surfaces. The last four have no documented limits; what is known of them comes from response headers.
const (
	SurfaceLists         = Surface(op.Lists)         // 120 a minute, 10,000 a day
	SurfaceCampaigns     = Surface(op.Campaigns)     // 30 a minute, 1,000 a day; knowledge hubs and facts too
	SurfaceAccount       = Surface(op.Account)       // 120 a minute, 10,000 a day
	SurfaceSearch        = Surface(op.Search)        // 20 a minute, 1,000 a day
	SurfaceSavedSearches = Surface(op.SavedSearches) // 60 a minute, 5,000 a day
	SurfaceAgents        = Surface(op.Agents)        // 30 a minute, 2,000 a day
	SurfaceContacts      = Surface(op.Contacts)
	SurfaceCompanies     = Surface(op.Companies)
	SurfaceImports       = Surface(op.Imports)
	SurfaceReference     = Surface(op.Reference)
)

// Window names one of the two windows of a surface.
type Window string

// The windows. The headers do not say which one they describe; it is told by the limit and by a reset beyond a minute.
const (
	WindowMinute  Window = "minute"
	WindowDay     Window = "day"
	WindowUnknown Window = "unknown"
)

// RateWindow is what one answer said about the binding window of a surface: the one with fewer requests left.
// The other window has at least as many left, so the limit can alternate between answers.
type RateWindow struct {
	Surface   Surface
	Window    Window
	Limit     int // -1 when not told
	Remaining int // -1 when not told
	ResetAt   time.Time
	At        time.Time // when the answer arrived
}

// Budget paces the requests of one workspace, so that they use the quota and earn no 429. It knows the documented windows of each
// surface, learns from the rate headers, leaves room for teammates, and holds a whole surface after one 429.
//
// Clients derived by [Client.With] share one; give the same budget to several clients of a workspace with [WithBudget]. Calls wait
// in line for as long as [WithMaxWait] and the context allow, and are refused at once with a [WaitError] when that cannot be
// enough.
type Budget struct {
	conf  BudgetConfig
	link  *budget.StoreClient // to the store
	bad   checks
	mu    sync.Mutex
	pools map[op.Surface]*pool
}

// BudgetConfig configures a [Budget]. The zero value is right for one process on a plan with the documented limits.
type BudgetConfig struct {
	// Reserve keeps the last requests of each window for interactive calls; see [WithPriority].
	Reserve int

	// TrustHeaders ignores the documented limits and goes by the rate headers alone: for a plan with other limits, or for a server of
	// your own. Without headers, only 429s pace calls then.
	TrustHeaders bool

	// Store shares the budget between several processes of one workspace. The queue of waiting calls stays in each process; the store
	// decides for all of them, and 429s and rate headers count for all.
	//
	// While the store is away, a process keeps to its part of the documented or learned limits and still obeys the headers. Its calls try
	// the store again once a second.
	Store BudgetStore

	// StoreTimeout is how long the store may take to respond; default 250 ms. One that takes longer counts as away.
	StoreTimeout time.Duration

	// Processes is how many processes share the store, at least; default 2. While the store is away, each keeps to its part: the limits
	// divided by this number, or by the number of processes that the store saw lately if that is larger.
	Processes int

	// Logger gets one line when the store goes away and one when it is back. Nil is silent.
	Logger *slog.Logger
}

// NewBudget returns the budget of a workspace that has not been used yet. It starts no goroutine and no timer. [New] reports mistakes in
// the configuration.
func NewBudget(c BudgetConfig) *Budget {
	b := &Budget{pools: make(map[op.Surface]*pool), conf: c}
	if c.Reserve < 0 {
		b.bad.add("BudgetConfig.Reserve", "is %d, must not be negative", c.Reserve)
	}
	if c.StoreTimeout < 0 {
		b.bad.add("BudgetConfig.StoreTimeout", "is %s, must not be negative", c.StoreTimeout)
	}
	if c.Processes < 0 {
		b.bad.add("BudgetConfig.Processes", "is %d, must not be negative", c.Processes)
	}
	if c.Store != nil {
		b.link = &budget.StoreClient{Timeout: cmp.Or(c.StoreTimeout, budget.DefaultTimeout), Least: cmp.Or(c.Processes, 2), Log: c.Logger}
	} else if c.StoreTimeout != 0 || c.Processes != 0 || c.Logger != nil {
		b.bad.add("BudgetConfig.Store", "is missing, but its timeout, processes or logger are set")
	}
	return b
}

// Priority says who goes first when calls wait in line.
type Priority string

// The priorities. Every fourth request goes to a batch call that waits.
const (
	PriorityInteractive Priority = "interactive" // the default: somebody is waiting
	PriorityBatch       Priority = "batch"       // goes last, and leaves the reserve alone
)

// SurfaceBudget is what is known about a surface, for dashboards.
type SurfaceBudget struct {
	Surface   Surface
	Minute    WindowBudget
	Day       WindowBudget
	HeldUntil time.Time // after a 429; zero when the surface is not held
	OtherRate float64   // requests a second that teammates seem to take
	InFlight  int
	Waiting   int
}

// WindowBudget is what is known about one window of a surface.
type WindowBudget struct {
	Limit     int         // 0 when unknown
	Source    LimitSource // where the limit is known from
	Used      int         // by this budget, over one length of the window
	Remaining int         // as the service said last, less what was sent since; -1 when it did not
	ResetAt   time.Time   // zero when not told
}

// LimitSource says where a limit is known from.
type LimitSource string

// The sources.
const (
	LimitUnknown    LimitSource = "unknown"
	LimitDocumented LimitSource = "documented"
	LimitLearned    LimitSource = "learned"
)

// Snapshot returns what is known about each surface that was used, by name.
func (b *Budget) Snapshot() []SurfaceBudget {
	b.mu.Lock()
	pools := slices.Collect(maps.Values(b.pools))
	b.mu.Unlock()
	surfaces := make([]SurfaceBudget, 0, len(pools))
	for _, p := range pools {
		s := p.limiter.Snapshot()
		surfaces = append(surfaces, SurfaceBudget{
			Surface: Surface(p.surface), Minute: windowBudget(s.Minute), Day: windowBudget(s.Day), HeldUntil: s.HeldUntil,
			OtherRate: s.Others, InFlight: s.InFlight, Waiting: s.Waiting,
		})
	}
	slices.SortFunc(surfaces, func(a, b SurfaceBudget) int { return strings.Compare(string(a.Surface), string(b.Surface)) })
	return surfaces
}

func windowBudget(s budget.WindowState) WindowBudget {
	w := WindowBudget{Limit: s.Limit, Source: LimitUnknown, Used: s.Used, Remaining: s.Remaining, ResetAt: s.ResetAt}
	switch {
	case s.Limit == 0:
	case s.Source == budget.Documented:
		w.Source = LimitDocumented
	default:
		w.Source = LimitLearned
	}
	return w
}

// Forecast is how long that many more requests of a surface will take, after those that wait already: 1,000 pages of rows about
// 8 minutes, for example. It is reckoned at an even pace, and so up to a minute too long where the last of them need only a part
// of their minute. What teammates take now is taken off. It is zero when they fit at once or no limit is known.
func (b *Budget) Forecast(s Surface, requests int) time.Duration {
	return b.pool(op.Surface(s)).limiter.Forecast(requests)
}

func (b *Budget) pool(s op.Surface) *pool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.pools[s]
	if !ok {
		config := budget.Config{Reserve: b.conf.Reserve, Share: budget.DefaultShare}
		if documented := op.Windows[s]; !b.conf.TrustHeaders {
			config.PerMinute, config.PerDay = documented.PerMinute, documented.PerDay
		}
		p = &pool{surface: s, limiter: b.limiter(s, config), tokens: retryTokens}
		b.pools[s] = p
	}
	return p
}

// longestHold bounds what one answer can do to a surface: no documented window is longer than a day.
const longestHold = 24 * time.Hour

// The retry budget of a surface: when everything fails, one repetition for ten calls is left, plus one in thirty seconds.
const (
	retryTokens = 10
	tokenBack   = 0.1
	tokenFloor  = 30 * time.Second
)

// pool is the state of one surface.
type pool struct {
	surface op.Surface
	limiter limiter

	mu        sync.Mutex
	last      RateWindow
	tokens    float64
	lastToken time.Time
}

// told returns what an answer said last.
func (p *pool) told() RateWindow {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// observe notes what an answer said.
func (p *pool) observe(rate ratehdr.Rate, now time.Time) RateWindow {
	w := RateWindow{
		Surface: Surface(p.surface), Window: windowOf(p.surface, rate), Limit: rate.Limit, Remaining: rate.Remaining, At: now,
	}
	if rate.HasReset {
		w.ResetAt = now.Add(rate.Reset)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = w
	return w
}

func windowOf(s op.Surface, rate ratehdr.Rate) Window {
	documented := op.Windows[s]
	switch {
	case rate.HasReset && rate.Reset > 62*time.Second:
		return WindowDay
	case rate.Limit > 0 && rate.Limit == documented.PerDay:
		return WindowDay
	case rate.Limit > 0 && rate.Limit == documented.PerMinute:
		return WindowMinute
	}
	return WindowUnknown
}

// takeToken asks for permission to repeat a call that reached the service.
func (p *pool) takeToken(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tokens >= 1 {
		p.tokens--
		p.lastToken = now
		return true
	}
	if now.Sub(p.lastToken) >= tokenFloor {
		p.lastToken = now
		return true
	}
	return false
}

func (p *pool) succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens = min(p.tokens+tokenBack, retryTokens)
}

// limiter decides when the requests of a surface may leave.
type limiter interface {
	Acquire(ctx context.Context, r budget.Request) (budget.Permit, error)
	Take(now time.Time, p budget.Priority, permit *budget.Permit) bool
	Done(over time.Time, r *budget.Report)
	Forecast(requests int) time.Duration
	Snapshot() budget.Snapshot
}

func (b *Budget) limiter(s op.Surface, c budget.Config) limiter {
	if b.conf.Store == nil {
		return budget.New(c)
	}
	return budget.NewShared(c, b.link, func(ctx context.Context, a *budget.Ask) (budget.Reply, error) {
		reply, err := b.conf.Store.Exchange(ctx, Surface(s), &BudgetAsk{*a})
		return reply.reply, err
	})
}

// BudgetStore keeps what several processes know about the rate limits of one workspace, so that they use the quota together; see
// [BudgetConfig]. The module redisbudget has one for Redis. Any database will do that can change a value atomically and has a clock of
// its own:
//
//	begin a transaction that locks the row of the workspace and the surface
//	read the state, empty if there is none, and the database's time
//	state, reply := ask.Decide(state, now, processes)
//	write the state, and commit
//
// Exchange must not repeat itself after an error, because the first may have happened; return the error instead, and in time when
// the context ends. It is called by several goroutines at once.
type BudgetStore interface {
	Exchange(ctx context.Context, surface Surface, ask *BudgetAsk) (BudgetReply, error)
}

// BudgetAsk is what a process says to a [BudgetStore]: what became of its requests, and how many more it wants to send.
type BudgetAsk struct{ ask budget.Ask }

// BudgetReply is the answer to a [BudgetAsk]: the permissions to send, and a copy of what is known.
type BudgetReply struct{ reply budget.Reply }

// Decide answers an ask. It takes the state of the surface as the last call for it returned it, empty if there is none or none of the
// last two days; the time, by a clock that is the same for all processes; and how many processes asked lately, which
// matters only when the store cannot be reached. A state that this version does not understand is as good as none.
func (a *BudgetAsk) Decide(state []byte, now time.Time, processes int) ([]byte, BudgetReply) {
	next, reply := budget.Decide(state, budget.Instant(now.UnixMicro()), processes, &a.ask)
	return next, BudgetReply{reply}
}

// MarshalBinary writes the ask for a store that decides elsewhere, as numbers of eight bytes.
func (a *BudgetAsk) MarshalBinary() ([]byte, error) { return a.ask.Encode(), nil }

// UnmarshalBinary reads what MarshalBinary wrote.
func (a *BudgetAsk) UnmarshalBinary(data []byte) error {
	a.ask = budget.Ask{}
	return a.ask.Decode(data)
}

// MarshalBinary writes the reply of a store that decides elsewhere, as numbers of eight bytes.
func (r *BudgetReply) MarshalBinary() ([]byte, error) { return r.reply.Encode(), nil }

// UnmarshalBinary reads what MarshalBinary wrote.
func (r *BudgetReply) UnmarshalBinary(data []byte) error { return r.reply.Decode(data) }
