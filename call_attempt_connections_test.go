package prospectkit_test

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
)

// A call that fails for good leaves the warm connections of the others alone.
func TestAttempt_WarmConnectionsSurviveFailures(t *testing.T) {
	const warm = 20
	var together sync.WaitGroup
	server, connections := counted(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/business/credits":
			write(w, 200, `{}`)
			return
		case "/api/v1/business/me":
			together.Done()
			together.Wait()
			write(w, 200, oneUser)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		hijack(w, "")
	})
	client := clientAt(t, server.URL)
	useAll := func() {
		together.Add(warm)
		var group sync.WaitGroup
		for range warm {
			group.Go(func() {
				_, err := client.Account.Me(t.Context())
				require.NoError(t, err)
			})
		}
		group.Wait()
	}
	for range warm { // without headers, a surface begins with one request at a time
		_, err := client.Account.Credits(t.Context())
		require.NoError(t, err)
	}
	useAll()
	require.EqualValues(t, warm, connections.Load())
	_, err := call(t.Context(), client, true)
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	useAll()
	require.EqualValues(t, warm+1, connections.Load(), "only the one that was cut is replaced")
}

// Whatever the response was, its connection serves the next request.
func TestAttempt_ConnectionsAreReused(t *testing.T) {
	page := func(n int) http.HandlerFunc { return serves(502, strings.Repeat("x", n), contentType, htmlType) }
	tests := map[string]struct {
		serve       http.HandlerFunc
		connections int32 // for four calls of one attempt each
	}{
		"success":                  {serves(200, oneUser), 1},
		"success, chunked":         {chunked(oneUser), 1},
		"unreadable success":       {serves(200, html), 1},
		"enveloped error":          {serves(404, envelope("LIST_NOT_FOUND")), 1},
		"redirect":                 {serves(302, "<a>Found</a>", "Location", "/elsewhere"), 1},
		"no content":               {serves(204, ""), 1},
		"refusal":                  {serves(421, "wrong door"), 1},
		"error page of 5,000 B":    {page(5000), 1},
		"error page of 64 KB":      {page(64 << 10), 1},
		"chunked page of 64 KB":    {chunked(strings.Repeat("x", 64<<10)), 1},
		"endless error page":       {endlessly(502, htmlType), 4},
		"success that is too long": {endlessly(200, "application/json"), 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server, connections := counted(t, test.serve)
			client := clientAt(t, server.URL, prospectkit.WithRetry(prospectkit.NoRetry), prospectkit.WithMaxResponseBytes(1<<20))
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
		w.Header().Set(contentType, kind)
		w.WriteHeader(status)
		spaces := bytes.Repeat([]byte{' '}, 64<<10)
		for err := error(nil); err == nil; {
			_, err = w.Write(spaces)
		}
	}
}

func chunked(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		rateHeaders(w.Header(), http.StatusOK)
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
		server, _ := counted(t, serves(503, html))
		client := clientAt(t, server.URL)
		_, err := client.Account.Me(t.Context())
		require.Error(t, err)
		_, err = call(t.Context(), client, true)
		require.Error(t, err)
		_, err = call(t.Context(), clientAt(t, "http://"+closedPort(t)), true)
		require.Error(t, err)
		both := roundTrip(func(*http.Request) (*http.Response, error) { return respond(200, oneUser), errBroken })
		_, err = newClient(t, both, prospectkit.WithRetry(prospectkit.NoRetry)).Account.Me(t.Context())
		require.ErrorIs(t, err, errBroken)
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
	tests := map[string]struct {
		rt    roundTrip
		cause string
	}{
		"neither response nor error": {func(*http.Request) (*http.Response, error) { return nil, nil }, "neither"}, //nolint:nilnil // the case
		"a response and an error":    {func(*http.Request) (*http.Response, error) { return respond(201, `{"list":`+oneList+`}`), errBroken }, "on purpose"},
		"no body": {func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}}, nil
		}, "503"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := call(t.Context(), newClient(t, test.rt), true)
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			require.ErrorContains(t, err, test.cause)
			_, err = call(t.Context(), newClient(t, test.rt, prospectkit.WithRetry(prospectkit.NoRetry)), false)
			require.ErrorContains(t, err, test.cause)
			require.Equal(t, prospectkit.OutcomeNotApplied, asError(t, err).Outcome())
		})
	}
}
