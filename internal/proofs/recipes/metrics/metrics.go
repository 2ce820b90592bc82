// Package metrics counts the calls of a client for Prometheus.
package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/prospectkit"
)

// Observer registers the metrics of a workspace, and returns what feeds them, for WithObserver. Their labels are names of the catalogue and
// codes that the client knows: they contain no id, and nothing that the service could invent.
func Observer(workspace string, to prometheus.Registerer) func(context.Context, prospectkit.Event) context.Context {
	label := prometheus.Labels{"workspace": workspace} // so that the metrics of several workspaces fit into one registry
	calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "prospectkit_call_duration_seconds", Help: "Duration of calls, with all attempts and waits.", ConstLabels: label,
		Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300},
	}, []string{"operation", "outcome", "code"})
	waits := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "prospectkit_wait_seconds_total", Help: "Waits of calls for rate limits and before retries.", ConstLabels: label,
	}, []string{"surface"})
	to.MustRegister(calls, waits)
	return func(ctx context.Context, e prospectkit.Event) context.Context {
		if e.Kind != prospectkit.EventEnd {
			return ctx
		}
		waits.WithLabelValues(e.Surface).Add(e.Waited.Seconds())
		code := string(e.Code)
		if !e.Code.Known() {
			code = ""
		}
		calls.WithLabelValues(e.Op, string(e.Outcome), code).Observe(e.Duration.Seconds())
		return ctx
	}
}
