package budget

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is not as this version writes it is refused: cut, or longer, or of another format, or with what cannot be.
func TestMalformedStates(t *testing.T) {
	stored, _ := Decide(nil, minute, 1, &Ask{Config: lists(), Wanted: []Priority{Interactive}})
	reads := func(text string) bool {
		_, _, ok := decodeState([]byte(text))
		return ok
	}
	require.True(t, reads(string(stored)))
	for n := range stored {
		require.False(t, reads(string(stored[:n])), "%d bytes", n)
	}
	require.False(t, reads(string(stored)+"x"))
	require.False(t, reads(string(make([]byte, 2000))), "of an earlier version")
	with := func(old, other string) bool {
		require.Contains(t, string(stored), old)
		return reads(strings.ReplaceAll(string(stored), old, other))
	}
	for _, other := range []string{`0`, `5`, `7`, `-1`, `"6"`} {
		require.False(t, with(`"Format":6`, `"Format":`+other), other)
	}
	require.False(t, reads(`{"Format":6,"Last":60000000,"State":null}`))
	for _, field := range []string{`"HeldIn"`, `"Window"`} {
		require.True(t, with(field+`:0`, field+`:2`))
		for _, window := range []string{`-1`, `3`, `255`, `256`, `1.5`} {
			require.False(t, with(field+`:0`, field+`:`+window), window)
		}
	}
	for _, field := range []string{`"Used"`, `"Past"`} {
		require.True(t, with(field+`:0`, field+`:64`))
		for _, n := range []string{`-1`, `65`, `1000000000`} {
			require.False(t, with(field+`:0`, field+`:`+n), n)
		}
	}
}

// A number that is none is not stored, and the state starts new.
func TestStateWithoutANumber(t *testing.T) {
	s := NewState(lists())
	s.Others.Sum = math.NaN()
	require.Empty(t, encodeState(&s, minute))
	next, reply := Decide(nil, minute, 1, &Ask{Config: lists(), Wanted: []Priority{Interactive}})
	require.NotEmpty(t, next)
	require.Len(t, reply.Grants, 1)
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
