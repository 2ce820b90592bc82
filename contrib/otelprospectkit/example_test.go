package otelprospectkit_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"example.com/prospectkit"
	"example.com/prospectkit/contrib/otelprospectkit"
	"example.com/prospectkit/sandbox"
)

// The exporter of this example keeps spans in memory; yours sends them to a collector.
func Example() {
	ctx := context.Background()
	spans := tracetest.NewInMemoryExporter()
	tracers := trace.NewTracerProvider(trace.WithSyncer(spans))
	meters := metric.NewMeterProvider()
	telemetry, err := otelprospectkit.New(otelprospectkit.WithTracerProvider(tracers), otelprospectkit.WithMeterProvider(meters))
	if err != nil {
		log.Fatal(err)
	}
	sb := sandbox.New(nil)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), telemetry)
	if err != nil {
		log.Fatal(err)
	}
	sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter()) // the response is lost
	_, _ = client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
	for _, span := range spans.GetSpans() {
		fmt.Println(span.Name, span.Status.Code)
		for _, e := range span.Events {
			fmt.Println(" ", e.Name)
		}
	}
	// Output:
	// lists.create Error
	//   attempt
}
