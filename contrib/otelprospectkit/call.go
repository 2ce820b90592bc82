package otelprospectkit

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"example.com/prospectkit"
)

// The attributes without a convention.
const (
	operationKey = attribute.Key("prospectkit.operation")
	surfaceKey   = attribute.Key("prospectkit.surface")
	outcomeKey   = attribute.Key("prospectkit.outcome")
	attemptKey   = attribute.Key("prospectkit.attempt")
	deliveryKey  = attribute.Key("prospectkit.delivery")
	durationKey  = attribute.Key("prospectkit.duration")
	reasonKey    = attribute.Key("prospectkit.reason")
	nextKey      = attribute.Key("prospectkit.next")
	windowKey    = attribute.Key("prospectkit.window")
)

// call follows one call. Its events arrive one after the other.
type call struct {
	*telemetry
	op      string
	span    trace.Span
	wait    prospectkit.Event // that has not ended yet, if it has a kind
	failure string            // the error type of the last attempt
}

func (t *telemetry) observe(ctx context.Context, e prospectkit.Event) context.Context {
	if e.Kind == prospectkit.EventStart {
		return t.begin(ctx, e)
	}
	if c, ok := ctx.Value(t).(*call); ok && c.op == e.Op {
		c.observe(ctx, e)
	} else if e.Kind == prospectkit.EventWait { // between the calls of a poll: it is not known how it ends
		t.recordWait(ctx, e, e.Wait)
	}
	return ctx
}

func (c *call) observe(ctx context.Context, e prospectkit.Event) {
	switch e.Kind {
	case prospectkit.EventAttempt:
		c.waited(ctx, e.Start)
		c.attempt(ctx, e)
	case prospectkit.EventWait:
		c.waited(ctx, e.Start)
		c.wait = e
		c.span.AddEvent("wait", trace.WithTimestamp(e.Start),
			trace.WithAttributes(attemptKey.Int(e.Attempt), reasonKey.String(e.Reason), durationKey.Float64(e.Wait.Seconds())))
	case prospectkit.EventEnd:
		c.waited(ctx, e.Start.Add(e.Duration))
		c.end(ctx, e)
	default:
	}
}

// waited records the wait that is over, if there was one: its real length, not the expected one.
func (c *call) waited(ctx context.Context, until time.Time) {
	if c.wait.Kind == "" {
		return
	}
	c.recordWait(ctx, c.wait, until.Sub(c.wait.Start))
	c.wait = prospectkit.Event{}
}

func (t *telemetry) recordWait(ctx context.Context, e prospectkit.Event, took time.Duration) {
	t.waits.Record(ctx, took.Seconds(), metric.WithAttributes(append(t.name(e), reasonKey.String(e.Reason))...))
}

func (c *call) attempt(ctx context.Context, e prospectkit.Event) {
	if e.Attempt > 1 {
		c.retries.Add(ctx, 1, metric.WithAttributes(append(c.name(e), semconv.ErrorTypeKey.String(c.failure))...))
	}
	c.failure = e.ErrorType
	if !e.Rate.At.Before(e.Start) && e.Rate.Limit >= 0 && e.Rate.Remaining >= 0 { // of this response
		window := metric.WithAttributes(append(slices.Clip(c.own), surfaceKey.String(e.Surface), windowKey.String(e.Rate.Window))...)
		c.limit.Record(ctx, int64(e.Rate.Limit), window)
		c.remaining.Record(ctx, int64(e.Rate.Remaining), window)
	}
	result := result(e)
	c.attempts.Inst().Record(ctx, e.Duration.Seconds(), metric.WithAttributes(slices.Concat(c.request(e), result)...))
	if e.Next != "" {
		result = append(result, reasonKey.String(e.Reason), nextKey.String(e.Next))
	}
	c.span.AddEvent("attempt", trace.WithTimestamp(e.Start.Add(e.Duration)), trace.WithAttributes(append(result,
		attemptKey.Int(e.Attempt), deliveryKey.String(e.Delivery), durationKey.Float64(e.Duration.Seconds()))...))
}

func (c *call) end(ctx context.Context, e prospectkit.Event) {
	result := append(result(e), outcomeKey.String(string(e.Outcome)))
	c.calls.Record(ctx, e.Duration.Seconds(), metric.WithAttributes(append(c.name(e), result...)...))
	c.span.SetAttributes(result...)
	if e.Attempt > 1 {
		c.span.SetAttributes(semconv.HTTPRequestResendCount(e.Attempt - 1))
	}
	if e.ErrorType != "" {
		c.span.SetStatus(codes.Error, "") // a description would contain the service's message
	}
	c.span.End(trace.WithTimestamp(e.Start.Add(e.Duration)))
}

// name is the attributes of every measurement of an operation. They take precedence over those of the caller.
func (t *telemetry) name(e prospectkit.Event) []attribute.KeyValue {
	return append(slices.Clip(t.own), operationKey.String(e.Op), surfaceKey.String(e.Surface))
}

// request is what the conventions for HTTP clients want to know of every request, and the name of the operation.
func (t *telemetry) request(e prospectkit.Event) []attribute.KeyValue {
	host, port, err := net.SplitHostPort(e.Host)
	if err != nil {
		host = strings.Trim(e.Host, "[]")
	}
	list := append(t.name(e), semconv.HTTPRequestMethodKey.String(e.Method), semconv.ServerAddress(host))
	if n, err := strconv.Atoi(port); err == nil {
		list = append(list, semconv.ServerPort(n))
	}
	return list
}

func result(e prospectkit.Event) []attribute.KeyValue {
	var list []attribute.KeyValue
	if e.Status != 0 {
		list = append(list, semconv.HTTPResponseStatusCode(e.Status))
	}
	if e.ErrorType != "" {
		list = append(list, semconv.ErrorTypeKey.String(e.ErrorType))
	}
	return list
}
