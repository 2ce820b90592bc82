package services_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
)

// extent is what all pagers have in common.
type extent struct{ limit, pageNum int }

type pagerFunc func(context.Context, *prospectkit.Client, extent, ...prospectkit.PageOption) iter.Seq2[any, error]

// erased hides the element type; a nil pointer becomes nil.
func erased[T any](seq iter.Seq2[*T, error]) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for v, err := range seq {
			var element any
			if v != nil {
				element = v
			}
			if !yield(element, err) {
				return
			}
		}
	}
}

func (e extent) lists() prospectkit.ListsParams {
	return prospectkit.ListsParams{Limit: e.limit, PageNum: e.pageNum}
}

func (e extent) rows() prospectkit.RowsParams {
	return prospectkit.RowsParams{Limit: e.limit, PageNum: e.pageNum}
}

// pagers are all page-number iterators of the package. Every test of the contract runs over every one of them.
var pagers = map[string]pagerFunc{
	"All": func(ctx context.Context, c *prospectkit.Client, w extent, opts ...prospectkit.PageOption) iter.Seq2[any, error] {
		return erased(c.Lists.All(ctx, w.lists(), opts...))
	},
	"Pages": func(ctx context.Context, c *prospectkit.Client, w extent, opts ...prospectkit.PageOption) iter.Seq2[any, error] {
		return erased(c.Lists.Pages(ctx, w.lists(), opts...))
	},
	"Rows": func(ctx context.Context, c *prospectkit.Client, w extent, opts ...prospectkit.PageOption) iter.Seq2[any, error] {
		return erased(c.Lists.Rows(ctx, tests.ListID, w.rows(), opts...))
	},
	"RowsPages": func(ctx context.Context, c *prospectkit.Client, w extent, opts ...prospectkit.PageOption) iter.Seq2[any, error] {
		return erased(c.Lists.RowsPages(ctx, tests.ListID, w.rows(), opts...))
	},
	"RowsOf": func(ctx context.Context, c *prospectkit.Client, w extent, opts ...prospectkit.PageOption) iter.Seq2[any, error] {
		return erased(prospectkit.RowsOf[struct{ ID string }](ctx, c.Lists, tests.ListID, w.rows(), opts...))
	},
}

// contract runs a test over every pager, in a bubble: whatever is left running when it ends fails it.
func contract(t *testing.T, test func(t *testing.T, pager pagerFunc, byPage bool)) {
	t.Helper()
	for name, pager := range pagers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, pager, name == "Pages" || name == "RowsPages") })
		})
	}
}

// count ranges over an iterator that must not fail.
func count(t *testing.T, seq iter.Seq2[any, error]) (n int) {
	t.Helper()
	for element, err := range seq {
		require.NoError(t, err)
		require.NotNil(t, element)
		n++
	}
	return n
}

// missing passes an iterator on, to its last error, which must say how many records are missing.
func missing[T any](t *testing.T, records int, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		failed := false
		for element, err := range seq {
			require.False(t, failed, "an error comes once and last")
			if err == nil {
				if !yield(element, nil) {
					return
				}
				continue
			}
			failed = true
			e, ok := errors.AsType[*prospectkit.Error](err)
			require.True(t, ok)
			require.Equal(t, prospectkit.OutcomeNotApplied, e.Outcome())
			require.ErrorIs(t, err, prospectkit.ErrRecordsMissing)
			require.Equal(t, 200, e.Status)
			require.Regexp(t, fmt.Sprintf(`^prospectkit: %s: %d of \d+ records are missing, though the total has not changed$`, e.Op, records), err.Error())
		}
		require.True(t, failed, "the end was no error")
	}
}

// A range reads from the page that it is told to the end, asks nothing before it begins, and begins again each time. Past the end, the empty page
// tells the totals.
func TestPager_Range(t *testing.T) {
	for name, c := range map[string]struct {
		items, pageNum, pages int
		asked                 []int
	}{
		"from the first page": {5, 0, 3, []int{1, 2, 3}},
		"from a later page":   {3, 2, 2, []int{2, 3}},
		"past the end":        {0, 9, 1, []int{9}},
	} {
		t.Run(name, func(t *testing.T) {
			contract(t, func(t *testing.T, pager pagerFunc, byPage bool) {
				s := tests.ShelfOf("abcde")
				seq := pager(t.Context(), tests.NewClient(t, s), extent{limit: 2, pageNum: c.pageNum})
				require.Empty(t, s.Asked, "asked before the first range")
				elements := map[bool]int{false: c.items, true: c.pages}[byPage]
				require.Equal(t, elements, count(t, seq))
				require.Equal(t, c.asked, s.Asked)
				require.Equal(t, elements, count(t, seq), "the second range")
				require.Equal(t, append(c.asked, c.asked...), s.Asked)
			})
		})
	}
}

func TestPager_ErrorComesOnceAndLast(t *testing.T) {
	contract(t, func(t *testing.T, pager pagerFunc, byPage bool) {
		s := tests.ShelfOf("abcdef")
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("pageNum") == "2" {
				return tests.Respond(http.StatusNotFound, tests.Envelope("LIST_NOT_FOUND")), nil
			}
			return s.RoundTrip(r)
		}))
		var errs []error
		elements := 0
		for element, err := range pager(t.Context(), client, extent{limit: 2}) {
			require.Empty(t, errs, "something came after the error")
			if err != nil {
				require.Nil(t, element)
				errs = append(errs, err)
				continue
			}
			elements++
		}
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], prospectkit.CodeListNotFound)
		if byPage {
			require.Equal(t, 1, elements)
		} else {
			require.Equal(t, 2, elements)
		}
	})
}

// Whoever leaves the loop, or cancels, asks for nothing more.
func TestPager_Break(t *testing.T) {
	contract(t, func(t *testing.T, pager pagerFunc, _ bool) {
		for _, leaves := range []bool{true, false} {
			s := tests.ShelfOf("abcdef")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var last error
			for _, last = range pager(ctx, tests.NewClient(t, s), extent{limit: 2}) {
				if leaves {
					require.NoError(t, last)
					break
				}
				cancel()
			}
			require.Equal(t, !leaves, errors.Is(last, context.Canceled), "%v", last)
			require.Equal(t, []int{1}, s.Asked)
		}
	})
}

func TestPager_RefusesBeforeTheNetwork(t *testing.T) {
	var track *prospectkit.Progress
	for want, w := range map[string]struct {
		extent
		opts []prospectkit.PageOption
	}{
		"limit is -1":          {extent{limit: -1}, nil},
		"limit is 1001":        {extent{limit: 1001}, nil},
		"pageNum is -1":        {extent{pageNum: -1}, nil},
		"option 2 is nil":      {extent{}, []prospectkit.PageOption{prospectkit.WithMaxWait(0), nil}},
		"WithProgress got nil": {extent{}, []prospectkit.PageOption{prospectkit.WithProgress(track)}},
		"ResumeFrom got ":      {extent{}, []prospectkit.PageOption{prospectkit.WithProgress(&prospectkit.Progress{ResumeFrom: "x"})}},
	} {
		t.Run(want, func(t *testing.T) {
			contract(t, func(t *testing.T, pager pagerFunc, _ bool) {
				s := tests.ShelfOf("ab")
				var got error
				for element, err := range pager(t.Context(), tests.NewClient(t, s), w.extent, w.opts...) {
					require.Nil(t, element)
					got = err
				}
				require.ErrorAs(t, got, new(*prospectkit.RefusedError))
				require.ErrorContains(t, got, want)
				require.Empty(t, s.Asked)
			})
		})
	}
}

func TestPager_InfoIsOfTheLastPage(t *testing.T) {
	contract(t, func(t *testing.T, pager pagerFunc, _ bool) {
		s := tests.ShelfOf("abcde")
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := s.RoundTrip(r)
			resp.Header.Set("X-Page", r.URL.Query().Get("pageNum"))
			return resp, err
		}))
		var info prospectkit.Info
		count(t, pager(t.Context(), client, extent{limit: 2}, prospectkit.WithInfo(&info)))
		require.Equal(t, "3", info.Header.Get("X-Page"))
		require.Equal(t, http.StatusOK, info.Status)
	})
}

// The end is the last page told if it is not full, or an empty page.
var endCases = []struct {
	name       string
	pagination string
	full       int // pages with records
	requests   int
	short      bool // the end is an error: a page is missing
}{
	{"totals", `{"totalPages":2,"totalRecords":2}`, 2, 3, false},
	{"pages only", `{"totalPages":2}`, 2, 3, false},
	{"records only", `{"totalRecords":2}`, 2, 3, false},
	{"null totals", `{"pageNum":null,"totalPages":null,"totalRecords":null}`, 2, 3, false},
	{"totals of another type", `{"pageNum":"1","totalPages":"2","totalRecords":true}`, 2, 3, false},
	{"no totals", `{}`, 2, 3, false},
	{"null for pagination", `null`, 2, 3, false},
	{"one page too many told", `{"totalPages":3,"totalRecords":3}`, 2, 3, true},
	{"one record too many told", `{"totalRecords":3}`, 2, 3, true},
}

func TestPager_End(t *testing.T) {
	for _, tc := range endCases {
		t.Run(tc.name, func(t *testing.T) {
			contract(t, func(t *testing.T, pager pagerFunc, _ bool) {
				requests := 0
				client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					data := ""
					if requests++; requests <= tc.full {
						data = `{"id":"` + r.URL.Query().Get("pageNum") + `"}`
					}
					return tests.Respond(http.StatusOK, `{"data":[`+data+`],"pagination":`+tc.pagination+`}`), nil
				}))
				elements := pager(t.Context(), client, extent{limit: 1})
				if tc.short {
					elements = missing(t, 1, elements)
				}
				require.Equal(t, 2, count(t, elements))
				require.Equal(t, tc.requests, requests)
			})
		})
	}
}

// A service that returns another page than requested would make a loop of the walk.
func TestPager_WrongPage(t *testing.T) {
	contract(t, func(t *testing.T, pager pagerFunc, _ bool) {
		client := tests.NewClient(t, tests.Always(http.StatusOK, `{"data":[{"id":"a"}],"pagination":{"pageNum":1,"totalPages":3,"totalRecords":3}}`))
		var got []error
		for _, err := range pager(t.Context(), client, extent{limit: 1}) {
			got = append(got, err)
		}
		require.Len(t, got, 2)
		require.NoError(t, got[0])
		var e *prospectkit.Error
		require.ErrorAs(t, got[1], &e)
		require.ErrorContains(t, e, "asked for page 2, got page 1")
		require.Equal(t, prospectkit.OutcomeNotApplied, e.Outcome())
	})
}

// What the caller hands in stays as it is.
func TestPager_LeavesParamsAlone(t *testing.T) {
	params := func() prospectkit.RowsParams {
		return prospectkit.RowsParams{
			SortBy: "address.city", Descending: true,
			Filter: filter.Contact{
				Title:         filter.AnyOf("CTO").Except("Intern"),
				Employees:     filter.AnyOf("1-10"),
				CustomColumns: map[string]filter.Column{tests.ListID: filter.Text("x")},
			},
		}
	}
	p, client := params(), tests.NewClient(t, tests.ShelfOf("abc"))
	for _, err := range client.Lists.Rows(t.Context(), tests.ListID, p) {
		require.NoError(t, err)
	}
	require.Equal(t, params(), p)
}

func TestCollect(t *testing.T) {
	s := tests.ShelfOf("abcde")
	lists := tests.NewClient(t, s).Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2})
	for limit, pages := range map[int][]int{1: {1}, 2: {1}, 3: {1, 2}, 5: {1, 2, 3}, 6: {1, 2, 3}} {
		s.Asked = nil
		got, err := prospectkit.Collect(lists, limit)
		require.NoError(t, err)
		require.Len(t, got, min(limit, 5))
		require.Equal(t, pages, s.Asked, "limit %d", limit)
	}
	s.Asked = nil
	for _, limit := range []int{0, -1} {
		_, err := prospectkit.Collect(lists, limit)
		require.ErrorAs(t, err, new(*prospectkit.RefusedError))
		require.ErrorContains(t, err, "limit must be positive")
	}
	require.Empty(t, s.Asked)
}
