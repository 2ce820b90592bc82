package prospectkit_test

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
		serve:    func(w http.ResponseWriter, _ int32) { write(w, 500, envelope("UNEXPECTED_ERROR")) },
		requests: 3, took: [2]time.Duration{750 * time.Millisecond, 2 * time.Second},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
		},
	},
	{
		name: "POST 500 is sent once and unknown", write: true,
		serve:    func(w http.ResponseWriter, _ int32) { write(w, 500, envelope("UNEXPECTED_ERROR")) },
		requests: 1,
		check: func(t *testing.T, err error) {
			t.Helper()
			requireUnknown(t, err)
			require.ErrorIs(t, err, prospectkit.CodeUnexpectedError, "the answer is kept")
		},
	},
	{
		name: "POST cut after the body is sent once and unknown", write: true,
		serve:    func(w http.ResponseWriter, _ int32) { hijack(w, "") },
		requests: 1,
		check:    requireUnknown,
	},
	{
		name: "429 with Retry-After 3600 and a 3 s context returns at once", timeout: 3 * time.Second,
		serve:    func(w http.ResponseWriter, _ int32) { write(w, 429, envelope("RATE_LIMITED"), "Retry-After", "3600") },
		requests: 1, took: [2]time.Duration{0, 10 * time.Millisecond},
		check: func(t *testing.T, err error) {
			t.Helper()
			require.ErrorIs(t, err, prospectkit.ErrRateLimited)
			require.Equal(t, time.Hour, asError(t, err).RetryAfter)
		},
	},
	{
		name: "429 with Retry-After 3 waits 3 s",
		serve: func(w http.ResponseWriter, n int32) {
			if n == 1 {
				write(w, 429, envelope("RATE_LIMITED"), "Retry-After", "3")
				return
			}
			write(w, 200, oneUser)
		},
		requests: 2, took: [2]time.Duration{3 * time.Second, 3300 * time.Millisecond},
		check: requireSuccess,
	},
	{
		name: "HTML 502 is typed, with status, content type and body",
		serve: func(w http.ResponseWriter, _ int32) {
			write(w, 502, "<h1>Bad gateway</h1>", "Content-Type", "text/html")
		},
		requests: 3, took: [2]time.Duration{750 * time.Millisecond, 2 * time.Second},
		check: func(t *testing.T, err error) {
			t.Helper()
			e := asError(t, err)
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
			write(w, 200, oneUser)
		},
		requests: 3, took: [2]time.Duration{750 * time.Millisecond, 2 * time.Second},
		check: requireSuccess,
	},
	{
		name: "302 to another host shows it nothing",
		serve: func(w http.ResponseWriter, _ int32) {
			write(w, 302, "", "Location", "https://elsewhere.example/api/v1/business/me")
		},
		requests: 1,
		check: func(t *testing.T, err error) {
			t.Helper()
			require.Equal(t, 302, asError(t, err).Status)
			require.ErrorContains(t, err, "it points to host elsewhere.example")
		},
	},
}

func TestEightFailures(t *testing.T) {
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
			inMemory(t, serve, func(t *testing.T, m *memoryServer) {
				t.Helper()
				ctx := t.Context()
				if f.timeout > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, f.timeout)
					defer cancel()
				}
				began := time.Now()
				_, err := call(ctx, m.client(t), f.write)
				took := time.Since(began)
				f.check(t, err)
				require.Equal(t, f.requests, m.requests.Load())
				require.Zero(t, elsewhere)
				require.GreaterOrEqual(t, took, f.took[0])
				require.LessOrEqual(t, took, f.took[1])
			})
		})
	}
}

// call makes a read or a write and reports what happened on the wire.
func call(ctx context.Context, client *prospectkit.Client, write bool) (info prospectkit.Info, err error) {
	if write {
		_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}, prospectkit.WithInfo(&info))
	} else {
		_, err = client.Account.Me(ctx, prospectkit.WithInfo(&info))
	}
	return info, err
}

// asError demands an answer's error.
func asError(t *testing.T, err error) *prospectkit.Error {
	t.Helper()
	var e *prospectkit.Error
	require.ErrorAs(t, err, &e)
	return e
}

func requireSuccess(t *testing.T, err error) {
	t.Helper()
	require.NoError(t, err)
}

// requireUnknown demands the error for a call that may have happened.
func requireUnknown(t *testing.T, err error) {
	t.Helper()
	var unknown *prospectkit.OutcomeUnknownError
	require.ErrorAs(t, err, &unknown)
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
	require.False(t, unknown.SentAt.IsZero())
}
