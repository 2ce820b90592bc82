package services_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A search engine below a listing counts no more than 10,000: the rows beyond are read, too.
func TestRows_CappedTotals(t *testing.T) {
	const rows, most = 12_500, 10_000
	asked := 0
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		asked++
		number, _ := strconv.Atoi(r.URL.Query().Get("pageNum"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		var data []string
		for i := (max(number, 1) - 1) * limit; i < min(max(number, 1)*limit, rows); i++ {
			data = append(data, fmt.Sprintf(`{"id":"a0000000000000000%07d"}`, i))
		}
		return tests.Respond(200, fmt.Sprintf(`{"entityType":"contactList","data":[%s],"pagination":{"pageNum":%d,"totalPages":%d,"totalRecords":%d}}`,
			strings.Join(data, ","), max(number, 1), most/limit, most)), nil
	}))
	seen := map[string]bool{}
	for row, err := range client.Lists.Rows(t.Context(), tests.ListID, prospectkit.RowsParams{}) {
		require.NoError(t, err)
		seen[row.ID()] = true
	}
	require.Len(t, seen, rows)
	require.Equal(t, 13, asked)
}

// Null in place of an array is an empty one, unless the totals promise records. A null element is no record.
func TestPages_Null(t *testing.T) {
	for body, want := range map[string]string{
		`{"data":null,"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`:      "",
		`{"data":null,"pagination":{"pageNum":1}}`:                                      "",
		`{"data":null,"pagination":{"pageNum":1,"totalPages":1,"totalRecords":3}}`:      "the page has no data",
		`{"data":[{"id":"a"},null],"pagination":{"pageNum":1,"totalPages":1}}`:          "a row is not an object",
		`{"data": [ null ],"pagination":{"pageNum":1,"totalPages":1}}`:                  "a row is not an object",
		`{"data":[{"id":"a","tags":[null]}],"pagination":{"pageNum":1,"totalPages":1}}`: "",
	} {
		client := tests.NewClient(t, tests.Always(200, body), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
		contract := map[string]func() error{
			"rows": func() error {
				return tests.Discard(client.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{}))
			},
			"typed": func() error {
				return tests.Discard(prospectkit.Collect(prospectkit.RowsOf[struct{ ID string }](t.Context(), client.Lists, tests.ListID, prospectkit.RowsParams{}), 9))
			},
		}
		for name, call := range contract {
			if err := call(); want == "" {
				require.NoError(t, err, "%s: %s", name, body)
			} else {
				require.ErrorContains(t, err, want, "%s: %s", name, body)
			}
		}
	}
	for _, body := range []string{`{"agents":null}`, `{"agents":[]}`, `{"data":null,"pagination":{"totalRecords":0}}`} {
		page, err := tests.NewClient(t, tests.Always(200, body)).Agents.Page(t.Context())
		require.NoError(t, err, body)
		require.Empty(t, page.Items)
	}
}

// Some servers call gzip by its old name.
func TestXGzip(t *testing.T) {
	packed := tests.Always(200, tests.Zip(tests.OneUser), "Content-Encoding", "x-gzip")
	require.NoError(t, tests.Discard(tests.NewClient(t, packed).Account.Me(t.Context())))
}
