package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// While a look takes long, another one waits until the service has room for both, even if it counts all of the last minute.
func TestAnotherLookWaitsForRoom(t *testing.T) {
	for last, want := range map[int64]Instant{117: 22 * second, 118: 61 * second, 119: 80 * second} {
		s := mid(0, 1)
		s.Refills = refillsMost
		s.Counts[Minute] = WindowCount{}
		s.Counts[Minute].add(second, minute, 1)
		s.Counts[Minute].add(20*second, minute, last)
		s.ProbeUntil = 20*second + probeLease
		require.Equal(t, 22*second, s.probing(21*second))
		require.Equal(t, want, s.probing(25*second), "%d", last)
		require.Equal(t, s.ProbeUntil, s.probing(s.ProbeUntil))
	}
}

// On a surface of which nothing is known, the next response is waited for, and no time.
func TestAnUnknownSurfaceWaitsForAResponse(t *testing.T) {
	s := opened(Config{}, NoFigures)
	_, d := take(s, second, 10)
	require.Equal(t, Delay{Until: second + probeLease, News: true}, d.Delay)
}

// Two responses without figures came after those that say what comes back at the reset: as a minute that slides gives that to the first of
// them, another look waits for room by our own count.
func TestALookBeyondTheFiguresWaitsForRoom(t *testing.T) {
	for unknown, want := range map[int64]Instant{0: 0, 2: 80 * second} {
		s := mid(0, 0)
		s.Others.Slides = sure
		s.Dispatched, s.Completed = 50+unknown, 50+unknown
		s.Counts[Minute] = WindowCount{}
		s.Counts[Minute].add(20*second, minute, 118+unknown)
		var p Permit
		d, granted := s.takeCovered(62*second, Interactive, &p)
		require.Equal(t, want == 0, granted)
		require.Equal(t, want, d.Until)
	}
}

// Without figures, our own requests of the last minute fit, too, unless the service certainly weighs or refills: else the minute may slide
// (seed 22345188 of the simulation at 188fa0de: it was refused).
func TestWithoutFiguresAMinuteMaySlide(t *testing.T) {
	for evidence, want := range map[int8]Instant{0: 80 * second, 1: 80 * second, weighs: 0} {
		s := NewState(Config{PerMinute: 12})
		s.Told, s.Silent, s.Weighs, s.Edges[Minute] = true, silence, evidence, Edge{30 * second, 31 * second, 0}
		s.Counts[Minute].add(20*second, minute, 8)
		s.Counts[Minute].add(50*second, minute, 4)
		d := s.Take(55*second, Interactive)
		require.Equal(t, want == 0, d.Granted, evidence)
		require.Equal(t, want, d.Until, evidence)
	}
}
