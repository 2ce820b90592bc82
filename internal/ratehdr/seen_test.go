package ratehdr

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeen(t *testing.T) {
	var s Seen
	require.False(t, s.Has("a"))
	require.False(t, s.Dropped(), "no response was seen at all")
	s.Missed()
	require.True(t, s.Dropped(), "no response ever had them")
	s.Learn("a")
	require.True(t, s.Has("a"))
	require.False(t, s.Has("b"), "a source speaks for itself")
	require.False(t, s.Dropped(), "one response had them")
	s.Learn("b")
	s.Missed()
	require.False(t, s.Has("a"))
	require.False(t, s.Has("b"))
	require.False(t, s.Dropped(), "one response had them once")
	s.Learn("a")
	require.True(t, s.Has("a"), "they are back")
}

// What has the headers again is known again.
func TestSeenAfterEachMiss(t *testing.T) {
	var s Seen
	for range 3 {
		s.Learn("a")
		s.Learn("a")
		require.True(t, s.Has("a"))
		s.Missed()
		require.False(t, s.Has("a"))
	}
}

func TestSeenBeforeAnyMiss(t *testing.T) {
	var s Seen
	s.Learn("a")
	require.False(t, s.Dropped())
}
