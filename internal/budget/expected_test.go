package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Expected is what a refusal tells: when a request with so many ahead of it will be admitted.
func (s *State) Expected(now Instant, ahead int, p Priority, roundTrip Instant) (Instant, Window) {
	at, w := s.Earliest(now, ahead, p)
	return max(at, s.foresee(now, p, roundTrip).admits(ahead), now+millisecond), w
}

// expects demands when a request with so many ahead of it is expected to be admitted, to a hundredth of a second.
func expects(t *testing.T, s *State, now Instant, p Priority, trip Instant, want map[int]float64) {
	t.Helper()
	for ahead, seconds := range want {
		at, w := s.Expected(now, ahead, p, trip)
		require.InDelta(t, seconds, at.Duration().Seconds(), 0.011, "%d ahead", ahead)
		require.Equal(t, Minute, w)
		require.GreaterOrEqual(t, at, now+millisecond)
	}
}

// Of 120 a minute, the last 18 become free as the minute goes by. A minute begins with a request that brings the figures. Resets are told in
// whole seconds, so it may begin up to two seconds later than the first response told.
func TestExpectedOfAFixedMinute(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute)) // at 0.2 s: it has reset at 61.2 s
	expects(t, s, second, Interactive, second, map[int]float64{
		0: 1.001, 100: 1.001, 110: 32.257, 118: 59.293, 119: 62.293, 120: 63.293, 119 + 102: 64.3, 119 + 119: 121.38,
		119 + 121: 125.38, 119 + 120 + 121: 187.468,
	})
	s.Config.Reserve = 20
	expects(t, s, second, Batch, second, map[int]float64{80: 1.001, 98: 59.293, 99: 62.293, 100: 63.293, 99 + 99: 121.38, 99 + 101: 125.38})
	s.Config.Reserve = 120
	at, _ := s.Expected(second, 5, Batch, second)
	require.Greater(t, at, 61*second, "all is reserved, and still it ends")
}

// The first request, and the one after a refusal, tells what is left: the others wait for its response.
func TestExpectedWithoutFigures(t *testing.T) {
	s := NewState(lists())
	_, _ = take(&s, second, 1)
	expects(t, &s, second+millisecond, Interactive, second, map[int]float64{0: 2, 100: 2, 119: 63.088, 120: 64.088, 121: 64.088})
	expects(t, &s, 2*second-1, Interactive, second, map[int]float64{0: 2, 100: 2, 119: 64.086, 120: 65.086})
	expects(t, &s, second+millisecond, Interactive, 0, map[int]float64{0: 1.25})
	expects(t, &s, second+millisecond, Interactive, minute, map[int]float64{0: 3}) // another may be sent then
	expects(t, &s, 2*second, Interactive, second, map[int]float64{0: 3})           // it takes longer than usual
	expects(t, &s, 10*second, Interactive, second, map[int]float64{0: 10.001})

	s.HeldUntil, s.HeldIn, s.ProbeUntil = 30*second, Minute, 0
	expects(t, &s, 10*second, Interactive, second, map[int]float64{0: 30, 101: 30, 119: 92.064, 120: 93.064, 121: 93.064})

	s = NewState(Config{}) // without a limit nothing but the response can tell
	_, _ = take(&s, second, 1)
	expects(t, &s, second+millisecond, Interactive, second, map[int]float64{0: 2, 1000: 2})
	expects(t, &s, 10*second, Interactive, second, map[int]float64{0: 121})
}

// After the reset, the request that looks is on its way, and takes one of the minute.
func TestExpectedWhileALookIsOnItsWay(t *testing.T) {
	s := opened(lists(), told(120, 0, time.Minute))
	look, now := granted(t, s, second)
	require.True(t, look.Probe)
	require.InDelta(t, 61.2, now.Duration().Seconds(), 0.01)
	expects(t, s, now+millisecond, Interactive, second, map[int]float64{0: 62.2, 100: 62.2, 118: 120.288, 119: 123.288, 120: 124.288})
}

// Without figures, documented limits are counted. A look that takes long delays all.
func TestExpectedByCount(t *testing.T) {
	s := opened(Config{PerMinute: 10}, NoFigures)
	expects(t, s, second, Interactive, second, map[int]float64{0: 1.001, 8: 1.001, 9: 66.204, 19: 133.208})
	_, _ = s.grant(second, true, true, &Permit{})
	expects(t, s, second, Interactive, second, map[int]float64{0: 2, 8: 66.2})
	s.HeldUntil, s.HeldIn = 30*second, Minute
	expects(t, s, second, Interactive, second, map[int]float64{0: 30, 7: 30, 8: 66.2, 9: 91.004})
}

// What the day has left is for the best case, what it lacks for the day.
func TestExpectedOfADay(t *testing.T) {
	s := opened(lists(), told(10_000, 5, 5*time.Hour))
	for ahead, want := range map[int]Instant{0: second + millisecond, 4: second + millisecond, 5: 5*hour + 2*second, 6: 5*hour + 3*second} {
		at, w := s.Expected(second, ahead, Interactive, second)
		require.Equal(t, want, at, "%d ahead", ahead)
		require.Equal(t, Day, w)
	}
}

// While others are active, what they take is not there for us, now and in later minutes, and a look every few seconds is what is sure.
func TestExpectedWhileOthersAreActive(t *testing.T) {
	s := opened(Config{PerMinute: 120}, told(120, 119, time.Minute))
	s.Others.Sum, s.Others.Span, s.Others.At = 65, float64(minute), day                                                // one a second
	now := s.Figures.At                                                                                                // 61 s before the reset: 66 are theirs, 53 are ours
	expects(t, s, now, Interactive, second, map[int]float64{0: 0.201, 52: 0.201, 57: 14.116, 58: 20.116, 107: 68.288}) // and a look every few seconds
}

// Where others take what is left, a look every few seconds is what is sure, as long as something is left for it.
func TestExpectedByLooks(t *testing.T) {
	s := opened(Config{PerMinute: 120}, told(120, 30, time.Minute))
	s.Others = perSecond(1)
	at := s.Figures.At
	expects(t, s, at, Interactive, second, map[int]float64{0: 5.2, 1: 11.2, 3: 23.2, 4: 67.2, 5: 68.2})
	expects(t, s, at+3*second, Interactive, second, map[int]float64{0: 5.2, 4: 67.2})
	expects(t, s, at+4*second, Interactive, second, map[int]float64{0: 5.2, 3: 23.2, 4: 67.2})
	s.Config.Reserve = 10
	expects(t, s, at, Batch, second, map[int]float64{0: 5.2, 2: 67.2, 3: 68.2})
}

// In a sliding minute with others, those ahead take their pace.
func TestExpectedPace(t *testing.T) {
	s := mid(100, 0)
	s.Others = perSecond(1)
	s.Others.Slides, s.PacedUntil = sure, 32*second
	expects(t, s, 31*second, Interactive, second, map[int]float64{0: 32, 3: 35.246, 20: 51.042})
	s.PacedUntil = 0
	expects(t, s, 31*second, Interactive, second, map[int]float64{0: 31.001, 3: 34.246})
}

// What figures cover once all requests in flight have their responses.
func TestCover(t *testing.T) {
	for name, c := range map[string]struct {
		window    Window
		low, high int64
		want      float64
	}{
		"as told":               {Minute, 10, 10, 6},
		"more was proved":       {Minute, 30, 28, 14},
		"more, but others came": {Minute, 30, 20, 8},
		"of the day":            {Day, 30, 28, 6},
	} {
		s := State{Figures: Figures{Remaining: 10, Known: 5, Mark: 8, Window: c.window}, Others: Others{Low: c.low, High: c.high, Seen: 4}, Dispatched: 12}
		require.InDelta(t, c.want, s.cover(), 1e-9, name)
		s.Figures.Known, s.Figures.Mark = 8, 5
		require.InDelta(t, c.want, s.cover(), 1e-9, name)
	}
}

// A sliding minute gives back what we sent a minute ago, request by request.
func TestSlid(t *testing.T) {
	s := NewState(Config{PerMinute: 10})
	for i := range 10 {
		s.complete(Instant(i+1)*second, 1)
	}
	s.Dispatched, s.Completed, s.LateNew = 10, 10, 0
	slid := func(now Instant, ahead int64) Instant {
		at, _ := s.earliestByCount(now, ahead, s.Limits)
		return at
	}
	for ahead, want := range map[int64]Instant{0: 61, 4: 65, 9: 70, 10: 121, 14: 125, 19: 130, 20: 181} {
		require.Equal(t, want*second, slid(11*second, ahead), "%d ahead", ahead)
	}
	require.Equal(t, 65*second, slid(65*second, 0))
	s.Dispatched = 12
	require.Equal(t, 63*second, slid(11*second, 0), "those in flight count")
	s.Limits[Minute] = 0
	require.NotPanics(t, func() { slid(11*second, 0) })
}

// The best case, for which a call is not refused: all in flight give back, and others take nothing.
func TestEarliestInTheBestCase(t *testing.T) {
	earliest := func(s *State, now Instant, p Priority, want map[int]Instant) {
		t.Helper()
		for ahead, at := range want {
			got, w := s.Earliest(now, ahead, p)
			require.Equal(t, at, got, "%d ahead", ahead)
			require.Equal(t, Minute, w)
		}
	}
	const reset = 1 + 200*millisecond + 60*second + second
	s := opened(lists(), told(120, 5, time.Minute))
	earliest(s, second, Interactive, map[int]Instant{0: second, 4: second, 5: reset, 124: reset, 125: reset + minute, 245: reset + 2*minute})
	earliest(s, 2*minute, Interactive, map[int]Instant{4: 2 * minute, 5: 2 * minute, 125: 3 * minute})
	s.Config.Reserve = 3
	earliest(s, second, Batch, map[int]Instant{1: second, 2: reset, 121: reset, 122: reset + minute})
	s.Config.Reserve = 10
	earliest(s, second, Batch, map[int]Instant{0: reset, 119: reset, 120: reset + minute})
	s = opened(Config{PerMinute: 120}, told(120, 5, time.Minute))
	permits, _ := take(s, second, 10)
	require.Len(t, permits, 5)
	earliest(s, second, Interactive, map[int]Instant{4: second, 5: reset})
	s.Others.Slides = sure
	s.Counts[Minute].add(2*second, minute, 109)
	earliest(s, 3*second, Interactive, map[int]Instant{5: 1 + 60*second + 200*millisecond, 6: reset})

	s = opened(lists(), hold(30*time.Second))
	earliest(s, second, Interactive, map[int]Instant{0: s.HeldUntil, 239: s.HeldUntil, 240: s.HeldUntil + minute, 360: s.HeldUntil + 2*minute})
	earliest(s, s.HeldUntil, Interactive, map[int]Instant{0: s.HeldUntil, 239: s.HeldUntil, 240: s.HeldUntil + minute})
	earliest(s, s.HeldUntil, Interactive, map[int]Instant{1 << 30: s.HeldUntil + 2*day})

	s = opened(Config{}, hold(30*time.Second))
	earliest(s, minute, Interactive, map[int]Instant{0: minute, 1 << 30: minute})

	s = opened(Config{PerMinute: 10, Reserve: 3}, NoFigures)
	earliest(s, second, Batch, map[int]Instant{5: second, 6: 1 + 200*millisecond + minute})
	earliest(s, second, Interactive, map[int]Instant{8: second, 9: 1 + 200*millisecond + minute})
}
