package prospectkit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/pagewalk"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// What these allocate is held against testdata/allocations.txt: see .ci/allocations.

// canned gives the same response to every request, at the least cost to the benchmark.
type canned struct {
	status int
	header http.Header
	body   []byte
}

// RoundTrip returns the response.
func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: c.status, ProtoMajor: 1, ProtoMinor: 1, Header: c.header, Request: r,
		Body: io.NopCloser(bytes.NewReader(c.body)), ContentLength: int64(len(c.body)),
	}, nil
}

// serve makes a response with a JSON body, of a service that has room for more.
func serve(status int, body string) *canned {
	h := http.Header{"Content-Type": {"application/json"}}
	for i := 0; i < len(tests.Room); i += 2 {
		h.Set(tests.Room[i], tests.Room[i+1])
	}
	return &canned{status, h, []byte(body)}
}

// cannedPages are the pages of a collection.
type cannedPages []*canned

func (c cannedPages) RoundTrip(r *http.Request) (*http.Response, error) {
	_, number, _ := strings.Cut(r.URL.RawQuery, "pageNum=")
	n, _ := strconv.Atoi(number) // the first is asked for without
	return c[max(n-1, 0)].RoundTrip(r)
}

// hold fails a benchmark, and costs nothing when it does not.
func hold(b *testing.B, ok bool) { //nolint:thelper // Helper would cost more than what is measured
	if !ok {
		b.Helper()
		require.Fail(b, "not what the benchmark is about")
	}
}

// joined makes a page of elements.
func joined(elements []string) string { return joinedPage(elements, 1, 1, len(elements)) }

func joinedPage(elements []string, number, of, total int) string {
	return fmt.Sprintf(`{"entityType":"contactList","data":[%s],"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`,
		strings.Join(elements, ","), number, of, total)
}

func pageOfLists(n int) string { return joined(someLists(0, n)) }

func someLists(from, n int) []string {
	lists := make([]string, n)
	for i := range lists {
		lists[i] = fmt.Sprintf(`{"id":"%024x","name":"List %d","entityType":"contactList","folderId":null,"contactsCount":%d,`+
			`"companiesCount":0,"createdAt":"2026-03-01T09:30:00.000Z"}`, from+i+1, from+i, 10*i)
	}
	return lists
}

// pageOfRows has people as the sandbox makes them up.
func pageOfRows(b *testing.B, n int) string {
	b.Helper()
	sb := sandbox.New(b, sandbox.Seed(fixture.Build(fixture.Config{Seed: 1, ContactLists: 1, Rows: n})))
	for _, list := range sb.Lists() {
		raw := sb.Rows(list.ID)
		if len(raw) != n {
			continue
		}
		rows := make([]string, n)
		for i := range rows {
			rows[i] = string(raw[i])
		}
		return joined(rows)
	}
	require.Fail(b, "no list has so many rows")
	return ""
}

func BenchmarkGet(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, tests.OneUser))
	b.ReportAllocs()
	for b.Loop() {
		_, err := client.Account.Me(b.Context())
		hold(b, err == nil)
	}
}

func BenchmarkErrorResponse(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusNotFound, tests.Envelope("LIST_NOT_FOUND")))
	b.ReportAllocs()
	for b.Loop() {
		_, err := client.Lists.Get(b.Context(), tests.ListID)
		hold(b, errors.Is(err, prospectkit.CodeListNotFound))
	}
}

func BenchmarkLists(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, pageOfLists(100)))
	b.ReportAllocs()
	for b.Loop() {
		page, err := client.Lists.Page(b.Context(), prospectkit.ListsParams{})
		hold(b, err == nil && len(page.Items) == 100)
	}
}

// BenchmarkWalk reads 99,999 lists, so that the last page is not full, and remembers which it has seen.
func BenchmarkWalk(b *testing.B) {
	const pages, each = 100, 1000
	const total = pages*each - 1
	answers := make(cannedPages, pages)
	for i := range answers {
		answers[i] = serve(http.StatusOK, joinedPage(someLists(i*each, min(each, total-i*each)), i+1, pages, total))
	}
	client := tests.NewClient(b, answers)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range client.Lists.All(b.Context(), prospectkit.ListsParams{Limit: each}) {
			hold(b, err == nil)
			n++
		}
		hold(b, n == total)
	}
}

// BenchmarkSeen is what that costs: to take 100,000 ids for new.
func BenchmarkSeen(b *testing.B) {
	ids := make([]string, 100_000)
	for i := range ids {
		ids[i] = fmt.Sprintf("%024x", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		var seen pagewalk.Recent
		for _, id := range ids {
			hold(b, seen.Add(id))
		}
	}
}

func BenchmarkRows(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, pageOfRows(b, 100)))
	b.Run("kept", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page, err := client.Lists.RowsPage(b.Context(), tests.ListID, prospectkit.RowsParams{})
			hold(b, err == nil && len(page.Items) == 100)
		}
	})
	b.Run("compressed", func(b *testing.B) {
		packed := serve(http.StatusOK, tests.Zip(pageOfRows(b, 100)))
		packed.header.Set("Content-Encoding", "gzip")
		client := tests.NewClient(b, packed)
		b.ReportAllocs()
		for b.Loop() {
			page, err := client.Lists.RowsPage(b.Context(), tests.ListID, prospectkit.RowsParams{})
			hold(b, err == nil && len(page.Items) == 100)
		}
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page, err := client.Lists.RowsPage(b.Context(), tests.ListID, prospectkit.RowsParams{})
			hold(b, err == nil && len(page.Items) == 100)
			for i := range page.Items {
				row := &page.Items[i]
				hold(b, row.ID() != "" && row.Text("companies") == "")
			}
		}
	})
	b.Run("decoded", func(b *testing.B) {
		type person struct {
			ID        string `json:"id"`
			FirstName string `json:"firstName"`
			LastName  string `json:"lastName"`
			JobTitle  string `json:"jobTitle"`
		}
		b.ReportAllocs()
		for b.Loop() {
			for p, err := range prospectkit.RowsOf[person](b.Context(), client.Lists, tests.ListID, prospectkit.RowsParams{}) {
				hold(b, err == nil && p.ID != "")
			}
		}
	})
}

// A client that is closed refuses each call when the request is built and before it is sent.
func BenchmarkRequest(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, ""))
	require.NoError(b, client.Close())
	for name, params := range map[string]prospectkit.RowsParams{
		"plain": {},
		"filter": {
			Filter: filter.Contact{
				Country:   filter.AnyOf("Germany", "Austria").Except("Switzerland"),
				Employees: filter.AnyOf("51+"),
			},
			SortBy: "createdAt", Descending: true,
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := client.Lists.RowsPage(b.Context(), tests.ListID, params)
				hold(b, errors.Is(err, prospectkit.ErrRefusedLocally))
			}
		})
	}
}

func BenchmarkPath(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		path, ok := op.Expand("", op.ListsRows.Path, tests.ListID)
		hold(b, ok && path != "")
	}
}

// BenchmarkBudget is what a call costs when there is room: taking a permit, reading the headers, settling.
func BenchmarkBudget(b *testing.B) {
	client := tests.NewClient(b, serve(http.StatusOK, ""))
	pass := client.PassBudget(b.Context())
	b.ReportAllocs()
	for b.Loop() {
		hold(b, pass() == nil)
	}
}
