package feed

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCheckpoint_KeepsAnyState(t *testing.T) {
	now := time.Now().UnixMicro()
	for _, s := range []state{
		{},
		{floor: beginning, low: unknown, high: unknown, keep: 900},
		{floor: position{now, "x"}, window: []position{{now, "y"}, {now + 1, ""}, {now + 1, "é"}}, low: 1, high: 5},
		{floor: beginning, window: []position{{-5, "64F0C0FFEE64F0C0FFEE64F0"}, {now, "64f0c0ffee64f0c0ffee64f0"}}, low: 7, high: 7},
	} {
		got, ok := parse(s.encode("list"), "list", s.keep)
		require.True(t, ok)
		require.Equal(t, &s, got)
		_, ok = parse(s.encode("list"), "another", s.keep)
		require.False(t, ok)
	}
}

// The bound that the documentation of Checkpoint states.
func TestCheckpoint_Size(t *testing.T) {
	var s state
	for i := range 900 {
		s.window = append(s.window, position{time.Now().Add(time.Duration(i) * 66 * time.Millisecond).UnixMicro(), fmt.Sprintf("%024x", i)})
	}
	require.Less(t, len(s.encode("list")), 22<<10)
	s.window = s.window[:1]
	require.Less(t, len(s.encode("list")), 100)
}

func TestCheckpoint_ReadsNothingBeyondItsEnd(t *testing.T) {
	for _, text := range []string{"", "\x00", "\x02\x02", strings.Repeat("\xff", 40), "\x02\x02\x02\x05ab", "\x02\x02\x02\x01\xff", "\x02\x02\x02\x00ab"} {
		_, ok := parse(prefix+sum("list", []byte(text))+"."+base64.RawURLEncoding.EncodeToString([]byte(text)), "list", 900)
		require.True(t, ok, "%q", text)
	}
}

// What is still to be delivered stays above the floor, whatever was remembered of later changes.
func TestState_FloorOfAPass(t *testing.T) {
	now, minute := time.Now(), time.Minute.Microseconds()
	late := now.Add(-time.Hour).UnixMicro()
	s := state{floor: beginning, window: []position{{now.UnixMicro(), "ahead of the clock, once"}}, keep: 900}
	next := s.delivered([]position{{late, "x"}}, now, false)
	require.Equal(t, position{at: late - minute}, next.floor)
	require.Len(t, next.window, 2)
	next = s.delivered([]position{{late, "x"}}, now, true)
	require.Equal(t, position{at: now.UnixMicro() - minute}, next.floor)
	require.Equal(t, s.window, next.window)
	next = s.delivered([]position{{now.UnixMicro() + 1, s.window[0].id}}, now, true)
	require.Equal(t, []position{{now.UnixMicro() + 1, s.window[0].id}}, next.window, "one for each row")
}

// A floor is never lowered, and the window holds no more than it may: exactly the last changes.
func TestState_KeepsTheLastChanges(t *testing.T) {
	now, second := time.Now(), time.Second.Microseconds()
	at := func(n int64) position {
		return position{at: now.UnixMicro() - 50*second + n*second, id: string(rune('a' + n))}
	}
	for _, end := range []bool{false, true} {
		s := state{floor: at(0), window: []position{at(1), at(2)}, keep: 3}
		next := s.delivered([]position{at(3)}, now, end)
		require.Equal(t, at(0), next.floor, "a minute before the last change is before it")
		require.Equal(t, []position{at(1), at(2), at(3)}, next.window)
		next = s.delivered([]position{at(3), at(4), at(5)}, now, end)
		require.Equal(t, []position{at(3), at(4), at(5)}, next.window)
		floor := at(2)
		if end {
			floor = after(floor.at)
		}
		require.Equal(t, floor, next.floor, "no change after it is hidden")
	}
}

// A checkpoint of an earlier version of this package stays of use: today's has the same text.
func TestCheckpoint_Text(t *testing.T) {
	s := state{floor: position{at: 1_700_000_000_000_000, id: "64f0c0ffee64f0c0ffee64f0"}, window: []position{{1_700_000_000_001_000, "x"}}, low: 5, high: 7, keep: 900}
	text := s.encode("list")
	require.Equal(t, "changes1.68c044b23e0c7065.Cg6AgPKBg4mFBgBk8MD_7mTwwP_uZPDoBwJ4", text)
	again, ok := parse(text, "list", 900)
	require.True(t, ok)
	require.Equal(t, s, *again)
	for _, damaged := range []string{text[:len(text)-1], text[len(prefix):], "changes2" + text[8:], text + "!", text + "A", text[:20] + "A" + text[21:]} {
		_, ok = parse(damaged, "list", 900)
		require.False(t, ok, damaged)
	}
	for n := range 3 {
		s.floor.id = "xyz"[:n]
		_, ok = parse(s.encode("list")+"!", "list", 900)
		require.False(t, ok, "what follows is not the checkpoint's")
	}
}
