package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func refused(change func(*Observation)) Observation {
	o := Observation{Limit: -1, Remaining: -1, RateLimited: true, RetryAfter: time.Second}
	change(&o)
	return o
}

// A refusal pauses the surface for as long as its call waits, and a little longer: the more refusals in a row, the more.
func TestHowLongARefusalPauses(t *testing.T) {
	for name, c := range map[string]struct {
		strikes int
		change  func(*Observation)
		want    Instant
		in      Window
	}{
		"a time":                      {0, func(o *Observation) { o.RetryAfter = 20 * time.Second }, 20 * second, Minute},
		"a time, the third time":      {2, func(o *Observation) { o.RetryAfter = 20 * time.Second }, 20 * second, Minute},
		"at once":                     {0, func(o *Observation) { o.RetryAfter = 0 }, second / 2, Minute},
		"a time in the past":          {0, func(o *Observation) { o.RetryAfter = -time.Hour }, second / 2, Minute},
		"about a minute":              {0, func(o *Observation) { o.RetryAfter = 62 * time.Second }, 62 * second, Minute},
		"more than a minute":          {0, func(o *Observation) { o.RetryAfter = 62*time.Second + time.Microsecond }, 62*second + 1, Day},
		"a week":                      {0, func(o *Observation) { o.RetryAfter = 7 * 24 * time.Hour }, day, Day},
		"a reset and a time":          {0, func(o *Observation) { o.HasReset, o.Reset = true, 10*time.Second }, second, Minute},
		"all the spread of the first": {0, func(o *Observation) { o.Jitter = 1 }, second + second/10, Minute},
		"half of it":                  {0, func(o *Observation) { o.Jitter = 0.5 }, second + second/20, Minute},
		"more than all of it":         {0, func(o *Observation) { o.Jitter = 9 }, second + second/10, Minute},
		"less than none of it":        {0, func(o *Observation) { o.Jitter = -9 }, second, Minute},
		"the spread of a long one":    {0, func(o *Observation) { o.RetryAfter, o.Jitter = 30*time.Second, 1 }, 31 * second, Minute},
		"of the third":                {2, func(o *Observation) { o.RetryAfter, o.Jitter = 4*time.Second, 1 }, 4*second + 4*(4*second/10), Minute},
		"of the seventh":              {6, func(o *Observation) { o.RetryAfter, o.Jitter = time.Minute, 1 }, minute + widest, Minute},
		"of the sixth":                {5, func(o *Observation) { o.RetryAfter, o.Jitter = 32*time.Second, 1 }, 32*second + widest, Minute},
		"of the fifth":                {4, func(o *Observation) { o.RetryAfter, o.Jitter = 16*time.Second, 1 }, 16*second + 16*second, Minute},
		"of the hundredth":            {99, func(o *Observation) { o.Jitter = 1 }, second + 64*second/10, Minute},
		"as much as fits": {0, func(o *Observation) {
			o.RetryAfter, o.Jitter, o.Within = 30*time.Second, 1, 30500*time.Millisecond
		}, 30500 * millisecond, Minute},
		"none fits": {0, func(o *Observation) {
			o.RetryAfter, o.Jitter, o.Within = 30*time.Second, 1, 30*time.Second
		}, 30 * second, Minute},
		"never more than a day": {9, func(o *Observation) { o.RetryAfter, o.Jitter = 24*time.Hour, 1 }, day, Day},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(lists(), told(120, 119, time.Minute))
			s.Strikes, s.Allowed = c.strikes, 8
			p := s.Take(second, Interactive).Permit
			s.Report(2*second, p, refused(c.change))
			require.Equal(t, 2*second+c.want, s.HeldUntil)
			require.Equal(t, c.in, s.HeldIn)
			require.Equal(t, c.strikes+1, s.Strikes)
			require.EqualValues(t, 1, s.Allowed)
			require.False(t, s.Figures.Valid)
			d := s.Take(s.HeldUntil-1, Interactive)
			require.Equal(t, Delay{Until: s.HeldUntil}, d.Delay)
			require.True(t, s.Take(s.HeldUntil, Interactive).Permit.Probe)
		})
	}
}

// Refusals of requests that were sent before an earlier one only confirm it: they lengthen the pause at most, and tell nothing else once figures came.
func TestLaterRefusalsOfTheSameHerd(t *testing.T) {
	wait := func(d time.Duration) Observation {
		return refused(func(o *Observation) { o.RetryAfter = d })
	}
	s := opened(lists(), told(120, 119, time.Minute))
	permits, _ := take(s, second, 5)
	s.Report(2*second, permits[0], wait(20*time.Second))
	epoch := s.Epoch
	s.Report(2*second, permits[1], wait(10*time.Second))
	require.Equal(t, 22*second, s.HeldUntil)
	s.Report(2*second, permits[2], wait(2*time.Minute))
	require.Equal(t, 122*second, s.HeldUntil)
	require.Equal(t, Day, s.HeldIn)
	s.Report(3*second, permits[3], wait(2*time.Minute-time.Second))
	require.Equal(t, 122*second, s.HeldUntil)
	require.Equal(t, 1, s.Strikes)
	require.Equal(t, epoch, s.Epoch)
	probe := s.Take(122*second, Interactive)
	require.True(t, probe.Granted)
	s.Report(123*second, probe.Permit, told(120, 119, time.Minute))
	require.Zero(t, s.Strikes)
	s.Report(124*second, permits[4], wait(time.Hour))
	require.Equal(t, 124*second+hour, s.HeldUntil, "as long as the service has asked for, whatever the figures say")
	require.True(t, s.Figures.Valid)
	require.Zero(t, s.Strikes)
}

// Responses to requests that were sent before a refusal say nothing about the time after it.
func TestResponsesFromBeforeARefusal(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute))
	permits, _ := take(s, second, 2)
	s.Report(2*second, permits[0], refused(func(*Observation) {}))
	s.Report(2*second, permits[1], told(120, 117, time.Minute))
	require.False(t, s.Figures.Valid)
	require.Equal(t, 1, s.Strikes)
	require.EqualValues(t, 3, s.Completed)
}

func TestWhichWindowAResponseDescribes(t *testing.T) {
	for name, c := range map[string]struct {
		limit             int
		reset             time.Duration
		perMinute, perDay int64
		want              Window
	}{
		"a far reset":                    {120, 62*time.Second + 1, 120, 10_000, Day},
		"a far reset alone":              {-1, time.Hour, 120, 10_000, Day},
		"a near one":                     {120, 62 * time.Second, 120, 10_000, Minute},
		"the limit of the day":           {10_000, time.Second, 120, 10_000, Day},
		"the limit of the day alone":     {10_000, 0, 120, 10_000, Day},
		"the limit of both":              {50, 0, 50, 50, Minute},
		"another limit":                  {300, 0, 120, 10_000, Unknown},
		"no limit":                       {-1, time.Second, 120, 10_000, Unknown},
		"no limit, where none is known":  {0, 0, 0, 0, Unknown},
		"none told, where none is known": {-1, 0, 0, 0, Unknown},
	} {
		require.Equal(t, c.want, WindowOf(c.limit, c.reset, c.perMinute, c.perDay), name)
	}
	require.Equal(t, Minute, opened(lists(), Observation{Limit: 300, Remaining: 5}).Figures.Window, "unless it says otherwise")
}

// Figures of a limit are bounded by it, and by what is not absurd.
func TestFiguresAreBounded(t *testing.T) {
	s := opened(lists(), told(120, 500, time.Minute))
	require.EqualValues(t, 120, s.Figures.Remaining)
	s = opened(Config{}, Observation{Limit: -1, Remaining: 500})
	require.EqualValues(t, 500, s.Figures.Remaining)
	s = opened(Config{}, told(mostTold, mostTold, time.Minute))
	require.Equal(t, [2]any{int64(mostTold), true}, [2]any{s.Limits[Minute], s.Learned[Minute]})
	s = opened(lists(), told(mostTold+1, mostTold+1, time.Minute))
	require.Equal(t, [2]any{int64(120), false}, [2]any{s.Limits[Minute], s.Learned[Minute]})
	require.EqualValues(t, mostTold, s.Figures.Remaining)
	s = opened(lists(), told(0, 0, time.Minute))
	require.Equal(t, [2]any{int64(120), false}, [2]any{s.Limits[Minute], s.Learned[Minute]}, "a limit of nothing is none")
	require.Zero(t, s.Figures.Remaining)
}

// What a request that was sent again has used counts as often as it was sent, up to a bound.
func TestReplaysCount(t *testing.T) {
	for replays, want := range map[int]int64{-5: 2, 0: 2, 1: 3, 100: 102, 1000: 102} {
		s := opened(Config{PerMinute: 1000}, told(1000, 999, time.Minute))
		p := s.Take(second, Interactive).Permit
		o := told(1000, 900, time.Minute)
		o.Replays = replays
		s.Report(2*second, p, o)
		require.Equal(t, want, s.Dispatched, "%d", replays)
		require.Equal(t, want, s.Completed, "%d", replays)
		require.Equal(t, want, s.Counts[Minute].Sum)
		require.Equal(t, want, s.Figures.Known, "the figures include all of them")
	}
}

func TestReportOfNoPermit(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute))
	before := *s
	s.Report(2*second, Permit{}, told(120, 5, time.Minute))
	require.Equal(t, before, *s)
}

// Of two responses that overlapped, the lower figure counts, with the requests that either has counted.
func TestMerge(t *testing.T) {
	base := Figures{Valid: true, Remaining: 50, Known: 10, Mark: 12, ResetBy: minute}
	with := func(remaining, known, mark int64, resetBy Instant) Figures {
		f := base
		f.Remaining, f.Known, f.Mark, f.ResetBy = remaining, known, mark, resetBy
		return f
	}
	for name, c := range map[string]struct {
		next Figures
		n    int64
		want Figures
	}{
		"lower":                          {with(49, 9, 13, minute+1), 1, with(49, 11, 13, minute+1)},
		"lower, and more known":          {with(49, 20, 13, minute+1), 1, with(49, 20, 13, minute+1)},
		"higher":                         {with(51, 9, 13, minute+1), 1, with(50, 11, 12, minute)},
		"higher, sent three times":       {with(51, 14, 13, minute+1), 3, with(50, 14, 12, minute)},
		"the same, it resets later":      {with(50, 9, 13, minute+1), 1, with(50, 11, 13, minute+1)},
		"the same":                       {with(50, 9, 13, minute), 1, with(50, 11, 13, minute)},
		"the same, it resets before":     {with(50, 9, 13, minute-1), 1, with(50, 11, 13, minute)},
		"higher, but it knows many more": {with(51, 30, 33, minute), 1, with(50, 30, 12, minute)},
	} {
		f := base
		f.merge(c.next, c.n)
		require.Equal(t, c.want, f, name)
	}
}

// A response is later than another only if its window definitely is.
func TestLaterThan(t *testing.T) {
	early := Figures{Window: Minute, HasReset: true, ResetFrom: minute - second, ResetBy: minute}
	late := Figures{Window: Minute, HasReset: true, ResetFrom: minute + 1, ResetBy: minute + 2*second}
	require.True(t, late.laterThan(early))
	require.False(t, early.laterThan(late))
	touching := late
	touching.ResetFrom = minute
	require.False(t, touching.laterThan(early))
	other, without := late, late
	other.Window, without.HasReset = Day, false
	require.False(t, other.laterThan(early))
	require.False(t, without.laterThan(early))
	early.HasReset = false
	require.False(t, late.laterThan(early))
}

// A response of an earlier window changes nothing, one of a later window replaces what is known, whatever came first.
func TestResponsesOfTwoWindows(t *testing.T) {
	s := opened(Config{PerMinute: 120}, told(120, 60, 5*time.Second))
	permits, _ := take(s, second, 3)
	s.Report(10*second, permits[0], told(120, 118, 50*time.Second))
	later := s.Figures
	require.EqualValues(t, 118, later.Remaining, "the minute is a new one")
	s.Report(10*second, permits[1], told(120, 57, 0))
	require.Equal(t, later, s.Figures)
	s.Report(10*second, permits[2], told(120, 117, 50*time.Second))
	require.EqualValues(t, 117, s.Figures.Remaining)
}

// A request that was sent after another response had arrived tells more than that, even if the clock of the service went on between.
func TestTheClockOfTheServiceGoesOn(t *testing.T) {
	s := opened(Config{PerMinute: 12}, told(12, 1, time.Minute))
	s.Report(3*second, s.Take(2*second, Batch).Permit, told(12, 0, 43*time.Second))
	require.EqualValues(t, 0, s.Figures.Remaining)
	require.False(t, s.Take(4*second, Interactive).News)
}

// A request without a response may be counted for a while, and then is, or never will be.
func TestLostRequestsAreLateForAWhile(t *testing.T) {
	lost := Observation{Limit: -1, Remaining: -1, Lost: true}
	s := opened(Config{PerMinute: 120}, told(120, 10, time.Minute))
	permits, _ := take(s, second, 20)
	require.Len(t, permits, 10)
	for _, p := range permits[:4] {
		s.Report(2*second, p, lost)
	}
	require.EqualValues(t, 1, s.Completed)
	require.EqualValues(t, 4, s.late())
	require.EqualValues(t, 6, s.inFlight())
	require.Equal(t, 2*second+lateGrace, s.BlindAt)
	s.Report(5*second, permits[4], lost)
	require.Equal(t, 2*second+lateGrace, s.LateTurn, "the first of them counts")
	s.expire(2*second + lateGrace - 1)
	require.EqualValues(t, 1, s.Completed)
	s.expire(2*second + lateGrace) // all of them are old now
	require.EqualValues(t, 1, s.Completed)
	require.EqualValues(t, 5, s.LateOld)
	s.Report(13*second, permits[5], lost)
	require.EqualValues(t, 1, s.LateNew)
	require.EqualValues(t, 4, s.inFlight())
	s.expire(2*second + 2*lateGrace)
	require.EqualValues(t, 6, s.Completed, "but the last")
	require.EqualValues(t, 1, s.late())
	s.expire(2*second + 3*lateGrace)
	require.EqualValues(t, 7, s.Completed)
	require.Zero(t, s.late())
	require.EqualValues(t, 4, s.inFlight())
	require.EqualValues(t, 7, s.Counts[Minute].Sum)
	require.Equal(t, 2*second+3*lateGrace, s.Counts[Minute].At[s.Counts[Minute].slot(s.Counts[Minute].Used-1)], "the last from when it can arrive no more")

	d := s.Take(40*second, Interactive)
	require.True(t, d.News, "those in flight may bring figures")
	for _, p := range permits[6:] {
		s.Report(40*second, p, lost)
	}
	for _, now := range []Instant{41 * second, 40*second + 2*lateGrace} { // no figures tell whether they were counted
		d = s.Take(now, Interactive)
		require.False(t, d.News)
		require.Greater(t, d.Until, minute+second)
	}
}

// A request whose connection was cut may be counted after later ones were: until figures are younger than that, it takes what they leave.
func TestNoFiguresAreYoungerThanALostRequest(t *testing.T) {
	s := opened(Config{PerMinute: 12, Share: 0}, told(12, 2, time.Minute))
	s.Weighs = -1
	permits, _ := take(s, second, 2)
	s.Report(second, permits[0], Observation{Limit: -1, Remaining: -1, Lost: true})
	s.Report(2*second, permits[1], told(12, 1, time.Minute))
	for _, now := range []Instant{3 * second, 11 * second, 31 * second} {
		require.False(t, s.Take(now, Interactive).News, "%v", now)
	}
	s.Figures.Sent = second + lateGrace
	require.True(t, s.Take(31*second, Interactive).Permit.Probe)
}

// On a surface about which nothing is known, each response allows one more at a time, up to a bound.
func TestBareResponsesAllowMore(t *testing.T) {
	s := NewState(Config{})
	p := s.Take(1, Interactive).Permit
	s.Allowed = mostAllowed - 1
	s.Report(2, p, NoFigures)
	require.EqualValues(t, mostAllowed, s.Allowed)
	p = s.Take(3, Interactive).Permit
	s.Report(4, p, NoFigures)
	require.EqualValues(t, mostAllowed, s.Allowed)
	for range 5 {
		s.Report(6, s.Take(5, Interactive).Permit, NoFigures)
	}
	require.Equal(t, silence, s.Silent, "it is silent, and not more so")
}

// Which refusals show that others took more: those of the minute, by requests from just before the pause.
func TestWhichRefusalsTellOfOthers(t *testing.T) {
	wait := func(d time.Duration) Observation {
		return refused(func(o *Observation) { o.RetryAfter, o.Remaining = d, 0 })
	}
	after := func(first time.Duration, again bool) int64 {
		s := opened(Config{PerMinute: 120}, told(120, 119, time.Minute))
		permits, _ := take(s, second, 3)
		s.Report(2*second, permits[0], wait(first))
		if again {
			p, now := granted(t, s, 3*second)
			s.Report(now, p, wait(first))
		}
		before := s.Others.Seen
		s.Report(day, permits[1], wait(first))
		return s.Others.Seen - before
	}
	require.EqualValues(t, 1, after(20*time.Second, false))
	require.Zero(t, after(time.Hour, false), "it is the day that is used up")
	require.Zero(t, after(20*time.Second, true), "it was sent before an earlier pause")

	s := opened(lists(), told(10_000, 50, 5*time.Hour))
	p := s.Take(second, Interactive).Permit
	before := s.Others
	s.Report(2*second, p, wait(time.Hour))
	require.Equal(t, before, s.Others, "figures of the day tell nothing of others in the minute")
}

// A look that was lost delays the next one, and only if it was the look.
func TestLostLooks(t *testing.T) {
	lost := Observation{Limit: -1, Remaining: -1, Lost: true}
	for name, c := range map[string]struct{ probe, valid, moved bool }{
		"the look": {true, true, true}, "another": {false, true, false}, "without figures": {true, false, false},
	} {
		s := mid(0, 0)
		s.Counts[Minute].add(20*second, minute, 69)
		s.Figures.Valid = c.valid
		want := s.resetAt()
		p := Permit{Then: 50, Epoch: 1, At: 31 * second, Probe: c.probe}
		s.Dispatched++
		s.Open[0].N++
		s.Report(32*second, p, lost)
		if c.moved { // 120 are counted now: one more fits when the first are a minute old
			want = max(minute+second, want)
		}
		require.Equal(t, want, s.resetAt(), name)
	}
}

// The response to a request that was sent before a look was lost does not know what the look took: the next one is not sent earlier.
func TestAnOlderResponseAfterALostLook(t *testing.T) {
	for sent, want := range map[Instant]Instant{28 * second: 80 * second, 42 * second: 61 * second} {
		s := mid(2, 1)
		s.Counts[Minute] = WindowCount{}
		s.Counts[Minute].add(20*second, minute, 119)
		look := Permit{Then: 50, Epoch: 1, At: 31 * second, Probe: true}
		s.Dispatched += 2
		s.Open[0].N += 2
		s.Report(32*second, look, Observation{Limit: -1, Remaining: -1, Lost: true})
		s.Report(50*second, Permit{Then: 50, Epoch: 1, At: sent}, told(120, 1, 10*time.Second))
		require.EqualValues(t, 1, s.Figures.Remaining)
		require.Equal(t, want, s.resetAt(), "%v", sent)
	}
}

// A response without figures, such as a 500, need not have been counted: that one more is left then does not tell that the minute gave it
// back, nor what kind of minute it is.
func TestAResponseWithoutFiguresNeedNotCount(t *testing.T) {
	for first, want := range map[Observation]int8{told(120, 49, 28*time.Second): 1, NoFigures: 0} {
		s := mid(50, 1)
		s.Weighs, s.Edges[Minute] = 0, Edge{58 * second, 60 * second, 0}
		s.Others = Others{Low: 100, High: 100, Until: minute, At: 30 * second}
		s.Report(31*second, Permit{Then: 50, Epoch: 1, At: 30 * second}, first)
		p := s.Take(32*second, Interactive).Permit
		s.Report(33*second, p, told(120, 49, 26*time.Second))
		require.Equal(t, want, s.Weighs, "%+v", first)
	}
}

// What was told before a refusal, or without a reset, does not tell whether the minute slides.
func TestWhatTellsThatTheMinuteSlides(t *testing.T) {
	for name, c := range map[string]struct {
		change func(before *Figures, o *Observation, p *Permit)
		want   int8
	}{
		"it gave back before its reset": {func(*Figures, *Observation, *Permit) {}, 1},
		"nothing was known before":      {func(f *Figures, _ *Observation, _ *Permit) { f.Valid = false }, 0},
		"no reset was known before":     {func(f *Figures, _ *Observation, _ *Permit) { f.HasReset = false }, 0},
		"no reset is known now":         {func(_ *Figures, o *Observation, _ *Permit) { o.HasReset = false }, 0},
		"of the day before":             {func(f *Figures, _ *Observation, _ *Permit) { f.Window = Day }, 0},
		"of the day now":                {func(_ *Figures, o *Observation, _ *Permit) { o.Reset = time.Hour }, 0},
		"it gave nothing back":          {func(_ *Figures, o *Observation, _ *Permit) { o.Remaining = 60 }, 0},
		"no limit was told":             {func(_ *Figures, o *Observation, _ *Permit) { o.Limit = -1 }, 0},
		"it was sent long before":       {func(_ *Figures, _ *Observation, p *Permit) { p.Then = 10 }, 0},
	} {
		s := mid(40, 0)
		s.Others.High, s.Others.Mark, s.Others.Level = 100, 50, 0
		s.Limits[Day] = 1000
		o := told(120, 60, 33*time.Second)
		o.Remaining = 70
		p := Permit{Then: 50, Epoch: 1, At: 31 * second}
		c.change(&s.Figures, &o, &p)
		s.Dispatched++
		s.Open[0].N++
		if o.Remaining == 60 {
			s.Others.High = 112
		}
		s.Report(32*second, p, o)
		require.Equal(t, c.want, s.Others.Slides, name)
	}
}

// Something between the service and us may refuse, too: a refusal is the doing of others if its figures say that the minute is used up.
func TestWhoIsBlamedForARefusal(t *testing.T) {
	for left, blamed := range map[int]bool{-1: false, 0: true, 7: false} {
		s := opened(Config{PerMinute: 120}, told(120, 60, time.Minute))
		before := s.Others
		o := hold(3 * time.Second)
		o.Remaining = left
		s.Report(2*second, s.Take(second, Interactive).Permit, o)
		require.Equal(t, blamed, s.Others != before, left)
	}
}
