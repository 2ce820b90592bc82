package budget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// surface is one with 120 requests a minute and 1,000 a day.
func surface() state { return newState(Config{PerMinute: 120, PerDay: 1000}) }

// send takes a request and reports what came back.
func send(t *testing.T, s *state, now time.Duration, o Observation) {
	t.Helper()
	var p Permit
	_, granted := s.take(now, false, false, &p)
	require.True(t, granted)
	s.report(now, &p, &o)
}

func figures(limit, left int, reset time.Duration) Observation {
	return Observation{Limit: limit, Remaining: left, Reset: reset, HasReset: true}
}

// Whatever the responses say, no minute and no day has more of our own requests than the limits.
func TestNeverMoreThanIsSafe(t *testing.T) {
	s := surface()
	sent := 0
	var p Permit
	for now := time.Duration(0); now < 24*time.Hour; now += time.Second / 4 {
		if _, granted := s.take(now, false, false, &p); granted {
			sent++
			s.report(now, &p, &NoFigures)
		}
		require.LessOrEqual(t, s.counts[Minute].sum, int64(120))
	}
	require.Equal(t, 1000, sent)
}

// The headers describe one window or the other: each has its figures.
func TestBindingWindowAlternates(t *testing.T) {
	s := surface()
	send(t, &s, 0, figures(120, 119, time.Minute))
	send(t, &s, time.Second, figures(1000, 2, 10*time.Hour))
	require.EqualValues(t, 119, s.figures[Minute].left)
	require.EqualValues(t, 2, s.figures[Day].left)
	send(t, &s, 2*time.Second, figures(1000, 1, 10*time.Hour))
	send(t, &s, 3*time.Second, figures(1000, 0, 10*time.Hour))
	at, least, w := s.opens(4*time.Second, 0, false, false)
	require.Equal(t, Day, w)
	require.Equal(t, at, least)
	require.InDelta(t, 10, at.Hours(), 0.01)
}

// A 429 holds the surface as long as it says; then one request asks what is left.
func TestRefusalHoldsTheSurface(t *testing.T) {
	for _, wait := range []time.Duration{time.Second, 50 * time.Second, 10 * time.Hour} {
		s := surface()
		send(t, &s, 0, figures(120, 119, time.Minute))
		send(t, &s, 0, Observation{Limit: 120, Remaining: 0, Reset: time.Minute, HasReset: true, RateLimited: true, RetryAfter: wait})
		var p, other Permit
		until, granted := s.take(wait-1, false, false, &p)
		require.False(t, granted)
		require.Equal(t, wait, until)
		_, granted = s.take(wait, false, false, &p)
		require.True(t, granted)
		_, granted = s.take(wait, false, false, &other)
		require.False(t, granted, "one probe")
		fresh := figures(120, 119, time.Minute)
		s.report(wait, &p, &fresh)
		_, granted = s.take(wait, false, false, &other)
		require.True(t, granted)
	}
}

// A surface without documented limits, and without figures, starts with one request at a time, and doubles.
func TestUnlimitedSurfaceDoubles(t *testing.T) {
	s := newState(Config{})
	for round := range 6 {
		var permits []Permit
		for range 1 << round {
			var p Permit
			_, granted := s.take(time.Duration(round)*time.Second, false, false, &p)
			require.True(t, granted)
			permits = append(permits, p)
		}
		_, granted := s.take(time.Duration(round)*time.Second, false, false, new(Permit))
		require.False(t, granted)
		for _, p := range permits {
			s.report(time.Duration(round)*time.Second, &p, &NoFigures)
		}
	}
}

// Without figures our own count is all there is.
func TestLedgerWithoutFigures(t *testing.T) {
	s := surface()
	for range 120 {
		send(t, &s, 0, NoFigures)
	}
	until, granted := s.take(time.Second, false, false, new(Permit))
	require.False(t, granted)
	require.Equal(t, time.Minute, until)
}

// Requests whose responses were lost keep their room until a figure that knows of them, or until the window has reset: who begins again
// does not know what it sent before.
func TestLostRequestsKeepTheirRoom(t *testing.T) {
	lost := NoFigures
	lost.Lost = true
	for _, figureFirst := range []bool{true, false} { // which arrives before the requests, in both cases
		s := newState(Config{PerMinute: 12})
		if figureFirst {
			send(t, &s, 0, figures(12, 5, 50*time.Second))
		}
		for range 5 {
			send(t, &s, time.Second, lost)
		}
		if !figureFirst {
			send(t, &s, time.Second, figures(12, 5, 49*time.Second))
		}
		until, granted := s.take(2*lateGrace, false, false, new(Permit))
		require.False(t, granted)
		require.Equal(t, 50*time.Second+rounding, until)
	}
}

// Batch calls leave a tenth of each window to interactive ones.
func TestBatchLeavesATenth(t *testing.T) {
	s := surface()
	var p Permit
	n := 0
	for ; n < 200; n++ {
		if _, granted := s.take(0, true, false, &p); !granted {
			break
		}
		s.report(0, &p, &NoFigures)
	}
	require.Equal(t, 108, n)
	_, granted := s.take(0, false, false, &p)
	require.True(t, granted)
}

// Others who were seen long ago keep nobody waiting, however often we were refused meanwhile, or if the minute has no limit any more.
func TestOthersAreForgotten(t *testing.T) {
	s := newState(Config{PerMinute: 120, PerDay: 1000})
	send(t, &s, 0, figures(120, 60, 30*time.Second))
	send(t, &s, time.Second, figures(120, 10, 29*time.Second))
	require.True(t, s.shared(time.Second))
	seen := s.share.until
	now := time.Second
	for range 12 {
		until, granted := s.take(now, false, false, new(Permit))
		if !granted {
			now = until
		}
		require.LessOrEqual(t, now, seen+time.Second)
		if now >= seen {
			break
		}
		send(t, &s, now, Observation{Limit: -1, Remaining: -1, RateLimited: true, RetryAfter: time.Second, Jitter: 0.9})
	}

	s = newState(Config{PerMinute: 120, PerDay: 1000})
	send(t, &s, 0, figures(120, 60, 30*time.Second))
	send(t, &s, time.Second, figures(120, 10, 29*time.Second))
	require.True(t, s.shared(time.Second))
	now, _, _ = s.opens(time.Second, 0, false, false)
	send(t, &s, now, figures(100_000, 50_000, 10*time.Hour)) // of a day: another plan
	require.Zero(t, s.limits[Minute])
	at, _, _ := s.opens(now+time.Second, 0, false, false)
	require.Equal(t, now+time.Second, at)
}
