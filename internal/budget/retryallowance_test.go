package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRetryAllowance(t *testing.T) {
	t.Parallel()
	var allowance RetryAllowance
	now := time.Unix(1_000_000, 0)
	for range 10 {
		require.True(t, allowance.Take(now))
	}
	require.False(t, allowance.Take(now), "all are used")
	require.False(t, allowance.Take(now.Add(29*time.Second)))
	require.True(t, allowance.Take(now.Add(30*time.Second)), "one every thirty seconds")
	require.False(t, allowance.Take(now.Add(31*time.Second)))
	for range 9 {
		allowance.Succeeded()
	}
	require.False(t, allowance.Take(now.Add(31*time.Second)))
	allowance.Succeeded()
	require.True(t, allowance.Take(now.Add(31*time.Second)), "one for ten successes")
	for range 1000 {
		allowance.Succeeded()
	}
	for range 10 {
		require.True(t, allowance.Take(now.Add(32*time.Second)))
	}
	require.False(t, allowance.Take(now.Add(32*time.Second)), "never more than ten")
}
