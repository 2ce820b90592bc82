package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The expected reset is in the middle of what the resets so far leave open.
func TestWhenTheWindowLikelyResets(t *testing.T) {
	for name, c := range map[string]struct {
		edge   Edge
		change func(*State)
		want   Instant
	}{
		"no reset was told":      {Edge{}, func(s *State) { s.Figures.HasReset = false }, 90 * second},
		"one was":                {Edge{}, func(*State) {}, 59*second + second/2},
		"hardly narrowed down":   {Edge{From: 56 * second, By: 60 * second}, func(*State) {}, 59*second + second/2},
		"rounded up, likely":     {Edge{From: 58 * second, By: 60 * second}, func(*State) {}, 58*second + second/2},
		"narrow, likely up":      {Edge{From: 59*second + second/2, By: 60 * second}, func(*State) {}, 59*second + second/2},
		"of another window":      {Edge{From: 58 * second, By: 60 * second}, func(s *State) { s.Figures.ResetBy = 180 * second }, 178*second + second/2},
		"with the first request": {Edge{From: 58 * second, By: 60 * second}, func(s *State) { s.Open[1].Trip = second }, 59 * second},
		"not with all requests":  {Edge{From: 58 * second, By: 60 * second, Since: -70}, func(s *State) { s.Open[1].Trip = second }, 58*second + second/2},
	} {
		t.Run(name, func(t *testing.T) {
			s := mid(30, 0)
			s.Edges[Minute] = c.edge
			c.change(s)
			require.Equal(t, c.want, s.resetIn())
		})
	}
}

// Requests on their way are expected to end one after the other, but a look as old as it is.
func TestWhatIsOnItsWay(t *testing.T) {
	s := mid(10, 3)
	look := func(at Instant) Permit { return Permit{Then: 50, Epoch: 1, At: at, Probe: true, Bare: true} }
	other := func(at Instant) Permit { return Permit{Then: 50, Epoch: 1, At: at} }
	for name, c := range map[string]struct {
		sent, from Instant
		n          int64
		want       []flight
	}{
		"no look":              {-probeLease, second, 3, []flight{{other(29 * second), 51, 32 * second}, {other(30 * second), 52, 33 * second}, {other(31 * second), 53, 34 * second}}},
		"a look":               {30 * second, second, 3, []flight{{look(30 * second), 51, 33 * second}, {other(29*second + second/2), 52, 32*second + second/2}, {other(31 * second), 53, 34 * second}}},
		"one that takes long":  {28 * second, second, 3, []flight{{other(29*second + second/2), 52, 32*second + second/2}, {other(31 * second), 53, 34 * second}}},
		"one that was dropped": {second - 1, second, 2, []flight{{other(29*second + second/2), 52, 32*second + second/2}, {other(31 * second), 53, 34 * second}}},
		"all admitted lately":  {30 * second, 30 * second, 1, []flight{{look(30 * second), 53, 33 * second}}},
		"two, but lately":      {-probeLease, 30 * second, 2, []flight{{other(30 * second), 52, 32*second + second/2}, {other(31 * second), 53, 34 * second}}},
		"nothing":              {30 * second, second, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.ProbeUntil, s.Open[0] = c.sent+probeLease, Span{From: c.from, N: c.n}
			f := &foresight{s: s, now: 31 * second, trip: 3 * second}
			f.fly()
			require.Equal(t, c.want, f.flight)
		})
	}
}

// One foresight tells all calls that join within a moment, until something happens.
func TestAForesightHolds(t *testing.T) {
	s := mid(10, 3)
	f := s.foresee(31*second, Batch, 0)
	require.True(t, f.holds(s, 31*second, Batch))
	require.True(t, f.holds(s, 31*second+10*millisecond, Batch))
	require.False(t, f.holds(s, 31*second+10*millisecond+1, Batch))
	require.False(t, f.holds(s, 31*second-1, Batch))
	require.False(t, f.holds(s, 31*second, Interactive))
	require.False(t, (*foresight)(nil).holds(s, 31*second, Batch))
	for _, change := range []func(*State){
		func(s *State) { s.Dispatched++ }, func(s *State) { s.Completed++ }, func(s *State) { s.Epoch++ }, func(s *State) { s.LateNew++ },
	} {
		other := *s
		change(&other)
		require.False(t, f.holds(&other, 31*second, Batch))
	}
}

// What is further away than is played is told at the pace of the last half of what is.
func TestFarAway(t *testing.T) {
	f := &foresight{s: *mid(10, 0)}
	for i := range Instant(1001) {
		f.admitted = append(f.admitted, max(i, 2*i-500)*second)
	}
	for ahead, want := range map[int]Instant{0: 0, 999: 1498 * second, 1000: 1500 * second, 1001: 1502 * second, 1500: 2500 * second, 10_000_000: 1500*second + 2*day} {
		require.Equal(t, want, f.admits(ahead), "%d ahead", ahead)
	}
}

// A window whose limit is unknown has no rate: it is expected to reset after its whole length at the latest.
func TestABucketWithoutALimit(t *testing.T) {
	s := mid(10, 0)
	f := &foresight{s: *s, now: 31 * second, trip: 2 * second, window: Day, reset: 60 * second, refills: true}
	f.s.Limits[Day] = 0
	for used, want := range map[float64]time.Duration{0: 12 * time.Hour, 10: 24 * time.Hour, 1000: 24 * time.Hour} {
		f.s.Buckets[Day] = Level{used, 31 * second}
		o := f.response(flight{number: 50, over: 34 * second})
		require.Zero(t, o.Remaining)
		require.Equal(t, want, o.Reset)
	}
}

// A response is expected to tell what is left by the service's rule, to us and to others, and when the window resets.
func TestWhatAServiceIsExpectedToTell(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*State, *foresight)
		over   Instant
		left   int
		reset  time.Duration
	}{
		"a fixed window": {func(_ *State, f *foresight) {
			f.fixed, f.total, f.rate, f.since = true, 80, 0.5/float64(second), 23*second
		}, 34 * second, 25, 27 * time.Second},
		"the next one":     {func(_ *State, f *foresight) { f.fixed, f.total = true, 80 }, 66 * second, 59, 55 * time.Second},
		"the one after it": {func(_ *State, f *foresight) { f.fixed, f.window = true, Day }, 126 * second, 59, 55 * time.Second},
		"a bucket":         {func(s *State, f *foresight) { f.refills, s.Buckets[Minute] = true, Level{10, 31 * second} }, 34 * second, 46, 14 * time.Second},
		"its next token": {func(s *State, f *foresight) {
			f.refills, f.drips, s.Buckets[Minute] = true, true, Level{5.2, 31 * second}
		}, 34 * second, 51, time.Second},
		"a weighted window": {func(s *State, _ *foresight) { s.Weighs = weighsMost }, 34 * second, 34, 27 * time.Second},
		"its next one":      {func(s *State, _ *foresight) { s.Weighs = weighsMost }, 76 * second, 39, 45 * time.Second},
		"a sliding log":     {func(*State, *foresight) {}, 34 * second, 34, 28 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := mid(10, 0)
			s.Limits[Minute], s.Counts[Minute] = 60, WindowCount{}
			s.Counts[Minute].add(second, minute, 20)
			f := &foresight{s: *s, now: 31 * second, trip: 2 * second, window: Minute, reset: 60 * second, others: 5}
			c.change(&f.s, f)
			f.now = c.over
			o := f.response(flight{number: 50, over: c.over})
			require.Equal(t, Observation{Limit: 60, Remaining: c.left, HasReset: true, Reset: c.reset}, o)
			f.silent = true
			require.Equal(t, NoFigures, f.response(flight{over: c.over}))
		})
	}
}
