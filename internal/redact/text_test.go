package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlainName(t *testing.T) {
	for _, name := range []string{"", "a", "z", "A", "Z", "snake_case-Name", strings.Repeat("x", 40)} {
		require.Equal(t, name, PlainName(name))
	}
	for _, text := range []string{strings.Repeat("x", 41), "a b", "a1", "a.b", "é", "a@b", "[", "`", "{"} {
		require.Empty(t, PlainName(text), text)
	}
}

func TestRoute(t *testing.T) {
	for path, want := range map[string]string{
		"":                         "",
		"/business/lists":          "/business/lists",
		"/lists/65f0c0ffee65/rows": "/lists/{id}/rows",
		"/a/ada@mail.example/":     "/a/{id}/",
	} {
		require.Equal(t, want, Route(path))
	}
}

func TestPlural(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0 times", Plural(0, "time"))
	require.Equal(t, "1 time", Plural(1, "time"))
	require.Equal(t, "2 times", Plural(2, "time"))
}
