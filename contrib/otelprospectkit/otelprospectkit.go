// Package otelprospectkit gives the calls of a prospectkit client OpenTelemetry spans and metrics.
//
//	telemetry, err := otelprospectkit.New()
//	client, err := prospectkit.New(baseURL, token, telemetry)
//	gauges, err := otelprospectkit.ObserveBudget(client.Budget())
//
// A program with several workspaces gives each of them its own attributes: see [WithAttributes].
//
// # Spans
//
// Each call is one client span, named by its operation ("lists.rows") and a child of the span in the caller's context. Attempts,
// decisions and waits are its events. Attributes follow the semantic conventions where there are any: http.request.method,
// url.template, server.address, server.port, http.response.status_code, http.request.resend_count and error.type. The rest
// begins with prospectkit.
//
// # Metrics
//
// Durations of calls, retries, and the time spent waiting. Attempts are http.client.request.duration, the metric of the semantic
// conventions for HTTP clients. [ObserveBudget] adds the state of the rate limits.
//
// # What is never exported
//
// No id, query text, token, body or message of the service is exported: routes are templates, and errors are named by their type.
// Nothing is sent to the service, except by [Propagate].
package otelprospectkit

import (
	"context"
	"errors"
	"slices"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"
	"go.opentelemetry.io/otel/trace"

	"example.com/prospectkit"
)

const scope = "example.com/prospectkit/contrib/otelprospectkit"

// Option configures [New] and [ObserveBudget].
type Option func(*config)

type config struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
	own     []attribute.KeyValue
}

// WithTracerProvider sends spans to this provider; default the global one.
func WithTracerProvider(p trace.TracerProvider) Option { return func(c *config) { c.tracers = p } }

// WithMeterProvider sends metrics to this provider; default the global one.
func WithMeterProvider(p metric.MeterProvider) Option { return func(c *config) { c.meters = p } }

// WithAttributes adds attributes to every span, every measurement and every gauge, such as the name of the workspace. If several
// clients or budgets share a provider, give each its own: gauges with the same attributes silently overwrite each other. Keep the
// values few, and without secrets.
func WithAttributes(own ...attribute.KeyValue) Option {
	return func(c *config) { c.own = append(slices.Clip(c.own), own...) }
}

func configure(opts []Option) config {
	c := config{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, o := range opts {
		o(&c)
	}
	return c
}

func (c config) meter() metric.Meter {
	return c.meters.Meter(scope, metric.WithInstrumentationVersion(prospectkit.Version), metric.WithSchemaURL(semconv.SchemaURL))
}

// New returns the option that traces and measures every call of a client. It can be used for several clients; [WithAttributes]
// distinguishes their workspaces.
func New(opts ...Option) (prospectkit.ClientOption, error) {
	c := configure(opts)
	t := &telemetry{
		own:    c.own,
		tracer: c.tracers.Tracer(scope, trace.WithInstrumentationVersion(prospectkit.Version), trace.WithSchemaURL(semconv.SchemaURL)),
	}
	if err := t.measure(c.meter()); err != nil {
		return nil, err
	}
	return prospectkit.WithCallHook(t.begin), nil
}

// telemetry is what all calls share.
type telemetry struct {
	own      []attribute.KeyValue
	tracer   trace.Tracer
	calls    metric.Float64Histogram
	attempts httpconv.ClientRequestDuration
	waits    metric.Float64Histogram
	retries  metric.Int64Counter
}

// Bounds in seconds. A wait for a rate limit may take longer than two minutes if the client allows it.
var (
	waitBounds = []float64{.1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600}
	callBounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900}
)

func (t *telemetry) measure(m metric.Meter) error {
	var errs [4]error
	histogram := func(name, what string, bounds []float64) (metric.Float64Histogram, error) {
		return m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
	}
	t.calls, errs[0] = histogram("prospectkit.call.duration", "Duration of calls, with all attempts and waits.", callBounds)
	t.attempts, errs[1] = httpconv.NewClientRequestDuration(m)
	t.waits, errs[2] = histogram("prospectkit.wait.duration", "Time that calls waited, for a rate limit or before a retry.", waitBounds)
	t.retries, errs[3] = m.Int64Counter("prospectkit.retries", metric.WithUnit("{retry}"), metric.WithDescription("Attempts beyond the first of a call."))
	return errors.Join(errs[:]...)
}

// begin is the hook: it starts the span of a call.
func (t *telemetry) begin(ctx context.Context, e prospectkit.Event) (context.Context, prospectkit.Observer) {
	known := t.request(e)
	if e.Route != "" {
		known = append(known, semconv.URLTemplate(e.Route))
	}
	ctx, span := t.tracer.Start(ctx, e.Op, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(e.Start), trace.WithAttributes(known...))
	c := &call{telemetry: t, span: span}
	return ctx, c.observe
}
