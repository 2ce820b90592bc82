package prospectkit

import (
	"sync"
	"sync/atomic"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
)

// RateLimit is what the rate headers of a response say, about the window of a surface with fewer requests left; zero without any. A surface
// is a part of the API with its own limits: see docs/operations.md.
type RateLimit struct {
	Surface   string
	Window    string // "minute", "day" or "unknown", inferred
	Limit     int    // -1 without a header
	Remaining int    // -1 without a header
	ResetAt   time.Time
	At        time.Time // when the response arrived
}

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
	awaited   atomic.Int64 // when a call was made that somebody waits for, in nanoseconds
}

// busy reports whether somebody has waited for a call in the last minute.
func (s *surface) busy(now time.Time) bool {
	return now.Sub(time.Unix(0, s.awaited.Load())) < time.Minute
}

func newLimits() *limits { return &limits{surfaces: make(map[op.Surface]*surface)} }

func (l *limits) surface(s op.Surface) *surface {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok := l.surfaces[s]
	if !ok {
		documented := op.DocumentedLimits[s]
		p = &surface{name: s, limiter: budget.New(budget.Config(documented))}
		l.surfaces[s] = p
	}
	return p
}

func (s *surface) headers(rate ratehdr.Rate, now time.Time) RateLimit {
	documented := op.DocumentedLimits[s.name]
	window := budget.WindowOf(rate.Limit, rate.Reset, documented.PerMinute, documented.PerDay)
	w := RateLimit{
		Surface: string(s.name), Window: window.String(), Limit: rate.Limit, Remaining: rate.Remaining, At: now,
	}
	if rate.HasReset {
		w.ResetAt = now.Add(rate.Reset)
	}
	return w
}
