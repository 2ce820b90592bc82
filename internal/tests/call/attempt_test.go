package call_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

// protocols start a server on a real socket and return its address and a transport that reaches it.
var protocols = map[string]func(t *testing.T, h http.HandlerFunc) (url string, rt http.RoundTripper){
	"HTTP/1": func(t *testing.T, h http.HandlerFunc) (string, http.RoundTripper) {
		t.Helper()
		return served(t, h, (*httptest.Server).Start)
	},
	"TLS": func(t *testing.T, h http.HandlerFunc) (string, http.RoundTripper) {
		t.Helper()
		return served(t, h, (*httptest.Server).StartTLS)
	},
	"HTTP/2": func(t *testing.T, h http.HandlerFunc) (string, http.RoundTripper) {
		t.Helper()
		return served(t, func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 2 {
				panic("not HTTP/2")
			}
			h(w, r)
		}, func(s *httptest.Server) {
			s.EnableHTTP2 = true
			s.StartTLS()
		})
	},
}

func served(t *testing.T, h http.HandlerFunc, start func(*httptest.Server)) (url string, rt http.RoundTripper) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet
	start(s)
	t.Cleanup(s.Close)
	return s.URL, s.Client().Transport
}

// The same delivery over every protocol: what got a response, and what was cut after the request had been read.
func TestDelivery_PerProtocol(t *testing.T) {
	for name, start := range protocols {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			url, rt := start(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				requests.Add(1)
				if r.URL.Path != "/api/v1/business/lists" {
					panic(http.ErrAbortHandler)
				}
				tests.Write(w, 201, `{"list":`+tests.OneList+`}`)
			})
			client := tests.ClientAt(t, url, prospectkit.WithTransport(rt))
			info, err := tests.Call(t.Context(), client, true)
			require.NoError(t, err)
			require.Equal(t, "confirmed", info.Attempts[0].Delivery)
			for _, in := range []any{map[string]int{"size": 1}, nil} {
				requests.Store(0)
				err = client.Call(t.Context(), tests.Described(http.MethodPost, op.GuardedByState), in, nil, prospectkit.WithInfo(&info))
				require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
				require.Equal(t, "unknown", info.Attempts[0].Delivery)
				require.EqualValues(t, 1, requests.Load(), "sent once")
			}
		})
	}
}

// A kept connection that dies after the request was processed: net/http retries a GET automatically, and so it must not be able
// to where that could matter. This pins the behavior of the Go release.
func TestAttempt_ReusedConnectionThatDies(t *testing.T) {
	get := tests.Described(http.MethodGet, op.Read)
	paidGet := tests.Described(http.MethodGet, op.PaidRead)
	unsafeGet := tests.Described(http.MethodGet, op.Unsafe)
	post := tests.Described(http.MethodPost, op.Unsafe)
	cases := map[string]struct {
		op       prospectkit.Operation
		in       any
		received int32
		outcome  prospectkit.Outcome
	}{
		"read":                 {get, nil, 2, prospectkit.OutcomeNotApplied},
		"paid GET":             {paidGet, nil, 1, prospectkit.OutcomeUnknown},
		"unsafe GET":           {unsafeGet, nil, 1, prospectkit.OutcomeUnknown},
		"write":                {post, map[string]int{"n": 1}, 1, prospectkit.OutcomeUnknown},
		"write without a body": {post, nil, 1, prospectkit.OutcomeUnknown},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			die := func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/v1/business/me" {
					tests.Write(w, 200, tests.OneUser)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if len(r.TransferEncoding) > 0 {
					panic("chunked")
				}
				tests.Hijack(w, "")
			}
			tests.InMemory(t, die, func(t *testing.T, m *tests.MemoryServer) {
				client := m.Client(t, tests.OneAttempt)
				require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
				m.Requests.Store(0)
				err := client.Call(t.Context(), test.op, test.in, nil)
				require.Equal(t, test.outcome, prospectkit.OutcomeOf(err))
				require.Equal(t, test.received, m.Requests.Load())
			})
		})
	}
}

// steadily writes parts with a pause before each.
func steadily(pause time.Duration, parts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, part := range parts {
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
			_, _ = io.WriteString(w, part)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func TestAttempt_ProgressRenewsTheTimeLimit(t *testing.T) {
	large := append(slices.Repeat([]string{strings.Repeat(" ", 64<<10)}, 20), tests.OneUser)
	cases := map[string]struct {
		serve http.HandlerFunc
		took  time.Duration
		ok    bool
	}{
		"a large body over a slow line":       {steadily(29*time.Second, large...), 29 * 21 * time.Second, true},
		"a late head, then a late body":       {steadily(29*time.Second, " ", tests.OneUser), 58 * time.Second, true},
		"a late head, then nothing in time":   {steadily(29*time.Second, " ", " ", tests.OneUser), 59 * time.Second, false},
		"no head in time":                     {steadily(31*time.Second, tests.OneUser), 30 * time.Second, false},
		"one byte a second":                   {steadily(time.Second, strings.Split(tests.OneUser+strings.Repeat(" ", 99), "")...), 31 * time.Second, false},
		"64 KiB, then one byte a second":      {steadily(time.Second, append(large[:1:1], strings.Split(tests.OneUser, "")...)...), 31 * time.Second, false},
		"a large body over too slow a line":   {steadily(29*time.Second, slices.Repeat(large[:1:1], 200)...), 66*29*time.Second + 30*time.Second, false},
		"small parts that add up to progress": {steadily(time.Second, append(slices.Repeat([]string{strings.Repeat(" ", 4<<10)}, 60), tests.OneUser)...), 61 * time.Second, true},
	}
	for name, test := range cases {
		tests.Serving(t, name, test.serve, func(t *testing.T, m *tests.MemoryServer) {
			began := time.Now()
			_, err := m.Client(t, tests.OneAttempt).Account.Me(t.Context())
			require.Equal(t, test.ok, err == nil, "%v", err)
			require.Equal(t, test.took, time.Since(began))
			if !test.ok {
				require.ErrorContains(t, err, "no complete response within the time limit of one attempt, 30s")
			}
		})
	}
}

// A response that is too long is too long for the next attempt, too, whoever sent it. It proves a write if it is the service's.
func TestAttempt_LongResponses(t *testing.T) {
	const most = 1 << 16
	padded := func(n int) string { return tests.OneUser + strings.Repeat(" ", n-len(tests.OneUser)) }
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		want  prospectkit.Outcome // of a write, if it is too long
	}{
		"at the limit":          {tests.Serves(200, padded(most)), ""},
		"above the limit":       {tests.Serves(200, padded(most+1)), prospectkit.OutcomeApplied},
		"chunked at the limit":  {chunked(padded(most)), ""},
		"chunked above it":      {chunked(padded(most + 1)), prospectkit.OutcomeApplied},
		"gzip at the limit":     {tests.Serves(200, tests.Zip(padded(most)), "Content-Encoding", "gzip"), ""},
		"gzip above the limit":  {tests.Serves(200, tests.Zip(padded(most+1)), "Content-Encoding", "gzip"), prospectkit.OutcomeApplied},
		"of another server":     {tests.OtherServer(200, padded(most+1)), prospectkit.OutcomeUnknown},
		"a length that is huge": {tests.Raw("HTTP/1.1 200 OK\r\nRateLimit-Remaining: 9\r\nContent-Length: 9000000000000000000\r\n\r\n{"), prospectkit.OutcomeApplied},
	} {
		tests.Serving(t, name, c.serve, func(t *testing.T, m *tests.MemoryServer) {
			client := m.Client(t, prospectkit.WithMaxResponseBytes(most))
			_, err := tests.Call(t.Context(), client, false)
			require.EqualValues(t, 1, m.Requests.Load(), "as long the next time")
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "longer than 65536 bytes")
			_, err = tests.Call(t.Context(), client, true)
			require.Equal(t, c.want, prospectkit.OutcomeOf(err))
		})
	}
}

// A small response that unpacks to a huge one is given up at the limit.
func TestAttempt_GzipBomb(t *testing.T) {
	bomb := strings.Repeat(tests.Zip(strings.Repeat(" ", 1<<20)), 1<<10) // 1 GiB
	tests.InMemory(t, tests.Serves(200, bomb, "Content-Encoding", "gzip"), func(t *testing.T, m *tests.MemoryServer) {
		client := m.Client(t, prospectkit.WithMaxResponseBytes(1<<20))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := client.Account.Me(t.Context())
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, "longer than 1048576 bytes")
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
	})
}

// An error page longer than what is read is cut, and the error is what it would have been.
func TestAttempt_LongErrorPages(t *testing.T) {
	for name, serve := range map[string]http.HandlerFunc{
		"longer than any page":          tests.Serves(502, strings.Repeat("x", 1<<20), tests.ContentType, tests.HTMLType),
		"longer than this client reads": tests.Serves(502, strings.Repeat("x", 5000), tests.ContentType, tests.HTMLType),
		"cut":                           tests.Raw("HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 9999\r\n\r\n" + strings.Repeat("x", 4096)),
	} {
		tests.Serving(t, name, serve, func(t *testing.T, m *tests.MemoryServer) {
			_, err := m.Client(t, prospectkit.WithMaxResponseBytes(4096)).Account.Me(t.Context())
			e := tests.AsError(t, err)
			require.Equal(t, 502, e.Status)
			require.Equal(t, tests.HTMLType, e.ContentType)
			require.Equal(t, strings.Repeat("x", 2<<10), e.Body)
			require.EqualValues(t, 3, m.Requests.Load())
		})
	}
}

// Whatever may make a transport linger knows that the attempt is over once the call has returned.
func TestAttempt_ContextEnds(t *testing.T) {
	var ctx context.Context
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		ctx = r.Context() //nolint:fatcontext // it is what the test is about
		return tests.Respond(200, tests.OneUser), nil
	}))
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	require.ErrorIs(t, ctx.Err(), context.Canceled)
	require.NoError(t, t.Context().Err())
}

// lingering is a body that takes until after the time limit to close.
type lingering struct{ io.Reader }

func (lingering) Close() error { time.Sleep(50 * time.Millisecond); return nil }

// So does one that ends just before the time limit: its error is the same as that of any other.
func TestAttempt_TimeLimitAfterTheResponseChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prompt := tests.Always(404, tests.Envelope("LIST_NOT_FOUND"))
		_, want := tests.Call(t.Context(), tests.NewClient(t, prompt), false)
		_, got := tests.Call(t.Context(), tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			resp, _ := prompt(r)
			resp.Body = lingering{resp.Body}
			return resp, nil
		}), prospectkit.WithAttemptTimeout(20*time.Millisecond)), false)
		require.EqualError(t, got, want.Error())
		require.NoError(t, tests.AsError(t, got).Unwrap())
		require.NoError(t, tests.AsError(t, got).Attempts[0].Err)
	})
}
