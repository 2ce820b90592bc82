package prospectkit_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

func TestSeenIDsRememberTheLastAndStayBounded(t *testing.T) {
	var seen prospectkit.SeenIDs
	id := func(n int) string { return fmt.Sprintf("%024x", n) }
	require.False(t, seen.Has(id(0)))
	const least, all = 1 << 15, 300_000
	for n := range all {
		require.True(t, seen.Add(id(n)), "record %d is new", n)
		if n%1000 != 0 {
			continue
		}
		for back := range min(n, least) / 500 {
			require.True(t, seen.Has(id(n-back*500)), "record %d is remembered at %d", n-back*500, n)
		}
	}
	for n := all - least; n < all; n++ {
		require.False(t, seen.Add(id(n)), "record %d is remembered", n)
	}
	forgotten := all - 2*least - 1
	require.False(t, seen.Has(id(forgotten)))
	require.LessOrEqual(t, seen.Room(), 4*least)
}

func TestSeenIDsTakeAnEmptyIDForNew(t *testing.T) {
	var seen prospectkit.SeenIDs
	require.True(t, seen.Add(""))
	require.True(t, seen.Add(""))
	require.False(t, seen.Has(""))
}
