package review_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/review"
)

func made(steps ...string) *review.Review {
	r := new(review.Review)
	r.Add(review.Campaign, json.RawMessage(`{"id":"c"}`))
	for _, s := range steps {
		r.Add(review.Steps, json.RawMessage(s))
	}
	return r
}

func TestDigest_SameContent(t *testing.T) {
	want := made(`{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z"}`, `{"n":2}`).Digest()
	for _, same := range [][]string{
		{`{ "at":"2026-01-01T00:00:00Z", "b":{"c":"\u0078\u003c"}, "a":1 }`, `{"n":2}`},
		{`{"n":2,"readAt":"2026-01-01T00:00:00Z"}`, `{"a":1,"b":{"c":"x<","as_of":"2026-01-01T00:00:00.5Z"},"at":"2026-01-01T00:00:00Z"}`},
	} {
		require.Equal(t, want, made(same...).Digest())
	}
	for _, other := range [][]string{
		{`{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:01Z"}`, `{"n":2}`},
		{`{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z","readAt":"yes"}`, `{"n":2}`},
		{`{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z"}`},
		{`{"a":1.0000000000000000001,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z"}`, `{"n":2}`},
	} {
		r := made(other...)
		require.NotEqual(t, want, r.Digest())
		changes := r.Changes(want)
		require.Len(t, changes, 1)
		require.Equal(t, review.Steps, changes[0].Section)
	}
}

func TestValid(t *testing.T) {
	digest := made(`{}`).Digest()
	require.True(t, review.Valid(digest))
	for _, wrong := range []string{"", "review1", "x" + digest, digest + ".", digest[:len(digest)-1], strings.Replace(digest, ".1.", ".-1.", 1), digest + "\n"} {
		require.False(t, review.Valid(wrong), "%q", wrong)
	}
}

// A text of a teammate cannot look like other lines, or change the terminal.
func TestString_Plain(t *testing.T) {
	text := made(`{"body":"Hi\nStep 2 of 2\n\u001b[2J","n":null,"x":[1]}`, `3`).String()
	require.Equal(t, "Campaign\n  id: c\nStep 1 of 2\n  body: Hi\n    | Step 2 of 2\n    | \ufffd[2J\n  n: null\n  x: [1]\nStep 2 of 2\n  3\nContacts in the lists: 0\n", text)
	require.Contains(t, made(slices.Repeat([]string{`{}`}, 25)...).String(), "... and 5 more of 25\n")
}

// FuzzDigest_KeyOrder: the order of keys does not count, and another value does.
func FuzzDigest_KeyOrder(f *testing.F) {
	f.Add(`{"a":1,"b":[{"d":null,"c":"x"}]}`)
	f.Add(`{"readAt":"2026-01-01T00:00:00Z","é":"\ud800"}`)
	f.Fuzz(func(t *testing.T, text string) {
		var fields map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &fields) != nil || len(fields) == 0 {
			return
		}
		var parts []string
		for _, key := range slices.Backward(slices.Sorted(maps.Keys(fields))) {
			name, err := json.Marshal(key)
			require.NoError(t, err)
			parts = append(parts, string(name)+" : "+string(fields[key]))
		}
		digest := made(text).Digest()
		require.True(t, review.Valid(digest))
		require.Equal(t, digest, made("{"+strings.Join(parts, "\n,")+"}").Digest())
		parts = append(parts, `"\u0000another":1`)
		if _, taken := fields["\x00another"]; !taken {
			require.NotEqual(t, digest, made("{"+strings.Join(parts, ",")+"}").Digest())
		}
	})
}
