package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryTokens(t *testing.T) {
	t.Parallel()
	tokens := NewRetryTokens()
	now := time.Unix(1_000_000, 0)
	for range 10 {
		require.True(t, tokens.Take(now))
	}
	require.False(t, tokens.Take(now), "all are used")
	require.False(t, tokens.Take(now.Add(29*time.Second)))
	require.True(t, tokens.Take(now.Add(30*time.Second)), "one every thirty seconds")
	require.False(t, tokens.Take(now.Add(31*time.Second)))
	for range 9 {
		tokens.Succeeded()
	}
	require.False(t, tokens.Take(now.Add(31*time.Second)))
	tokens.Succeeded()
	tokens.Succeeded() // sums of tenths are not exact
	require.True(t, tokens.Take(now.Add(31*time.Second)), "one for ten successes")
	for range 1000 {
		tokens.Succeeded()
	}
	for range 10 {
		require.True(t, tokens.Take(now.Add(32*time.Second)))
	}
	require.False(t, tokens.Take(now.Add(32*time.Second)), "never more than ten")
}
