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
	s.RoundsUp = RoundsUp
	require.True(t, s.followEdge(&Permit{At: second}, second, 30*second, Minute))
	require.Equal(t, Edge{From: 30 * second, By: 31 * second}, s.Edges[Minute])
	require.True(t, s.followEdge(&Permit{At: 61*second + second/2}, 61*second+second/2, 30*second, Minute))
	require.Equal(t, Edge{From: 90*second + second/2, By: 91 * second}, s.Edges[Minute])
	require.False(t, s.followEdge(&Permit{At: 62 * second}, 62*second, 40*second, Minute))
	require.Equal(t, Edge{From: 101 * second, By: 102 * second}, s.Edges[Minute])
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
