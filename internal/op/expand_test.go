package op_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

const twoIDs = "/a/{first}/b/{second}"

func TestExpandEscapes(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":    {"64f0c0ffee64f0c0ffee64f0", "64f0c0ffee64f0c0ffee64f0"},
		"slash":    {"x/y", "x%2Fy"},
		"dot":      {".", "%2E"},
		"dot-dot":  {"..", "%2E%2E"},
		"dots in":  {"a..b", "a..b"},
		"space":    {"x y", "x%20y"},
		"unicode":  {"köln", "k%C3%B6ln"},
		"percent":  {"%2F", "%252F"},
		"query":    {"x?y#z", "x%3Fy%23z"},
		"braces":   {"{second}", "%7Bsecond%7D"},
		"no UTF-8": {"\xff", "%FF"},
		"line end": {"x\r\ny", "x%0D%0Ay"},
	} {
		t.Run(name, func(t *testing.T) {
			path, ok := op.Expand("", "/a/{id}/b", c.in)
			require.True(t, ok)
			require.Equal(t, "/a/"+c.want+"/b", path)
		})
	}
}

func TestExpandCountsArguments(t *testing.T) {
	for _, c := range []struct {
		template string
		args     []string
		want     bool
	}{
		{"/a", nil, true},
		{"/a", []string{"1"}, false},
		{twoIDs, []string{"1", "2"}, true},
		{twoIDs, []string{"1"}, false},
		{twoIDs, []string{"1", "2", "3"}, false},
		{twoIDs, nil, false},
		{"/a/{open", []string{"1"}, false},
	} {
		_, ok := op.Expand("", c.template, c.args...)
		require.Equal(t, c.want, ok, "%s with %d arguments", c.template, len(c.args))
	}
}

func TestExpandFitsEveryRoute(t *testing.T) {
	for _, o := range op.All() {
		if o.Provenance == op.CallerSupplied {
			continue
		}
		ids := make([]string, strings.Count(o.Path, "{"))
		for i := range ids {
			ids[i] = strings.Repeat(string(rune('a'+i)), 24)
		}
		path, ok := op.Expand("", o.Path, ids...)
		require.True(t, ok, o.Name)
		require.NotContains(t, path, "{", o.Name)
		require.Equal(t, o.Route(), routed(t, o.Method, path), "%s reaches another operation's route", o.Name)
	}
}

// routed is the pattern that a multiplexer with all the operations picks for a request.
func routed(t *testing.T, method, path string) string {
	t.Helper()
	mux := http.NewServeMux()
	for _, o := range op.All() {
		if o.Provenance != op.CallerSupplied {
			mux.Handle(o.Route(), http.NotFoundHandler())
		}
	}
	_, pattern := mux.Handler(httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
	return pattern
}

// An empty argument leaves an empty element, which no route takes: it can never reach a neighbouring operation.
func TestExpandEmptyReachesNothing(t *testing.T) {
	for _, o := range op.All() {
		if count := strings.Count(o.Path, "{"); count > 0 {
			path, ok := op.Expand("", o.Path, make([]string, count)...)
			if !ok {
				continue
			}
			require.NotContains(t, []string{path, strings.TrimSuffix(path, "/")}, o.Path)
			require.Empty(t, served(t, o.Method, path), o.Name)
		}
	}
}

// served is the pattern whose handler really runs, which a redirect's does not.
func served(t *testing.T, method, path string) string {
	t.Helper()
	var ran string
	mux := http.NewServeMux()
	for _, o := range op.All() {
		if o.Provenance != op.CallerSupplied {
			mux.HandleFunc(o.Route(), func(_ http.ResponseWriter, r *http.Request) { ran = r.Pattern })
		}
	}
	mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
	return ran
}

func FuzzExpand(f *testing.F) {
	for _, seed := range [][2]string{
		{"64f0c0ffee64f0c0ffee64f0", "x"}, {".", ".."}, {"a/b", "%2F"}, {"k öln", "{second}"}, {"\xff", "\x00"}, {"", "?#"}, {"a", "/"},
	} {
		f.Add(seed[0], seed[1])
	}
	var got [2]string
	served := false
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+twoIDs, func(_ http.ResponseWriter, r *http.Request) {
		served, got = true, [2]string{r.PathValue("first"), r.PathValue("second")}
	})
	f.Fuzz(func(t *testing.T, first, second string) {
		served = false
		path, ok := op.Expand("", twoIDs, first, second)
		if ok {
			mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		}
		if first == "" || second == "" {
			require.False(t, served, "an empty element matched: %q", path)
			return
		}
		require.True(t, ok)
		require.Equal(t, 4, strings.Count(path, "/"), path)
		if first != "/" && second != "/" { // which a ServeMux takes for a trailing slash and serves with no route
			require.True(t, served, "no route for %q", path)
		}
		if served {
			require.Equal(t, [2]string{first, second}, got)
		}
	})
}

// The template comes from a caller where the path is undocumented. Whatever it is, the result is a path or false.
func FuzzExpandTemplate(f *testing.F) {
	for _, seed := range []string{"", "/a", twoIDs, "/{", "/}", "/{}{", "{a}/{b", "{a{b}"} {
		f.Add(seed, "id")
	}
	f.Fuzz(func(t *testing.T, template, arg string) {
		before, after, parameter := strings.Cut(template, "{")
		path, ok := op.Expand("", template, arg)
		switch {
		case !parameter:
			require.False(t, ok, "nowhere to put the argument")
		case !ok:
			require.Empty(t, path)
		default:
			require.Contains(t, after, "}")
			require.True(t, strings.HasPrefix(path, before))
			require.NotContains(t, path[len(before):], "{", "nothing is left open")
		}
	})
}

func TestNextParameter(t *testing.T) {
	name, rest := op.NextParameter(twoIDs)
	require.Equal(t, "first", name)
	name, rest = op.NextParameter(rest)
	require.Equal(t, "second", name)
	name, _ = op.NextParameter(rest)
	require.Empty(t, name)
}
