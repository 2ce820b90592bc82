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
		require.Equal(t, o.Route(), served(t, o.Method, path), "%s reaches another operation's route", o.Name)
	}
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

func TestExpandBelow(t *testing.T) {
	path, ok := op.Expand("/api/v1%2F", twoIDs, "1", "2")
	require.True(t, ok)
	require.Equal(t, "/api/v1%2F/a/1/b/2", path)
	path, ok = op.Expand("/api/v1", "/a")
	require.True(t, ok)
	require.Equal(t, "/api/v1/a", path)
	_, ok = op.Expand("/api/v1", twoIDs, "1", "")
	require.False(t, ok, "an empty element would name another route")
}

func TestValidPath(t *testing.T) {
	for _, path := range []string{"/", "/a", "/a/", "/a/b-c_d.e~f", "/a%2Fb", "/a..b", "/...", "/{id}", "/a/{id}/b", "/k%C3%B6ln", "/a:b", "/!", "/~"} {
		require.True(t, op.ValidPath(path), path)
	}
	for _, path := range []string{
		"", "a", "a/b", "/a?b", "/a#b", `/a\b`, "/a b", "/a\x7f", "/a\nb", "/a\x1f", "/a\x00", "//a", "/a//b", "/a/.", "/./a", "/a/..", "/../a", "/a/%2e", "/a/%2E.",
		"/a%2F..", "/a/%zz", "/a%", "/%ff", "/\xff", "/{", "/}", "/{}", "/{id", "/id}", "/a{id}", "/{id}a", "/{{id}}", "/{a}{b}", "/a{", "/a/{}/b",
	} {
		require.False(t, op.ValidPath(path), path)
	}
}

// What a proxy or a server strips or decodes once more would lead elsewhere.
func TestValidRoute(t *testing.T) {
	for _, o := range op.All() {
		require.True(t, o.Path == "" || op.ValidRoute(o.Path), o.Path)
	}
	for _, path := range []string{"/", "/a/", "/a/b-c_d.e~f/V2", "/a/{someId}/b"} {
		require.True(t, op.ValidRoute(path), path)
	}
	for _, path := range []string{
		"", "a", "//a", "/a/..", "/a/{id", "/a;x=1", "/a%3B", "/a%20", "/a%00", "/a%09", "/a%3Fx", "/a%23", "/%61", "/%2561", "/a%2F%2Fb", "/a%2Fb", "/a%E2%80%8B", "/é",
		"/a:b", "/a,b", "/a=b", "/a+b", "/a*", "/a@b", "/a!", "/a'", "/(a)", "/$a", "/a&b", "/a|b",
	} {
		require.False(t, op.ValidRoute(path), path)
	}
}

// Some servers take what follows a dot for a format.
func TestLeads_ADotEndsTheName(t *testing.T) {
	const approve = "/business/campaigns/{campaignId}/approve"
	for path, want := range map[string]bool{
		"/business/campaigns/1/approve.json": true, "/business/campaigns/1/Approve./": true, "/business/campaigns/1.2/approve": true,
		"/business/campaigns/1/approved": false, "/business/campaigns/1/.approve": false, "/business/campaigns/approve": false,
	} {
		require.Equal(t, want, op.Leads(approve, path), path)
	}
}
