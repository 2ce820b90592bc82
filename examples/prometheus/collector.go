package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
	"example.com/prospectkit/ratelimit"
)

// Collector counts calls, retries and waits, and reads the rate budget whenever it is scraped. Its labels are names of the
// catalogue and codes that the client knows: they contain no id, and nothing that the service could invent.
type Collector struct {
	budget  *prospectkit.Budget
	calls   *prometheus.HistogramVec
	waits   *prometheus.HistogramVec
	retries *prometheus.CounterVec

	limit, used, left, waiting *prometheus.Desc
}

// NewCollector returns a collector for the clients that share a budget. Register it, and give Observe to the clients. The workspace is a
// label of every series, so that the collectors of several workspaces fit into one registry.
func NewCollector(workspace string, budget *prospectkit.Budget) *Collector {
	label := prometheus.Labels{"workspace": workspace}
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("prospectkit_budget_"+name, help, labels, label)
	}
	return &Collector{
		budget: budget,
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prospectkit_call_duration_seconds", Help: "Duration of calls, with all attempts and waits.", ConstLabels: label,
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300},
		}, []string{"operation", "outcome", "code"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "prospectkit_wait_seconds", Help: "Waits of calls for rate limits and before retries.", ConstLabels: label,
			Buckets: []float64{.1, .5, 1, 5, 10, 30, 60, 120, 300, 900, 3600},
		}, []string{"surface"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "prospectkit_retries_total", Help: "Attempts beyond the first of a call.", ConstLabels: label,
		}, []string{"operation"}),
		limit:   gauge("limit_requests", "Requests that a window allows.", "surface", "window"),
		used:    gauge("used_requests", "Requests sent over one length of a window.", "surface", "window"),
		left:    gauge("remaining_requests", "Requests left in a window.", "surface", "window"),
		waiting: gauge("waiting_calls", "Calls that wait for the rate limit.", "surface"),
	}
}

// Observe is the observer for [prospectkit.WithObserver].
func (c *Collector) Observe(_ context.Context, e prospectkit.Event) {
	switch e.Kind {
	case event.KindAttempt:
		if e.Attempt > 1 {
			c.retries.WithLabelValues(e.Op).Inc()
		}
	case event.KindCall:
		if e.Waited > 0 {
			c.waits.WithLabelValues(string(e.Surface)).Observe(e.Waited.Seconds())
		}
		code := e.Code
		if !code.Known() {
			code = ""
		}
		c.calls.WithLabelValues(e.Op, string(e.Outcome), string(code)).Observe(e.Duration.Seconds())
	default:
	}
}

// Describe lists the metrics of Collect.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, v := range []prometheus.Collector{c.calls, c.waits, c.retries} {
		v.Describe(out)
	}
	for _, d := range []*prometheus.Desc{c.limit, c.used, c.left, c.waiting} {
		out <- d
	}
}

// Collect returns the counters, and the current state of the budget.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for _, v := range []prometheus.Collector{c.calls, c.waits, c.retries} {
		v.Collect(out)
	}
	gauge := func(d *prometheus.Desc, value int, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value), labels...)
	}
	for _, s := range c.budget.Snapshot() {
		surface := string(s.Surface)
		gauge(c.waiting, s.Waiting, surface)
		for name, w := range map[string]ratelimit.WindowState{"minute": s.Minute, "day": s.Day} {
			gauge(c.used, w.Used, surface, name)
			if w.Limit > 0 {
				gauge(c.limit, w.Limit, surface, name)
			}
			if w.Remaining >= 0 {
				gauge(c.left, w.Remaining, surface, name)
			}
		}
	}
}
