package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Without figures, each whole window of those ahead adds its length.
func TestEarliestWithoutFigures(t *testing.T) {
	s := opened(Config{PerMinute: 10}, NoFigures)
	const opens = 1 + 200*millisecond + minute
	for ahead, want := range map[int]Instant{0: second, 8: second, 9: opens, 10: minute + second, 18: minute + second, 19: opens + minute, 35: 3*minute + second, 109: opens + 10*minute} {
		at, w := s.Earliest(second, ahead, Interactive)
		require.Equal(t, want, at, "%d ahead", ahead)
		require.Equal(t, Minute, w)
	}
}

// Requests that fill the last minute are given back one after the other, not a minute from now.
func TestEarliestAfterAFullMinute(t *testing.T) {
	s := opened(Config{PerMinute: 10}, NoFigures)
	for i := range 9 {
		s.Counts[Minute].add(Instant(i+2)*second, minute, 1)
	}
	at, _ := s.Earliest(20*second, 9, Interactive)
	require.Equal(t, minute+10*second, at)
}

// A window that weighs gives back before it ends, to batch calls later, and is not known to be used up without figures.
func TestEarliestWhereAServiceWeighs(t *testing.T) {
	s := mid(0, 0)
	s.Weighs, s.Config.Reserve = weighsMost, 90
	s.Counts[Minute] = WindowCount{}
	s.Counts[Minute].add(second, minute, 120)
	at, _ := s.Earliest(31*second, 0, Interactive)
	batch, _ := s.Earliest(31*second, 0, Batch)
	ahead, _ := s.Earliest(31*second, 90, Interactive)
	require.Less(t, at, batch)
	require.Equal(t, ahead, batch)
	s.Figures.Valid = false
	at, _ = s.Earliest(31*second, 0, Interactive)
	require.Equal(t, 31*second, at)
}
