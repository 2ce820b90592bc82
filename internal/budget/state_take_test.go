package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mid is a surface in the middle of a minute, alone: so many are left of 120, and so many are in flight.
func mid(left, inFlight int64) *State {
	s := NewState(Config{PerMinute: 120})
	s.Told, s.Weighs = true, -1
	s.Figures = Figures{
		Valid: true, Remaining: left, Known: 50, Mark: 50, Window: Minute, HasReset: true,
		At: 30 * second, Sent: 29 * second, ResetFrom: 58 * second, ResetBy: 60 * second,
	}
	s.Completed, s.Dispatched = 50, 50+inFlight
	s.Open[0] = Span{From: second, N: inFlight}
	s.Counts[Minute].add(second, minute, 50)
	s.Others = Others{Low: 120, High: 120, At: 30 * second}
	return &s
}

// Why a request has to wait, and until when at most.
func TestWhyARequestWaits(t *testing.T) {
	for name, c := range map[string]struct {
		state  *State
		change func(*State)
		p      Priority
		want   Delay
	}{
		"nothing is left":             {mid(0, 0), nil, Interactive, Delay{Until: 61 * second}},
		"all that is left is in use":  {mid(3, 3), nil, Interactive, Delay{Until: 61 * second, News: true}},
		"nothing is left, some fly":   {mid(0, 3), nil, Interactive, Delay{Until: 61 * second}},
		"late ones may have taken it": {mid(2, 0), func(s *State) { s.LateNew, s.LateTurn, s.BlindAt, s.Dispatched = 2, 35*second, 35*second, 52 }, Interactive, Delay{Until: 61 * second}},
		"reserved":                    {mid(5, 0), func(s *State) { s.Config.Reserve = 5 }, Batch, Delay{Until: 61 * second}},
		"reserved, and used up":       {mid(0, 0), func(s *State) { s.Config.Reserve = 5 }, Batch, Delay{Until: 61 * second}},
		"no reset was told":           {mid(0, 0), func(s *State) { s.Figures.HasReset = false }, Interactive, Delay{Until: 90 * second}},
		"of the day":                  {mid(0, 0), func(s *State) { s.Figures.Window, s.Figures.ResetBy = Day, hour }, Interactive, Delay{Until: hour + second}},
		"of the day, without a reset": {mid(0, 0), func(s *State) { s.Figures.Window, s.Figures.HasReset = Day, false }, Interactive, Delay{Until: 30*second + day}},
		"a look is on its way":        {mid(0, 0), func(s *State) { s.Figures.ResetBy, s.ProbeUntil = 29*second, 30*second+probeLease }, Interactive, Delay{Until: 32 * second, News: true}},
		"the minute slides":           {mid(0, 0), func(s *State) { s.Others.Slides = sure; s.Counts[Minute].add(2*second, minute, 70) }, Interactive, Delay{Until: 61 * second}},
		"it slides, some fly": {mid(0, 10), func(s *State) {
			s.Others.Slides, s.Counts[Minute] = sure, WindowCount{}
			s.Counts[Minute].add(-20*second, minute, 2)
			s.Counts[Minute].add(second, minute, 109)
		}, Interactive, Delay{Until: 40 * second}},
		"it slides, and the day is used up": {mid(0, 0), func(s *State) { s.Others.Slides, s.Figures.Window, s.Figures.ResetBy = sure, Day, hour }, Interactive, Delay{Until: hour + second}},
		"it slides, and is reserved":        {mid(0, 0), func(s *State) { s.Others.Slides, s.Config.Reserve = sure, 1 }, Batch, Delay{Until: 31*second + 100*millisecond}},
		"others, hardly any left":           {mid(4, 0), func(s *State) { s.Others.Sum, s.Others.Span, s.Figures.At = 32.5, float64(minute), 25*second }, Interactive, Delay{Until: 31*second + second/4}},
		"others, held back":                 {mid(10, 0), func(s *State) { s.Others.Sum, s.Others.Span = 32.5, float64(minute) }, Interactive, Delay{Until: 35 * second}},
		"others, known for long":            {mid(20, 1), func(s *State) { s.Others.Sum, s.Others.Span, s.Figures.At = 32.5, float64(minute), 20*second }, Interactive, Delay{}},
		"nobody, kept back":                 {mid(10, 0), func(s *State) { s.Config.Share, s.Figures.At = 0.5, 20*second }, Interactive, Delay{Until: 51*second + 2440}},
		"others, all in use":                {mid(20, 20), func(s *State) { s.Others.Sum, s.Others.Span, s.Figures.At = 32.5, float64(minute), 20*second }, Interactive, Delay{Until: 61 * second, News: true}},
		"others likely took it":             {mid(4, 0), func(s *State) { s.Others.Sum, s.Others.Span, s.Figures.At = 32.5, float64(minute), 20*second }, Interactive, Delay{Until: 61 * second}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.state)
			}
			d := c.state.Take(31*second, c.p)
			require.Equal(t, c.want == Delay{}, d.Granted)
			require.Equal(t, c.want, d.Delay)
		})
	}
}

// Once nothing is in flight, merged figures that are too low are looked at again, unless requests without figures came between.
func TestLookAfterOverlappingResponses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*State)
		p      Priority
		look   bool
	}{
		"nothing is in flight":               {func(*State) {}, Interactive, true},
		"one is":                             {func(s *State) { s.Dispatched++; s.Open[0].N++ }, Interactive, false},
		"there is cover, and it is used":     {func(s *State) { s.Figures.Known = 48 }, Interactive, false},
		"blind ones came since":              {func(s *State) { s.BlindAt = 29*second + 1 }, Interactive, false},
		"blind ones came before":             {func(s *State) { s.BlindAt = 29 * second }, Interactive, true},
		"nothing is left beyond the share":   {func(s *State) { s.Config.Share = 0.1 }, Interactive, false},
		"all that is left is reserved":       {func(s *State) { s.Config.Reserve = 4 }, Batch, false},
		"all but one of them":                {func(s *State) { s.Config.Reserve = 3 }, Batch, true},
		"reserved, and a share":              {func(s *State) { s.Config.Reserve, s.Config.Share = 3, 0.02 }, Batch, false},
		"reserved, and a share, interactive": {func(s *State) { s.Config.Reserve, s.Config.Share = 3, 0.02 }, Interactive, true},
		"there is cover, but it is kept":     {func(s *State) { s.Figures.Known, s.Config.Share = 47, 0.02 }, Interactive, true},
		"there is cover, but it is reserved": {func(s *State) { s.Figures.Known, s.Config.Reserve = 47, 1 }, Batch, true},
		"late ones are all that is unknown": {func(s *State) {
			s.Figures.Known, s.LateNew, s.LateTurn, s.Dispatched, s.Config.Share = 50, 3, day, 53, 0.02
		}, Interactive, false},
	} {
		s := mid(4, 0)
		s.Figures.Known = 46
		c.change(s)
		d := s.Take(31*second, c.p)
		require.Equal(t, c.look, d.Granted && d.Permit.Probe, name)
	}
}

// While others are active, every few seconds a request looks what they took, if there is definitely something left.
func TestLookWhileOthersAreActive(t *testing.T) {
	at := func(left int64, p Priority, change func(*State)) func(Instant) bool {
		return func(now Instant) bool {
			s := mid(left, 1) // so that what is merged does not matter
			s.Others.Sum, s.Others.Span = 32.5, float64(minute)
			s.Others.At = day // half a request a second
			change(s)
			d := s.Take(now, p)
			return d.Granted && d.Permit.Probe
		}
	}
	look := at(15, Interactive, func(*State) {})
	require.False(t, look(35*second-1))
	require.True(t, look(35*second))
	require.False(t, at(15, Interactive, func(s *State) { s.Others.Sum = 0 })(40*second))
	require.True(t, at(5, Interactive, func(*State) {})(35*second), "2.5 are left after what they took")
	require.False(t, at(4, Interactive, func(*State) {})(35*second), "1.5 are not enough")
	require.False(t, at(15, Batch, func(s *State) { s.Config.Reserve = 11 })(35*second))
	require.True(t, at(15, Batch, func(s *State) { s.Config.Reserve = 10 })(35*second))
	require.False(t, at(1, Interactive, func(*State) {})(31*second))
}

// A sliding minute that must have room by our own count is looked at.
func TestLookIntoASlidingMinute(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*State)
		p      Priority
		look   bool
	}{
		"room by our count":     {func(*State) {}, Interactive, true},
		"just none":             {func(s *State) { s.Counts[Minute].add(20*second, minute, 70) }, Interactive, false},
		"just some":             {func(s *State) { s.Counts[Minute].add(20*second, minute, 69) }, Interactive, true},
		"it does not slide":     {func(s *State) { s.Others.Slides = 1 }, Interactive, false},
		"others are active":     {func(s *State) { s.Others.Sum, s.Others.Span = 65, float64(minute) }, Interactive, false},
		"it is the day":         {func(s *State) { s.Figures.Window = Day }, Interactive, false},
		"for batch":             {func(s *State) { s.Config.Reserve = 1 }, Batch, false},
		"for batch, unreserved": {func(*State) {}, Batch, true},
	} {
		s := mid(0, 0)
		s.Others.Slides = sure
		c.change(s)
		d := s.Take(31*second, c.p)
		require.Equal(t, c.look, d.Granted && d.Permit.Probe, name)
	}
}

// In a sliding minute with others, one request follows another at the pace that they leave.
func TestPacedRequests(t *testing.T) {
	s := mid(100, 0)
	s.Others.Slides, s.Others.Sum, s.Others.Span, s.Others.At = sure, 65, float64(minute), day
	gap := minute / 55
	require.True(t, s.Take(31*second, Interactive).Granted)
	d := s.Take(31*second+1, Interactive)
	require.Equal(t, Delay{Until: 31*second + gap}, d.Delay)
	require.False(t, s.Take(31*second+gap-1, Interactive).Granted)
	require.True(t, s.Take(31*second+gap, Interactive).Granted)
	s.Others = Others{Slides: sure}
	require.True(t, s.Take(31*second+gap, Interactive).Granted, "nobody else is there any more")
}

// After a reset others come first, for a moment.
func TestTheLookAfterAResetIsPolite(t *testing.T) {
	s := mid(0, 0)
	s.Others.Sum, s.Others.Span, s.Others.At = 65, float64(minute), day // 5 are kept for them, and they took 31 of none
	d := s.Take(61*second, Interactive)
	require.Equal(t, Delay{Until: 61*second + lookahead}, d.Delay)
	require.True(t, s.Take(61*second+lookahead, Interactive).Permit.Probe)
	s = mid(0, 0)
	require.True(t, s.Take(61*second, Interactive).Permit.Probe)
}

// A probe that takes long was hardly refused: another is sent after two seconds, as long as the window count has room.
func TestASecondProbe(t *testing.T) {
	s := NewState(Config{PerMinute: 2})
	s.Weighs = -1
	require.True(t, s.Take(second, Interactive).Granted)
	require.Equal(t, 3*second, s.Take(3*second-1, Interactive).Until)
	require.True(t, s.Take(3*second, Interactive).Permit.Probe)
	d := s.Take(5*second, Interactive)
	require.Equal(t, Delay{Until: 3*second + probeLease, News: true}, d.Delay, "both may still be counted")
	require.True(t, s.Take(3*second+probeLease, Interactive).Permit.Probe)

	s = NewState(Config{PerMinute: 2})
	s.Weighs = -1
	p := s.Take(second, Interactive).Permit
	s.Report(second, p, Observation{Limit: -1, Remaining: -1, Lost: true})
	_, _ = take(&s, second, 1)
	require.Equal(t, second+lateGrace, s.Take(3*second, Interactive).Until, "it counts from then on, at the latest")
	require.Equal(t, minute+second+2*lateGrace, s.Take(second+2*lateGrace, Interactive).Until, "when it is a minute old")
	require.True(t, s.Take(minute+second+2*lateGrace, Interactive).Permit.Probe)

	s = NewState(Config{})
	require.True(t, s.Take(second, Interactive).Granted)
	require.Equal(t, second+probeLease, s.Take(minute, Interactive).Until, "without a limit it is waited for")
	require.True(t, s.Take(second+probeLease, Interactive).Granted)
}

// Only the latest probe ends the wait for it.
func TestAnOldProbeEndsNoWait(t *testing.T) {
	s := NewState(Config{PerMinute: 20})
	old := s.Take(second, Interactive).Permit
	fresh := s.Take(4*second, Interactive).Permit
	s.Return(old)
	require.False(t, s.Take(5*second, Interactive).Granted)
	s.Return(fresh)
	require.True(t, s.Take(5*second, Interactive).Granted)
	require.EqualValues(t, 1, s.inFlight())
}

// Unreported requests are complete after two minutes, or four at most, and count for the day.
func TestForgotten(t *testing.T) {
	s := opened(Config{PerMinute: 120, PerDay: 1000}, told(120, 119, time.Minute))
	const from = forgotten
	s.expire(from) // a new span begins
	require.Equal(t, [2]Span{{From: from}, {Trip: 200 * millisecond}}, s.Open)
	s.Figures = Figures{Valid: true, Remaining: 100, Known: s.Dispatched, Window: Day, HasReset: true, ResetBy: day}
	early, _ := take(s, from, 3)
	require.Len(t, early, 3)
	s.expire(from + forgotten - 1)
	require.EqualValues(t, 3, s.Open[0].N)
	_, _ = take(s, from+forgotten, 2)
	require.Equal(t, [2]Span{{From: from + forgotten, N: 2}, {From: from, N: 3}}, s.Open)
	s.Return(early[0])
	require.EqualValues(t, 2, s.Open[1].N, "it was in the span before")
	before := s.Counts[Day].Sum
	s.expire(from + 2*forgotten)
	require.Equal(t, [2]Span{{From: from + 2*forgotten}, {From: from + forgotten, N: 2}}, s.Open)
	require.Equal(t, before+2, s.Counts[Day].Sum)
	require.EqualValues(t, 2, s.inFlight())
	s.Return(early[1])
	require.EqualValues(t, 2, s.inFlight(), "it was forgotten")
	s.expire(from + 3*forgotten)
	require.Zero(t, s.inFlight())

	_, _ = take(s, from+3*forgotten, 4)
	s.expire(from + 5*forgotten) // nobody came for so long
	require.Equal(t, [2]Span{{From: from + 5*forgotten}, {From: from + 5*forgotten}}, s.Open)
	require.Zero(t, s.inFlight())
}

// Without figures, requests in flight count, and nothing is known of when they give back.
func TestFull(t *testing.T) {
	s := NewState(Config{PerMinute: 3})
	s.Weighs = -1
	for _, c := range []struct {
		used, inFlight int64
		want           Delay
		full           bool
	}{
		{0, 2, Delay{}, false},
		{0, 3, Delay{Until: 10*second + probeLease, News: true}, true},
		{1, 2, Delay{Until: minute + 5*second}, true},
		{3, 0, Delay{Until: minute + 5*second}, true},
	} {
		s.Counts[Minute], s.Dispatched = WindowCount{}, c.inFlight
		if c.used > 0 {
			s.Counts[Minute].add(5*second, minute, c.used)
		}
		d, full := s.full(10*second, Minute, 3)
		require.Equal(t, c.full, full, "%+v", c)
		require.Equal(t, c.want, d, "%+v", c)
	}
	d, full := s.full(10*second, Minute, 0)
	require.True(t, full)
	require.Greater(t, d.Until, 10*second, "never now")
}

// What is left of a limit without figures is for interactive calls, down to the reserve.
func TestReserveWithoutFigures(t *testing.T) {
	s := opened(Config{PerMinute: 10, Reserve: 4}, NoFigures)
	for range 5 {
		require.True(t, s.Take(second, Batch).Granted)
	}
	require.False(t, s.Take(second, Batch).News)
	permits, d := take(s, second, 10)
	require.Len(t, permits, 4)
	require.False(t, d.News)
	require.True(t, permits[0].Bare)
	require.False(t, permits[0].Probe)
}

// A permit knows what of the minute is ours, so that its response tells what is not.
func TestOwnPartOfAPermit(t *testing.T) {
	s := mid(50, 3)
	s.Dispatched++ // one is late
	s.LateNew, s.LateTurn = 1, 35*second
	p := s.Take(31*second, Interactive).Permit
	require.Equal(t, Permit{Then: 50, Epoch: 1, At: 31 * second, Own: 50 + 3 + 1 - 54}, p)
	s.Others.Slides = sure
	s.Report(32*second, p, told(120, 30, 28*time.Second))
	require.InDelta(t, 120-30-(50+3+1-54)-55, s.Others.Level, 1e-9)
}
