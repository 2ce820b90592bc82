package review_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/review"
)

var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func made(steps ...string) *review.Review {
	r := &review.Review{Began: began}
	r.Add(review.Campaign, json.RawMessage(`{"id":"c"}`))
	for _, s := range steps {
		r.Add(review.Steps, json.RawMessage(s))
	}
	return r
}

func TestDigest_SameContent(t *testing.T) {
	require.Equal(t, made(`{"a":[{"n":1}]}`).Digest(), made(`{"a":[{"n":1,"read_at":"2026-01-01T00:00:00Z"}]}`).Digest())
	want := made(`{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z"}`, `{"n":2}`).Digest()
	for _, same := range [][]string{
		{`{ "at":"2026-01-01T00:00:00Z", "b":{"c":"\u0078\u003c"}, "a":1 }`, `{"n":2}`},
		{`{"a":1,"b":{"c":"x<","as_of":"2026-01-01T00:00:00.5Z"},"at":"2026-01-01T00:00:00Z"}`, `{"n":2,"readAt":"2026-01-01T00:00:00Z"}`},
	} {
		require.Equal(t, want, made(same...).Digest())
	}
	for _, other := range [][]string{
		{`{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:01Z"}`, `{"n":2}`},
		{`{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z","readAt":"yes"}`, `{"n":2}`},
		{`{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z"}`},
		{`{"n":2}`, `{"a":1,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z"}`},
		{`{"a":1.0000000000000000001,"b":{"c":"x<"},"at":"2026-01-01T00:00:00Z"}`, `{"n":2}`},
	} {
		r := made(other...)
		require.NotEqual(t, want, r.Digest())
		changes := r.Changes(want)
		require.Len(t, changes, 1)
		require.Equal(t, review.Steps, changes[0].Section)
	}
}

// raw is an item of a listing.
// Each section counts.
func TestChanges_EachSection(t *testing.T) {
	of := func(s review.Section, texts ...string) *review.Review {
		r := &review.Review{Began: began}
		for _, other := range []review.Section{review.Campaign, review.Steps, review.Sends, review.Lists, review.Contacts} {
			if other != s {
				r.Add(other, json.RawMessage(`{"id":"x","of":"`+other+`"}`))
			}
		}
		for _, text := range texts {
			r.Add(s, json.RawMessage(text))
		}
		return r
	}
	for _, s := range []review.Section{review.Steps, review.Sends, review.Lists, review.Contacts} {
		was := of(s, `{"n":1}`, `{"n":2}`)
		require.Equal(t, s == review.Steps, len(of(s, `{"n":2}`, `{"n":1}`).Changes(was.Digest())) > 0, "steps have an order")
		require.Equal(t, []review.Change{{s, 2, 2}}, of(s, `{"n":1}`, `{"n":3}`).Changes(was.Digest()))
		require.Equal(t, []review.Change{{s, 2, 3}}, of(s, `{"n":1}`, `{"n":2}`, `{"n":2}`).Changes(was.Digest()))
	}
	require.Equal(t, []review.Change{{review.Campaign, 1, 1}}, of(review.Campaign, `{"n":1}`).Changes(of(review.Campaign, `{"n":2}`).Digest()))
	require.Equal(t, 2, of(review.Contacts, `{}`, `{}`).Count(review.Contacts))
	require.Equal(t, "changed", review.Change{Was: 2, Now: 2}.String())

	digest := of(review.Sends, `{"n":1}`).Digest()
	for _, s := range []string{strings.Replace(digest, ".1.", ".2.", 1)} {
		require.True(t, review.Valid(s))
		require.Len(t, of(review.Sends, `{"n":1}`).Changes(s), 1, "another digest never reads as the same")
	}
	require.Equal(t, "changed: 2 reviewed, 3 now", review.Change{Was: 2, Now: 3}.String())
}

// A review keeps what it was given, also if the caller reuses the memory.
func TestAdd_Copies(t *testing.T) {
	text := json.RawMessage(`{"n":1}`)
	r := new(review.Review)
	r.Add(review.Steps, text)
	copy(text, `{"n":2}`)
	require.Contains(t, r.String(), "n: 1")
}

func TestValid(t *testing.T) {
	digest := made(`{}`).Digest()
	require.True(t, review.Valid(digest))
	for _, wrong := range []string{
		"", "review1", "review4", strings.Replace(digest, "4", "3", 1), strings.Replace(digest, ".1", ".+1", 1), strings.Replace(digest, ".1", ".01", 1), strings.Replace(digest, ".1", ".-1", 1), strings.Replace(digest, ".1.", ".01.", 1), "x" + digest, digest + ".", digest[:len(digest)-1], strings.Replace(digest, ".1.", ".-1.", 1), strings.Replace(digest, ".1.", ".x.", 1),
		digest[:len(digest)-1] + "?", digest[:len(digest)-2], digest + "\n", digest + "0",
	} {
		require.False(t, review.Valid(wrong), "%q", wrong)
	}
	require.False(t, review.Valid(new(review.Review).Digest()), "nobody has read anything")
}

// A review of what was approved before has another digest, so that each agreement counts once, and an older one no more: whether calls
// have come to the ones that were known, or are gone, such as one that turns out not to have been applied, or both.
func TestDigest_UsedUp(t *testing.T) {
	after := func(calls ...string) *review.Review {
		r := made(`{}`)
		for _, id := range calls {
			r.Approved(id, false)
		}
		require.True(t, review.Valid(r.Digest()))
		return r
	}
	require.Equal(t, after("a", "b").Digest(), after("b", "a").Digest())
	require.Contains(t, after("a", "b").String(), "Approved before: 2\n")
	for _, was := range [][]string{{}, {"a"}, {"b"}, {"a", "b", "c"}} {
		now := after("a", "b")
		require.Equal(t, []review.Change{{Section: review.Approvals, Was: len(was), Now: 2}}, now.Changes(after(was...).Digest()))
		require.False(t, now.ApprovedAs(after(was...).Digest()))
	}
	doubtful := made(`{}`)
	doubtful.Approved("a", true)
	require.False(t, after("a").ApprovedAs(doubtful.Digest()), "it is known now")
	require.Contains(t, doubtful.String(), "contacts, as its lists have none.\nIts status is unknown: if it was STOPPED, approving resumes it.\nAn earlier approval is IN DOUBT, it may have happened: until ticket a is resolved or settled, nothing is approved; make this review again then.\n", "so that nobody agrees in vain")
	changed := made(`{"n":1}`)
	changed.Approved("a", false)
	require.True(t, changed.ApprovedAs(after("a").Digest()), "whatever else differs")
}

// When a review was made is in its digest, to the second, and no change.
func TestDigest_Began(t *testing.T) {
	was, now := made(`{"n":1}`), made(`{"n":1}`)
	now.Began = began.Add(time.Hour + time.Second/2)
	require.NotEqual(t, was.Digest(), now.Digest())
	require.Empty(t, now.Changes(was.Digest()))
	require.True(t, review.Valid(now.Digest()))
	require.True(t, began.Add(time.Hour).Equal(review.Began(now.Digest())))
	require.Equal(t, was.String(), now.String())
}

// What was not read is said.
func TestString_Unread(t *testing.T) {
	r := made()
	r.Unread = []review.Section{review.Lists, review.Contacts}
	require.Equal(t, "Approving this sends messages: 0 steps, to its contacts.\nIts status is unknown: if it was STOPPED, approving resumes it.\nNot reviewed, because the API does not show them: lists contacts\n\nCampaign\n  id: c\n", r.String())
}

// The first lines say what a yes does, whatever follows.
func TestString_WhatAnApprovalDoes(t *testing.T) {
	r := new(review.Review)
	r.Add(review.Campaign, json.RawMessage(`{"id":"c","createdAt":"2026-01-01","listIds":["l"],"status":"stopped","channels":["email","social\n\u001b[2J"]}`))
	r.Add(review.Steps, json.RawMessage(`{"campaignId":"c","id":"s","subject":"Hi"}`))
	r.Add(review.Contacts, json.RawMessage(`{}`))
	r.Add(review.Contacts, json.RawMessage(`{"id":"other"}`))
	r.Approved("a", false)
	require.Equal(t, `Approving this sends messages: 1 step, to the 2 contacts in its lists, by email and social
    | �[2J.
It was STOPPED: approving resumes it where it was.
Approved before: 1

Campaign
  channels: ["email","social\n\u001b[2J"]
  listIds: ["l"]
  status: stopped
  createdAt: 2026-01-01
  id: c
Step 1 of 1
  subject: Hi
  campaignId: c
  id: s
`, r.String())
	r = new(review.Review)
	r.Add(review.Campaign, json.RawMessage(`{"status":"Active","channels":"email"}`))
	r.Add(review.Contacts, json.RawMessage(`{}`))
	require.True(t, strings.HasPrefix(r.String(), "Approving this sends messages: 0 steps, to the 1 contact in its lists.\nIt is active already.\n"), "in another form, the channels are below")
}

// A text of a teammate cannot look like other lines, or change the terminal.
func TestString_Plain(t *testing.T) {
	text := made(`{"body":"Hi\nStep 2 of 2\n\u001b[2J","n":null,"x":[1]}`, `3`).String()
	require.Equal(t, "Approving this sends messages: 2 steps, to no contacts, as its lists have none.\nIts status is unknown: if it was STOPPED, approving resumes it.\n\nCampaign\n  id: c\nStep 1 of 2\n  body: Hi\n    | Step 2 of 2\n    | \ufffd[2J\n  n: null\n  x: [1]\nStep 2 of 2\n  3\n", text)
	many := made(slices.Repeat([]string{`{}`}, 25)...)
	require.True(t, strings.HasSuffix(many.String(), "\nStep 25 of 25\n"), "each is sent to everybody, so each is shown")
	for range 25 {
		many.Add(review.Sends, json.RawMessage(`{}`))
	}
	require.True(t, strings.HasSuffix(many.String(), "\nScheduled send 20 of 25\n... and 5 more of 25\n"))
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
