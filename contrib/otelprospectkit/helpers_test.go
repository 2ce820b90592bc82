package otelprospectkit_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"example.com/prospectkit"
	"example.com/prospectkit/contrib/otelprospectkit"
	"example.com/prospectkit/sandbox"
)

// rig is a client on a sandbox whose telemetry stays in memory.
type rig struct {
	*prospectkit.Client
	sb      *sandbox.Sandbox
	spans   *tracetest.InMemoryExporter
	tracers *trace.TracerProvider
	meters  *metric.MeterProvider
	reader  *metric.ManualReader
}

func newRig(tb testing.TB, opts ...prospectkit.ClientOption) *rig {
	tb.Helper()
	r := &rig{sb: sandbox.New(tb), spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	r.tracers = trace.NewTracerProvider(trace.WithSyncer(r.spans))
	r.meters = metric.NewMeterProvider(metric.WithReader(r.reader))
	telemetry, err := otelprospectkit.New(otelprospectkit.WithTracerProvider(r.tracers), otelprospectkit.WithMeterProvider(r.meters))
	require.NoError(tb, err)
	opts = append([]prospectkit.ClientOption{prospectkit.WithTransport(r.sb.Transport()), telemetry}, opts...)
	r.Client, err = prospectkit.New(r.sb.BaseURL(), r.sb.Token(), opts...)
	require.NoError(tb, err)
	return r
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t)) })
}

// span returns the only span there is.
func (r *rig) span(tb testing.TB) tracetest.SpanStub {
	tb.Helper()
	spans := r.spans.GetSpans()
	require.Len(tb, spans, 1)
	return spans[0]
}

// flat makes attributes easy to compare.
func flat(list []attribute.KeyValue) map[string]any {
	m := make(map[string]any, len(list))
	for _, kv := range list {
		m[string(kv.Key)] = kv.Value.AsInterface()
	}
	return m
}

// eventNames lists the events of a span in their order.
func eventNames(span tracetest.SpanStub) []string {
	names := make([]string, len(span.Events))
	for i, e := range span.Events {
		names[i] = e.Name
	}
	return names
}

// metrics collects everything measured so far, by name.
func (r *rig) metrics(tb testing.TB) map[string]metricdata.Aggregation {
	tb.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(tb, r.reader.Collect(tb.Context(), &all))
	m := map[string]metricdata.Aggregation{}
	for _, scope := range all.ScopeMetrics {
		for _, one := range scope.Metrics {
			m[one.Name] = one.Data
		}
	}
	return m
}

// durations returns the only series of a histogram: how many values, their sum, and its attributes.
func (r *rig) durations(tb testing.TB, name string) (count uint64, sum float64, attributes map[string]any) {
	tb.Helper()
	data, ok := r.metrics(tb)[name].(metricdata.Histogram[float64])
	require.True(tb, ok, name)
	require.Len(tb, data.DataPoints, 1)
	point := data.DataPoints[0]
	return point.Count, point.Sum, flat(point.Attributes.ToSlice())
}
