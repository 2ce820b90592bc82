package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that works alone keeps what it knows about the service, but no figures, and an nth of what all used.
func TestAlone(t *testing.T) {
	s := opened(Config{PerMinute: 120, PerDay: 1000, Reserve: 7, Share: 0.1}, told(120, 119, time.Minute))
	s.Silent = 1
	s.Strikes, s.HeldUntil, s.HeldIn = 3, hour, Day
	s.Counts[Minute].add(20*second, minute, 8)
	s.Counts[Day].add(20*second, day, 99)
	_, _ = s.grant(30*second, false, false, new(Permit))
	now := 61 * second // what was used first is a minute old
	a := s.alone(now, 4)
	require.Equal(t, Config{PerMinute: 30, PerDay: 250, Reserve: 7, Share: 0.1, Alone: true}, a.Config)
	require.Equal(t, s.Limits, a.Limits)
	require.True(t, a.Told)
	require.Equal(t, 1, a.Silent)
	require.Equal(t, 3, a.Strikes)
	require.Equal(t, hour, a.HeldUntil)
	require.Equal(t, Day, a.HeldIn)
	require.False(t, a.Figures.Valid)
	require.EqualValues(t, now, a.Epoch)
	require.EqualValues(t, now, a.Born)
	require.Equal(t, [2]Span{{From: now}, {From: now}}, a.Open)
	require.EqualValues(t, 3, a.Counts[Minute].Sum, "an nth of eight and one in flight, rounded up")
	require.EqualValues(t, 26, a.Counts[Day].Sum, "an nth of a hundred and one in flight, rounded up")
	require.Equal(t, 2, a.Counts[Minute].Used)
	require.Equal(t, 20*second, a.Counts[Minute].At[a.Counts[Minute].Head])
	require.Equal(t, now, a.Counts[Minute].At[a.Counts[Minute].Head+1])

	a = s.alone(now, 0)
	require.Equal(t, 120, a.Config.PerMinute, "one at least")
	require.EqualValues(t, 9, a.Counts[Minute].Sum)

	a = s.alone(now+minute, 4) // nine have left the window
	require.EqualValues(t, 1, a.Counts[Minute].Sum, "the one in flight")
	require.EqualValues(t, 2, a.Counts[Minute].Faded, "an nth of eight")
}

func TestPart(t *testing.T) {
	for limit, want := range map[int64]int{0: 0, 1: 1, 3: 1, 4: 1, 7: 1, 8: 2, 120: 30} {
		require.Equal(t, want, part(limit, 4), limit)
	}
}

// A window count has a fixed number of slots. What shares a slot expires with its youngest.
func TestWindowCount(t *testing.T) {
	var l WindowCount
	const step = minute / (slots - 2)
	l.add(0, minute, 2)
	l.add(step-1, minute, 3)
	require.Equal(t, 1, l.Used)
	l.add(step, minute, 5)
	require.Equal(t, 2, l.Used)
	require.EqualValues(t, 10, l.Sum)
	require.Equal(t, step-1+minute, l.roomAt(5, minute))
	require.Equal(t, step+minute, l.roomAt(6, minute))
	require.Equal(t, step+minute, l.roomAt(100, minute))
	require.Zero(t, l.roomAt(0, minute))
	l.expire(step-1+minute-1, minute)
	require.EqualValues(t, 10, l.Sum)
	l.expire(step-1+minute, minute)
	require.EqualValues(t, 5, l.Sum)
	l.expire(step+minute, minute)
	require.Zero(t, l.Sum)
	require.Zero(t, l.Used)

	for i := range 3 * slots { // more than there is room for, as none expires
		l.add(Instant(i)*second, hour, 1)
		l.add(Instant(i)*second+step, step, 1)
	}
	require.Equal(t, slots, l.Used)
	require.EqualValues(t, 6*slots, l.Sum)
	l.expire(2*hour, hour)
	require.Zero(t, l.Sum)
}
