package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
)

func TestViolations_Bounds(t *testing.T) {
	t.Parallel()
	var bad check.Violations
	bad.Must(true, "a", "is wrong")
	bad.Between("b", 3, 1, 3)
	bad.Between("c", 4, 1, 3)
	bad.AtLeast("d", 0, 1)
	bad.AtLeast("e", -1, 1)
	bad.Length("f", "äö", 1, 2)
	bad.OptionalLength("g", "", 1, 2)
	bad.Length("h", "", 1, 2)
	check.OneOf(&bad, "i", "", "x")
	check.OneOf(&bad, "j", "y", "x")
	check.Required(&bad, "k", "", "x")
	require.Equal(t, check.Violations{
		{Param: "c", Problem: "is 4, must be 1 to 3"},
		{Param: "e", Problem: "is -1, must be at least 1"},
		{Param: "h", Problem: "has 0 characters, must have 1 to 2"},
		{Param: "j", Problem: `is "y", must be one of ["x"]`},
		{Param: "k", Problem: "is required"},
	}, bad)
}

func TestViolations_IDs(t *testing.T) {
	t.Parallel()
	const id = "65f0c0ffee65f0c0ffee65F0"
	require.True(t, check.IsID(id))
	for _, other := range []string{"", id[1:], id + "0", "65f0c0ffee65f0c0ffee65g0", "65f0c0ffee65f0c0ffee65f "} {
		require.False(t, check.IsID(other), "%q", other)
	}
	var bad check.Violations
	bad.ID("a", id)
	bad.OptionalID("b", "")
	bad.IDs("c", []string{id, "x", "y"})
	require.Equal(t, check.One("c", "must all be 24 hexadecimal digits; index 1 is not"), bad)
}

func TestViolations_Text(t *testing.T) {
	t.Parallel()
	var bad check.Violations
	bad.Text("a", "ä", "b\xff", "c\xff")
	bad.InvalidText([]string{"", "name"})
	bad.NotEmpty("filters", map[string][]int{"a": {}, "b": {1}})
	bad.NotEmpty("contactIds", []string{})
	bad.NotEmpty("other", func() {}) // cannot be encoded: that is reported elsewhere
	const empty = "is empty, which could mean everything: leave it out if you mean that"
	require.Equal(t, check.Violations{
		{Param: "a", Problem: "is not valid UTF-8"},
		{Param: "body", Problem: "is not valid UTF-8"},
		{Param: "name", Problem: "is not valid UTF-8"},
		{Param: "filters.a", Problem: empty},
		{Param: "contactIds", Problem: empty},
	}, bad)
}

func TestHeaderCharacters(t *testing.T) {
	t.Parallel()
	require.True(t, check.IsToken("X-Name"))
	for _, s := range []string{"", "a b", "a:b", "ä", "a\x7f", "a/b"} {
		require.False(t, check.IsToken(s), "%q", s)
	}
	require.True(t, check.HasControl("a\nb"))
	require.False(t, check.HasControl("a b"))
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
		"http://[FE80::1%25Eth0]:80/v1":  "http://[fe80::1%25Eth0]/v1",
		"https://x.example/a%2Fb/api/v1": "https://x.example/a%2Fb/api/v1",
	} {
		var bad check.Violations
		require.Equal(t, want, check.BaseURL(&bad, text, "/v1").String())
		require.Empty(t, bad)
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	for token, problems := range map[string]int{"tok": 0, "": 1, " t": 1, "a\x00": 1, "https://x": 1, "a:b": 1} {
		var bad check.Violations
		check.Token(&bad, token)
		require.Len(t, bad, problems, "%q", token)
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"7": true, "51-200": true, "1000+": true, "5-5": true, "": false, "-5": false, "200-51": false, "1-2-3": false, "1-2+": false, "a": false,
		"1-99999999999999999999": false,
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

func TestOtherCase(t *testing.T) {
	t.Parallel()
	documented := []string{"listId", "listIds", "maxCreditSpend"}
	for name, near := range map[string]string{
		"listID": "listId", "LISTIDS": "listIds", "maxCredit\u017Fpend": "maxCreditSpend", // case, by Unicode
		"listId": "", "listIds": "", "listIdd": "", "": "",
	} {
		var bad check.Violations
		require.Equal(t, near != "", bad.OtherCase("filters.", name, documented...), name)
		if near != "" {
			require.Equal(t, check.One("filters."+name, `differs from "filters.`+near+`" in letter case only`), bad)
		}
	}
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
