package budget

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What the next day has to serve takes the minutes that it needs there.
func TestForecastEndsWithinTheNextDay(t *testing.T) {
	s := NewState(Config{PerMinute: 10, PerDay: 100})
	require.Equal(t, day+3*minute, s.Forecast(second, 130))
	require.Equal(t, 2*day+minute, s.Forecast(second, 210))
}

// However many requests there are, a forecast does not wrap around.
func TestForecastOfVeryMany(t *testing.T) {
	for _, c := range []Config{{PerMinute: 120}, {PerDay: 10_000}, {PerMinute: 120, PerDay: 10_000}, {PerMinute: 1, PerDay: 1}} {
		s, before := NewState(c), Instant(0)
		for _, n := range []int{1000, 1_000_000, 2_000_000_000, math.MaxInt} {
			took := s.Forecast(second, n)
			require.GreaterOrEqual(t, took, before, "%d of %+v", n, c)
			require.LessOrEqual(t, took, farOff)
			before = took
		}
		require.Greater(t, before.Duration(), 30*365*24*time.Hour)
	}
}

// Only a hold of the day that still stands takes what is left of the day.
func TestForecastWhileHeld(t *testing.T) {
	const began, until = second, 60 * second
	for name, c := range map[string]struct {
		held Window
		now  Instant
		want Instant
	}{
		"in the minute":      {Minute, 2 * second, began + day - 2*second},
		"in the day":         {Day, 2 * second, until - 2*second},
		"in the day, before": {Day, until, began + day - until},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewState(Config{PerDay: 100})
			s.Counts[Day].add(began, day, 70)
			s.HeldIn, s.HeldUntil = c.held, until
			require.Equal(t, c.want, s.Forecast(c.now, 40))
		})
	}
}

// What is left of a day is what was told last, less what has left since.
func TestForecastAfterManyResponsesWithinADay(t *testing.T) {
	s := opened(Config{PerMinute: 120, PerDay: 10_000}, told(10_000, 500, 5*time.Hour))
	permits, _ := take(s, second, 50)
	require.Len(t, permits, 50)
	for i, p := range permits {
		s.Report(second+Instant(i), p, told(10_000, 499-i, 5*time.Hour))
	}
	require.Less(t, s.Forecast(2*second, 450), 10*minute)
	require.Greater(t, s.Forecast(2*second, 451), 4*60*minute)
}

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

// A process that works alone tells the later of the two: when its part has room, or when the surface is no longer held.
func TestEarliestAloneAndHeld(t *testing.T) {
	s := opened(Config{PerMinute: 10}, told(10, 9, time.Minute))
	alone := s.alone(second, 2)
	for held, want := range map[Instant]Instant{0: second + minute, 20 * second: second + minute, 3 * minute: 3 * minute} {
		alone.HeldUntil, alone.HeldIn = held, Day
		at, w := alone.Earliest(second, 6, Interactive)
		require.Equal(t, want, at)
		require.Equal(t, want == held, w == Day)
	}
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

// What was told of a day, or counted in one, says nothing about the next one.
func TestForecastOfTheNextDay(t *testing.T) {
	s := opened(Config{PerMinute: 120, PerDay: 10_000}, told(10_000, 0, 5*time.Hour))
	require.Positive(t, s.Forecast(second, 50))
	require.Zero(t, s.Forecast(5*hour+minute, 50))
	c := NewState(Config{PerDay: 100})
	c.Counts[Day].add(second, day, 100)
	require.Positive(t, c.Forecast(2*second, 50))
	require.Zero(t, c.Forecast(day+2*second, 50))
	one := NewState(Config{PerMinute: 1, PerDay: 100})
	require.Equal(t, day+30*minute, one.Forecast(second, 130), "a limit of one a minute makes them last, too")
}
