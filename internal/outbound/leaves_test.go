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
