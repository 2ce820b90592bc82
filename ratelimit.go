package prospectkit

import (
	"sync"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
)

// Surface is a part of the API with its own rate limits, shared by all keys of a workspace.
type Surface string

// The surfaces, with their documented limits. Those of the last four are learned from response headers.
const (
	SurfaceLists         Surface = "lists"          // 120 a minute, 10,000 a day
	SurfaceCampaigns     Surface = "campaigns"      // 30 a minute, 1,000 a day; knowledge hubs and facts too
	SurfaceAccount       Surface = "account"        // 120 a minute, 10,000 a day
	SurfaceSearch        Surface = "search"         // 20 a minute, 1,000 a day
	SurfaceSavedSearches Surface = "saved-searches" // 60 a minute, 5,000 a day
	SurfaceAgents        Surface = "agents"         // 30 a minute, 2,000 a day
	SurfaceContacts      Surface = "contacts"
	SurfaceCompanies     Surface = "companies"
	SurfaceImports       Surface = "imports"
	SurfaceReference     Surface = "reference"
)

// RateLimit is what the rate headers of a response say. They describe the window of a surface with fewer requests left, so the limit can
// alternate between responses.
type RateLimit struct {
	Surface   Surface
	Window    string // "minute", "day" or "unknown": inferred from the limit, or from a reset beyond a minute
	Limit     int    // -1 without a header
	Remaining int    // -1 without a header
	ResetAt   time.Time
	At        time.Time // when the response arrived
}

// Priority says which of the queued calls go first; see [WithPriority].
type Priority string

// The priorities. Every fourth request is that of a queued batch call.
const (
	PriorityInteractive Priority = "interactive" // the default
	PriorityBatch       Priority = "batch"       // goes last
)

// limits has the rate limiter of each surface. Clients derived by [Client.With] share it.
type limits struct {
	mu       sync.Mutex
	surfaces map[op.Surface]*surface
}

// surface is the limiter and the retry allowance of one surface.
type surface struct {
	name      op.Surface
	limiter   *budget.Limiter
	allowance budget.RetryAllowance
}

func newLimits() *limits { return &limits{surfaces: make(map[op.Surface]*surface)} }

func (l *limits) surface(s op.Surface) *surface {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.surfaces[s]
	if !ok {
		documented := op.DocumentedLimits[s]
		p = &surface{name: s, limiter: budget.New(budget.Config{
			PerMinute: documented.PerMinute, PerDay: documented.PerDay, Share: budget.DefaultShare,
		})}
		l.surfaces[s] = p
	}
	return p
}

func (s *surface) headers(rate ratehdr.Rate, now time.Time) RateLimit {
	documented := op.DocumentedLimits[s.name]
	window := budget.WindowOf(rate.Limit, rate.Reset, int64(documented.PerMinute), int64(documented.PerDay))
	w := RateLimit{
		Surface: Surface(s.name), Window: window.String(), Limit: rate.Limit, Remaining: rate.Remaining, At: now,
	}
	if rate.HasReset {
		w.ResetAt = now.Add(rate.Reset)
	}
	return w
}
