package budget

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// with is a list of numbers with another one at a place.
func with(data []byte, at int, v float64) []byte {
	data = append([]byte{}, data...)
	binary.LittleEndian.PutUint64(data[8*at:], math.Float64bits(v))
	return data
}

// A list that is not what this version writes is refused: cut, or longer, or of another format, or with what cannot be.
func TestMalformedLists(t *testing.T) {
	ask := Ask{
		Config: lists(), Wanted: []Priority{Batch, Interactive},
		Reports: []Report{{Permit{Epoch: 1}, told(120, 5, time.Minute)}, {Permit{Epoch: 1}, NoFigures}},
	}
	stored, reply := Decide(nil, minute, 1, &Ask{Config: lists(), Wanted: []Priority{Interactive}})
	type decode func([]byte) error
	decodeAsk := func(data []byte) error { return new(Ask).Decode(data) }
	decodeReply := func(data []byte) error { return new(Reply).Decode(data) }
	decodeStored := func(data []byte) error {
		if _, _, ok := decodeState(data); !ok {
			return errMalformed
		}
		return nil
	}
	for name, c := range map[string]struct {
		data   []byte
		decode decode
	}{"ask": {ask.Encode(), decodeAsk}, "reply": {reply.Encode(), decodeReply}, "state": {stored, decodeStored}} {
		require.NoError(t, c.decode(c.data), name)
		for n := range len(c.data) {
			require.Equal(t, errMalformed, c.decode(c.data[:n]), "%s, %d bytes", name, n)
		}
		require.Equal(t, errMalformed, c.decode(append(slices.Clip(c.data), make([]byte, 8)...)), name)
		for _, v := range []float64{0, format + 1, -1} {
			require.Equal(t, errMalformed, c.decode(with(c.data, 0, v)), name)
		}
	}
	const reports, wanted = 7, 7 + 1 + 2*(permitSize+observationSize) // places of the two lengths in an ask
	data := ask.Encode()
	for _, n := range []float64{-1, 1, 3, 1e9} {
		require.Equal(t, errMalformed, decodeAsk(with(data, reports, n)), n)
		require.Equal(t, errMalformed, decodeAsk(with(data, wanted, n)), n)
	}
	for _, p := range []float64{-1, 2, 255, 256} {
		require.Equal(t, errMalformed, decodeAsk(with(data, wanted+1, p)), p)
	}
	for _, window := range []float64{-1, 3} {
		require.Equal(t, errMalformed, decodeReply(with(reply.Encode(), 5, window)))
	}
}

// Durations of a report are cut to what a surface may be paused for at all.
func TestSpansAreBounded(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{-time.Hour: 0, 0: 0, time.Hour: time.Hour, 48 * time.Hour: 48 * time.Hour, 49 * time.Hour: 48 * time.Hour} {
		var back Ask
		a := Ask{Reports: []Report{{Permit{}, Observation{Reset: d}}}}
		require.NoError(t, back.Decode(a.Encode()))
		require.Equal(t, want, back.Reports[0].Observation.Reset)
	}
	var back Ask
	require.NoError(t, back.Decode(new(Ask).Encode()))
	require.Equal(t, Ask{}, back, "what is not there is not an empty list")
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
	for r := Free; r <= News; r++ {
		require.NotEmpty(t, r.String())
	}
	require.Equal(t, "used up", Exhausted.String())
}
