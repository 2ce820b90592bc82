package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/filter"
)

// Except leaves the match it is called on alone, also when there is room after its values.
func TestMatch_Except(t *testing.T) {
	t.Parallel()
	base := filter.Match{Exclude: make([]string, 0, 4)}
	a, b := base.Except("a"), base.Except("b")
	require.Equal(t, []string{"a"}, a.Exclude)
	require.Equal(t, []string{"b"}, b.Exclude)
	require.Empty(t, base.Exclude)
	require.True(t, filter.Match{}.IsZero())
	require.False(t, a.IsZero())
}
