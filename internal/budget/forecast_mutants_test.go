package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What the next day has to serve takes the minutes that it needs there.
func TestForecastEndsWithinTheNextDay(t *testing.T) {
	s := NewState(Config{PerMinute: 10, PerDay: 100})
	require.Equal(t, day+3*minute, s.Forecast(second, 130))
	require.Equal(t, 2*day+minute, s.Forecast(second, 210))
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
			s.Ledgers[Day].add(began, day, 70)
			s.HeldIn, s.HeldUntil = c.held, until
			require.Equal(t, c.want, s.Forecast(c.now, 40))
		})
	}
}
