package tests

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// The eight failures that client libraries were measured by: how often each request reaches the server, how long the call
// takes, and what comes back.
var failures = []struct {
	name     string
	write    bool // POST; else GET
	timeout  time.Duration
	serve    func(w http.ResponseWriter, n int32)
	requests int32
	took     [2]time.Duration // at least, at most
	check    func(t *testing.T, err error)
}{
	{
		name:     "GET 500 is retried within the budget",
		serve:    func(w http.ResponseWriter, _ int32) { Write(w, 500, Envelope("UNEXPECTED_ERROR")) },
		requests: 3, took: [2]time.Duration{750 * time.Millisecond, 2 * time.Second},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
		},
	},
	{
		name: "POST 500 is sent once and unknown", write: true,
		serve:    func(w http.ResponseWriter, _ int32) { Write(w, 500, Envelope("UNEXPECTED_ERROR")) },
		requests: 1,
		check: func(t *testing.T, err error) {
			t.Helper()
			RequireUnknown(t, err)
			require.ErrorIs(t, err, prospectkit.CodeUnexpectedError, "the response is kept")
		},
	},
	{
		name: "POST cut after the body is sent once and unknown", write: true,
		serve:    func(w http.ResponseWriter, _ int32) { Hijack(w, "") },
		requests: 1,
		check:    RequireUnknown,
	},
	{
		name: "429 with Retry-After 3600 and a 3 s context returns at once", timeout: 3 * time.Second,
		serve:    func(w http.ResponseWriter, _ int32) { Write(w, 429, Envelope("RATE_LIMITED"), "Retry-After", "3600") },
		requests: 1, took: [2]time.Duration{0, 10 * time.Millisecond},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.ErrRateLimited)
			require.Equal(t, time.Hour, AsError(t, err).RetryAfter)
		},
	},
	{
		name: "429 with Retry-After 3 waits 3 s",
		serve: func(w http.ResponseWriter, n int32) {
			if n == 1 {
				Write(w, 429, Envelope("RATE_LIMITED"), "Retry-After", "3")
				return
			}
			Write(w, 200, OneUser)
		},
		requests: 2, took: [2]time.Duration{3 * time.Second, 3300 * time.Millisecond},
		check: RequireSuccess,
	},
	{
		name: "HTML 502 is typed, with status, content type and body",
		serve: func(w http.ResponseWriter, _ int32) {
			Write(w, 502, "<h1>Bad gateway</h1>", "Content-Type", "text/html")
		},
		requests: 3, took: [2]time.Duration{750 * time.Millisecond, 2 * time.Second},
		check: func(t *testing.T, err error) {
			t.Helper()
			e := AsError(t, err)
			require.Equal(t, 502, e.Status)
			require.Equal(t, "text/html", e.ContentType)
			require.Equal(t, "<h1>Bad gateway</h1>", e.Body)
		},
	},
	{
		name: "truncated 200 is retried as a read",
		serve: func(w http.ResponseWriter, n int32) {
			if n < 3 {
				w.Header().Set("Content-Length", "1000")
			}
			Write(w, 200, OneUser)
		},
		requests: 3, took: [2]time.Duration{750 * time.Millisecond, 2 * time.Second},
		check: RequireSuccess,
	},
	{
		name: "302 to another host shows it nothing",
		serve: func(w http.ResponseWriter, _ int32) {
			Write(w, 302, "", "Location", "https://elsewhere.example/api/v1/business/me")
		},
		requests: 1,
		check: func(t *testing.T, err error) {
			t.Helper()
			require.Equal(t, 302, AsError(t, err).Status)
			require.ErrorContains(t, err, "it points to host elsewhere.example")
		},
	},
}

func TestFailures(t *testing.T) {
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			var seen int32
			elsewhere := 0
			serve := func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if r.Host != "api.example.com" {
					elsewhere++
				}
				seen++
				f.serve(w, seen)
			}
			InMemory(t, serve, func(t *testing.T, m *MemoryServer) {
				t.Helper()
				ctx := t.Context()
				if f.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, f.timeout)
					defer cancel()
				}
				began := time.Now()
				_, err := Call(ctx, m.Client(t), f.write)
				took := time.Since(began)
				f.check(t, err)
				require.Equal(t, f.requests, m.Requests.Load())
				require.Zero(t, elsewhere)
				require.GreaterOrEqual(t, took, f.took[0])
				require.LessOrEqual(t, took, f.took[1])
			})
		})
	}
}
