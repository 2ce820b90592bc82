package budget

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func lists() Config { return Config{PerMinute: 120, PerDay: 10_000, Share: DefaultShare} }

func told(limit, remaining int, reset time.Duration) Observation {
	return Observation{Limit: limit, Remaining: remaining, Reset: reset, HasReset: true}
}

// take grants as much as there is, up to n.
func take(s *State, now Instant, n int) (permits []Permit, last Decision) {
	for range n {
		d := s.Take(now, Interactive)
		if !d.Granted {
			return permits, d
		}
		permits = append(permits, d.Permit)
	}
	return permits, last
}

// opened is a surface after its first answer.
func opened(c Config, first Observation) *State {
	s := NewState(c)
	s.Report(1+200*millisecond, s.Take(1, Interactive).Permit, first)
	return &s
}

func TestColdStartIsOneProbe(t *testing.T) {
	s := NewState(lists())
	permits, d := take(&s, 1, 200)
	require.Len(t, permits, 1)
	require.True(t, d.News)
	s.Report(2, permits[0], told(120, 119, time.Minute))
	permits, d = take(&s, 3, 200)
	require.Len(t, permits, 101) // with the probe 85 % of the minute; the rest is left to others for now
	require.False(t, d.News)
	require.Less(t, d.Until, 10*second)
}

func TestAnswersInAnyOrder(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		s := opened(Config{}, told(120, 119, time.Minute))
		permits, _ := take(s, second, 4)
		for i, n := range order {
			s.Report(second+Instant(i+1), permits[n], told(120, 118-n, 59*time.Second))
		}
		permits, _ = take(s, 2*second, 200)
		require.Len(t, permits, 115, "%v", order)
	}
}

func TestBindingWindowAlternates(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute))
	p := s.Take(second, Interactive)
	s.Report(2*second, p.Permit, told(10_000, 40, 5*time.Hour))
	permits, _ := take(s, 3*second, 200)
	require.Len(t, permits, 40, "no share of the day is left to others")
	for i, p := range permits {
		s.Report(4*second, p, told(10_000, 39-i, 5*time.Hour))
	}
	d := s.Take(5*second, Interactive)
	require.False(t, d.News)
	require.InDelta(t, float64(5*60*minute), float64(d.Until), float64(10*second))
}

func TestLimitsAreLearned(t *testing.T) {
	s := opened(lists(), told(300, 299, time.Minute))
	require.Equal(t, [2]any{int64(300), true}, [2]any{s.Limits[Minute], s.Learned[Minute]})
	require.Zero(t, s.Limits[Day], "the documented one is of another plan")
	s.Report(second, s.Take(second, Interactive).Permit, told(50_000, 12, 9*time.Hour))
	require.Equal(t, [2]int64{300, 50_000}, [2]int64{s.Limits[Minute], s.Limits[Day]})
	s = opened(lists(), told(60, 59, time.Minute))
	require.Equal(t, [2]any{int64(10_000), false}, [2]any{s.Limits[Day], s.Learned[Day]}, "a smaller plan has no more a day")
	s = opened(Config{}, told(50_000, 12, 9*time.Hour))
	require.Equal(t, [2]any{int64(50_000), true}, [2]any{s.Limits[Day], s.Learned[Day]})
	require.Zero(t, s.Limits[Minute])
}

// An absurd limit is not taken for one: sums with it would not be exact.
func TestAbsurdLimitsAreNotLearned(t *testing.T) {
	s := opened(Config{}, told(math.MaxInt, math.MaxInt, time.Minute))
	require.LessOrEqual(t, s.Limits[Minute], int64(mostTold))
	require.LessOrEqual(t, s.Figures.Remaining, int64(mostTold))
}

func TestUnlimitedSurfaceDoubles(t *testing.T) {
	s := NewState(Config{})
	now := Instant(1)
	for want := 1; want <= 64; want *= 2 {
		permits, d := take(&s, now, 1000)
		require.Len(t, permits, want)
		require.True(t, d.News)
		for _, p := range permits {
			now++
			s.Report(now, p, NoFigures)
		}
	}
	p := s.Take(now, Interactive)
	s.Report(now+1, p.Permit, Observation{Limit: -1, Remaining: -1, RateLimited: true})
	require.False(t, s.Take(now+2, Interactive).News)
	permits, _ := take(&s, now+minute, 1000)
	require.Len(t, permits, 1)
}

func TestLedgerWithoutFigures(t *testing.T) {
	s := opened(Config{PerMinute: 20, PerDay: 30}, NoFigures)
	s.Weighs = -1
	permits, d := take(s, second, 100)
	require.Len(t, permits, 19)
	require.False(t, d.News)
	for i, p := range permits {
		s.Report(2*second+Instant(i), p, NoFigures)
	}
	permits, _ = take(s, 63*second, 100)
	require.Len(t, permits, 10, "the day has no more")
	for _, p := range permits {
		s.Report(64*second, p, NoFigures)
	}
	d = s.Take(65*second, Interactive)
	require.Greater(t, d.Until, 23*60*minute)
}

func TestErrorAnswersWithoutFiguresChangeNothing(t *testing.T) {
	s := opened(Config{PerMinute: 120}, told(120, 5, 30*time.Second))
	permits, _ := take(s, second, 100)
	require.Len(t, permits, 5)
	for _, p := range permits {
		s.Report(2*second, p, NoFigures)
	}
	d := s.Take(3*second, Interactive)
	require.False(t, d.Granted)
	require.InDelta(t, float64(31*second), float64(d.Until), float64(2*second))
}

func TestNotSentIsUnused(t *testing.T) {
	s := opened(Config{}, told(120, 10, time.Minute))
	permits, _ := take(s, second, 100)
	require.Len(t, permits, 10)
	for _, p := range permits {
		s.Report(2*second, p, Observation{NotSent: true})
	}
	permits, _ = take(s, 3*second, 100)
	require.Len(t, permits, 10)
}

func TestReplaysAreUsed(t *testing.T) {
	s := opened(Config{}, told(120, 10, time.Minute))
	p := s.Take(second, Interactive).Permit
	o := NoFigures
	o.Replays = 3
	s.Report(2*second, p, o)
	permits, _ := take(s, 3*second, 100)
	require.Len(t, permits, 6)
}

func TestRefusalHoldsTheSurface(t *testing.T) {
	s := opened(Config{PerMinute: 120}, told(120, 50, 30*time.Second))
	permits, _ := take(s, second, 10)
	no := Observation{Limit: -1, Remaining: -1, RateLimited: true, RetryAfter: 20 * time.Second, Jitter: 0.5}
	for _, p := range permits {
		s.Report(2*second, p, no)
	}
	require.Equal(t, 1, s.Strikes, "a herd is one refusal")
	d := s.Take(3*second, Interactive)
	require.False(t, d.News)
	require.Equal(t, 22*second+500*millisecond, d.Until)
	permits, _ = take(s, d.Until, 10)
	require.Len(t, permits, 1, "then one probes")
	s.Report(d.Until+second, permits[0], no)
	require.Greater(t, s.Take(d.Until+2*second, Interactive).Until-d.Until, 21*second+500*millisecond, "the spread widens")
}

func TestReserveIsForInteractiveCalls(t *testing.T) {
	s := opened(Config{PerMinute: 120, Reserve: 15}, told(120, 20, time.Minute))
	for range 5 {
		require.True(t, s.Take(second, Batch).Granted)
	}
	require.False(t, s.Take(second, Batch).News)
	permits, _ := take(s, second, 100)
	require.Len(t, permits, 15)
}

func TestTeammatesAreSeenAndLeftTheirPart(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute))
	remaining := 119
	for i := range 10 {
		now := Instant(i+1) * second
		p := s.Take(now, Interactive)
		require.True(t, p.Granted)
		remaining -= 2 // one of ours, one of theirs
		s.Report(now+100*millisecond, p.Permit, told(120, remaining, time.Minute-time.Duration(i)*time.Second))
	}
	require.InDelta(t, 0.7, s.Others.Rate(10*second)*float64(second), 0.35)
	permits, d := take(s, 11*second, 200)
	require.False(t, d.News)
	require.InDelta(t, 55, len(permits), 25)
}

// Requests without a report are forgotten, although others go on.
func TestTheDeadHoldNothing(t *testing.T) {
	s := opened(lists(), told(120, 119, time.Minute))
	dead, _ := take(s, second, 50)
	require.Len(t, dead, 50)
	now := second
	for now < 5*minute {
		now += 500 * millisecond
		if d := s.Take(now, Interactive); d.Granted {
			s.Report(now+millisecond, d.Permit, told(120, 60, 30*time.Second))
		}
	}
	require.Zero(t, s.inFlight())
	require.Equal(t, s.Dispatched, s.Completed)
	used := s.Counts[Day].Sum
	require.Equal(t, s.Dispatched, used)

	s.Report(now, dead[0], told(120, 5, time.Second)) // it lived after all
	require.Equal(t, used+1, s.Counts[Day].Sum)
	require.Equal(t, s.Dispatched, s.Completed)
	dispatched := s.Dispatched
	s.Return(dead[1])
	require.Equal(t, dispatched, s.Dispatched)
}

// service counts one window: fixed from its first request, sliding, or with the last one weighted.
type service struct {
	limit   int
	sliding bool
	weighs  bool
	up      bool
	last    int
	taken   []Instant
	end     Instant
}

func (v *service) arrive(now Instant) (Observation, bool) {
	if v.sliding {
		for len(v.taken) > 0 && v.taken[0]+minute <= now {
			v.taken = v.taken[1:]
		}
	} else if v.weighs {
		for ; now >= v.end; v.end += minute {
			v.taken, v.last = nil, len(v.taken)
		}
		weighted := (Instant(v.last)*(v.end-now) + minute - 1) / minute
		if len(v.taken)+int(weighted) >= v.limit {
			return Observation{}, false
		}
		v.taken = append(v.taken, now)
		reset := v.end - now
		if v.up {
			reset += second - 1
		}
		return told(v.limit, v.limit-len(v.taken)-int(weighted), time.Duration(reset/second)*time.Second), true
	} else if now >= v.end {
		v.taken, v.end = nil, now+minute
	}
	if len(v.taken) >= v.limit {
		return Observation{}, false
	}
	v.taken = append(v.taken, now)
	reset := v.end - now
	if v.sliding {
		reset = v.taken[0] + minute - now
	}
	if v.up {
		reset += second - 1
	}
	return told(v.limit, v.limit-len(v.taken), time.Duration(reset/second)*time.Second), true
}

// TestNeverMoreThanIsSafe: whatever the order in which requests reach the service and answers come back, none is refused.
func TestNeverMoreThanIsSafe(t *testing.T) {
	type flight struct {
		permit  Permit
		arrived bool
		answer  Observation
	}
	rapid.Check(t, func(t *rapid.T) {
		v := service{limit: rapid.IntRange(1, 30).Draw(t, "limit"), sliding: rapid.Bool().Draw(t, "sliding"), up: rapid.Bool().Draw(t, "up")}
		v.weighs = !v.sliding && rapid.Bool().Draw(t, "weighs")
		share := float64(rapid.IntRange(0, 1).Draw(t, "share")) * DefaultShare
		s := NewState(Config{Share: share, PerMinute: v.limit * rapid.IntRange(0, 1).Draw(t, "documented")})
		now, granted, refused := Instant(1), 0, 0
		var flights []*flight
		for range rapid.IntRange(50, 300).Draw(t, "steps") {
			now += Instant(rapid.SampledFrom([]int{0, 1, 1000, 200_000, 1_500_000, 20_000_000}).Draw(t, "pause"))
			if d := s.Take(now, Interactive); d.Granted && rapid.IntRange(0, 3).Draw(t, "take") > 0 {
				granted++
				flights = append(flights, &flight{permit: d.Permit})
			} else if d.Granted {
				s.Return(d.Permit)
			}
			if len(flights) == 0 {
				continue
			}
			i := rapid.IntRange(0, len(flights)-1).Draw(t, "flight")
			if now-flights[0].permit.At > 20*second {
				i = 0
			}
			f := flights[i]
			if !f.arrived {
				var ok bool
				f.answer, ok = v.arrive(now)
				if !ok { // only by a service that weighs its last window, which has to be learned
					refused++
					f.answer = hold(10 * time.Second)
				}
				require.True(t, ok || v.weighs && refused == 1, "refused at %v after %d grants", now.Duration(), granted)
				f.arrived = true
				continue
			}
			s.Report(now, f.permit, f.answer)
			flights = append(flights[:i], flights[i+1:]...)
		}
		if !v.weighs && s.Weighs <= 0 { // which looks like others until it is known
			require.Zero(t, s.Others.Rate(now), "nobody else was there")
		}
	})
}

// FuzzReport: whatever it is told, it does not panic, never waits into the past, and opens again within a day, unless so many requests of our
// own were sent that a service that weighs its last window may count them for another one.
func FuzzReport(f *testing.F) {
	f.Add(120, 119, int64(60), int64(0), uint8(0), uint8(1))
	f.Add(-1, math.MaxInt, int64(math.MaxInt64), int64(math.MinInt64), uint8(255), uint8(200))
	f.Add(0, 0, int64(86_400), int64(1<<40), uint8(3), uint8(9))
	f.Add(1, 1<<30, int64(-5), int64(86_400), uint8(12), uint8(30))
	f.Add(21, math.MaxInt-105, int64(math.MaxInt64), int64(-1), uint8(0x9a), uint8(0xe0))
	f.Fuzz(func(t *testing.T, limit, remaining int, reset, retry int64, flags, n uint8) {
		s := NewState(lists())
		now := Instant(1)
		for i := range int(n) + 1 {
			d := s.Take(now, Priority(i%2))
			if !d.Granted {
				require.Greater(t, d.Until, now)
				now = d.Until
				continue
			}
			now += Instant(i) * 10 * millisecond
			s.Report(now, d.Permit, Observation{
				Limit: limit, Remaining: remaining - i, Reset: time.Duration(reset), HasReset: flags&1 > 0, RateLimited: flags&2 > 0 && i%3 == 0,
				RetryAfter: time.Duration(retry), NotSent: flags&8 > 0 && i%4 == 0,
				Lost: flags&16 > 0 && i%2 == 0, Replays: int(flags) - 100, Jitter: float64(retry),
			})
		}
		at, _ := s.Earliest(now, int(n), Interactive)
		require.GreaterOrEqual(t, at, now)
		later := now + day + probeLease
		if !s.Take(later, Interactive).Granted {
			require.Greater(t, s.load(later, Day)+1, float64(s.Limits[Day]), "closed for more than a day")
			require.True(t, s.Take(later+day, Interactive).Granted, "closed for more than two days")
		}
	})
}

// A probe whose response is lost may have taken what a sliding minute had given back: the next one goes when it gives back more, not a
// minute later.
func TestALostLookInASlidingMinute(t *testing.T) {
	s := NewState(Config{PerMinute: 10})
	s.Others.Slides = sure
	for i := range 10 {
		now := Instant(i+1) * 2 * second
		d := s.Take(now, Interactive)
		require.True(t, d.Granted)
		s.Report(now, d.Permit, told(10, 9-i, time.Minute-time.Duration(2*i)*time.Second))
	}
	s.Others = Others{Slides: sure, Sum: 3, Span: float64(minute), At: 62 * second, Low: 10, High: 10}
	probe, now := granted(t, &s, 62*second)
	require.True(t, probe.Probe)
	s.Report(now, probe, Observation{Limit: -1, Remaining: -1, Lost: true})
	_, again := granted(t, &s, now)
	require.Greater(t, again, now)
	require.Less(t, again, now+20*second)
}

// granted waits for a permit.
func granted(t *testing.T, s *State, now Instant) (Permit, Instant) {
	t.Helper()
	d := s.Take(now, Interactive)
	for !d.Granted {
		require.Greater(t, d.Until, now)
		now = d.Until
		d = s.Take(now, Interactive)
	}
	return d.Permit, now
}

const hour = 60 * minute
