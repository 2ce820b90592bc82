package prospectkit_test

import (
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"example.com/prospectkit"
)

// shelf serves a collection, newest first, that others change between our requests. It serves lists and rows alike.
type shelf struct {
	items    []string
	edits    []func(*shelf) // number n happens just before response n; nil: nothing happens
	noTotals bool           // responses without totals
	asked    []int          // numbers of the pages asked for
	served   int            // records sent
	fell     bool           // a total was lower than the one before
	last     int            // total of the last response
	made     int
}

func shelfOf(items string, edits ...func(*shelf)) *shelf {
	return &shelf{items: strings.Split(items, ""), edits: edits}
}

// add puts new records in front.
func add(items string) func(*shelf) {
	return func(s *shelf) { s.items = append(strings.Split(items, ""), s.items...) }
}

// drop takes records away.
func drop(items string) func(*shelf) {
	return func(s *shelf) {
		s.items = slices.DeleteFunc(s.items, func(id string) bool { return strings.Contains(items, id) })
	}
}

func (s *shelf) RoundTrip(r *http.Request) (*http.Response, error) {
	if n := len(s.asked); n < len(s.edits) && s.edits[n] != nil {
		s.edits[n](s)
	}
	q := r.URL.Query()
	number, _ := strconv.Atoi(q.Get("pageNum"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	s.fell = s.fell || len(s.asked) > 0 && len(s.items) < s.last
	s.asked, s.last = append(s.asked, number), len(s.items)
	low := min((min(number, len(s.items)+1)-1)*limit, len(s.items))
	high := min(low+limit, len(s.items))
	s.served += high - low
	type record struct {
		ID string `json:"id"`
	}
	data := make([]record, 0, limit)
	for _, id := range s.items[low:high] {
		data = append(data, record{id})
	}
	totals := map[string]int{"pageNum": number}
	if !s.noTotals {
		totals["totalPages"], totals["totalRecords"] = (len(s.items)+limit-1)/limit, len(s.items)
	}
	body, err := json.Marshal(map[string]any{"entityType": "contactList", "data": data, "pagination": totals})
	return respond(http.StatusOK, string(body)), err
}

// drain ranges over an iterator and gathers the ids.
func drain(tb testing.TB, seq iter.Seq2[*prospectkit.List, error]) []string {
	tb.Helper()
	var got []string
	for list, err := range seq {
		require.NoError(tb, err)
		got = append(got, list.ID)
	}
	return got
}

// All cases read pages of two.
var driftCases = []struct {
	name  string
	shelf *shelf
	want  string // in this order
	asked []int
	rep   prospectkit.Report // Requests and Delivered follow from the others
}{
	{
		"nothing happens", shelfOf("abcde"), "abcde",
		[]int{1, 2, 3},
		prospectkit.Report{Total: 5},
	},
	{
		"an insert repeats a record", shelfOf("abcd", nil, add("X")), "abcd",
		[]int{1, 2, 3},
		prospectkit.Report{Total: 5, Repeats: 1},
	},
	{
		"inserts of more than a page: a new record comes along", shelfOf("abcd", nil, add("XYZ")), "abZcd",
		[]int{1, 2, 3, 4},
		prospectkit.Report{Total: 7, Repeats: 2},
	},
	{
		"a delete in front pulls a record past the page boundary", shelfOf("abcdef", nil, drop("a")), "abcdef",
		[]int{1, 2, 1, 2, 3},
		prospectkit.Report{Total: 5, Rereads: 2, Recovered: 1},
	},
	{
		"a delete below costs a look and no more", shelfOf("abcdef", nil, drop("f")), "abcde",
		[]int{1, 2, 1, 2, 3},
		prospectkit.Report{Total: 5, Rereads: 2},
	},
	{
		"deletes of more than a page", shelfOf("abcdefghij", nil, nil, nil, drop("abcde")), "abcdefghij",
		[]int{1, 2, 3, 4, 1, 2, 3, 4},
		prospectkit.Report{Total: 5, Rereads: 4, Recovered: 4},
	},
	{
		"everything is deleted", shelfOf("abcdef", nil, nil, drop("abcdef")), "abcd",
		[]int{1, 2, 3, 1, 2, 3},
		prospectkit.Report{Rereads: 3},
	},
	{
		"the last page is gone when we come for it", shelfOf("abcde", nil, nil, drop("a")), "abcde",
		[]int{1, 2, 3, 2, 3},
		prospectkit.Report{Total: 4, Rereads: 2, Recovered: 1},
	},
	{
		"a delete during the reread", shelfOf("abcdefgh", nil, nil, drop("a"), drop("b")), "abcdefgh",
		[]int{1, 2, 3, 2, 3, 2, 3},
		prospectkit.Report{Total: 6, Rereads: 4, Recovered: 2},
	},
	{
		"an insert during the reread hides what had slipped", shelfOf("abcdef", nil, drop("a"), add("X")), "abcdef",
		[]int{1, 2, 1, 2, 3},
		prospectkit.Report{Total: 6, Rereads: 2},
	},
	{
		"a record that came with the reread is no find", shelfOf("abcdef", nil, drop("ef"), add("XY")), "abcd",
		[]int{1, 2, 1, 2, 3},
		prospectkit.Report{Total: 6, Rereads: 2, Repeats: 2},
	},
	{
		"insert and delete at once: the total stands still", shelfOf("abcdef", nil, func(s *shelf) { drop("b")(s); add("X")(s) }), "abcdef",
		[]int{1, 2, 3},
		prospectkit.Report{Total: 6},
	},
}

func TestDrift(t *testing.T) {
	t.Parallel()
	for _, tc := range driftCases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var p prospectkit.Progress
			s := &shelf{items: slices.Clone(tc.shelf.items), edits: tc.shelf.edits}
			lists := newClient(t, s).Lists
			got := drain(t, lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p)))
			require.Equal(t, tc.want, strings.Join(got, ""))
			want := tc.rep
			want.Requests, want.Delivered, want.TotalKnown = len(s.asked), len(tc.want), true
			want.Finished, want.OrderKnown = true, true
			require.Equal(t, want, p.Report())
			require.Equal(t, tc.asked, s.asked)
		})
	}
}

// Without totals nothing tells that records were skipped. Repeats are still removed, and the empty page is the end.
func TestDrift_WithoutTotals(t *testing.T) {
	t.Parallel()
	var p prospectkit.Progress
	s := shelfOf("abcdef", nil, drop("a"), add("X"))
	s.noTotals = true
	got := drain(t, newClient(t, s).Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p)))
	require.Equal(t, "abdef", strings.Join(got, ""))
	require.Equal(t, []int{1, 2, 3, 4}, s.asked)
	require.Equal(t, prospectkit.Report{Requests: 4, Delivered: 5, Repeats: 1, Finished: true, OrderKnown: true}, p.Report())
}

// A collection that shrinks at every look cannot be read to the end of a page boundary: the walk says so and goes on.
func TestDrift_Incomplete(t *testing.T) {
	t.Parallel()
	one := func(s *shelf) { s.items = s.items[:len(s.items)-1] }
	s := shelfOf("abcdefghijklmnopqrstuvwxyz", nil, one, one, one, one, one, one, one, one, one, one, one)
	var p prospectkit.Progress
	got := drain(t, newClient(t, s).Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p)))
	require.True(t, p.Report().Incomplete)
	require.True(t, p.Report().Finished)
	require.Equal(t, strings.Join(s.items, ""), strings.Join(got, ""))
}

// The rows of a list come in an order that nobody promises, and the report says so.
func TestDrift_OfRows(t *testing.T) {
	t.Parallel()
	var p prospectkit.Progress
	s := shelfOf("abcdef", nil, drop("a"))
	var got string
	for row, err := range newClient(t, s).Lists.Rows(t.Context(), listID, prospectkit.RowsParams{Limit: 2}, prospectkit.WithProgress(&p)) {
		require.NoError(t, err)
		got += row.ID()
	}
	require.Equal(t, "abcdef", got)
	require.False(t, p.Report().OrderKnown)
	require.Equal(t, 1, p.Report().Recovered)
}

// Recovered records come on a page of their own, which says so.
func TestDrift_Pages(t *testing.T) {
	t.Parallel()
	type seen struct {
		ids       string
		number    int
		recovered bool
	}
	var got []seen
	s := shelfOf("abcdef", nil, drop("a"))
	for page, err := range newClient(t, s).Lists.Pages(t.Context(), prospectkit.ListsParams{Limit: 2}) {
		require.NoError(t, err)
		require.True(t, page.TotalKnown)
		ids := ""
		for _, l := range page.Items {
			ids += l.ID
		}
		got = append(got, seen{ids, page.Number, page.Recovered})
	}
	require.Equal(t, []seen{{"ab", 1, false}, {"c", 1, true}, {"de", 2, false}, {"f", 3, false}}, got)
}

// An error in the middle of a reread ends the range like any other.
func TestDrift_ErrorInReread(t *testing.T) {
	t.Parallel()
	s := shelfOf("abcdef", nil, drop("a"))
	rt := roundTrip(func(r *http.Request) (*http.Response, error) {
		if len(s.asked) == 2 {
			return respond(http.StatusNotFound, envelope("LIST_NOT_FOUND")), nil
		}
		return s.RoundTrip(r)
	})
	got, err := prospectkit.Collect(newClient(t, rt).Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}), 100)
	require.ErrorIs(t, err, prospectkit.CodeListNotFound)
	require.Len(t, got, 2)
}

// stock fills a shelf with n records.
func (s *shelf) stock(n int) {
	for range n {
		s.made++
		s.items = append([]string{strconv.Itoa(s.made)}, s.items...)
	}
}

// disturb draws one gap between two requests: some records come in front, some go anywhere, rarely all.
func (s *shelf) disturb(t *rapid.T, inserts int) {
	if rapid.IntRange(0, 60).Draw(t, "clear") == 60 {
		s.items = nil
	}
	for range rapid.IntRange(0, min(9, len(s.items))).Draw(t, "deletes") {
		i := rapid.IntRange(0, len(s.items)-1).Draw(t, "victim")
		s.items = slices.Delete(s.items, i, i+1)
	}
	s.stock(rapid.IntRange(0, inserts).Draw(t, "inserts"))
}

// scripted makes a shelf whose first gaps are disturbed, so that every walk comes to an end.
func scripted(t *rapid.T, inserts int) *shelf {
	s := new(shelf)
	s.stock(rapid.IntRange(0, 40).Draw(t, "records"))
	for range rapid.IntRange(0, 25).Draw(t, "gaps") {
		if rapid.Bool().Draw(t, "disturbed") {
			s.edits = append(s.edits, func(s *shelf) { s.disturb(t, inserts) })
		} else {
			s.edits = append(s.edits, nil)
		}
	}
	return s
}

// survivors are the records that were there at the beginning and still are.
func (s *shelf) survivors(before []string) []string {
	var alive []string
	for _, id := range before {
		if slices.Contains(s.items, id) {
			alive = append(alive, id)
		}
	}
	return alive
}

// churned reports a walk that gave up. With pages of one or two records, a few inserts and as many
// deletes between any two requests look like a service that sends the same page forever.
func churned(err error) bool {
	return err != nil && strings.Contains(err.Error(), "hold nothing but records that came before")
}

func TestDrift_Property(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := scripted(t, 4)
		before := slices.Clone(s.items)
		client, err := prospectkit.New(baseURL, token, prospectkit.WithTransport(s), unpaced())
		require.NoError(t, err)
		var p prospectkit.Progress
		var got []string
		limit := rapid.IntRange(1, 7).Draw(t, "limit")
		for list, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: limit}, prospectkit.WithProgress(&p)) {
			if churned(err) {
				return
			}
			require.NoError(t, err)
			got = append(got, list.ID)
		}
		r := p.Report()
		unique := slices.Compact(slices.Sorted(slices.Values(got)))
		require.Len(t, unique, len(got), "a record came twice: %v", got)
		if !r.Incomplete {
			require.Subset(t, got, s.survivors(before), "a record that was there throughout is missing")
		}
		require.True(t, r.Finished)
		require.Equal(t, [3]int{len(s.asked), len(got), s.last}, [3]int{r.Requests, r.Delivered, r.Total})
		require.Equal(t, s.fell, r.Rereads > 0)
		require.LessOrEqual(t, r.Recovered, r.Delivered)
		if r.Rereads == 0 {
			require.Equal(t, s.served-len(got), r.Repeats)
			require.Zero(t, r.Recovered)
			require.False(t, r.Incomplete)
		}
	})
}
