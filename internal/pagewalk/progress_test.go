package pagewalk

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckpoint(t *testing.T) {
	var p Progress
	require.Empty(t, p.Checkpoint(), "nothing was begun")
	p.Start("", false)
	p.Delivered("a")
	require.Empty(t, p.Checkpoint(), "there is no query")
	require.Equal(t, Report{Delivered: 1}, p.Report())
	p.Start("q", true)
	require.Empty(t, p.Checkpoint(), "nothing was delivered")
	p.tell(Report{Total: 70, TotalKnown: true, OrderKnown: true}, &Checkpoint{Version: version, Query: "q", Page: 3, Total: 70, Size: 30}, 30)
	require.Empty(t, p.Checkpoint())
	p.Delivered("")
	cp, err := Parse(p.Checkpoint(), "q")
	require.NoError(t, err)
	require.Equal(t, &Checkpoint{Version: version, Query: "q", Page: 3, Total: 70, Size: 30, Index: 1, Count: 1}, cp, "a record without an id")
	for i := range 20 {
		p.Delivered(string(rune('a' + i)))
	}
	cp, err = Parse(p.Checkpoint(), "q")
	require.NoError(t, err)
	require.Equal(t, strings.Split("efghijklmnopqrst", ""), cp.Last, "the last of them, the oldest first")
	require.Equal(t, Report{Delivered: 21, Total: 70, TotalKnown: true, OrderKnown: true}, p.Report())
	for letter, want := range map[string]bool{"e": true, "t": true, "d": false, "": false} {
		require.Equal(t, want, cp.names(letter), letter)
	}

	var again Progress
	again.Start("q", true)
	again.tell(Report{}, cp, 30)
	text := again.Checkpoint()
	require.Equal(t, p.Checkpoint(), text, "before anything is delivered, the place is the same")
	again.Delivered("u")
	require.Equal(t, "e", cp.Last[0], "the checkpoint itself stays as it is")
	moved, err := Parse(again.Checkpoint(), "q")
	require.NoError(t, err)
	require.Equal(t, strings.Split("fghijklmnopqrstu", ""), moved.Last)
	require.Equal(t, 3, moved.Page)

	again.tell(Report{Finished: true}, nil, 0)
	ended, err := Parse(again.Checkpoint(), "q")
	require.NoError(t, err)
	require.Equal(t, &Checkpoint{Version: version, Query: "q", Page: 1, Ended: true}, ended)
}

// A checkpoint of an earlier version of this package stays of use: its fingerprint is the same today.
func TestFingerprint(t *testing.T) {
	t.Parallel()
	require.Equal(t, "8e35c2cd3bf6641b", Fingerprint([]byte("q")))
	p := Progress{report: Report{Delivered: 1}, place: Checkpoint{Version: 1, Query: "q", Page: 2, Total: 3, Last: []string{"a"}}}
	require.Equal(t, "eyJ2IjoxLCJxIjoicSIsInAiOjIsInQiOjMsImwiOlsiYSJdLCJuIjoxfQ", p.Checkpoint())
}
