package budget

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// with is a list of numbers with another one at a place.
func with(data []byte, at int, v int64) []byte {
	data = append([]byte{}, data...)
	binary.LittleEndian.PutUint64(data[8*at:], uint64(v))
	return data
}

// A list that is not what this version writes is refused: cut, or longer, or of another format, or with what cannot be.
func TestMalformedLists(t *testing.T) {
	stored, _ := Decide(nil, minute, 1, &Ask{Config: lists(), Wanted: []Priority{Interactive}})
	reads := func(data []byte) bool {
		_, _, ok := decodeState(data)
		return ok
	}
	require.True(t, reads(stored))
	for n := range stored {
		require.False(t, reads(stored[:n]), "%d bytes", n)
	}
	require.False(t, reads(append(slices.Clip(stored), make([]byte, 8)...)))
	for _, v := range []int64{0, format + 1, -1} {
		require.False(t, reads(with(stored, 0, v)), v)
	}
	const heldIn = 25 // its place
	s, _, _ := decodeState(with(stored, heldIn, int64(Day)))
	require.Equal(t, Day, s.HeldIn)
	for _, window := range []int64{-1, 3, 255, 256} {
		require.False(t, reads(with(stored, heldIn, window)), window)
	}
	last := len(stored)/8 - 19 // how many slots of the day are in use, before what is known of the windows
	for _, n := range []int64{-1, 1, 3, 1e9} {
		require.False(t, reads(with(stored, last, n)), n)
	}
}

// A state of a moment ago is continued, at its own time. One that is a second ahead is not.
func TestStoredStateThatIsAhead(t *testing.T) {
	ask := Ask{Config: lists(), Wanted: []Priority{Interactive}}
	stored, _ := Decide(nil, hour, 1, &ask)
	_, reply := Decide(stored, hour-second, 1, &ask)
	require.Equal(t, hour, reply.Now)
	_, reply = Decide(stored, hour-second-1, 1, &ask)
	require.Equal(t, hour-second-1, reply.Now)
	require.Len(t, reply.Grants, 1)
}

// What a process did alone counts, its configuration is the latest, and what was forgotten meanwhile is.
func TestAskOfAProcessThatWasAlone(t *testing.T) {
	stored, first := Decide(nil, hour, 1, &Ask{Config: lists(), Wanted: []Priority{Interactive}})
	config := Config{PerMinute: 120, Reserve: 9}
	_, reply := Decide(stored, hour+second, 1, &Ask{Config: config, Elsewhere: 5, Returned: true})
	s := reply.State
	require.Equal(t, config, s.Config)
	require.EqualValues(t, 6, s.Dispatched)
	require.EqualValues(t, 5, s.Completed)
	require.Zero(t, s.late())
	require.EqualValues(t, 5, s.Counts[Day].Sum)
	require.Zero(t, s.ProbeUntil, "its own look comes first")
	_, reply = Decide(stored, hour+second, 1, &Ask{Config: config, Elsewhere: 1})
	require.EqualValues(t, 2, reply.State.Dispatched)
	_, reply = Decide(stored, hour+second, 1, &Ask{Config: config, Elsewhere: -1})
	require.EqualValues(t, 1, reply.State.Dispatched)
	require.Zero(t, reply.State.Counts[Day].Sum)
	_, reply = Decide(stored, hour+2*forgotten, 1, &Ask{Config: config})
	require.Zero(t, reply.State.inFlight())
	require.True(t, first.Grants[0].Permit.Probe)
}

func TestTexts(t *testing.T) {
	for w, want := range map[Window]string{Unknown: "unknown", Minute: "minute", Day: "day", 99: "unknown"} {
		require.Equal(t, want, w.String())
	}
}
