package otelprospectkit_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"example.com/prospectkit"
	"example.com/prospectkit/contrib/otelprospectkit"
	"example.com/prospectkit/sandbox"
)

func TestSuccess(t *testing.T) {
	r := newRig(t)
	ctx, parent := r.tracers.Tracer("test").Start(t.Context(), "parent")
	_, err := r.Account.Me(ctx)
	require.NoError(t, err)

	span := r.span(t)
	require.Equal(t, "account.me", span.Name)
	require.Equal(t, trace.SpanKindClient, span.SpanKind)
	require.Equal(t, parent.SpanContext().SpanID(), span.Parent.SpanID())
	require.Equal(t, codes.Unset, span.Status.Code)
	require.Equal(t, map[string]any{
		"prospectkit.operation": "account.me", "prospectkit.surface": "account", "prospectkit.outcome": "applied",
		"http.request.method": "GET", "url.template": "/business/me", "server.address": "sandbox.invalid", "http.response.status_code": int64(200),
	}, flat(span.Attributes))
	require.Equal(t, []string{"attempt"}, eventNames(span))

	count, _, attributes := r.durations(t, "prospectkit.call.duration")
	require.Equal(t, uint64(1), count)
	require.Equal(t, map[string]any{
		"prospectkit.operation": "account.me", "prospectkit.surface": "account", "prospectkit.outcome": "applied", "http.response.status_code": int64(200),
	}, attributes)
	require.NotContains(t, r.metrics(t), "prospectkit.retries")

	count, _, attributes = r.durations(t, "http.client.request.duration")
	require.Equal(t, uint64(1), count)
	require.Equal(t, map[string]any{
		"prospectkit.operation": "account.me", "prospectkit.surface": "account",
		"http.request.method": "GET", "server.address": "sandbox.invalid", "http.response.status_code": int64(200),
	}, attributes)
}

func TestRetry(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"), sandbox.Latency(time.Second))
		began := time.Now()
		_, err := r.Account.Me(t.Context())
		require.NoError(t, err)

		span := r.span(t)
		require.Equal(t, []string{"attempt", "wait", "attempt"}, eventNames(span))
		require.Equal(t, codes.Unset, span.Status.Code)
		require.Equal(t, int64(1), flat(span.Attributes)["http.request.resend_count"])
		require.WithinDuration(t, began, span.StartTime, 0)
		require.WithinDuration(t, time.Now(), span.EndTime, 0)
		require.Equal(t, map[string]any{
			"prospectkit.attempt": int64(1), "prospectkit.delivery": "confirmed", "prospectkit.duration": 1.0,
			"http.response.status_code": int64(500), "error.type": "UNEXPECTED_ERROR",
			"prospectkit.reason": "the service failed", "prospectkit.next": "retry",
		}, flat(span.Events[0].Attributes))
		require.WithinDuration(t, began.Add(time.Second), span.Events[0].Time, 0)

		retries, ok := r.metrics(t)["prospectkit.retries"].(metricdata.Sum[int64])
		require.True(t, ok)
		require.Equal(t, int64(1), retries.DataPoints[0].Value)
		require.Equal(t, "UNEXPECTED_ERROR", flat(retries.DataPoints[0].Attributes.ToSlice())["error.type"])
		_, waited, attributes := r.durations(t, "prospectkit.wait.duration")
		require.InDelta(t, flat(span.Events[1].Attributes)["prospectkit.duration"], waited, 1e-9)
		require.InDelta(t, time.Since(began).Seconds()-1, waited, 1e-9)
		require.Equal(t, "the service failed", attributes["prospectkit.reason"])
	})
}

func TestRateLimited(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(20))
		began := time.Now()
		_, err := r.Account.Me(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"attempt", "wait", "attempt"}, eventNames(r.span(t)))
		count, waited, attributes := r.durations(t, "prospectkit.wait.duration")
		require.Equal(t, uint64(1), count)
		require.InDelta(t, time.Since(began).Seconds(), waited, 1e-9, "what was waited, not what was planned")
		require.GreaterOrEqual(t, waited, 20.0)
		require.Equal(t, "queued for the rate limit", attributes["prospectkit.reason"])
	})
}

func TestAWaitThatIsBrokenOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.sb.Fail("account.me", sandbox.Always(), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(20))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		_, err := r.Account.Me(ctx)
		require.ErrorIs(t, err, context.Canceled)
		_, waited, _ := r.durations(t, "prospectkit.wait.duration")
		require.InDelta(t, 5.0, waited, 1e-9)
	})
}

// failures are calls that end badly, and the telemetry of them.
var failures = map[string]struct {
	prepare func(*sandbox.Sandbox)
	options []prospectkit.CallOption
	name    string // of the list to create
	ctx     func(context.Context) (context.Context, context.CancelFunc)
	errType string
	outcome string
	events  []string
}{
	"rejected by the service": {
		prepare: func(sb *sandbox.Sandbox) { sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "Q1"}) }) },
		errType: "LIST_NAME_TAKEN", outcome: "not applied", events: []string{"attempt"},
	},
	"unknown code": {
		prepare: func(sb *sandbox.Sandbox) { sb.Fail("lists.create", sandbox.FutureCode(409, "SECRET_CODE")) },
		errType: "409", outcome: "not applied", events: []string{"attempt"},
	},
	"unknown outcome": {
		prepare: func(sb *sandbox.Sandbox) { sb.Fail("lists.create", sandbox.DropAfter()) },
		errType: "no_response", outcome: "unknown", events: []string{"attempt"},
	},
	"gateway": {
		prepare: func(sb *sandbox.Sandbox) { sb.Fail("lists.create", sandbox.HTML(502)) },
		errType: "502", outcome: "unknown", events: []string{"attempt"},
	},
	"lost response": {
		prepare: func(sb *sandbox.Sandbox) { sb.Fail("lists.create", sandbox.Truncate(5)) },
		errType: "unreadable_response", outcome: "applied", events: []string{"attempt"},
	},
	"never sent": {
		prepare: func(sb *sandbox.Sandbox) { sb.Fail("lists.create", sandbox.Refuse()) },
		options: []prospectkit.CallOption{prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})},
		errType: "not_sent", outcome: "not applied", events: []string{"attempt"},
	},
	"refused locally": {name: strings.Repeat("x", 300), errType: "refused_locally", outcome: "not applied"},
	"wait too long": {
		prepare: func(sb *sandbox.Sandbox) { sb.Consume("lists", 120) },
		options: []prospectkit.CallOption{prospectkit.WithMaxWait(0)},
		errType: "RATE_LIMITED", outcome: "not applied", events: []string{"attempt"},
	},
	"canceled": {
		ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx, cancel
		},
		errType: "canceled", outcome: "not applied",
	},
	"too late": {
		prepare: func(sb *sandbox.Sandbox) { sb.Fail("lists.create", sandbox.Latency(time.Minute)) },
		ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
		errType: "deadline_exceeded", outcome: "unknown", events: []string{"attempt"},
	},
}

func TestFailures(t *testing.T) {
	for name, c := range failures {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				if c.prepare != nil {
					c.prepare(r.sb)
				}
				ctx := t.Context()
				if c.ctx != nil {
					var cancel context.CancelFunc
					ctx, cancel = c.ctx(ctx)
					defer cancel()
				}
				if c.name == "" {
					c.name = "Q1"
				}
				_, err := r.Lists.Create(ctx, prospectkit.NewList{Name: c.name}, c.options...)
				require.Error(t, err)
				span := r.span(t)
				require.Equal(t, codes.Error, span.Status.Code)
				require.Empty(t, span.Status.Description)
				require.Equal(t, c.errType, flat(span.Attributes)["error.type"])
				require.Equal(t, c.outcome, flat(span.Attributes)["prospectkit.outcome"])
				require.ElementsMatch(t, c.events, eventNames(span))
				_, _, attributes := r.durations(t, "prospectkit.call.duration")
				require.Equal(t, c.errType, attributes["error.type"])
			})
		})
	}
}

func TestAHopelessWait(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.sb.Consume("account", 120)
		_, err := r.Account.Me(t.Context(), prospectkit.WithMaxWait(0))
		require.ErrorIs(t, err, prospectkit.ErrRateLimited)
		r.spans.Reset()
		_, err = r.Account.Me(t.Context(), prospectkit.WithMaxWait(0)) // the surface is paused now
		require.ErrorIs(t, err, prospectkit.ErrRateLimited)
		require.Equal(t, "wait_too_long", flat(r.span(t).Attributes)["error.type"])
	})
}

func TestConcurrentCallsDoNotMix(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.sb.Fail("lists.list", sandbox.Every(2), sandbox.Status(500, "UNEXPECTED_ERROR"))
		ctx, parent := r.tracers.Tracer("test").Start(t.Context(), "parent")
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { _, _ = r.Account.Me(ctx) })
			all.Go(func() { _, _ = r.Lists.Page(ctx, prospectkit.ListsParams{}) })
		}
		all.Wait()
		spans := r.spans.GetSpans()
		require.Len(t, spans, 20)
		resent := 0
		for _, span := range spans {
			require.Equal(t, parent.SpanContext().SpanID(), span.Parent.SpanID())
			attempts := 0
			for _, e := range span.Events {
				if e.Name == "attempt" {
					attempts++
					require.Equal(t, int64(attempts), flat(e.Attributes)["prospectkit.attempt"])
				}
			}
			if n, ok := flat(span.Attributes)["http.request.resend_count"].(int64); ok {
				require.Equal(t, "lists.list", span.Name)
				require.Equal(t, int64(attempts-1), n)
				resent++
			}
		}
		require.Positive(t, resent)
	})
}

func TestNothingPrivateGetsOut(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		ctx := t.Context()
		id := "65f0c0ffee65f0c0ffee65f0"
		r.sb.Fail("lists.create", sandbox.Nth(1), sandbox.RawBody(422, `{"error":{"code":"SECRET_CODE","message":"secret-message","param":"secret-param","request_id":"secret-request"}}`))
		_, err := r.Lists.Create(ctx, prospectkit.NewList{Name: "secret-name"}, prospectkit.WithQuery("own", "secret-query"))
		require.Error(t, err)
		_, err = r.Lists.Page(ctx, prospectkit.ListsParams{Search: "secret-search"}, prospectkit.WithQuery("own", "secret-query"))
		require.NoError(t, err)
		_, err = r.Lists.Get(ctx, id)
		require.Error(t, err)
		_, err = r.Lists.Get(ctx, "secret-id") // refused locally, with the id in the error
		require.Error(t, err)
		text := fmt.Sprintf("%+v %+v", r.spans.GetSpans(), r.metrics(t))
		require.Contains(t, text, "lists.create", "the trap works")
		for _, secret := range []string{"secret", "SECRET", id, r.sb.Token(), "Authorization"} {
			require.NotContains(t, text, secret)
		}
	})
}

func TestNothingIsPropagatedUnlessAsked(t *testing.T) {
	var headers []http.Header
	watch := func(base http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			headers = append(headers, req.Header)
			return base.RoundTrip(req)
		})
	}
	r := newRig(t)
	for _, transport := range []http.RoundTripper{
		watch(r.sb.Transport()),
		otelprospectkit.Propagate(watch(r.sb.Transport()), propagation.TraceContext{}),
	} {
		client, err := r.With(prospectkit.WithTransport(transport))
		require.NoError(t, err)
		_, err = client.Account.Me(t.Context())
		require.NoError(t, err)
	}
	require.Len(t, headers, 2)
	require.Empty(t, headers[0].Get("Traceparent"))
	span := r.spans.GetSpans()[1].SpanContext
	require.Equal(t, fmt.Sprintf("00-%s-%s-01", span.TraceID(), span.SpanID()), headers[1].Get("Traceparent"))
}

// Wrapped, the transport has to pass the connection trace on: it is the proof that nothing was sent.
func TestPropagationKeepsTheProof(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		client, err := r.With(prospectkit.WithTransport(otelprospectkit.Propagate(r.sb.Transport(), propagation.TraceContext{})))
		require.NoError(t, err)
		r.sb.Fail("lists.create", sandbox.Nth(1), sandbox.Refuse())
		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
		require.NoError(t, err, "never sent, so it may be sent again")
	})
}

func TestPropagationByItsOwnTransport(t *testing.T) {
	r := newRig(t)
	server := httptest.NewServer(r.sb.Handler())
	defer server.Close()
	telemetry, err := otelprospectkit.New(otelprospectkit.WithTracerProvider(r.tracers), otelprospectkit.WithMeterProvider(r.meters))
	require.NoError(t, err)
	client, err := prospectkit.New(server.URL+"/api/v1", r.sb.Token(), telemetry,
		prospectkit.WithTransport(otelprospectkit.Propagate(nil, propagation.TraceContext{})))
	require.NoError(t, err)
	_, err = client.Account.Me(t.Context())
	require.NoError(t, err)
	attributes := flat(r.span(t).Attributes)
	require.Equal(t, "127.0.0.1", attributes["server.address"])
	require.Positive(t, attributes["server.port"])
	_, _, measured := r.durations(t, "http.client.request.duration")
	require.Equal(t, attributes["server.port"], measured["server.port"])
}

// What is left of a window, as each response says it.
func TestRateLimits(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.sb.Fail("account.me", sandbox.Nth(1), sandbox.HTML(502))
		_, err := r.Account.Me(t.Context(), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
		require.Error(t, err)
		require.NotContains(t, r.metrics(t), "prospectkit.rate_limit.limit", "a gateway told nothing")
		for left := range 3 {
			_, err = r.Account.Me(t.Context())
			require.NoError(t, err)
			for name, value := range map[string]int64{"limit": 120, "remaining": int64(119 - left)} {
				data, ok := r.metrics(t)["prospectkit.rate_limit."+name].(metricdata.Gauge[int64])
				require.True(t, ok, name)
				require.Len(t, data.DataPoints, 1)
				require.Equal(t, map[string]any{"prospectkit.surface": "account", "prospectkit.window": "minute"}, flat(data.DataPoints[0].Attributes.ToSlice()))
				require.Equal(t, value, data.DataPoints[0].Value)
			}
		}
	})
}

// A wait between two polls belongs to no call, and to no span.
func TestPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		polls := 0
		r := newRig(t, prospectkit.WithTransport(roundTrip(func(*http.Request) (*http.Response, error) {
			polls++
			status := []string{"processing", "active"}[polls-1]
			return &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(`{"agent":{"id":"65f0c0ffee65f0c0ffee65f0","name":"Heads of sales","status":"` + status + `"}}`)),
			}, nil
		})))
		began := time.Now()
		_, err := r.Agents.WaitSettled(t.Context(), "65f0c0ffee65f0c0ffee65f0")
		require.NoError(t, err)
		require.Len(t, r.spans.GetSpans(), 2)
		count, waited, attributes := r.durations(t, "prospectkit.wait.duration")
		require.Equal(t, uint64(1), count)
		require.InDelta(t, time.Since(began).Seconds(), waited, 1e-9)
		require.Equal(t, "polling: not settled yet", attributes["prospectkit.reason"])
	})
}

// roundTrip makes a transport of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheReadmeNamesEveryMetric(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
		_, err := r.Account.Me(t.Context())
		require.NoError(t, err)
		readme, err := os.ReadFile("README.md")
		require.NoError(t, err)
		measured := slices.Collect(maps.Keys(r.metrics(t)))
		named := regexp.MustCompile("`(prospectkit\\.(?:call|wait|rate_limit)\\.[a-z_]+|prospectkit\\.retries|http\\.client\\.request\\.[a-z_]+)`").FindAllSubmatch(readme, -1)
		var listed []string
		for _, n := range named {
			listed = append(listed, string(n[1]))
		}
		require.ElementsMatch(t, measured, listed)
	})
}

// Several workspaces on one provider: every span and every series names its workspace.
func TestWorkspacesApart(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for i := range 20 {
			providers := []otelprospectkit.Option{
				otelprospectkit.WithTracerProvider(r.tracers), otelprospectkit.WithMeterProvider(r.meters),
				otelprospectkit.WithAttributes(attribute.Int("workspace", i)),
			}
			telemetry, err := otelprospectkit.New(providers...)
			require.NoError(t, err)
			sb := sandbox.New(t)
			sb.Fail("account.me", sandbox.Nth(1), sandbox.Status(500, "UNEXPECTED_ERROR"))
			client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), telemetry)
			require.NoError(t, err)
			for range i + 1 {
				_, err = client.Account.Me(t.Context())
				require.NoError(t, err)
			}
		}
		of := map[any]int{}
		for _, span := range r.spans.GetSpans() {
			of[flat(span.Attributes)["workspace"]]++
		}
		metrics := r.metrics(t)
		for name, data := range metrics {
			require.Len(t, series(t, name, data), 20, name)
		}
		left := series(t, "remaining", metrics["prospectkit.rate_limit.remaining"])
		for i := range 20 {
			require.Equal(t, i+1, of[int64(i)])
			require.InDelta(t, 119-i, left[int64(i)], 0)
		}
	})
}

// series is the last value of each workspace.
func series(t *testing.T, name string, data metricdata.Aggregation) map[any]float64 {
	t.Helper()
	values := map[any]float64{}
	note := func(attributes attribute.Set, value float64) { values[flat(attributes.ToSlice())["workspace"]] = value }
	switch data := data.(type) {
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			note(p.Attributes, p.Sum)
		}
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			note(p.Attributes, float64(p.Value))
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			note(p.Attributes, float64(p.Value))
		}
	default:
		require.Fail(t, "another kind of metric", name)
	}
	return values
}
