package prospectkit

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

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

// Budget is what is known about the request pools of one workspace. Clients derived by [Client.With] share one; give the
// same budget to several clients of a workspace with [WithBudget].
type Budget struct {
	mu    sync.Mutex
	pools map[op.Surface]*pool
}

// NewBudget returns the budget of a workspace about which nothing is known yet.
func NewBudget() *Budget { return &Budget{pools: make(map[op.Surface]*pool)} }

// Snapshot returns the last known window of each surface that was used, in no particular order.
func (b *Budget) Snapshot() []RateWindow {
	b.mu.Lock()
	pools := make([]*pool, 0, len(b.pools))
	for _, p := range b.pools {
		pools = append(pools, p)
	}
	b.mu.Unlock()
	windows := make([]RateWindow, 0, len(pools))
	for _, p := range pools {
		if w := p.window(); !w.At.IsZero() {
			windows = append(windows, w)
		}
	}
	return windows
}

func (b *Budget) pool(s op.Surface) *pool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.pools[s]
	if !ok {
		p = &pool{surface: s, tokens: retryTokens}
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

	mu        sync.Mutex
	last      RateWindow
	heldUntil time.Time // a 429 holds the whole surface, so that a herd does not earn its own
	tokens    float64
	lastToken time.Time
}

func (p *pool) window() RateWindow {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// hold returns how long the surface is held.
func (p *pool) hold(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.heldUntil.Sub(now)
}

// refused holds the surface after a 429.
func (p *pool) refused(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until.After(p.heldUntil) {
		p.heldUntil = until
	}
}

// observe notes what an answer said. Of overtaking answers within a window the one with fewer requests left is the later.
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
// beyond the deadline of the context. Nothing was sent. errors.Is matches [ErrRateLimited], and context.DeadlineExceeded
// when it was the deadline that was too near.
type WaitError struct {
	Op      string
	Method  string
	Route   string
	Surface Surface
	Window  Window
	Wait    time.Duration
	FitsAt  time.Time // when the call can be made

	deadline bool
}

// Error says how long the wait would be.
func (e *WaitError) Error() string {
	why := "the longest wait allowed"
	if e.deadline {
		why = "the context's deadline"
	}
	return fmt.Sprintf("prospectkit: %s: surface %s is held for %s, which is beyond %s; it fits at %s",
		e.Op, e.Surface, e.Wait.Round(time.Millisecond), why, e.FitsAt.UTC().Format(time.RFC3339))
}

// Is matches [ErrRateLimited], and context.DeadlineExceeded if the deadline was too near.
func (e *WaitError) Is(target error) bool {
	return target == error(ErrRateLimited) || e.deadline && target == context.DeadlineExceeded
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
