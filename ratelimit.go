package prospectkit

import (
	"sync"
	"time"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/ratehdr"
	"example.com/prospectkit/ratelimit"
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
