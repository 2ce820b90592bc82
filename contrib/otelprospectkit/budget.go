package otelprospectkit

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"example.com/prospectkit"
	"example.com/prospectkit/ratelimit"
)

// ObserveBudget exports the state of the rate limits of a workspace: limit, remaining and used requests of both windows of each surface
// that was used, waiting calls, requests in flight, the use by teammates, and how long a surface is still paused after a 429. Each
// budget of a program needs its own attributes, by [WithAttributes].
//
// Unregister the registration when the budget is no longer used, and not before the provider's last export: at the end of a program,
// after its Shutdown or not at all.
func ObserveBudget(b *prospectkit.Budget, opts ...Option) (metric.Registration, error) {
	c := configure(opts)
	m := c.meter()
	var errs [3]error
	requests := func(name, what string) metric.Int64ObservableGauge {
		gauge, err := m.Int64ObservableGauge("prospectkit.budget."+name, metric.WithUnit("{request}"), metric.WithDescription(what))
		errs[0] = errors.Join(errs[0], err)
		return gauge
	}
	g := gauges{
		own:       c.own,
		limit:     requests("limit", "Requests that a window allows."),
		remaining: requests("remaining", "Requests left in a window, as the service said last, less what was sent since."),
		used:      requests("used", "Requests sent by this budget over one length of a window."),
		waiting:   requests("waiting", "Calls in the queue for the rate limit."),
		inFlight:  requests("in_flight", "Requests that were sent and have no response yet."),
	}
	g.others, errs[1] = m.Float64ObservableGauge("prospectkit.budget.other_rate", metric.WithUnit("{request}/s"),
		metric.WithDescription("Estimated requests a second of teammates."))
	g.held, errs[2] = m.Float64ObservableGauge("prospectkit.budget.held", metric.WithUnit("s"),
		metric.WithDescription("Time until the pause of a surface after a 429 ends."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, s := range b.Snapshot() {
			g.show(o, s)
		}
		return nil
	}, g.limit, g.remaining, g.used, g.waiting, g.inFlight, g.others, g.held)
}

type gauges struct {
	own                                       []attribute.KeyValue
	limit, remaining, used, waiting, inFlight metric.Int64ObservableGauge
	others, held                              metric.Float64ObservableGauge
}

func (g gauges) show(o metric.Observer, s ratelimit.SurfaceState) {
	surface := append(slices.Clip(g.own), surfaceKey.String(string(s.Surface)))
	of := metric.WithAttributes(surface...)
	o.ObserveInt64(g.waiting, int64(s.Waiting), of)
	o.ObserveInt64(g.inFlight, int64(s.InFlight), of)
	o.ObserveFloat64(g.others, s.OtherRate, of)
	o.ObserveFloat64(g.held, max(0, time.Until(s.HeldUntil).Seconds()), of)
	for name, w := range map[ratelimit.Window]ratelimit.WindowState{ratelimit.WindowMinute: s.Minute, ratelimit.WindowDay: s.Day} {
		of := metric.WithAttributes(append(slices.Clip(surface), windowKey.String(string(name)))...)
		o.ObserveInt64(g.used, int64(w.Used), of)
		if w.Limit > 0 {
			o.ObserveInt64(g.limit, int64(w.Limit), of)
		}
		if w.Remaining >= 0 {
			o.ObserveInt64(g.remaining, int64(w.Remaining), of)
		}
	}
}
