package services_test

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// numbered serves pages by a function of the number: the records of the page, by name, and its pagination.
func numbered(asked *[]int, page func(number int) (names, pagination string)) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		number, err := strconv.Atoi(r.URL.Query().Get("pageNum"))
		*asked = append(*asked, number)
		names, pagination := page(number)
		records := make([]string, 0, len(names))
		for name := range strings.SplitSeq(names, "") {
			records = append(records, `{"id":"`+name+`"}`)
		}
		return tests.Respond(http.StatusOK, `{"data":[`+strings.Join(records, ",")+`],"pagination":{`+pagination+`}}`), err
	}
}

// Services that send the same page whatever is asked for, or nothing at all, and never say that it was the last.
var endless = map[string]struct {
	page      func(number int) (names, pagination string)
	delivered int // elements
	asked     int
	says      string
}{
	"the same page, no totals": {
		func(int) (string, string) { return "ab", "" },
		2, 3, "pages 2 and 3 bring nothing new, and more are said to follow",
	},
	"the same page, too many pages told": {
		func(n int) (string, string) {
			return "ab", fmt.Sprintf(`"pageNum":%d,"totalPages":1000000,"totalRecords":2000000`, n)
		},
		2, 3, "pages 2 and 3 bring nothing new, and more are said to follow",
	},
	"the same page, too many records told": {
		func(int) (string, string) { return "ab", `"totalRecords":2000000` },
		2, 3, "pages 2 and 3 bring nothing new, and more are said to follow",
	},
	"the last page again and again": {
		func(n int) (string, string) { return []string{"ab", "cd", "ef"}[min(n, 3)-1], "" },
		6, 5, "pages 4 and 5 bring nothing new, and more are said to follow",
	},
	"pages in turn": {
		func(n int) (string, string) { return []string{"ab", "cd"}[n%2], "" },
		4, 4, "pages 3 and 4 bring nothing new, and more are said to follow",
	},
	"nothing, but many pages told": {
		func(n int) (string, string) { return []string{"ab", ""}[min(n, 2)-1], `"totalPages":1000000` },
		2, 3, "pages 2 and 3 bring nothing new, and more are said to follow",
	},
	"the same page, and a total that grows too slowly": {
		func(n int) (string, string) {
			return "ab", fmt.Sprintf(`"totalPages":1000000,"totalRecords":%d`, 100+n)
		},
		2, 3, "pages 2 and 3 bring nothing new, and more are said to follow",
	},
}

func TestPager_EndsWhereNothingNewComes(t *testing.T) {
	for name, tc := range endless {
		t.Run(name, func(t *testing.T) {
			contract(t, func(t *testing.T, pager pagerFunc, byPage bool) {
				var asked []int
				client := tests.NewClient(t, numbered(&asked, tc.page))
				delivered, failed := 0, error(nil)
				for _, err := range pager(t.Context(), client, extent{limit: 2}) {
					if failed = err; err == nil {
						delivered++
					}
				}
				if byPage {
					delivered *= 2
				}
				require.ErrorContains(t, failed, tc.says)
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(failed))
				require.Equal(t, []int{tc.delivered, tc.asked}, []int{delivered, len(asked)})
			})
		})
	}
}

// Pages that a walk may meet and that are not the end of it.
func TestPager_ReadsOn(t *testing.T) {
	const five = `"totalPages":5,"totalRecords":10`
	for name, tc := range map[string]struct {
		page    func(number int) (names, pagination string)
		want    string
		asked   int
		missing int
	}{
		"an empty page in the middle":         {func(n int) (string, string) { return pageAt(n, "ab", "", "ef", "gh", "ij"), five }, "abefghij", 6, 2},
		"two, but not in a row":               {func(n int) (string, string) { return pageAt(n, "ab", "", "ef", "", "ij"), five }, "abefij", 6, 4},
		"an empty last page":                  {func(n int) (string, string) { return pageAt(n, "ab", "cd", "ef", "gh", ""), five }, "abcdefgh", 5, 2},
		"an empty first page":                 {func(n int) (string, string) { return pageAt(n, "", "cd", "ef", "gh", "ij"), five }, "cdefghij", 6, 2},
		"short pages, records told":           {func(n int) (string, string) { return pageAt(n, "a", "b", "c", "d", "e"), `"totalRecords":5` }, "abcde", 6, 0},
		"pages of many lengths, records told": {func(n int) (string, string) { return pageAt(n, "a", "bc", "d", "ef"), `"totalRecords":6` }, "abcdef", 5, 0},
		"fewer records than told":             {func(n int) (string, string) { return pageAt(n, "ab", "c", ""), `"totalRecords":4` }, "abc", 3, 1},
		"nothing new on the last two":         {func(n int) (string, string) { return pageAt(n, "ab", "ab", ""), `"totalPages":3,"totalRecords":2` }, "ab", 3, 0},
		"one page of repeats":                 {func(n int) (string, string) { return pageAt(n, "ab", "ab", "cd", ""), "" }, "abcd", 4, 0},
		"a total that grows forever": {func(n int) (string, string) {
			return pageAt(n, strings.Split("abcdefghijklmnopqrstuvwxyz", "")...), fmt.Sprintf(`"totalPages":%d`, min(n+2, 26))
		}, "abcdefghijklmnopqrstuvwxyz", 27, 0},
		"inserts of a page before each page": {
			func(n int) (string, string) {
				return pageAt(n, "ab", "ab", "ab", "ab", "cd"), fmt.Sprintf(`"totalPages":5,"totalRecords":%d`, 2+2*n)
			},
			"abcd", 6, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []int
			var p prospectkit.Progress
			client := tests.NewClient(t, numbered(&asked, tc.page))
			all := client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p))
			if tc.missing >= 2 { // a page
				all = missing(t, tc.missing, all)
			}
			require.Equal(t, tc.want, strings.Join(drain(t, all), ""))
			require.Len(t, asked, tc.asked)
			require.True(t, p.Report().Finished)
			require.Equal(t, tc.missing, p.Report().Missing)
		})
	}
}

// A walk that begins on a later page does not know what should have come. One that resumes knows its place.
func TestPager_MissingIsOfTheWhole(t *testing.T) {
	page := func(n int) (string, string) { return pageAt(n, "ab", "cd", "e"), `"totalPages":3,"totalRecords":6` }
	var asked []int
	client := tests.NewClient(t, numbered(&asked, page))
	var p prospectkit.Progress
	read := func(params prospectkit.ListsParams, opts ...prospectkit.PageOption) int {
		drain(t, client.Lists.All(t.Context(), params, append(opts, prospectkit.WithProgress(&p))...))
		return p.Report().Missing
	}
	require.Equal(t, 1, read(prospectkit.ListsParams{Limit: 2}))
	require.Zero(t, read(prospectkit.ListsParams{Limit: 2, PageNum: 2}))
	_, q := take(t, client, 2, 1, "")
	p.ResumeFrom = q.Checkpoint()
	require.Equal(t, 1, read(prospectkit.ListsParams{Limit: 2}))
}

// A walk that begins on a later page of a service with short pages still comes to the end.
func TestPager_ReadsShortPagesFromTheMiddle(t *testing.T) {
	var asked []int
	client := tests.NewClient(t, numbered(&asked, func(n int) (string, string) { return "abcdef"[min(n, 7)-1 : min(n, 6)], `"totalRecords":6` }))
	got := drain(t, client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 5, PageNum: 3}))
	require.Equal(t, "cdef", strings.Join(got, ""))
	require.Equal(t, []int{3, 4, 5, 6, 7}, asked, "its pages were full, by the size that they had")
}

// "Newest created first" (documented) tells where lists join only if none can move into what the query selects.
func TestPager_OrderIsKnownWhereListsJoinInFront(t *testing.T) {
	lists := tests.NewClient(t, tests.ShelfOf("abc")).Lists
	for params, want := range map[prospectkit.ListsParams]bool{
		{}:                              true,
		{Kind: prospectkit.CompanyList}: true,
		{Limit: 2}:                      true,
		{FolderID: tests.FolderID}:      false,
		{Search: "x"}:                   false,
		{FolderID: tests.FolderID, Search: "x", Kind: prospectkit.ContactList}: false,
	} {
		var p prospectkit.Progress
		drain(t, lists.All(t.Context(), params, prospectkit.WithProgress(&p)))
		require.Equal(t, want, p.Report().OrderKnown, params)
	}
}

// A search engine below a listing counts no more than 10,000: the rows beyond are read, too.
func TestRows_CappedTotals(t *testing.T) {
	const rows, most = 12_500, 10_000
	asked := 0
	client := tests.NewClient(t, tests.Counting(&asked, miscounting(rows, most, func(n, l int) (int, int, int) { return (n - 1) * l, l, most / l })))
	seen := map[string]bool{}
	for row, err := range client.Lists.Rows(t.Context(), tests.ListID, prospectkit.RowsParams{}) {
		require.NoError(t, err)
		seen[row.ID()] = true
	}
	require.Len(t, seen, rows)
	require.Equal(t, 13, asked)
}

// pageAt is one of some pages, and none past the end.
func pageAt(n int, pages ...string) string {
	if n > len(pages) {
		return ""
	}
	return pages[n-1]
}

// miscounting serves some records by pages that do not add up, and tells some number of them. Its function returns the first record of a page,
// how many records it has at most, and the number of pages that is told.
func miscounting(records, told int, page func(number, limit int) (from, size, pages int)) tests.RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		number, _ := strconv.Atoi(r.URL.Query().Get("pageNum"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		from, size, pages := page(max(number, 1), limit)
		data := []string{}
		for i := from; i < min(from+size, records); i++ {
			data = append(data, fmt.Sprintf(`{"id":"%d"}`, i))
		}
		return tests.Respond(http.StatusOK, fmt.Sprintf(`{"data":[%s],"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`,
			strings.Join(data, ","), max(number, 1), pages, told)), nil
	}
}

// Each case is read with pages of so many, and misses so many; 0 stands for less than a page, which is no error.
var miscounts = map[string]struct {
	records int
	page    func(number, limit int) (from, size, pages int)
	missing map[int]int // by limit
}{
	"pages begin at 0": {105, func(n, l int) (int, int, int) { return n * l, l, (104 + l) / l }, map[int]int{1: 1, 10: 10, 30: 30, 1000: 105}},
	"pages begin at 0, of three records": {
		3, func(n, l int) (int, int, int) { return n * l, l, (2 + l) / l }, map[int]int{1: 1, 2: 2, 50: 3},
	},
	"one page is told":               {105, func(n, l int) (int, int, int) { return (n - 1) * l, l, 1 }, map[int]int{1: 0, 10: 0, 60: 0, 1000: 0}},
	"the second page is empty":       {105, func(n, l int) (int, int, int) { return (n - 1) * l, l * min(1, max(n-2, 2-n)), (104 + l) / l }, map[int]int{1: 1, 10: 10, 30: 30, 1000: 0}},
	"the limit is cut, not in pages": {105, func(n, l int) (int, int, int) { return (n - 1) * min(l, 20), min(l, 20), (104 + l) / l }, map[int]int{10: 0, 20: 0}},
	"the limit is cut":               {105, func(n, l int) (int, int, int) { l = min(l, 20); return (n - 1) * l, l, (104 + l) / l }, map[int]int{10: 0, 20: 0, 30: 0, 1000: 0}},
	"pages overlap":                  {105, func(n, l int) (int, int, int) { return max(0, (n-1)*l-1), l, (104 + l) / l }, map[int]int{10: 0, 30: 0, 1000: 0}},
	"each page lacks a record":       {105, func(n, l int) (int, int, int) { return (n - 1) * l, l - 1, (104 + l) / l }, map[int]int{30: 0, 200: 0}},
}

// A walk that delivers far fewer records than the service counts ends with an error, however it reads.
func TestPager_PagesAreMissing(t *testing.T) {
	for name, tc := range miscounts {
		t.Run(name, func(t *testing.T) {
			contract(t, func(t *testing.T, pager pagerFunc, _ bool) {
				for limit, lacking := range tc.missing {
					for _, opts := range [][]prospectkit.PageOption{nil, {prospectkit.Sequential()}, {prospectkit.WithProgress(new(prospectkit.Progress))}} {
						seq := pager(t.Context(), tests.NewClient(t, miscounting(tc.records, tc.records, tc.page)), extent{limit: limit}, opts...)
						if lacking > 0 {
							seq = missing(t, lacking, seq)
						}
						count(t, seq)
					}
				}
			})
		})
	}
}

// Killed after each page, a walk still ends with the error, and again whenever it is resumed there. It moves on in each run.
func TestPager_PagesAreMissingAcrossRuns(t *testing.T) {
	for name, tc := range miscounts {
		for limit, lacking := range tc.missing {
			t.Run(fmt.Sprint(name, " by ", limit), func(t *testing.T) {
				lists := tests.NewClient(t, miscounting(tc.records, tc.records, tc.page)).Lists
				checkpoint, runs := "", 0
				run := func() (ended bool) {
					p := prospectkit.Progress{ResumeFrom: checkpoint}
					pages := lists.RowsPages(t.Context(), tests.ListID, prospectkit.RowsParams{Limit: limit}, prospectkit.WithProgress(&p))
					n, failed := 0, error(nil)
					for page, err := range pages {
						if failed = err; err != nil || n == 1 {
							break // killed before the second page is done
						}
						require.True(t, checkpoint == "" || len(page.Items) > 0, "an empty page in run %d", runs)
						n, checkpoint = n+1, p.Checkpoint()
					}
					if !p.Report().Finished {
						return false
					}
					require.Equal(t, lacking > 0, errors.Is(failed, prospectkit.ErrRecordsMissing), "run %d: %v", runs, failed)
					return true
				}
				for !run() {
					runs++
					require.LessOrEqual(t, runs, tc.records+1)
				}
				require.True(t, run(), "again")
			})
		}
	}
}

// A range that its loop leaves, or whose total changes on the way, ends without an error.
func TestPager_WhatIsMissingIsNoError(t *testing.T) {
	lists := tests.NewClient(t, miscounting(105, 105, miscounts["pages begin at 0"].page)).Lists
	got, err := prospectkit.Collect(lists.Rows(t.Context(), tests.ListID, prospectkit.RowsParams{Limit: 10}), 95)
	require.NoError(t, err)
	require.Len(t, got, 95)
	got, err = prospectkit.Collect(lists.Rows(t.Context(), tests.ListID, prospectkit.RowsParams{Limit: 10}), 96)
	require.ErrorContains(t, err, "10 of 105 records are missing")
	require.Len(t, got, 95)

	for _, totals := range [][]int{{10, 11, 11}, {10, 9, 9, 9, 9}, {10, 11, 10, 10, 10, 10}} { // before and after a fall, pages are read again
		n := 0
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			total := totals[min(n, len(totals)-1)]
			n++
			page, data := r.URL.Query().Get("pageNum"), ""
			if page <= "3" {
				data = fmt.Sprintf(`{"id":"%sa"},{"id":"%sb"}`, page, page)
			}
			return tests.Respond(http.StatusOK, fmt.Sprintf(`{"data":[%s],"pagination":{"totalPages":3,"totalRecords":%d}}`, data, total)), nil
		}))
		require.Len(t, drain(t, client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2})), 6, totals)
	}
}

// Where the order of pages is assumed, so is their size: the largest counts.
func TestPager_PagesOfAnAssumedListingAreMissing(t *testing.T) {
	page := func(r *http.Request) (*http.Response, error) {
		names := map[string]string{"": `{"id":"a"},{"id":"b"}`, "3": `{"id":"e"}`}[r.URL.Query().Get("pageNum")]
		return tests.Respond(http.StatusOK, `{"campaigns":[`+names+`],"pagination":{"totalPages":3,"totalRecords":5}}`), nil
	}
	campaigns := tests.NewClient(t, tests.RoundTrip(page)).Campaigns
	var p prospectkit.Progress
	for _, err := range campaigns.All(t.Context(), prospectkit.WithProgress(&p)) {
		require.NoError(t, err)
		break
	}
	for _, checkpoint := range []string{"", p.Checkpoint()} {
		require.ErrorContains(t, tests.Exhaust(campaigns.All(t.Context(), from(checkpoint))), "2 of 5 records are missing")
	}
}

// Pages that were empty in the first run are not in the second, which finds its place on a page before: nothing is missing.
func TestPager_PagesAreNoLongerMissing(t *testing.T) {
	letters := "----abcdef"
	lists := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		number, _ := strconv.Atoi(r.URL.Query().Get("pageNum"))
		data := ""
		if text := (letters + "--")[2*max(0, min(number, 6)-1):][:2]; text != "--" && number <= 4 {
			data = fmt.Sprintf(`{"id":"%c"},{"id":"%c"}`, text[0], text[1])
		}
		return tests.Respond(http.StatusOK, `{"data":[`+data+`],"pagination":{"totalPages":4,"totalRecords":8}}`), nil
	})).Lists
	var p prospectkit.Progress
	for _, err := range lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p)) {
		require.NoError(t, err)
		break
	}
	letters = "yzabcdef"
	rest := drain(t, lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, from(p.Checkpoint())))
	require.Len(t, rest, 5)
}

// A name that a walk did not find, because a page was missing, is not taken as unseen.
func TestPager_PagesAreMissingForALookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		empty := tests.Always(http.StatusOK, `{"data":[],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}}`)
		posts := 0
		client := tests.NewClient(t, tests.Writes(tests.Counting(&posts, tests.Breaks), empty))
		_, err := client.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Berlin"})
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "1 of 1 records are missing")
		require.Equal(t, 1, posts)
		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Berlin"})
		_, err = tests.Unknown(t, err).Resolve(t.Context())
		require.ErrorContains(t, err, "1 of 1 records are missing")
	})
}

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
