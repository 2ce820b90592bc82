package undocumented

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// However many operations a caller describes, the memory has a bound, and the texts of new ones are still examined now and then.
func TestMemoryIsBounded(t *testing.T) {
	var m Memory
	examined := 0
	for i := range 4 * maxSeries {
		if m.Due("op"+strconv.Itoa(i), 1, false) {
			examined++
		}
	}
	require.LessOrEqual(t, len(m.counts), maxSeries+4)
	require.Equal(t, maxSeries+smallFirst+(3*maxSeries-smallFirst)/smallEvery, examined)
}

// An operation that was known before the memory was full keeps its own count. All others share one.
func TestMemoryKeepsWhatItKnows(t *testing.T) {
	t.Parallel()
	var m Memory
	for i := range maxSeries {
		require.True(t, m.Due(strconv.Itoa(i), 1, false))
	}
	for range 2 * smallFirst {
		m.Due("one more", 1, false)
	}
	require.True(t, m.Due("0", 1, false), "the second of its own")
	require.False(t, m.Due("another", 1, false), "the next of all others")
	require.Len(t, m.counts, maxSeries+1)
}
