package services_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

// take reads at most n records, and returns their ids and the checkpoint after the last.
func take(tb require.TestingT, client *prospectkit.Client, limit, n int, from string) (ids []string, p *prospectkit.Progress) {
	p = &prospectkit.Progress{ResumeFrom: from}
	opts := []prospectkit.PageOption{prospectkit.WithProgress(p)}
	for list, err := range client.Lists.All(context.Background(), prospectkit.ListsParams{Limit: limit}, opts...) {
		require.NoError(tb, err)
		if ids = append(ids, list.ID); len(ids) == n {
			break
		}
	}
	return ids, p
}

// from resumes a walk.
func from(checkpoint string) prospectkit.PageOption {
	return prospectkit.WithProgress(&prospectkit.Progress{ResumeFrom: checkpoint})
}

// How far a place is looked for: on the pages beside its own, and as far as the total has moved.
func TestResume_LooksNoFurtherThanRecordsCanHaveMoved(t *testing.T) {
	for name, tc := range map[string]struct {
		untold bool // the first run is told no totals
		edit   func(*tests.Shelf)
		asked  []int
	}{
		"the total stands still":       {false, func(*tests.Shelf) {}, []int{10, 11, 9, 10, 11}},
		"no total was told before":     {true, func(*tests.Shelf) {}, []int{10, 11, 9, 1, 2}},
		"it has grown by two pages":    {false, func(s *tests.Shelf) { s.Stock(4) }, []int{10, 11, 9, 12, 8, 13, 7, 10, 11}},
		"it has grown by a record":     {false, func(s *tests.Shelf) { s.Stock(1) }, []int{10, 11, 9, 12, 8, 10, 11}},
		"it has fallen by two pages":   {false, func(s *tests.Shelf) { s.Items = s.Items[4:] }, []int{10, 11, 9, 12, 8, 13, 7, 8, 9}},
		"the page is gone, and others": {false, func(s *tests.Shelf) { s.Items = s.Items[:8] }, []int{10, 4, 3, 2, 1, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := new(tests.Shelf)
			s.Stock(80)
			s.NoTotals = tc.untold
			client := tests.NewClient(t, s)
			first, p := take(t, client, 2, 20, "")
			for i, id := range s.Items { // others are in the places of those that were delivered
				if slices.Contains(first, id) {
					s.Items[i] += "x"
				}
			}
			tc.edit(s)
			s.Asked, s.NoTotals = nil, false
			_, q := take(t, client, 2, 3, p.Checkpoint())
			require.True(t, q.Report().Rewound)
			require.Equal(t, tc.asked, s.Asked)
		})
	}
}

// What the page of the checkpoint holds before the place is known to have been delivered, though
// the checkpoint does not name it.
func TestResume_KnowsTheWholePage(t *testing.T) {
	s := new(tests.Shelf)
	s.Stock(60)
	client := tests.NewClient(t, s)
	first, p := take(t, client, 30, 28, "")
	s.Asked, s.Edits = nil, []func(*tests.Shelf){nil, func(s *tests.Shelf) { s.Stock(25) }} // once the second run has begun
	second, q := take(t, client, 30, -1, p.Checkpoint())
	require.Len(t, append(first, second...), 60)
	require.Equal(t, 25, q.Report().Repeats)
}

// nightly is the loop of the guide: it stores each record with its checkpoint, and that of the walk which has ended. It stops as if it
// was killed after so many records.
func nightly(t *testing.T, client *prospectkit.Client, saved *string, most int) (ids string, report prospectkit.Report) {
	t.Helper()
	p := prospectkit.Progress{ResumeFrom: *saved}
	opts := []prospectkit.PageOption{prospectkit.WithProgress(&p)}
	for list, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 3}, opts...) {
		require.NoError(t, err)
		ids, *saved = ids+list.ID, p.Checkpoint()
		if len(ids) == most {
			return ids, p.Report()
		}
	}
	*saved = p.Checkpoint()
	return ids, p.Report()
}

// A walk that has ended leaves nothing to resume: the next one sees what joined in front meanwhile.
func TestResume_AfterTheEndBeginsANewWalk(t *testing.T) {
	s := tests.ShelfOf("abcde")
	client := tests.NewClient(t, s)
	var saved string
	for _, night := range []string{"abcde", "XYabcde", "ZXYabcde"} {
		ids, report := nightly(t, client, &saved, -1)
		require.Equal(t, night, ids)
		require.True(t, report.Finished)
		require.False(t, report.Rewound)
		require.Zero(t, report.Joined, "it joined before the walk")
		if night == "abcde" {
			tests.Add("XY")(s)
		} else {
			tests.Add("Z")(s)
		}
	}
	s.Items = nil
	ids, _ := nightly(t, client, &saved, -1)
	require.Empty(t, ids)
	require.Empty(t, saved, "before the first record of a walk")
}

// A walk that is killed delivers what was there when it began, once. The report counts what joined meanwhile, and the walk after it delivers
// that: even if the walk was killed right after the last record, before it knew that this was the end.
func TestResume_ReportsWhatJoined(t *testing.T) {
	for killed := 1; killed <= 5; killed++ {
		s := tests.ShelfOf("abcde")
		client := tests.NewClient(t, s)
		var saved string
		first, report := nightly(t, client, &saved, killed)
		require.Zero(t, report.Joined)
		tests.Add("XY")(s)
		if killed < 5 {
			second, report := nightly(t, client, &saved, 1)
			require.Equal(t, 2, report.Joined, "killed after %d", killed)
			first += second
		}
		tests.Add("Z")(s)
		rest, report := nightly(t, client, &saved, -1)
		require.Equal(t, "abcde", first+rest, "killed after %d", killed)
		require.Equal(t, 3, report.Joined, "killed after %d", killed)
		require.True(t, report.OrderKnown && report.Finished && !report.Rewound)
		next, report := nightly(t, client, &saved, -1)
		require.Equal(t, "ZXYabcde", next, "killed after %d", killed)
		require.Zero(t, report.Joined)
	}
}

// What joins during a walk counts once, whether the place or the checkpoint sees it. Without totals, nothing counts.
func TestResume_CountsWhatJoinedOnce(t *testing.T) {
	s := tests.ShelfOf("abcdefgh")
	s.Edits = []func(*tests.Shelf){nil, tests.Add("XY")}
	client := tests.NewClient(t, s)
	var saved string
	_, report := nightly(t, client, &saved, 4)
	require.Equal(t, 2, report.Joined)
	_, report = nightly(t, client, &saved, -1)
	require.Equal(t, 2, report.Joined)

	s = tests.ShelfOf("abcdefgh")
	s.NoTotals, saved = true, ""
	client = tests.NewClient(t, s)
	nightly(t, client, &saved, 4)
	tests.Add("XY")(s)
	told := saved
	_, report = nightly(t, client, &told, -1)
	require.Zero(t, report.Joined)
	s.NoTotals = false
	_, report = nightly(t, client, &saved, -1)
	require.Zero(t, report.Joined, "the checkpoint knows no total")
	next, _ := nightly(t, client, &saved, -1)
	require.Equal(t, "XYabcdefgh", next)
}

// A program's first run has no checkpoint yet: it needs no other code than the next one.
func TestResume_CheckpointIsEmptyBeforeTheFirstRecord(t *testing.T) {
	_, p := take(t, tests.NewClient(t, new(tests.Shelf)), 2, 3, new(prospectkit.Progress).Checkpoint())
	require.Empty(t, p.Checkpoint())
	require.True(t, p.Report().Finished)
	ids, p := take(t, tests.NewClient(t, tests.ShelfOf("abc")), 2, 3, p.Checkpoint())
	require.Len(t, ids, 3)
	require.False(t, p.Report().Rewound)
}

// refusedResume ranges once with a checkpoint that does not fit and returns the refusal. Nothing may be sent.
func refusedResume(t *testing.T, base, checkpoint string, p prospectkit.ListsParams) string {
	t.Helper()
	client, err := prospectkit.New(base, tests.Token, prospectkit.WithTransport(tests.Untouched(t)))
	require.NoError(t, err)
	err = tests.Exhaust(client.Lists.All(t.Context(), p, from(checkpoint)))
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	return err.Error()
}

func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// What is selected by another parameter, or by WithQuery, are other records.
func TestResume_CheckpointOfSomethingElse(t *testing.T) {
	lists := tests.NewClient(t, tests.ShelfOf("abcdef")).Lists
	_, p := take(t, tests.NewClient(t, tests.ShelfOf("abcdef")), 2, 3, "")
	const other = "another base URL, workspace, key, collection, filter, sort order or page size"
	for _, params := range []prospectkit.ListsParams{{Limit: 3}, {Limit: 2, Search: "x"}, {Limit: 2, Kind: prospectkit.ContactList}} {
		require.Contains(t, refusedResume(t, tests.BaseURL, p.Checkpoint(), params), other)
	}
	require.Contains(t, refusedResume(t, "https://other.example.com/api/v1", p.Checkpoint(), prospectkit.ListsParams{Limit: 2}), other)

	sorted := prospectkit.RowsParams{Limit: 2, SortBy: "address.city"}
	var q prospectkit.Progress
	for _, err := range lists.Rows(t.Context(), tests.ListID, sorted, prospectkit.WithProgress(&q)) {
		require.NoError(t, err)
		break
	}
	for id, params := range map[string]prospectkit.RowsParams{
		strings.Replace(tests.ListID, "6", "7", 1): sorted,
		tests.ListID:                  {Limit: 2},
		strings.ToUpper(tests.ListID): {Limit: 2, SortBy: "address.city", Descending: true},
	} {
		require.ErrorContains(t, tests.Exhaust(lists.Rows(t.Context(), id, params, from(q.Checkpoint()))), other)
	}
	require.NoError(t, tests.Exhaust(lists.Rows(t.Context(), tests.ListID, sorted, from(q.Checkpoint()))))

	drafts, two := prospectkit.WithQuery("status", "draft"), prospectkit.ListsParams{Limit: 2}
	for _, err := range lists.All(t.Context(), two, drafts, prospectkit.WithProgress(&q)) {
		require.NoError(t, err)
		break
	}
	require.NoError(t, tests.Exhaust(lists.All(t.Context(), two, drafts, from(q.Checkpoint()))))
	for _, query := range []prospectkit.PageOption{prospectkit.WithMaxWait(0), prospectkit.WithQuery("status", "active")} {
		require.ErrorContains(t, tests.Exhaust(lists.All(t.Context(), two, query, from(q.Checkpoint()))), "ResumeFrom was taken from another")
	}
}

// Two workspaces of one service have the same collections, with other records in them: a place of one is none in the other.
func TestResume_CheckpointOfAnotherWorkspace(t *testing.T) {
	in := func(base, token string, opts ...prospectkit.ClientOption) *prospectkit.Client {
		client, err := prospectkit.New(base, token, append(opts, prospectkit.WithTransport(tests.ShelfOf("abcdef")))...)
		require.NoError(t, err)
		return client
	}
	acme := func() prospectkit.ClientOption { return prospectkit.WithJournal(journal.NewMemory("acme")) }
	globex := prospectkit.WithJournal(journal.NewMemory("globex"))
	source := func(token string) prospectkit.ClientOption {
		return prospectkit.WithTokenSource(func(context.Context) (string, error) { return token, nil })
	}
	const elsewhere = "https://api.example.com/staging/api/v1"
	for name, c := range map[string]struct{ of, fits, another, moved *prospectkit.Client }{
		"a journal":      {in(tests.BaseURL, "a", acme()), in(tests.BaseURL, "b", acme()), in(tests.BaseURL, "a", globex), in(elsewhere, "a", acme())},
		"the key":        {in(tests.BaseURL, "a"), in(tests.BaseURL, "a"), in(tests.BaseURL, "b"), in(elsewhere, "a")},
		"a key to come":  {in(tests.BaseURL, "", source("a")), in(tests.BaseURL, "a"), in(tests.BaseURL, "", source("b")), in(elsewhere, "a")},
		"a journal left": {in(tests.BaseURL, "a", acme()), in(tests.BaseURL, "a", acme()), in(tests.BaseURL, "a"), in(elsewhere, "a", acme())},
	} {
		_, p := take(t, c.of, 2, 3, "")
		for _, other := range []*prospectkit.Client{c.another, c.moved} {
			err := tests.Exhaust(other.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, from(p.Checkpoint())))
			require.ErrorAs(t, err, new(*prospectkit.RefusedError), name)
			require.ErrorContains(t, err, "ResumeFrom was taken from another base URL, workspace, key,", name)
		}
		ids, _ := take(t, c.fits, 2, 6, p.Checkpoint())
		require.Len(t, ids, 3, name)
	}
}

// Without a key, it is unknown whose a checkpoint is. That says nothing against it.
func TestResume_WithoutAKey(t *testing.T) {
	_, p := take(t, tests.NewClient(t, tests.ShelfOf("abcdef")), 2, 3, "")
	errAway := errors.New("away")
	source := prospectkit.WithTokenSource(func(context.Context) (string, error) { return "", errAway })
	client, err := prospectkit.New(tests.BaseURL, "", source, prospectkit.WithTransport(tests.Untouched(t)))
	require.NoError(t, err)
	err = tests.Exhaust(client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, from(p.Checkpoint())))
	require.ErrorIs(t, err, errAway)
	refused, ok := errors.AsType[*prospectkit.RefusedError](err)
	require.True(t, ok)
	require.Equal(t, prospectkit.RuleToken, refused.Rule)
}

func TestResume_CheckpointGarbage(t *testing.T) {
	seventeen := strings.Repeat(`"x",`, 16) + `"x"`
	for checkpoint, want := range map[string]string{
		"%%%":                                            "got something that this version of Checkpoint did not return",
		encoded("not json"):                              "got something that this version of Checkpoint did not return",
		encoded(`{"v":0,"p":1}`):                         "got something that this version of Checkpoint did not return",
		encoded(`{"v":1,"p":0}`):                         "got something that this version of Checkpoint did not return",
		encoded(`{"v":1,"p":1,"j":-1}`):                  "got something that this version of Checkpoint did not return",
		encoded(`{"v":1,"p":1,"l":[1]}`):                 "got something that this version of Checkpoint did not return",
		encoded(`{"v":1,"p":-3}`):                        "got something that this version of Checkpoint did not return",
		encoded(`{"v":1,"p":1e99}`):                      "got something that this version of Checkpoint did not return",
		encoded(`[]`):                                    "got something that this version of Checkpoint did not return",
		encoded(`{"v":2,"p":1,"q":"x"}`):                 "got something that this version of Checkpoint did not return",
		encoded(`{"v":1,"p":1,"q":"0"}`):                 "another base URL, workspace, key, collection",
		encoded(`{"v":1,"p":1,"l":[` + seventeen + `]}`): "got something that this version of Checkpoint did not return",
	} {
		require.Contains(t, refusedResume(t, tests.BaseURL, checkpoint, prospectkit.ListsParams{}), want, "checkpoint %q", checkpoint)
	}
}

// A checkpoint names ids and numbers, but nothing that was asked.
func TestResume_CheckpointHoldsNoQuery(t *testing.T) {
	var p prospectkit.Progress
	for _, err := range tests.NewClient(t, tests.ShelfOf("ab")).Lists.All(t.Context(), prospectkit.ListsParams{Search: "ada lovelace"}, prospectkit.WithProgress(&p)) {
		require.NoError(t, err)
		break
	}
	text, err := base64.RawURLEncoding.DecodeString(p.Checkpoint())
	require.NoError(t, err)
	for _, secret := range []string{tests.Token, "ada", "lovelace", "api.example.com"} {
		require.NotContains(t, string(text), secret)
	}
}

// Report and checkpoint may be read from other goroutines while the loop runs.
func TestWithProgress_Concurrently(t *testing.T) {
	s := new(tests.Shelf)
	s.Stock(200)
	var p prospectkit.Progress
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for last := 0; ; {
				r := p.Report()
				if r.Delivered < last {
					panic("records were taken back")
				}
				last = r.Delivered
				_ = p.Checkpoint()
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	got := drain(t, tests.NewClient(t, s).Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p)))
	close(done)
	wg.Wait()
	require.Len(t, got, 200)
	require.Equal(t, 200, p.Report().Delivered)
}

// Whatever a checkpoint says: no panic, no endless search, and either a refusal before the network or a run that ends.
func FuzzCheckpoint(f *testing.F) {
	_, p := take(f, tests.NewClient(f, tests.ShelfOf("abcdefgh")), 2, 5, "")
	good, _ := base64.RawURLEncoding.DecodeString(p.Checkpoint())
	query := string(good[strings.Index(string(good), `"q":"`)+5:][:16])
	f.Add(string(good))
	f.Add(`{"v":1,"q":"` + query + `","p":9999999,"t":99999999999}`)
	f.Add(`{"v":1,"q":"` + query + `","p":4611686018427387904,"t":9223372036854775807,"l":["zz"]}`)
	f.Add(`{"v":1,"q":"` + query + `","p":2,"t":-5,"l":["zz"]}`)
	f.Add(`{"v":1,"q":"` + query + `","p":2,"t":8,"l":["zz"]}`)
	f.Add(`{"v":1,"q":"` + query + `","p":2,"t":8,"l":["c"],"s":2,"i":1,"n":1}`)
	f.Add(`{"v":1,"q":"` + query + `","p":3,"t":8,"l":["c"],"s":2,"i":1,"n":3,"r":9}`)
	f.Add(`{"v":1,"q":"` + query + `","p":1,"t":8,"l":["b"],"s":2,"i":2,"n":1}`)
	f.Add(`{"v":1,"q":"` + query + `","p":4,"t":8,"l":["h"],"s":2,"j":3,"e":true}`)
	f.Add(`{"v":1,"q":"` + query + `","p":9223372036854775807,"t":8,"s":9223372036854775807,"n":9223372036854775807,"r":9223372036854775807}`)
	f.Fuzz(func(t *testing.T, text string) {
		s := tests.ShelfOf("abcdefgh")
		p := prospectkit.Progress{ResumeFrom: encoded(text)}
		opts := []prospectkit.PageOption{prospectkit.WithProgress(&p)}
		ids, err := prospectkit.Collect(tests.NewClient(t, s).Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, opts...), 100)
		if errors.Is(err, prospectkit.ErrRecordsMissing) { // fewer came before, says the checkpoint
			err = nil
		}
		if err != nil {
			require.ErrorAs(t, err, new(*prospectkit.RefusedError), fmt.Sprint(ids))
			require.Empty(t, s.Asked)
			return
		}
		require.True(t, p.Report().Finished)
		require.Less(t, len(s.Asked), 20, "pages asked: "+strconv.Itoa(len(s.Asked)))
	})
}
