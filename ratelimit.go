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
)

// Surface is a part of the API with its own rate limits, shared by all keys and members of a
// workspace.
type Surface string

// The surfaces, with their documented limits, which op.DocumentedLimits holds. Those of the last four are learned from response
// headers.
const (
	SurfaceLists         Surface = Surface(op.Lists)         // 120 a minute, 10,000 a day
	SurfaceCampaigns     Surface = Surface(op.Campaigns)     // 30 a minute, 1,000 a day; knowledge hubs and facts too
	SurfaceAccount       Surface = Surface(op.Account)       // 120 a minute, 10,000 a day
	SurfaceSearch        Surface = Surface(op.Search)        // 20 a minute, 1,000 a day
	SurfaceSavedSearches Surface = Surface(op.SavedSearches) // 60 a minute, 5,000 a day
	SurfaceAgents        Surface = Surface(op.Agents)        // 30 a minute, 2,000 a day
	SurfaceContacts      Surface = Surface(op.Contacts)
	SurfaceCompanies     Surface = Surface(op.Companies)
	SurfaceImports       Surface = Surface(op.Imports)
	SurfaceReference     Surface = Surface(op.Reference)
)

// Window is one of the two rate windows of a surface.
type Window string

// The windows. The headers do not name theirs: it is inferred from the limit, or from a reset beyond
// a minute.
const (
	WindowMinute  Window = ratehdr.Minute
	WindowDay     Window = ratehdr.Day
	WindowUnknown Window = ratehdr.Unknown
)

// RateWindow is the rate headers of a response. They describe the window of a surface with
// fewer requests left, so the limit can alternate between responses.
type RateWindow struct {
	Surface   Surface
	Window    Window
	Limit     int // -1 without a header
	Remaining int // -1 without a header
	ResetAt   time.Time
	At        time.Time // when the response arrived
}

// Budget paces the requests of one workspace, so that they use its rate limits and avoid 429s. It
// knows the documented limits of each surface, learns from the rate headers, leaves room for
// teammates, and pauses the whole surface after a 429.
//
// Clients derived by [Client.With] share one; [WithBudget] shares it with others of the same
// workspace. Calls are queued for as long as [WithMaxWait] and the context allow. They are refused
// at once with a [RateLimitWaitError] if that cannot be enough.
type Budget struct {
	conf     BudgetConfig
	link     *budget.StoreClient // to the store
	bad      check.Violations
	mu       sync.Mutex
	surfaces map[op.Surface]*surfaceState
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
	Store BudgetStore

	// StoreTimeout is how long the store may take to respond before it counts as away; default 250
	// ms.
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
	b := &Budget{surfaces: make(map[op.Surface]*surfaceState), conf: c}
	b.bad.Must(c.Reserve >= 0, "BudgetConfig.Reserve", "is %d, must not be negative", c.Reserve)
	b.bad.Must(c.StoreTimeout >= 0, "BudgetConfig.StoreTimeout", "is %s, must not be negative", c.StoreTimeout)
	b.bad.Must(c.Processes >= 0, "BudgetConfig.Processes", "is %d, must not be negative", c.Processes)
	if c.Store != nil {
		timeout := cmp.Or(c.StoreTimeout, budget.DefaultTimeout)
		b.link = &budget.StoreClient{Timeout: timeout, Least: cmp.Or(c.Processes, 2), Log: c.Logger}
	} else if c.StoreTimeout != 0 || c.Processes != 0 || c.Logger != nil {
		b.bad.Add("BudgetConfig.Store", "is missing, but its timeout, processes or logger are set")
	}
	return b
}

// Priority says which of the queued calls go first.
type Priority string

// The priorities. Every fourth request is that of a queued batch call.
const (
	PriorityInteractive Priority = "interactive" // the default
	PriorityBatch       Priority = "batch"       // goes last, and does not use the reserve
)

// SurfaceBudget is the known state of a surface.
type SurfaceBudget struct {
	Surface   Surface
	Minute    WindowBudget
	Day       WindowBudget
	HeldUntil time.Time // of the pause after a 429; zero if there is none
	OtherRate float64   // requests a second that teammates seem to send
	InFlight  int
	Waiting   int
}

// WindowBudget is the known state of one window of a surface.
type WindowBudget struct {
	Limit      int       // 0 when unknown
	Documented bool      // the limit is the documented one, not learned from responses
	Used       int       // by this budget, within the length of the window
	Remaining  int       // by the last response, minus requests sent since; -1 without headers
	ResetAt    time.Time // zero without a header
}

// Snapshot returns what is known about each surface in use, sorted by name.
func (b *Budget) Snapshot() []SurfaceBudget {
	b.mu.Lock()
	states := slices.Collect(maps.Values(b.surfaces))
	b.mu.Unlock()
	surfaces := make([]SurfaceBudget, 0, len(states))
	for _, p := range states {
		s := p.limiter.Snapshot()
		surfaces = append(surfaces, SurfaceBudget{
			Surface: Surface(p.surface), Minute: windowBudget(s.Minute), Day: windowBudget(s.Day),
			HeldUntil: s.HeldUntil, OtherRate: s.Others, InFlight: s.InFlight, Waiting: s.Waiting,
		})
	}
	slices.SortFunc(surfaces, func(a, b SurfaceBudget) int { return cmp.Compare(a.Surface, b.Surface) })
	return surfaces
}

func windowBudget(s budget.WindowState) WindowBudget {
	return WindowBudget{s.Limit, s.Source == budget.Documented, s.Used, s.Remaining, s.ResetAt}
}

// Forecast estimates how long a number of further requests of a surface will take, after those in the
// queue: for 1,000 pages of rows, about 8 minutes. It assumes an even pace, so it can be up to a
// minute too long, and the present rate of teammates. It is zero if the requests fit at once, or if
// no limit is known.
func (b *Budget) Forecast(s Surface, requests int) time.Duration {
	return b.surface(op.Surface(s)).limiter.Forecast(requests)
}

func (b *Budget) surface(s op.Surface) *surfaceState {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.surfaces[s]
	if !ok {
		limits := budget.Config{Reserve: b.conf.Reserve, Share: budget.DefaultShare}
		if documented := op.DocumentedLimits[s]; !b.conf.TrustHeaders {
			limits.PerMinute, limits.PerDay = documented.PerMinute, documented.PerDay
		}
		p = &surfaceState{surface: s, limiter: b.limiter(s, limits), allowance: budget.NewRetryAllowance()}
		b.surfaces[s] = p
	}
	return p
}

// surfaceState is the limiter, the retry allowance and the last rate headers of one surface.
type surfaceState struct {
	surface   op.Surface
	limiter   budget.Pacer
	allowance *budget.RetryAllowance

	mu   sync.Mutex
	last RateWindow
}

// lastRate returns the last rate headers.
func (p *surfaceState) lastRate() RateWindow {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// observe records the rate headers of a response.
func (p *surfaceState) observe(rate ratehdr.Rate, now time.Time) RateWindow {
	documented := op.DocumentedLimits[p.surface]
	w := RateWindow{
		Surface: Surface(p.surface), Window: Window(rate.Window(documented.PerMinute, documented.PerDay)),
		Limit: rate.Limit, Remaining: rate.Remaining, At: now,
	}
	if rate.HasReset {
		w.ResetAt = now.Add(rate.Reset)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = w
	return w
}

func (b *Budget) limiter(s op.Surface, c budget.Config) budget.Pacer {
	if b.conf.Store == nil {
		return budget.New(c)
	}
	return budget.NewShared(c, b.link, func(ctx context.Context, a *budget.Ask) (budget.Reply, error) {
		reply, err := b.conf.Store.Exchange(ctx, Surface(s), &BudgetAsk{*a})
		return reply.reply, err
	})
}

// BudgetStore shares a budget between processes of one workspace; see [BudgetConfig]. The module
// redisbudget has one for Redis, the module postgres one for PostgreSQL. Any database with a clock can be one, if it can update a value
// atomically:
//
//	begin a transaction that locks the row of the workspace and the surface
//	read the state, empty if there is none, and the database's time
//	state, reply := ask.Decide(state, now, processes)
//	write the state, and commit
//
// Exchange must not retry after an error, because the first attempt may have happened; return the
// error. It must return when the context ends, and be safe for concurrent use.
type BudgetStore interface {
	Exchange(ctx context.Context, surface Surface, ask *BudgetAsk) (BudgetReply, error)
}

// BudgetAsk is what a process tells a [BudgetStore]: the results of its requests, and how many more
// it wants to send.
type BudgetAsk struct{ ask budget.Ask }

// BudgetReply is the reply to a [BudgetAsk]: permits to send, and a copy of what is known.
type BudgetReply struct{ reply budget.Reply }

// Decide returns the next state of a surface, and the reply. It takes the state that the last call
// for the surface returned, empty if there is none of the last two days; the time, by one clock for
// all processes; and how many processes asked lately, which matters only while the store is away. A
// state that this version does not understand is ignored.
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
