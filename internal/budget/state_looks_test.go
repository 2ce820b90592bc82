package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// When a burst of others is due, a look tells whether it came, unless the figures are fresh or hardly anything is left.
func TestLookWhenABurstIsDue(t *testing.T) {
	for name, c := range map[string]struct {
		left, inFlight, reserve int64
		due, at                 Instant
		want                    Delay
	}{
		"not yet":          {10, 0, 0, 35 * second, 29 * second, Delay{35 * second, Shared, Minute}},
		"now":              {10, 0, 0, 31 * second, 30 * second, Delay{}},
		"before":           {3, 0, 0, 30 * second, 29 * second, Delay{}},
		"the figures know": {10, 0, 0, 30*second + second/2, 30*second + second/2, Delay{31*second + second/2, Shared, Minute}},
		"hardly any left":  {2, 0, 0, 30 * second, 29 * second, Delay{31*second + second/4, Shared, Minute}},
		"what is reserved": {10, 0, 8, 30 * second, 29 * second, Delay{31*second + second/4, Shared, Minute}},
		"all is in use":    {10, 10, 0, 30 * second, 29 * second, Delay{61 * second, News, Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			s := mid(c.left, c.inFlight)
			s.Config.Reserve, s.Figures.At = int(c.reserve), c.at
			s.Others.Burst, s.Others.Regular, s.Others.Every, s.Others.BurstAt = 20, 1, 45*second, c.due-45*second
			d := s.Take(31*second, Batch)
			require.Equal(t, c.want, d.Delay)
			require.Equal(t, c.want == Delay{}, d.Granted)
		})
	}
}

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

// The report on a request that another state admitted ends none of this one's.
func TestForeignReportsEndNoRequest(t *testing.T) {
	for name, epoch := range map[string]int64{"of an earlier state": 1, "of a later one": 200} {
		t.Run(name, func(t *testing.T) {
			s := NewState(lists())
			s.Born, s.Epoch, s.Told, s.Silent = 100, 105, true, silence
			permits, _ := take(&s, second, 3)
			require.Len(t, permits, 3)
			s.Report(2*second, Permit{Epoch: epoch, At: second}, NoFigures)
			require.EqualValues(t, 3, s.inFlight())
			s.Return(Permit{Epoch: epoch, At: second})
			require.EqualValues(t, 3, s.inFlight())
		})
	}
}

// On a surface of which nothing is known, the next response is waited for, and no time.
func TestAnUnknownSurfaceWaitsForAResponse(t *testing.T) {
	s := opened(Config{}, NoFigures)
	_, d := take(s, second, 10)
	require.Equal(t, Delay{Until: second + probeLease, Reason: News}, d.Delay)
}
