package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A count by weight is the highest for all instants at which the window may have begun.
func TestWeighed(t *testing.T) {
	var l WindowCount
	l.add(10*second, minute, 60)
	l.add(70*second, minute, 30)
	l.expire(90*second, minute)
	require.EqualValues(t, 30, l.Sum)
	require.EqualValues(t, 60, l.Faded)
	for _, c := range []struct {
		from, to Instant
		want     float64
	}{
		{60 * second, 60 * second, 30 + 60*0.5},
		{30 * second, 30 * second, 30},
		{80 * second, 80 * second, 30 * 5. / 6},
		{60 * second, 70 * second, 30 + 60*2./3},
		{30 * second, 90 * second, 30 + 60*2./3},
	} {
		require.InDelta(t, c.want, l.weighed(90*second, minute, c.from, c.to), 1e-9, "%v", c)
	}
	before, current, unsure := l.certain(minute, 60*second, 60*second, second)
	require.Equal(t, []int64{60, 30, 0}, []int64{before, current, unsure})
	before, current, unsure = l.certain(minute, 60*second, 70*second, second)
	require.Equal(t, []int64{0, 0, 30}, []int64{before, current, unsure}, "the sixty may be older than the last window")
	l.expire(130*second, minute)
	require.Zero(t, l.Faded-30)
	l.expire(190*second, minute)
	require.Zero(t, l.Faded+l.Sum)
}
