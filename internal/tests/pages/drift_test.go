package pages_test

import (
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// drop takes records away.
func drop(items string) func(*tests.Shelf) {
	return func(s *tests.Shelf) {
		s.Items = slices.DeleteFunc(s.Items, func(id string) bool { return strings.Contains(items, id) })
	}
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
	shelf *tests.Shelf
	want  string // in this order
	asked []int
	rep   prospectkit.Report // Requests and Delivered follow from the others
}{
	{
		"nothing happens", tests.ShelfOf("abcde"), "abcde",
		[]int{1, 2, 3},
		prospectkit.Report{Total: 5},
	},
	{
		"an insert repeats a record", tests.ShelfOf("abcd", nil, tests.Add("X")), "abcd",
		[]int{1, 2, 3},
		prospectkit.Report{Total: 5, Repeats: 1},
	},
	{
		"inserts of more than a page: a new record comes along", tests.ShelfOf("abcd", nil, tests.Add("XYZ")), "abZcd",
		[]int{1, 2, 3, 4},
		prospectkit.Report{Total: 7, Repeats: 2},
	},
	{
		"a delete in front pulls a record past the page boundary", tests.ShelfOf("abcdef", nil, drop("a")), "abcdef",
		[]int{1, 2, 1, 2, 3},
		prospectkit.Report{Total: 5, Rereads: 2, Recovered: 1},
	},
	{
		"a delete below costs a look and no more", tests.ShelfOf("abcdef", nil, drop("f")), "abcde",
		[]int{1, 2, 1, 2, 3},
		prospectkit.Report{Total: 5, Rereads: 2},
	},
	{
		"deletes of more than a page", tests.ShelfOf("abcdefghij", nil, nil, nil, drop("abcde")), "abcdefghij",
		[]int{1, 2, 3, 4, 1, 2, 3, 4},
		prospectkit.Report{Total: 5, Rereads: 4, Recovered: 4},
	},
	{
		"everything is deleted", tests.ShelfOf("abcdef", nil, nil, drop("abcdef")), "abcd",
		[]int{1, 2, 3, 1, 2, 3},
		prospectkit.Report{Rereads: 3},
	},
	{
		"the last page is gone when we come for it", tests.ShelfOf("abcde", nil, nil, drop("a")), "abcde",
		[]int{1, 2, 3, 2, 3},
		prospectkit.Report{Total: 4, Rereads: 2, Recovered: 1},
	},
	{
		"a delete during the reread", tests.ShelfOf("abcdefgh", nil, nil, drop("a"), drop("b")), "abcdefgh",
		[]int{1, 2, 3, 2, 3, 2, 3},
		prospectkit.Report{Total: 6, Rereads: 4, Recovered: 2},
	},
	{
		"an insert during the reread hides what had slipped", tests.ShelfOf("abcdef", nil, drop("a"), tests.Add("X")), "abcdef",
		[]int{1, 2, 1, 2, 3},
		prospectkit.Report{Total: 6, Rereads: 2},
	},
	{
		"a record that came with the reread is no find", tests.ShelfOf("abcdef", nil, drop("ef"), tests.Add("XY")), "abcd",
		[]int{1, 2, 1, 2, 3},
		prospectkit.Report{Total: 6, Rereads: 2, Repeats: 2},
	},
	{
		"insert and delete at once: the total stands still", tests.ShelfOf("abcdef", nil, func(s *tests.Shelf) { drop("b")(s); tests.Add("X")(s) }), "abcdef",
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
			s := &tests.Shelf{Items: slices.Clone(tc.shelf.Items), Edits: tc.shelf.Edits}
			lists := tests.NewClient(t, s).Lists
			got := drain(t, lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p)))
			require.Equal(t, tc.want, strings.Join(got, ""))
			want := tc.rep
			want.Requests, want.Delivered, want.TotalKnown = len(s.Asked), len(tc.want), true
			want.Finished, want.OrderKnown = true, true
			require.Equal(t, want, p.Report())
			require.Equal(t, tc.asked, s.Asked)
		})
	}
}

// A service may send shorter pages than it was asked for: as many more of them are read again.
func TestDrift_ShorterPages(t *testing.T) {
	t.Parallel()
	s := tests.ShelfOf("abcdefghij", nil, nil, nil, drop("abcde"))
	s.Longest = 2
	var p prospectkit.Progress
	lists := tests.NewClient(t, s).Lists
	require.Equal(t, "abcdefghij", strings.Join(drain(t, lists.All(t.Context(), prospectkit.ListsParams{Limit: 100}, prospectkit.WithProgress(&p))), ""))
	require.Zero(t, p.Report().Missing)
}

// Without totals nothing tells that records were skipped. Repeats are still removed, and the empty page is the end.
func TestDrift_WithoutTotals(t *testing.T) {
	t.Parallel()
	var p prospectkit.Progress
	s := tests.ShelfOf("abcdef", nil, drop("a"), tests.Add("X"))
	s.NoTotals = true
	got := drain(t, tests.NewClient(t, s).Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p)))
	require.Equal(t, "abdef", strings.Join(got, ""))
	require.Equal(t, []int{1, 2, 3, 4}, s.Asked)
	require.Equal(t, prospectkit.Report{Requests: 4, Delivered: 5, Repeats: 1, Finished: true, OrderKnown: true}, p.Report())
}

// The rows of a list come in an order that nobody promises, and the report says so.
func TestDrift_OfRows(t *testing.T) {
	t.Parallel()
	var p prospectkit.Progress
	s := tests.ShelfOf("abcdef", nil, drop("a"))
	var got string
	for row, err := range tests.NewClient(t, s).Lists.Rows(t.Context(), tests.ListID, prospectkit.RowsParams{Limit: 2}, prospectkit.WithProgress(&p)) {
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
	s := tests.ShelfOf("abcdef", nil, drop("a"))
	for page, err := range tests.NewClient(t, s).Lists.Pages(t.Context(), prospectkit.ListsParams{Limit: 2}) {
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
	s := tests.ShelfOf("abcdef", nil, drop("a"))
	rt := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if len(s.Asked) == 2 {
			return tests.Respond(http.StatusNotFound, tests.Envelope("LIST_NOT_FOUND")), nil
		}
		return s.RoundTrip(r)
	})
	got, err := prospectkit.Collect(tests.NewClient(t, rt).Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}), 100)
	require.ErrorIs(t, err, prospectkit.CodeListNotFound)
	require.Len(t, got, 2)
}
