package call_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// net/http's transport leaves compressed responses to us, because we ask for them; with another one
// in front it decompresses them itself. Nobody is to see a difference.
func TestAttempt_CompressedResponses(t *testing.T) {
	const limit = 1 << 16
	missing := tests.Envelope("LIST_NOT_FOUND")
	long := tests.OneUser + strings.Repeat(" ", limit-len(tests.OneUser))
	packed := tests.Zip(tests.OneUser)
	damaged := packed[:len(packed)-9] + "!" + packed[len(packed)-8:]
	unzipped := []string{"Content-Encoding", "gzip"}
	cases := map[string]struct {
		serve  http.HandlerFunc
		status int
		ok     bool
	}{
		"not compressed":              {tests.Serves(200, tests.OneUser), 200, true},
		"compressed":                  {tests.Serves(200, packed, unzipped...), 200, true},
		"named otherwise":             {tests.Serves(200, packed, "Content-Encoding", "GZIP"), 200, true},
		"in parts":                    {tests.Serves(200, tests.Zip(tests.OneUser[:9])+tests.Zip(tests.OneUser[9:]), unzipped...), 200, true},
		"streamed":                    {streamed(packed, 7), 200, true},
		"as long as allowed":          {tests.Serves(200, tests.Zip(long), unzipped...), 200, true},
		"longer than that":            {tests.Serves(200, tests.Zip(long+" "), unzipped...), 200, false},
		"empty":                       {tests.Serves(200, "", unzipped...), 200, false},
		"damaged":                     {tests.Serves(200, damaged, unzipped...), 200, false},
		"cut":                         {tests.Serves(200, packed[:len(packed)-9], unzipped...), 200, false},
		"without its end":             {tests.Serves(200, packed[:len(packed)-8], unzipped...), 200, false},
		"cut in the head":             {tests.Serves(200, packed[:5], unzipped...), 200, false},
		"followed by something":       {tests.Serves(200, packed+"x", unzipped...), 200, false},
		"an error":                    {tests.Serves(404, tests.Zip(missing), unzipped...), 404, false},
		"an error that is damaged":    {tests.Serves(404, tests.Zip(missing)[:40], unzipped...), 404, false},
		"an error cut in the head":    {tests.Serves(404, tests.Zip(missing)[:5], unzipped...), 404, false},
		"a long error page":           {tests.Serves(502, tests.Zip(strings.Repeat("x", 1<<20)), unzipped...), 502, false},
		"a twice compressed response": {tests.Serves(200, tests.Zip(packed), unzipped...), 200, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != "gzip" {
					w.WriteHeader(http.StatusNotAcceptable)
					return
				}
				test.serve(w, r)
			}))
			defer server.Close()
			theirs := new(http.Transport)
			defer theirs.CloseIdleConnections()
			most := prospectkit.WithMaxResponseBytes(limit)
			same := seen(t, tests.ClientAt(t, server.URL, most, prospectkit.WithTransport(tests.RoundTrip(theirs.RoundTrip))))
			ours := tests.ClientAt(t, server.URL, most)
			defer ours.Close()
			for range 2 { // from a fresh buffer and a used one
				require.Equal(t, same, seen(t, ours))
			}
			require.Equal(t, same, seen(t, tests.ClientAt(t, server.URL, most, prospectkit.WithTransport(theirs))))
			require.Equal(t, test.status, same.status)
			require.Equal(t, test.ok, same.err == "", same.err)
		})
	}
}

// A transport that must not ask for compressed responses does not.
func TestAttempt_CompressionSwitchedOff(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			w.WriteHeader(http.StatusNotAcceptable)
			return
		}
		tests.Write(w, http.StatusOK, tests.OneUser)
	}))
	defer server.Close()
	theirs := &http.Transport{DisableCompression: true}
	defer theirs.CloseIdleConnections()
	client := tests.ClientAt(t, server.URL, prospectkit.WithTransport(theirs))
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	client = tests.Derived(t, client, prospectkit.WithUserAgent("app/1"))
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
}

// What a call shows of a response.
type sight struct {
	user   *prospectkit.User
	err    string
	body   string
	code   prospectkit.Code
	status int
	header http.Header
	tries  int
}

func seen(t *testing.T, client *prospectkit.Client) sight {
	t.Helper()
	var info prospectkit.Info
	user, err := client.Account.Me(t.Context(), prospectkit.WithInfo(&info))
	info.Header.Del("Date")
	s := sight{user: user, status: info.Status, header: info.Header, tries: len(info.Attempts)}
	if err != nil {
		e := tests.AsError(t, err)
		s.err, s.code, s.body = err.Error(), e.Code, e.Body
	}
	return s
}

// streamed sends a compressed body in pieces, without a length.
func streamed(body string, piece int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for rest := body; rest != ""; rest = rest[min(piece, len(rest)):] {
			_, _ = fmt.Fprint(w, rest[:min(piece, len(rest))])
			_ = http.NewResponseController(w).Flush()
		}
	}
}
