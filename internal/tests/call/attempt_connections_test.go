package call_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A call that fails for good leaves the warm connections of the others alone, and those of the caller's own HTTP client. The retry loop
// would empty the connection pool, if it were let.
func TestAttempt_WarmConnectionsSurviveFailures(t *testing.T) {
	const warm = 20
	for name, opts := range map[string][]prospectkit.ClientOption{
		"ours": nil, "the caller's": {prospectkit.WithHTTPClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}})},
	} {
		t.Run(name, func(t *testing.T) {
			var together sync.WaitGroup
			server, connections := tests.Counted(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/api/v1/business/credits":
					tests.Write(w, 200, `{}`)
					return
				case "/api/v1/business/me":
					together.Done()
					together.Wait()
					tests.Write(w, 200, tests.OneUser)
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				tests.Hijack(w, "")
			})
			client := tests.ClientAt(t, server.URL, opts...)
			useAll := func() {
				together.Add(warm)
				var group sync.WaitGroup
				for range warm {
					group.Go(func() { require.NoError(t, tests.Discard(client.Account.Me(t.Context()))) })
				}
				group.Wait()
			}
			for range warm { // without headers, a surface begins with one request at a time
				require.NoError(t, tests.Discard(client.Account.Credits(t.Context())))
			}
			useAll()
			require.EqualValues(t, warm, connections.Load())
			require.ErrorIs(t, tests.Discard(tests.Call(t.Context(), client, true)), prospectkit.ErrOutcomeUnknown)
			useAll()
			require.EqualValues(t, warm+1, connections.Load(), "only the one that was cut is replaced")
		})
	}
}

// Whatever the response was, its connection serves the next request.
func TestAttempt_ConnectionsAreReused(t *testing.T) {
	page := func(n int) http.HandlerFunc {
		return tests.Serves(502, strings.Repeat("x", n), tests.ContentType, tests.HTMLType)
	}
	cases := map[string]struct {
		serve       http.HandlerFunc
		connections int32 // for four calls of one attempt each
	}{
		"success":                  {tests.Serves(200, tests.OneUser), 1},
		"success, chunked":         {chunked(tests.OneUser), 1},
		"unreadable success":       {tests.Serves(200, tests.HTML), 1},
		"enveloped error":          {tests.Serves(404, tests.Envelope("LIST_NOT_FOUND")), 1},
		"redirect":                 {tests.Serves(302, "<a>Found</a>", "Location", "/elsewhere"), 1},
		"no content":               {tests.Serves(204, ""), 1},
		"refusal":                  {tests.Serves(421, "wrong door"), 1},
		"error page of 5,000 B":    {page(5000), 1},
		"error page of 64 KB":      {page(64 << 10), 1},
		"chunked page of 64 KB":    {chunked(strings.Repeat("x", 64<<10)), 1},
		"endless error page":       {endlessly(502, tests.HTMLType), 4},
		"success that is too long": {endlessly(200, "application/json"), 4},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			server, connections := tests.Counted(t, test.serve)
			client := tests.ClientAt(t, server.URL, tests.OneAttempt, prospectkit.WithMaxResponseBytes(1<<20))
			for range 4 {
				_, _ = client.Account.Me(t.Context())
			}
			require.Equal(t, test.connections, connections.Load())
		})
	}
}

// endlessly writes spaces for as long as somebody reads.
func endlessly(status int, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(tests.ContentType, kind)
		w.WriteHeader(status)
		spaces := bytes.Repeat([]byte{' '}, 64<<10)
		for err := error(nil); err == nil; {
			_, err = w.Write(spaces)
		}
	}
}

func chunked(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		tests.RateHeaders(w.Header(), http.StatusOK)
		w.Header().Set(tests.ContentType, "application/json")
		for part := range slices.Chunk([]byte(body), 1000) {
			_, _ = w.Write(part)
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// The retry engine logs every URL to standard error unless it is told not to. This runs failing calls in a process of its own
// and demands silence.
func TestAttempt_Silence(t *testing.T) {
	const mark = "PROSPECTKIT_TEST_SILENCE"
	if os.Getenv(mark) != "" {
		server, _ := tests.Counted(t, tests.Serves(503, tests.HTML))
		client := tests.ClientAt(t, server.URL)
		require.Error(t, tests.Discard(client.Account.Me(t.Context())))
		require.Error(t, tests.Discard(tests.Call(t.Context(), client, true)))
		require.Error(t, tests.Discard(tests.Call(t.Context(), tests.ClientAt(t, "http://"+closedPort(t)), true)))
		both := tests.RoundTrip(func(*http.Request) (*http.Response, error) { return tests.Respond(200, tests.OneUser), tests.ErrBroken })
		_, err := tests.NewClient(t, both, tests.OneAttempt).Account.Me(t.Context())
		require.ErrorIs(t, err, tests.ErrBroken)
		fmt.Println("calls made") // proves that it ran
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAttempt_Silence$", "-test.count=1")
	child.Env = append(os.Environ(), mark+"=1")
	var stdout, stderr bytes.Buffer
	child.Stdout, child.Stderr = &stdout, &stderr
	require.NoError(t, child.Run(), stdout.String())
	require.Contains(t, stdout.String(), "calls made")
	require.NotContains(t, stdout.String(), "http://")
	require.Empty(t, stderr.String())
}

// A transport that breaks its contract is an error, never a panic and never a claim that something happened.
func TestAttempt_TransportsThatBreakTheirContract(t *testing.T) {
	cases := map[string]struct {
		rt    tests.RoundTrip
		cause string
	}{
		"neither response nor error": {func(*http.Request) (*http.Response, error) { return nil, nil }, "neither"}, //nolint:nilnil // the case
		"a response and an error": {func(*http.Request) (*http.Response, error) {
			return tests.Respond(201, `{"list":`+tests.OneList+`}`), tests.ErrBroken
		}, "on purpose"},
		"no body": {func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}}, nil
		}, "503"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := tests.Call(t.Context(), tests.NewClient(t, test.rt), true)
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			require.ErrorContains(t, err, test.cause)
			_, err = tests.Call(t.Context(), tests.NewClient(t, test.rt, tests.OneAttempt), false)
			require.ErrorContains(t, err, test.cause)
			require.Equal(t, prospectkit.OutcomeNotApplied, tests.AsError(t, err).Outcome())
		})
	}
}
