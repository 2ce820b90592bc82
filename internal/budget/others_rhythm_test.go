package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What comes in a rhythm is due when it is due, and forgotten after some that did not come.
func TestRhythm(t *testing.T) {
	o := Others{Burst: 60}
	for i := range 3 {
		o.learnRhythm(Instant(i+1) * minute)
	}
	require.True(t, o.regular())
	due, expected := o.due(200 * second)
	require.True(t, expected)
	require.Equal(t, 4*minute, due)
	due, _ = o.due(4*minute + o.tolerance() - 1)
	require.Equal(t, 4*minute, due, "it may be late")
	due, _ = o.due(4*minute + o.tolerance())
	require.Equal(t, 5*minute, due)
	_, expected = o.due(8 * minute)
	require.False(t, expected)
	require.Zero(t, o.burst(9*minute))
	require.False(t, o.learnRhythm(3*minute+second), "it is the same one")
}
