package outbound_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/outbound"
)

func TestListedAreTheStringsWithinArrays(t *testing.T) {
	all, err := outbound.Listed([]byte(`{"key": ["a", {"b": "c"}, 1, null, true], "d": "e", "f": {"g": [[{"h": {"i": "j"}}]]}}`))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c", "j"}, all)
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		`null`: true, `{}`: true, `{"a": [], "b": {"c": [null]}}`: true, `{"a": [""]}`: false, `[0]`: false, `[[false]]`: false,
	} {
		_, blank := outbound.Empty("", text)
		require.Equal(t, want, blank, text)
	}
}
