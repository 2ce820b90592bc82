package check_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
)

func TestHeaderCharacters(t *testing.T) {
	t.Parallel()
	require.True(t, check.IsToken("X-Name"))
	for _, s := range []string{"", "a b", "a:b", "ä", "a\x7f", "a/b"} {
		require.False(t, check.IsToken(s), "%q", s)
	}
	require.True(t, check.HasControl("a\nb") && check.HasControl("a\x7f"))
	require.False(t, check.HasControl("ä b"))
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	var bad check.Violations
	require.Equal(t, "https://x.example/a%2Fb/v1", check.BaseURL(&bad, "https://x.example/a%2Fb/v1/", "/v1").String())
	require.Empty(t, bad)
	for text, want := range map[string]string{
		"":                      "must not be empty",
		"https://%":             "is not a URL",
		"ftp://x/v1":            "must start with https:// (or http:// to this machine)",
		"https:///v1":           "names no host",
		"https://u@x/v1":        "must not carry credentials",
		"https://x/v1?":         "must not have a query or fragment",
		"https://x/v1#a":        "must not have a query or fragment",
		"https://x/v2":          "must end in /v1",
		"https://x/a/../v1":     "has a path with empty or dot segments",
		"https://x/a/%2e%2e/v1": "has a path with empty or dot segments",
	} {
		var bad check.Violations
		require.Nil(t, check.BaseURL(&bad, text, "/v1"))
		require.Equal(t, check.One("base URL", want), bad, text)
	}
}

// One service has one spelling.
func TestBaseURL_Spelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://X.Example/API/v1":       "https://x.example/API/v1",
		"https://x.example:443/api/v1":   "https://x.example/api/v1",
		"https://x.example:/api/v1/":     "https://x.example/api/v1",
		"HTTP://LOCALHOST:80/api/v1":     "http://localhost/api/v1",
		"https://x.example:80/api/v1":    "https://x.example:80/api/v1",
		"http://localhost:443/api/v1":    "http://localhost:443/api/v1",
		"https://x.example:4443/api/v1":  "https://x.example:4443/api/v1",
		"https://[2001:DB8::1]:443/v1":   "https://[2001:db8::1]/v1",
		"https://[fe80::443]/v1":         "https://[fe80::443]/v1",
		"https://x.example/a%2Fb/api/v1": "https://x.example/a%2Fb/api/v1",
	} {
		var bad check.Violations
		require.Equal(t, want, check.BaseURL(&bad, text, "/v1").String())
		require.Empty(t, bad)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"7": true, "51-200": true, "1000+": true, "5-5": true, "": false, "-5": false, "1-2-3": false, "1-+2": false, "+1-2": false, "1-2+": false, "a": false,
	} {
		require.Equal(t, want, check.IsRange(s), s)
	}
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "::1": true, "::ffff:127.0.0.1": true, "example.com": false, "10.0.0.1": false, "": false,
	} {
		require.Equal(t, want, check.IsLoopback(host), host)
	}
	var pointer *int
	require.True(t, check.IsNil(nil))
	require.True(t, check.IsNil(pointer))
	require.False(t, check.IsNil(0))
	require.False(t, check.IsNil(new(int)))
}

func TestDate(t *testing.T) {
	t.Parallel()
	var bad check.Violations
	bad.Date("day", "9999-12-31")
	require.Empty(t, bad)
	bad.Date("day", "2020-01-01")
	require.Equal(t, check.One("day", "is 2020-01-01, must be in the future"), bad)
	for _, none := range []string{"2027-02-29", "10000-01-01", "2030-13-05", "2030-00-31", "2030-01-366", "2030-06-00", "2030-01-32", "0000-01-01", "2030-1-1", "01.03.2030", "-"} {
		var one check.Violations
		one.Date("day", none)
		require.Equal(t, check.One("day", "is not a date like 2027-03-01"), one, none)
	}
}

func TestRoute(t *testing.T) {
	t.Parallel()
	var bad check.Violations
	method, path := check.Route(&bad, "WithRoutes", "POST /agents/{agentId}/pause")
	require.Equal(t, "POST /agents/{agentId}/pause", method+" "+path)
	require.Empty(t, bad)
	for _, route := range []string{"", "POST", "post /a", "POST a", "POST /a?b", "POST /a/../b", "POST /{a"} {
		var bad check.Violations
		check.Route(&bad, "WithRoutes", route)
		require.Len(t, bad, 1, route)
	}
}

func TestOperation(t *testing.T) {
	t.Parallel()
	var bad check.Violations
	good := op.Op{Name: "lists.rename", Method: "PUT", Surface: op.Lists, Class: op.Idempotent}
	check.Operation(&bad, &good, "/business/lists")
	require.Empty(t, bad)
	check.Operation(&bad, &op.Op{Method: "HEAD", Surface: "moon", Class: op.Read, Timeout: -1}, "/{a}")
	require.Equal(t, check.Violations{
		{Param: "Operation.Name", Problem: "is required"},
		{Param: "Operation.Method", Problem: `is "HEAD", must be one of ["GET" "POST" "PUT" "PATCH" "DELETE"]`},
		{Param: "Operation.Reads", Problem: "is set, and the method writes: HEAD"},
		{Param: "Operation.Path", Problem: "must start with / and be of letters, digits, - _ . ~, without empty or dot segments"},
		{Param: "Operation.Surface", Problem: `is "moon", must be one of the surfaces of this package`},
		{Param: "Operation.AttemptTimeout", Problem: "must not be negative"},
	}, bad)
}

// Each bound is tried at its edges.
func TestViolations_Edges(t *testing.T) {
	t.Parallel()
	const id = "09afAF09afAF09afAF09afAF"
	for want, try := range map[string]func(*check.Violations){
		"a is wrong":                              func(v *check.Violations) { v.Must(true, "a", "is right"); v.Must(false, "a", "is %s", "wrong") },
		"b is 1, must be 2 to 4":                  func(v *check.Violations) { v.Between("b", 0, 2, 4); v.Between("b", 2, 2, 4); v.Between("b", 1, 2, 4) },
		"c is 5, must be 2 to 4":                  func(v *check.Violations) { v.Between("c", 4, 2, 4); v.Between("c", 5, 2, 4) },
		"d is 1, must be at least 2":              func(v *check.Violations) { v.AtLeast("d", 0, 2); v.AtLeast("d", 2, 2); v.AtLeast("d", 1, 2) },
		"e has 1 characters, must have 2 to 3":    func(v *check.Violations) { v.Length("e", "ää", 2, 3); v.Length("e", "ä", 2, 3) },
		"f has 4 characters, must have 2 to 3":    func(v *check.Violations) { v.Length("f", "äää", 2, 3); v.Length("f", "ääää", 2, 3) },
		"g has 4 characters, must have 2 to 3":    func(v *check.Violations) { v.OptionalLength("g", "", 2, 3); v.OptionalLength("g", "ääää", 2, 3) },
		"h must be 24 hexadecimal digits":         func(v *check.Violations) { v.ID("h", id); v.ID("h", id[1:]+"g") },
		"i must be 24 hexadecimal digits":         func(v *check.Violations) { v.OptionalID("i", ""); v.OptionalID("i", id); v.OptionalID("i", "x") },
		"j must all be 24 hexadecimal digits":     func(v *check.Violations) { v.IDs("j", nil); v.IDs("j", []string{id}); v.IDs("j", []string{id, "x"}) },
		`k is "z", must be one of ["x" "y"]`:      func(v *check.Violations) { check.OneOf(v, "k", "y", "x", "y"); check.OneOf(v, "k", "z", "x", "y") },
		`l is "z", must be one of ["x"]`:          func(v *check.Violations) { check.Required(v, "l", "x", "x"); check.Required(v, "l", "z", "x") },
		"m is not valid UTF-8":                    func(v *check.Violations) { v.Text("m", "ä", ""); v.Text("m", "ä\xff") },
		"body is not valid UTF-8":                 func(v *check.Violations) { v.InvalidText(nil); v.InvalidText([]string{""}) },
		"n is empty, which could mean everything": func(v *check.Violations) { v.NotEmpty("n", []int{1}); v.NotEmpty("n", []int{}) },
	} {
		var bad check.Violations
		try(&bad)
		require.Len(t, bad, 1, want)
		require.True(t, strings.HasPrefix(bad[0].Param+" "+bad[0].Problem, want), "%v, want %s", bad, want)
	}
}

func TestToken_Problems(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"": "must not be empty", "tok ": "has space around it", "a\x7fb": "has a character that nobody sees, U+007F, at byte 1: copy the key again",
		"\ufeffkey": "has a character that nobody sees, U+FEFF, at byte 0: copy the key again", "k\u200bey": "has a character that nobody sees, U+200B, at byte 1: copy the key again",
		"key\u2060": "has a character that nobody sees, U+2060, at byte 3: copy the key again", "k\u00ady": "has a character that nobody sees, U+00AD, at byte 1: copy the key again",
		"k\u00a0y": "has a character that nobody sees, U+00A0, at byte 1: copy the key again", "k\u3164y": "has a character that nobody sees, U+3164, at byte 1: copy the key again",
		"http://x": "has a colon, which HTTP Basic cannot carry",
		"a:b":      "has a colon, which HTTP Basic cannot carry",
	} {
		var bad check.Violations
		check.Token(&bad, token)
		require.Equal(t, check.One("token", want), bad, "%q", token)
	}
}
