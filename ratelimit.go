package prospectkit

import (
	"context"
	"fmt"
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
	mu      sync.Mutex
	pools   map[op.Surface]*pool
	reserve int
	headers bool // trust headers alone
	store   BudgetStore
	link    *budget.Link // to the store
	bad     checks
}

// BudgetOption configures a [Budget].
type BudgetOption func(*Budget)

// Reserve keeps the last n requests of each window for interactive calls; see [WithPriority].
func Reserve(n int) BudgetOption {
	return func(b *Budget) {
		if n < 0 {
			b.bad.add("Reserve", "is %d, must not be negative", n)
		}
		b.reserve = n
	}
}

// TrustHeaders forgets the documented limits and goes by the rate headers alone: for a plan with other limits, or for a server of
// your own. Where no headers come either, calls are paced by nothing but 429s.
func TrustHeaders() BudgetOption { return func(b *Budget) { b.headers = true } }

// NewBudget returns the budget of a workspace that has not been used yet. It starts no goroutine and no timer. A mistake in the
// options is reported by the [New] that gets the budget.
func NewBudget(opts ...BudgetOption) *Budget {
	b := &Budget{pools: make(map[op.Surface]*pool)}
	for _, o := range opts {
		o(b)
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
	Others    float64   // requests a second that teammates seem to take
	UnderWay  int
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
			Others: s.Others, UnderWay: s.UnderWay, Waiting: s.Waiting,
		})
	}
	slices.SortFunc(surfaces, func(a, b SurfaceBudget) int { return strings.Compare(string(a.Surface), string(b.Surface)) })
	return surfaces
}

func windowBudget(s budget.Stand) WindowBudget {
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
		config := budget.Config{Reserve: b.reserve, Share: budget.DefaultShare}
		if documented := op.Windows[s]; !b.headers {
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

// WaitError says that this client refused to wait as long as a rate limit would make it: longer than [WithMaxWait] allows, or
// beyond the deadline of the context. Nothing was sent. A call is refused at once where even the earliest moment would be too late, and
// else when its wait is over. errors.Is matches [ErrRateLimited] and [CodeRateLimited], and
// context.DeadlineExceeded when it was the deadline that was too near.
type WaitError struct {
	Op      string
	Method  string
	Route   string
	Surface Surface
	Window  Window
	Wait    time.Duration // until the call is expected to fit, at the pace that the budget keeps
	FitsAt  time.Time     // the same as an instant; sleep until then, and make the call again

	deadline bool
	waited   time.Duration // before it was refused
}

// Error says how long the wait would be.
func (e *WaitError) Error() string {
	why := "the longest wait allowed"
	if e.deadline {
		why = "the context's deadline"
	}
	before := ""
	if e.waited > 0 {
		before = "after a wait of " + e.waited.Round(time.Millisecond).String() + ", "
	}
	text := before + "the rate limit"
	if e.Surface != "" {
		text += " of surface " + string(e.Surface)
	}
	if e.Window != "" {
		text += " (" + string(e.Window) + ")"
	}
	if e.Wait > 0 {
		text += fmt.Sprintf(" has room in %s, which is beyond %s", e.Wait.Round(time.Millisecond), why)
	} else {
		text += " has no room within " + why
	}
	if !e.FitsAt.IsZero() {
		text += "; it fits at " + e.FitsAt.UTC().Format(time.RFC3339)
	}
	return describe(e.Op, text)
}

// Is matches [ErrRateLimited] and [CodeRateLimited], and context.DeadlineExceeded if the deadline was too near.
func (e *WaitError) Is(target error) bool {
	return target == error(ErrRateLimited) || target == error(CodeRateLimited) || e.deadline && target == context.DeadlineExceeded
}

// Outcome returns [NotApplied].
func (e *WaitError) Outcome() Outcome { return NotApplied }

// Advice returns [ActionAfterDelay] with the wait.
func (e *WaitError) Advice() Advice {
	return Advice{Action: ActionAfterDelay, Hint: "the request fits later", After: e.Wait}
}

// LogValue groups the fields that are safe to log.
func (e *WaitError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("op", e.Op), slog.String("surface", string(e.Surface)), slog.Duration("wait", e.Wait))
}

func (e *WaitError) errorCode() Code { return CodeRateLimited }
