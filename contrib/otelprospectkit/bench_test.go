package otelprospectkit_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"example.com/prospectkit"
	"example.com/prospectkit/contrib/otelprospectkit"
)

// BenchmarkCall is one call with a transport that responds in the process: only the telemetry differs.
func BenchmarkCall(b *testing.B) {
	metrics := otelprospectkit.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(metric.NewManualReader())))
	spans := func(s trace.Sampler) otelprospectkit.Option {
		return otelprospectkit.WithTracerProvider(trace.NewTracerProvider(trace.WithSampler(s)))
	}
	off := []otelprospectkit.Option{otelprospectkit.WithTracerProvider(tracenoop.NewTracerProvider()), otelprospectkit.WithMeterProvider(noop.NewMeterProvider())}
	for _, c := range []struct {
		name    string
		options []otelprospectkit.Option
	}{
		{"without", nil},
		{"no-op providers", off},
		{"metrics", []otelprospectkit.Option{off[0], metrics}},
		{"metrics, spans not sampled", []otelprospectkit.Option{metrics, spans(trace.NeverSample())}},
		{"metrics and spans", []otelprospectkit.Option{metrics, spans(trace.AlwaysSample())}},
	} {
		b.Run(c.name, func(b *testing.B) {
			options := []prospectkit.ClientOption{
				prospectkit.WithTransport(roundTrip(user)),
			}
			if c.options != nil {
				telemetry, err := otelprospectkit.New(c.options...)
				require.NoError(b, err)
				options = append(options, telemetry)
			}
			client, err := prospectkit.New("https://service.example/api/v1", "token", options...)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Account.Me(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func user(*http.Request) (*http.Response, error) {
	const body = `{"user":{"id":"65f0c0ffee65f0c0ffee65f1","email":"ada@engines.example","name":"Ada"}}`
	return &http.Response{
		StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{
			"Content-Type": {"application/json"}, "Ratelimit-Limit": {"1000000"}, "Ratelimit-Remaining": {"999999"}, "Ratelimit-Reset": {"60"},
		},
	}, nil
}
