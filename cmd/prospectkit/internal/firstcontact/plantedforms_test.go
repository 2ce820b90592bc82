package firstcontact_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// word writes a text in another way.
func word(key string, write func(string) string) func(object) {
	return set(key, func(v any) any {
		if text, ok := v.(string); ok {
			return write(text)
		}
		return v
	})
}

func snake(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "-", "_"), "List", "_list")
}

// plantedForms are differences of what responses say, and how.
var plantedForms = []plant{
	{
		name: "kinds of lists in capitals", body: on("/business/lists", every("data", word("entityType", strings.ToUpper))),
	},
	{
		name: "kinds of agents in snake case", body: on("/business/agents", every("agents", word("type", snake))),
	},
	{
		name: "errors of another content type", response: func(_ string, resp *http.Response) {
			if resp.StatusCode >= http.StatusBadRequest {
				resp.Header.Set("Content-Type", "text/html; charset=utf-8")
			}
		},
	},
	{
		name: "counts of the other kind", body: on("/business/lists", every("data", func(o object) {
			o["contactsCount"], o["companiesCount"] = o["companiesCount"], o["contactsCount"]
		})),
	},
	{
		name: "a wait after successes", response: func(_ string, resp *http.Response) {
			if resp.StatusCode == http.StatusOK {
				resp.Header.Set("Retry-After", "3")
			}
		},
	},
	{
		name: "another limit, and a reset that is a date", response: func(path string, resp *http.Response) {
			if resp.Header.Get("RateLimit-Reset") == "" {
				return
			}
			resp.Header.Set("RateLimit-Reset", "Sun, 22 Nov 2026 14:00:00 GMT")
			if path == "/business/saved-searches" {
				resp.Header.Set("RateLimit-Limit", "90")
			}
		},
	},
	{
		name: "not implemented", response: func(path string, resp *http.Response) {
			if path == "/business/saved-searches" {
				resp.StatusCode = http.StatusNotImplemented
			}
		},
	},
}

// marked writes a byte order mark before each response, or before those of one status.
type marked struct {
	next   http.RoundTripper
	status int
}

func (m marked) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.next.RoundTrip(req)
	if err == nil && (m.status == 0 || m.status == resp.StatusCode) {
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("\ufeff"), resp.Body))
		resp.ContentLength = -1
	}
	return resp, err
}

// A mark before the JSON hides nothing else.
func TestPlanted_ByteOrderMark(t *testing.T) {
	for _, status := range []int{0, http.StatusUnauthorized, http.StatusNotFound, http.StatusUnprocessableEntity} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
			found := lines(check(t, sb, marked{sb.Transport(), status}, nil))
			require.Contains(t, found, "errors: an error begins with a byte order mark", status)
			for _, line := range found {
				require.Contains(t, line, "byte order mark")
			}
			plain := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
			check(t, plain, plain.Transport(), nil)
			require.Len(t, sb.Journal(), len(plain.Journal()), "what needs ids is asked")
		})
	}
}

// samePage responds to a request for a second page with the first one, as if it were the second.
type samePage struct{ next http.RoundTripper }

func (s samePage) RoundTrip(req *http.Request) (*http.Response, error) {
	query := req.URL.Query()
	page := query.Get("pageNum")
	if page != "2" {
		return s.next.RoundTrip(req)
	}
	query.Set("pageNum", "1")
	req = req.Clone(req.Context())
	req.URL = &url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path, RawQuery: query.Encode()}
	renumber := plant{body: func(_ string, v any) any { return every("pagination", func(o object) { o["pageNum"] = 2 })(v.(object)) }}
	return changed{s.next, []plant{renumber}}.RoundTrip(req)
}

func TestPlanted_SamePageAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		report := check(t, sb, samePage{sb.Transport()}, nil)
		require.Equal(t, []string{
			"lists.list: lists, page 2 repeats the first element of the first page",
			"lists.rows: rows, page 2 repeats the first element of the first page",
		}, lines(report))
	})
}

// Connections that break are no reason to send more.
func TestRun_CutConnections(t *testing.T) {
	sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
	sb.Fail("folders.list", sandbox.Always(), sandbox.DropAfter())
	server := httptest.NewServer(sb.Handler())
	defer server.Close()
	report, err := against(t, server.URL, sb.Token())
	require.NoError(t, err)
	require.Empty(t, lines(report))
	requireHarmless(t, sb)
}
