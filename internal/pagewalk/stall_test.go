package pagewalk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStallIsNoticed(t *testing.T) {
	page := func(s *Stall, ids string) (int, bool) {
		return s.Page(len(ids), func(i int) string { return ids[i : i+1] })
	}
	var empty Stall
	for n := 1; n <= mostEmpty; n++ {
		barren, stalled := page(&empty, "")
		require.Equal(t, n, barren)
		require.Equal(t, n == mostEmpty, stalled, n)
	}

	var same Stall
	for _, step := range []struct {
		ids     string
		barren  int
		stalled bool
	}{{"ab", 0, false}, {"ba", 1, false}, {"bc", 0, false}, {"", 1, false}, {"c", 2, false}, {"a", 3, true}} {
		barren, stalled := page(&same, step.ids)
		require.Equal(t, step.barren, barren, step.ids)
		require.Equal(t, step.stalled, stalled, step.ids)
	}
	same.Forget()
	barren, _ := page(&same, "a")
	require.Zero(t, barren)
}
