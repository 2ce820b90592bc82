package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// perSecond is others who take so many a second, for as long as the test lasts.
func perSecond(n float64) Others {
	return Others{Sum: 65 * n, Span: float64(minute), At: day}
}

func TestRateOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		others    Others
		perMinute float64
	}{
		"nobody":                              {Others{Span: float64(minute)}, 0},
		"one a second, after a minute":        {perSecond(1), 60},
		"five, after none":                    {Others{Sum: 5, At: day}, 60},
		"a part of a fixed minute":            {Others{Level: 30, Slides: sure - 1, At: day}, 0},
		"a part of a sliding minute":          {Others{Level: 30, Slides: sure, At: day}, 30},
		"more lately than before":             {Others{Sum: 65, Span: float64(minute), Level: 30, Slides: sure, At: day}, 60},
		"less lately than before":             {Others{Sum: 13, Span: float64(minute), Level: 30, Slides: sure, At: day}, 30},
		"hardly anybody":                      {Others{Level: 0.51, Slides: sure, At: day}, 0.51},
		"nobody, as good as":                  {Others{Level: 0.49, Slides: sure, At: day}, 0},
		"nothing since a minute":              {Others{Level: 30, Slides: sure, At: day - minute}, 15},
		"nothing since, as good as nobody":    {Others{Level: 0.9, Slides: sure, At: day - minute}, 0},
		"nothing since three minutes, likely": {Others{Level: 30, Slides: sure, At: day - 3*minute}, 7.5},
	} {
		require.InDelta(t, c.perMinute, c.others.Rate(day)*float64(minute), 1e-9, name)
	}
}

// What others take is what the figures lose beyond our own use, since the window last gave something back.
func TestWhatOthersTook(t *testing.T) {
	var o Others
	step := func(now Instant, low, high int64, level float64, want Others) {
		t.Helper()
		o.note(now, 0, low, high, level)
		require.InDelta(t, want.Sum, o.Sum, 1e-9)
		require.InDelta(t, want.Span, o.Span, 1e-3)
		o.Sum, o.Span = want.Sum, want.Span
		require.Equal(t, want, o)
	}
	const s = float64(second)
	step(10*second, 120, 125, 0, Others{Low: 120, High: 125, At: 10 * second})
	step(20*second, 110, 112, 3, Others{Low: 120, High: 112, Seen: 8, Sum: 8, Level: 3, At: 20 * second})
	step(40*second, 112, 113, 4, Others{Low: 120, High: 112, Seen: 8, Sum: 6, Span: 20 * s, Level: 4, At: 40 * second})
	step(40*second, 109, 110, 4, Others{Low: 120, High: 110, Seen: 10, Sum: 8, Span: 20 * s, Level: 4, At: 40 * second})
	step(39*second, 115, 117, 4, Others{Low: 115, High: 117, Sum: 8, Span: 20 * s, Level: 4, At: 39 * second}) // it gave something back

	o.Slides = sure // what it gives back then says nothing about others
	step(59*second, 118, 120, 5, Others{Low: 118, High: 120, Sum: 6, Span: 35 * s, Level: 5, At: 59 * second, Slides: sure})
	step(59*second, 119, 120, 5, Others{Low: 119, High: 120, Sum: 6, Span: 35 * s, Level: 5, At: 59 * second, Slides: sure})

	o = Others{Low: 10, High: 10, Sum: 0.4, Span: 10 * s, At: 10 * second}
	step(20*second, 10, 10, 0, Others{Low: 10, High: 10, Sum: 0.4 * 6 / 7, At: 20 * second}) // nobody comes any more
}

// The advance of the reset tells a sliding minute from a fixed one.
func TestAdvanceOfASlidingMinute(t *testing.T) {
	o := Others{Slides: 1}
	o.learnSliding(50*second - 1)
	require.EqualValues(t, 2, o.Slides)
	o.learnSliding(50 * second)
	require.EqualValues(t, 1, o.Slides)
}

// shared is a surface whose minute ends a minute from the epoch.
func shared(o Others) *State {
	s := NewState(lists())
	s.Figures = Figures{Valid: true, Window: Minute, HasReset: true, ResetBy: minute - second}
	s.Others = o
	return &s
}

func TestWhatIsKeptBack(t *testing.T) {
	for name, c := range map[string]struct {
		others Others
		left   Instant
		want   float64
	}{
		"a fresh minute":                   {Others{}, minute, 18},
		"more than a minute":               {Others{}, 2 * minute, 18},
		"half a minute":                    {Others{}, minute / 2, 9},
		"its end":                          {Others{}, 0, 0},
		"after its end":                    {Others{}, -minute, 0},
		"others, a fresh minute":           {perSecond(1), minute, 65},
		"others, half a minute":            {perSecond(1), minute / 2, 35},
		"others, its end":                  {perSecond(1), 0, 5},
		"few others, less than for nobody": {perSecond(0.1), minute, 18},
		"others who want all":              {perSecond(3), minute / 2, 1.5 * 35},
	} {
		require.InDelta(t, c.want, shared(c.others).keepBack(minute-c.left, c.left), 1e-9, name)
	}
	s := shared(perSecond(1))
	s.Figures.Window = Day
	require.Zero(t, s.keepBack(0, minute), "no part of the day is")
}

// While others are active in a sliding minute, requests keep a pace.
func TestPaceInASlidingMinute(t *testing.T) {
	sliding := func(o Others) *State {
		o.Slides = sure
		return shared(o)
	}
	require.Zero(t, sliding(Others{}).gap(0), "nobody else is there")
	require.Equal(t, minute/55, sliding(perSecond(1)).gap(0))
	require.Equal(t, minute/54, sliding(perSecond(1.2)).gap(0), "nearly half of it is ours at least")
	require.Zero(t, shared(perSecond(1)).gap(0), "a fixed one gives back all at once")
	s := sliding(perSecond(1))
	s.Figures.Window = Day
	require.Zero(t, s.gap(0))
	s = sliding(perSecond(1))
	s.Limits[Minute] = 0
	require.Zero(t, s.gap(0))
}

// After a reset, others come first for as long as the window takes to give back what is left to them.
func TestPolitenessAfterAReset(t *testing.T) {
	s := shared(Others{})
	for _, c := range []struct {
		left, keep float64
		want       Instant
	}{{4, 10, 3500 * millisecond}, {10, 10, second / 2}, {10.1, 10, 0}, {0, 20, lookahead}, {0, 0, 0}, {-1, 0, 0}} {
		require.Equal(t, c.want, s.probeDelay(c.left, c.keep), "%v", c)
	}
	s.Figures.Window = Day
	require.Zero(t, s.probeDelay(4, 10))
	s = shared(Others{})
	s.Limits[Minute] = 0
	require.Zero(t, s.probeDelay(4, 10))
}

// What begins to hold is found to the step.
func TestFirstWhen(t *testing.T) {
	for _, begins := range []Instant{0, second, 33*second + 1, minute} {
		at := firstWhen(0, minute, 10*millisecond, func(at Instant) bool { return at >= begins })
		require.GreaterOrEqual(t, at, begins)
		require.Less(t, at, begins+10*millisecond+1)
	}
	require.Equal(t, second, firstWhen(2*second, second, 1, func(Instant) bool { return false }), "there is no time between")
}
