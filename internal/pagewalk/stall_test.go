package pagewalk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStallIsNoticed(t *testing.T) {
	page := func(s *StallDetector, ids string) (int, bool) {
		return s.Page(len(ids), func(i int) string { return ids[i : i+1] })
	}
	var empty StallDetector
	for n := 1; n <= mostEmpty; n++ {
		stale, stalled := page(&empty, "")
		require.Equal(t, n, stale)
		require.Equal(t, n == mostEmpty, stalled, n)
	}

	var same StallDetector
	for _, step := range []struct {
		ids     string
		stale   int
		stalled bool
	}{{"ab", 0, false}, {"ba", 1, false}, {"bc", 0, false}, {"", 1, false}, {"c", 2, false}, {"da", 0, false}, {"d", 1, false}, {"a", 2, true}} {
		stale, stalled := page(&same, step.ids)
		require.Equal(t, step.stale, stale, step.ids)
		require.Equal(t, step.stalled, stalled, step.ids)
	}
	same.Forget()
	stale, _ := page(&same, "a")
	require.Zero(t, stale)
}
