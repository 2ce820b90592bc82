package budget

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is known of an edge holds every length before and after.
func TestEdges(t *testing.T) {
	e := Edge{From: 100 * second, By: 102 * second}
	for now, want := range map[Instant]Instant{100 * second: 100 * second, 159 * second: 100 * second, 160 * second: 160 * second, 99 * second: 40 * second, 39 * second: -20 * second} {
		from, to := e.at(now, minute)
		require.Equal(t, want, from)
		require.Equal(t, want+2*second, to)
	}
	from, to := Edge{}.at(90*second, minute)
	require.Equal(t, []Instant{30 * second, 90 * second}, []Instant{from, to}, "nothing is known")
}

// A told reset that agrees makes an edge more certain, any other replaces it.
func TestFollowEdge(t *testing.T) {
	s := NewState(lists())
	s.Figures.At = 10 * second
	require.True(t, s.followEdge(&Permit{At: second}, second, 30*second, Minute))
	require.Equal(t, Edge{From: 30 * second, By: 32 * second}, s.Edges[Minute])
	require.True(t, s.followEdge(&Permit{At: 61*second + second/2}, 61*second+second/2, 30*second, Minute))
	require.Equal(t, Edge{From: 90*second + second/2, By: 92 * second}, s.Edges[Minute])
	require.False(t, s.followEdge(&Permit{At: 62 * second}, 62*second, 40*second, Minute))
	require.Equal(t, Edge{From: 101 * second, By: 103 * second}, s.Edges[Minute])
}

// A minute that slides begins again with the first request after a pause, now and then just where an earlier one ended: what was known of
// that tells no more than the response does (seeds 700293 and 12341826 of the simulation: they were refused).
func TestFollowEdgeAfterAPause(t *testing.T) {
	for told, want := range map[Instant]Edge{
		3 * second: {From: 121 * second, By: 122 * second, Since: 7},
		2 * second: {From: 120 * second, By: 123 * second, Since: 7},
	} {
		s := NewState(lists())
		s.Edges[Minute] = Edge{From: 61 * second, By: 62 * second, Since: 7}
		s.Figures.At = told
		require.True(t, s.followEdge(&Permit{At: 61 * second}, 62*second, minute, Minute))
		require.Equal(t, want, s.Edges[Minute])
	}
}

// A bucket refills, and never lacks more than it holds.
func TestLevel(t *testing.T) {
	var b Level
	b.take(second, minute, 120, 100)
	require.InDelta(t, 60, b.missing(21*second, minute, 120), 1e-9)
	b.take(21*second, minute, 120, 100)
	require.InDelta(t, 120, b.Missing, 1e-9)
	require.Zero(t, b.missing(81*second, minute, 120))
}

// The earliest time of a request is not after the expected one, with every kind of service: nothing is refused that fits in time.
func TestEarliestWithARoomThatGrows(t *testing.T) {
	s := State{Limits: [3]int64{Minute: 60}, Weighs: weighsMost, Told: true, Edges: [3]Edge{Minute: {40 * second, 41 * second, 0}}}
	s.Figures = Figures{Valid: true, Window: Minute, At: 60 * second}
	s.Counts[Minute].add(30*second, minute, 30)
	s.Counts[Minute].add(60*second, minute, 30)
	for n, want := range map[int64]Instant{0: 60 * second, 10: 60*second + 10*second, 100: 60*second + 100*second} {
		require.InDelta(t, want.Duration().Seconds(), s.earliestWeighed(60*second, n).Duration().Seconds(), 14, "%d ahead", n)
		require.LessOrEqual(t, s.earliestWeighed(60*second, n), want)
	}
}
