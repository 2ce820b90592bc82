package prospectkit_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// numbered serves pages by a function of the number: the records of the page, by name, and its pagination.
func numbered(asked *[]int, page func(number int) (names, pagination string)) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		number, err := strconv.Atoi(r.URL.Query().Get("pageNum"))
		*asked = append(*asked, number)
		names, pagination := page(number)
		records := make([]string, 0, len(names))
		for name := range strings.SplitSeq(names, "") {
			records = append(records, `{"id":"`+name+`"}`)
		}
		return respond(http.StatusOK, `{"data":[`+strings.Join(records, ",")+`],"pagination":{`+pagination+`}}`), err
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
		2, 3, "pages 2 and 3 hold nothing but records that came before, and no total is given",
	},
	"the same page, too many pages told": {
		func(n int) (string, string) {
			return "ab", fmt.Sprintf(`"pageNum":%d,"totalPages":1000000,"totalRecords":2000000`, n)
		},
		2, 3, "pages 2 and 3 hold nothing but records that came before, and the total is 1000000 pages",
	},
	"the same page, too many records told": {
		func(int) (string, string) { return "ab", `"totalRecords":2000000` },
		2, 3, "and the total is 2000000 records",
	},
	"the last page again and again": {
		func(n int) (string, string) { return []string{"ab", "cd", "ef"}[min(n, 3)-1], "" },
		6, 5, "pages 4 and 5 hold nothing but records that came before",
	},
	"pages in turn": {
		func(n int) (string, string) { return []string{"ab", "cd"}[n%2], "" },
		4, 4, "pages 3 and 4 hold nothing but records that came before",
	},
	"nothing, but many pages told": {
		func(n int) (string, string) { return []string{"ab", ""}[min(n, 2)-1], `"totalPages":1000000` },
		2, 3, "pages 2 and 3 are empty, and the total is 1000000 pages",
	},
	"the same page, and a total that grows too slowly": {
		func(n int) (string, string) {
			return "ab", fmt.Sprintf(`"totalPages":1000000,"totalRecords":%d`, 100+n)
		},
		2, 3, "pages 2 and 3 hold nothing but records",
	},
}

func TestPager_EndsWhereNothingNewComes(t *testing.T) {
	t.Parallel()
	for name, tc := range endless {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract(t, func(t *testing.T, pager pagerFunc, byPage bool) {
				var asked []int
				client := newClient(t, numbered(&asked, tc.page))
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

// Rows without ids cannot be told from each other, but a page that is the one before it to the letter, and again, can.
func TestPager_EndsWithoutIDs(t *testing.T) {
	t.Parallel()
	n := 0
	client := newClient(t, roundTrip(func(*http.Request) (*http.Response, error) {
		n++
		return respond(http.StatusOK, fmt.Sprintf(`{"data":[{"name":"a"},{"name":%d}]}`, min(n, 3))), nil
	}))
	got, err := prospectkit.Collect(client.Lists.Rows(t.Context(), listID, prospectkit.RowsParams{Limit: 2}), 100)
	require.ErrorContains(t, err, "pages 4 and 5 hold nothing but records that came before, and no total is given")
	require.Equal(t, 5, n)
	require.Len(t, got, 8)
}

// Pages that a walk may meet and that are not the end of it.
func TestPager_ReadsOn(t *testing.T) {
	t.Parallel()
	const five = `"totalPages":5,"totalRecords":10`
	for name, tc := range map[string]struct {
		page    func(number int) (names, pagination string)
		want    string
		asked   int
		missing int
	}{
		"an empty page in the middle":         {func(n int) (string, string) { return []string{"ab", "", "ef", "gh", "ij"}[n-1], five }, "abefghij", 5, 2},
		"two, but not in a row":               {func(n int) (string, string) { return []string{"ab", "", "ef", "", "ij"}[n-1], five }, "abefij", 5, 4},
		"an empty last page":                  {func(n int) (string, string) { return []string{"ab", "cd", "ef", "gh", ""}[n-1], five }, "abcdefgh", 5, 2},
		"an empty first page":                 {func(n int) (string, string) { return []string{"", "cd", "ef", "gh", "ij"}[n-1], five }, "cdefghij", 5, 2},
		"short pages, records told":           {func(n int) (string, string) { return "abcde"[n-1 : n], `"totalRecords":5` }, "abcde", 5, 0},
		"pages of many lengths, records told": {func(n int) (string, string) { return []string{"a", "bc", "d", "ef"}[n-1], `"totalRecords":6` }, "abcdef", 4, 0},
		"fewer records than told":             {func(n int) (string, string) { return []string{"ab", "c", ""}[n-1], `"totalRecords":4` }, "abc", 3, 1},
		"nothing new on the last two":         {func(n int) (string, string) { return []string{"ab", "ab", ""}[n-1], `"totalPages":3,"totalRecords":2` }, "ab", 3, 0},
		"one page of repeats":                 {func(n int) (string, string) { return []string{"ab", "ab", "cd", ""}[n-1], "" }, "abcd", 4, 0},
		"a total that grows forever": {func(n int) (string, string) {
			return "abcdefghijklmnopqrstuvwxyz"[n-1 : n], fmt.Sprintf(`"totalPages":%d`, min(n+2, 26))
		}, "abcdefghijklmnopqrstuvwxyz", 26, 0},
		"inserts of a page before each page": {
			func(n int) (string, string) {
				return []string{"ab", "ab", "ab", "ab", "cd"}[n-1], fmt.Sprintf(`"totalPages":5,"totalRecords":%d`, 2+2*n)
			},
			"abcd", 5, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []int
			var p prospectkit.Progress
			client := newClient(t, numbered(&asked, tc.page))
			got := drain(t, client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 2}, prospectkit.WithProgress(&p)))
			require.Equal(t, tc.want, strings.Join(got, ""))
			require.Len(t, asked, tc.asked)
			require.True(t, p.Report().Finished)
			require.Equal(t, tc.missing, p.Report().Missing)
		})
	}
}

// A walk over a part does not know what should have come.
func TestPager_MissingIsOfTheWhole(t *testing.T) {
	t.Parallel()
	page := func(n int) (string, string) { return []string{"ab", "cd", "e"}[n-1], `"totalPages":3,"totalRecords":6` }
	var asked []int
	client := newClient(t, numbered(&asked, page))
	var p prospectkit.Progress
	read := func(params prospectkit.ListsParams, opts ...prospectkit.PageOption) int {
		drain(t, client.Lists.All(t.Context(), params, append(opts, prospectkit.WithProgress(&p))...))
		return p.Report().Missing
	}
	require.Equal(t, 1, read(prospectkit.ListsParams{Limit: 2}))
	require.Zero(t, read(prospectkit.ListsParams{Limit: 2, PageNum: 2}))
	_, q := take(t, client, 2, 1, "")
	require.Zero(t, read(prospectkit.ListsParams{Limit: 2}, prospectkit.ResumeFrom(q.Checkpoint())))
}

// A walk that begins on a later page of a service with short pages still comes to the end.
func TestPager_ReadsShortPagesFromTheMiddle(t *testing.T) {
	t.Parallel()
	var asked []int
	client := newClient(t, numbered(&asked, func(n int) (string, string) { return "abcdef"[n-1 : n], `"totalRecords":6` }))
	got := drain(t, client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 5, PageNum: 3}))
	require.Equal(t, "cdef", strings.Join(got, ""))
	require.Equal(t, []int{3, 4, 5, 6}, asked)
}

// Lists come in and out of a folder or of what a search finds at any place, so that the order of all is not theirs.
func TestPager_OrderIsKnownForAllLists(t *testing.T) {
	t.Parallel()
	lists := newClient(t, shelfOf("abc")).Lists
	for want, all := range map[bool][]prospectkit.ListsParams{
		true:  {{}, {Kind: prospectkit.CompanyList}, {Limit: 2}},
		false: {{FolderID: folderID}, {Search: "x"}, {FolderID: folderID, Search: "x", Kind: prospectkit.ContactList}},
	} {
		for _, params := range all {
			var p prospectkit.Progress
			drain(t, lists.All(t.Context(), params, prospectkit.WithProgress(&p)))
			require.Equal(t, want, p.Report().OrderKnown, params)
		}
	}
}

// Totals without the number of a page, or without pages, still promise more.
func TestPager_PartialTotals(t *testing.T) {
	for _, totals := range []string{`{"totalPages":2}`, `{"totalRecords":3}`} {
		s := stage(t, always(200, `{"campaigns":[{"id":"a"},{"id":"b"}],"pagination":`+totals+`}`), always(200, `{"campaigns":[{"id":"c"}],"pagination":`+totals+`}`))
		got, err := prospectkit.Collect(newClient(t, s).Campaigns.All(t.Context()), 9)
		require.NoError(t, err, totals)
		require.Len(t, got, 3, totals)
		s.done()
	}
}
