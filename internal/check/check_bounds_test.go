package check_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/check"
)

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

func TestHasControl(t *testing.T) {
	t.Parallel()
	require.True(t, check.HasControl("a\x7f"))
	require.False(t, check.HasControl("ä\u0080"))
}

func TestToken_Problems(t *testing.T) {
	t.Parallel()
	for token, want := range map[string]string{
		"": "must not be empty", "tok ": "has space around it", "a\x7fb": "has a character that nobody sees, U+007F, at byte 1: copy the key again",
		"\ufeffkey": "has a character that nobody sees, U+FEFF, at byte 0: copy the key again", "k\u200bey": "has a character that nobody sees, U+200B, at byte 1: copy the key again",
		"key\u2060": "has a character that nobody sees, U+2060, at byte 3: copy the key again", "k\u00ady": "has a character that nobody sees, U+00AD, at byte 1: copy the key again",
		"k\u00a0y": "has a character that nobody sees, U+00A0, at byte 1: copy the key again", "k\u3164y": "has a character that nobody sees, U+3164, at byte 1: copy the key again",
		"http://x": "looks like a URL: base URL and token may be swapped", "https://x": "looks like a URL: base URL and token may be swapped",
		"a:b": "has a colon, which HTTP Basic cannot carry",
	} {
		var bad check.Violations
		check.Token(&bad, token)
		require.Equal(t, check.One("token", want), bad, "%q", token)
	}
}

func TestBaseURL_Schemes(t *testing.T) {
	t.Parallel()
	var bad check.Violations
	require.Equal(t, "http://localhost/v1", check.BaseURL(&bad, "http://localhost/v1/", "/v1").String())
	require.Empty(t, bad)
	require.Nil(t, check.BaseURL(&bad, "https://x/v1?a=1", "/v1"))
	require.Equal(t, check.One("base URL", "must not have a query or fragment"), bad)
	for _, s := range []string{"1-+2", "+1-2"} {
		require.False(t, check.IsRange(s), s)
	}
}
