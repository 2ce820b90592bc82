package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Requests that are a day old take no room.
func TestADayGivesBack(t *testing.T) {
	s := opened(Config{PerDay: 5}, NoFigures)
	s.Weighs = -1
	permits, _ := take(s, second, 10)
	require.Len(t, permits, 4)
	for _, p := range permits {
		s.Report(2*second, p, NoFigures)
	}
	require.False(t, s.Take(3*second, Interactive).Granted)
	permits, _ = take(s, day+3*second, 10)
	require.Len(t, permits, 5)
}

// A stored state may contradict itself. What is returned to it never makes the number in flight negative.
func TestAContradictoryStateStaysInBounds(t *testing.T) {
	s := NewState(Config{})
	p := s.Take(second, Interactive).Permit
	s.Dispatched, s.Completed, s.LateNew = 5, 3, 2
	s.Return(p)
	require.EqualValues(t, 5, s.Dispatched)
	require.Zero(t, s.inFlight())
}

// A limit of one request is known like any other.
func TestALimitOfOneIsThatOfItsWindow(t *testing.T) {
	s := opened(Config{PerDay: 1}, Observation{Limit: 1, Remaining: 0})
	require.Zero(t, s.Limits[Minute])
	require.Equal(t, [2]any{int64(1), false}, [2]any{s.Limits[Day], s.Learned[Day]})
	require.Equal(t, Day, s.Figures.Window)
}

// After figures, three looks without any make a service one without figures, and not fewer.
func TestThreeSilentLooks(t *testing.T) {
	s := opened(Config{PerMinute: 120}, told(120, 0, 10*time.Second))
	now := 2 * minute
	for range silence {
		permits, d := take(s, now, 10)
		require.Len(t, permits, 1, "one at a time looks for figures")
		require.True(t, d.News)
		now += second
		s.Report(now, permits[0], NoFigures)
	}
	permits, _ := take(s, now, 10)
	require.Len(t, permits, 10)
}

// A minute that was seen to slide many times is not taken for a fixed one at once.
func TestWhatSlidesIsNotForgottenAtOnce(t *testing.T) {
	var o Others
	for range 10 {
		o.learnSliding(10 * second)
	}
	for range sure {
		o.learnSliding(minute)
		require.True(t, o.slides())
	}
	o.learnSliding(minute)
	require.False(t, o.slides())
	for range sure {
		o.learnSliding(minute)
	}
	require.Zero(t, o.Slides)
}

// Without figures, a caller that returns exactly when told is admitted.
func TestTheTimeToldIsInTime(t *testing.T) {
	s := NewState(Config{PerMinute: 10})
	s.Silent = silence
	s.ProbeUntil = second + probeLease // one that takes long
	d := s.Take(2*second, Interactive)
	require.False(t, d.Granted)
	require.Equal(t, second+patience, d.Until)
	require.True(t, s.Take(d.Until, Interactive).Granted)
}

// What others take is believed less the longer nothing was heard of it.
func TestTheRateOfOthersFades(t *testing.T) {
	o := Others{Sum: 60, Span: float64(minute), At: minute}
	at := o.Rate(minute)
	require.Positive(t, at)
	require.InEpsilon(t, at, o.Rate(second), 1e-9, "nothing is known before")
	require.InEpsilon(t, at/2, o.Rate(minute+memory), 1e-9)
	require.InEpsilon(t, at/4, o.Rate(minute+3*memory), 1e-9)
	require.Zero(t, o.Rate(minute+1000*memory))
}

// A refusal shows that others took all that we did not.
func TestARefusalIsTheDoingOfOthers(t *testing.T) {
	s := opened(Config{PerMinute: 120}, told(120, 119, time.Minute))
	permits, _ := take(s, second, 2)
	s.Report(2*second, permits[0], Observation{Limit: -1, RateLimited: true})
	require.EqualValues(t, 120-2, s.Others.Seen, "the other request in flight may have been counted")
	s.Report(2*second, permits[1], Observation{Limit: -1, RateLimited: true})
	require.EqualValues(t, 120-1, s.Others.Seen, "it was not")
}
