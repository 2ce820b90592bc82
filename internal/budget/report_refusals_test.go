package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A refusal changes what is believed of how the service counts.
func TestARefusalCastsDoubt(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*State)
		weighs int8
		others bool
	}{
		"it has a bucket":       {func(s *State) { s.Refills, s.Weighs = refillsMost, 1 }, 1, true},
		"it was not to weigh":   {func(s *State) { s.Weighs = -weighsMost }, 0, true},
		"it weighs":             {func(s *State) { s.Weighs = weighs }, weighs - 1, true},
		"it weighs, for others": {func(s *State) { s.Weighs, s.Others.Sum, s.Others.Span = weighs, 60, float64(minute) }, weighs, true},
		"nothing is known":      {func(s *State) { s.Figures.Valid = false }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(lists(), told(120, 119, time.Minute))
			p := s.Take(second, Interactive).Permit
			c.before(s)
			others := s.Others
			s.Report(2*second, p, refused(func(o *Observation) { o.Remaining = 0 }))
			require.Equal(t, c.weighs, s.Weighs)
			require.Zero(t, s.Refills)
			require.Equal(t, c.others, s.Others != others, "others took what the figures had promised, if there were any")
		})
	}
}

// While a day is held, another refusal of the same herd for less long does not make it a minute.
func TestAHeldDayStaysADay(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute))
	permits, _ := take(s, second, 2)
	for i, wait := range []time.Duration{time.Hour, time.Second} {
		s.Report(2*second, permits[i], refused(func(o *Observation) { o.RetryAfter = wait }))
	}
	require.Equal(t, Day, s.HeldIn)
	require.Equal(t, Delay{Until: hour + 2*second}, s.Take(minute, Interactive).Delay)
}

// A service may serve one request a minute.
func TestALimitOfOneIsLearned(t *testing.T) {
	s := opened(Config{}, told(1, 0, time.Minute))
	require.Equal(t, [2]any{int64(1), true}, [2]any{s.Limits[Minute], s.Learned[Minute]})
}

// The figures of a new window replace those of the last one, also if the request was sent before the last one's were known.
func TestANewWindowReplacesTheLastOne(t *testing.T) {
	s := opened(lists(), told(120, 119, 2*time.Second))
	permits, _ := take(s, second, 2)
	s.Report(2*second, permits[0], told(120, 1, time.Second))
	s.Report(20*second, permits[1], told(120, 119, time.Minute))
	require.EqualValues(t, 119, s.Figures.Remaining)
	require.Equal(t, 80*second, s.Figures.ResetBy)
}

// Figures that were given up are not merged with newer ones.
func TestFiguresThatWereGivenUp(t *testing.T) {
	for name, reset := range map[string]time.Duration{"of the same window": 59 * time.Second, "of a longer one": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			s := opened(lists(), told(120, 119, time.Minute))
			permits, _ := take(s, second, 2)
			s.Report(2*second, permits[0], told(120, 7, time.Minute))
			s.Figures.Valid = false
			s.Report(3*second, permits[1], told(120, 100, reset))
			require.True(t, s.Figures.Valid)
			require.EqualValues(t, 100, s.Figures.Remaining)
		})
	}
}

// What our requests take of a bucket is refilled at its rate.
func TestOurPartOfABucket(t *testing.T) {
	s := opened(Config{PerMinute: 60, PerDay: 86400}, told(60, 59, time.Second))
	s.Refills, s.Weighs = refillsMost, -1
	permits, _ := take(s, second, 10)
	require.Len(t, permits, 10)
	for _, p := range permits {
		s.Report(2*second, p, NoFigures)
	}
	require.InDelta(t, 10, s.load(2*second, Minute), 1)
	require.InDelta(t, 10, s.load(2*second, Day), 1)
	require.InDelta(t, 6, s.load(6*second, Minute), 1)
	require.Zero(t, s.load(20*second, Minute))
}

// A probe without figures may have taken the only request that the minute gave back: the next one waits until our own count has room for
// one more, whether or not it is known that the minute slides (seed 6727 of the simulation at a15b3f18: it was refused).
func TestABlindProbeOfAMinuteThatMaySlide(t *testing.T) {
	for _, slides := range []int8{0, sure} {
		s := mid(0, 3)
		s.Figures.HasReset, s.Figures.ResetBy = true, 30*second
		s.Others.Slides = slides
		s.Counts[Minute] = WindowCount{}
		for i, n := range []int64{100, 10, 10, 10} {
			s.Counts[Minute].add(Instant(10*i)*second, minute, n)
		}
		p := Permit{Epoch: 1, Probe: true, At: 31 * second}
		s.Dispatched, s.Open[0].N = s.Dispatched+1, s.Open[0].N+1
		bare := *s
		s.Report(32*second, p, Observation{Lost: true})
		require.Equal(t, minute, s.resetAt())
		bare.Report(32*second, p, NoFigures)
		require.Equal(t, minute, bare.resetAt(), "a response without figures")
		bare.Figures.Valid = false
		bare.blindProbe(32*second, &p)
		require.Equal(t, Delay{Until: minute}, bare.Take(33*second, Interactive).Delay, "after a 429")
		s.Counts[Minute].N[0] = 13
		s.Counts[Minute].Sum = 116 + 1
		s.NextLook = 0
		s.blindProbe(32*second, &p)
		require.Equal(t, minute, s.resetAt(), "those in flight count, too")
		s.Counts[Minute].Sum, s.NextLook = 116-2, 0
		s.blindProbe(32*second, &p)
		require.Equal(t, 31*second, s.resetAt(), "there is room")
		s.Counts[Minute].Sum, s.Figures.ResetBy = 116+1, 2*minute
		s.blindProbe(32*second, &p)
		require.Equal(t, 2*minute+second, s.resetAt(), "a fixed minute gives nothing back before its end")
	}
}
