// Package otelprospectkit gives the calls of a prospectkit client OpenTelemetry spans and metrics.
//
//	telemetry, err := otelprospectkit.New()
//	client, err := prospectkit.New(baseURL, token, telemetry)
//
// A program with several workspaces gives each of them its own attributes: see [WithAttributes].
//
// # Spans
//
// Each call is one client span, named by its operation ("lists.rows") and a child of the span in the caller's context. Attempts
// and waits are its events. Attributes follow the semantic conventions where there are any: http.request.method,
// url.template, server.address, server.port, http.response.status_code, http.request.resend_count and error.type. The rest
// begins with prospectkit.
//
// # Metrics
//
// Durations of calls, retries, the time spent waiting, and what is left of the rate limits. Attempts are http.client.request.duration,
// the metric of the semantic conventions for HTTP clients.
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

// Option configures [New].
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

// WithAttributes adds attributes to every span and every measurement, such as the name of the workspace. If several workspaces share a
// provider, give each its own: gauges with the same attributes silently overwrite each other. Keep the values few, and without secrets.
func WithAttributes(own ...attribute.KeyValue) Option {
	return func(c *config) { c.own = append(slices.Clip(c.own), own...) }
}

// New returns the option that traces and measures every call of a client. It can be used for several clients; [WithAttributes]
// distinguishes their workspaces.
func New(opts ...Option) (prospectkit.ClientOption, error) {
	c := config{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, o := range opts {
		o(&c)
	}
	t := &telemetry{
		own:    c.own,
		tracer: c.tracers.Tracer(scope, trace.WithInstrumentationVersion(prospectkit.Version), trace.WithSchemaURL(semconv.SchemaURL)),
	}
	meter := c.meters.Meter(scope, metric.WithInstrumentationVersion(prospectkit.Version), metric.WithSchemaURL(semconv.SchemaURL))
	if err := t.measure(meter); err != nil {
		return nil, err
	}
	return prospectkit.WithObserver(t.observe), nil
}

// telemetry is what all calls share.
type telemetry struct {
	own              []attribute.KeyValue
	tracer           trace.Tracer
	calls            metric.Float64Histogram
	attempts         httpconv.ClientRequestDuration
	waits            metric.Float64Histogram
	retries          metric.Int64Counter
	limit, remaining metric.Int64Gauge
}

// Bounds in seconds. A wait for a rate limit may take longer than two minutes if the client allows it.
var (
	waitBounds = []float64{.1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600}
	callBounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900}
)

func (t *telemetry) measure(m metric.Meter) error {
	var errs [6]error
	histogram := func(name, what string, bounds []float64) (metric.Float64Histogram, error) {
		return m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
	}
	t.calls, errs[0] = histogram("prospectkit.call.duration", "Duration of calls, with all attempts and waits.", callBounds)
	t.attempts, errs[1] = httpconv.NewClientRequestDuration(m)
	t.waits, errs[2] = histogram("prospectkit.wait.duration", "Time that calls waited, for a rate limit or before a retry.", waitBounds)
	t.retries, errs[3] = m.Int64Counter("prospectkit.retries", metric.WithUnit("{retry}"), metric.WithDescription("Attempts beyond the first of a call."))
	gauge := func(name, what string) (metric.Int64Gauge, error) {
		return m.Int64Gauge("prospectkit.rate_limit."+name, metric.WithUnit("{request}"), metric.WithDescription(what))
	}
	t.limit, errs[4] = gauge("limit", "Requests that a window allows.")
	t.remaining, errs[5] = gauge("remaining", "Requests left in a window, as the service said last.")
	return errors.Join(errs[:]...)
}

// begin starts the span of a call, and keeps what follows the call in its context.
func (t *telemetry) begin(ctx context.Context, e prospectkit.Event) context.Context {
	known := t.request(e)
	if e.Route != "" {
		known = append(known, semconv.URLTemplate(e.Route))
	}
	ctx, span := t.tracer.Start(ctx, e.Op, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(e.Start), trace.WithAttributes(known...))
	return context.WithValue(ctx, t, &call{telemetry: t, op: e.Op, span: span})
}
