package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/check"
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
	require.Equal(t, check.One("c", "must all be 24 hexadecimal digits"), bad)
}

func TestViolations_Text(t *testing.T) {
	t.Parallel()
	var bad check.Violations
	bad.Text("a", "ä", "b\xff", "c\xff")
	bad.InvalidText([]string{"", "name"})
	bad.NotEmpty("filters", `{"a":[],"b":[1]}`)
	bad.NotEmptyValue("contactIds", []string{})
	bad.NotEmptyValue("other", func() {}) // cannot be encoded: that is reported elsewhere
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
