package services_test

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
