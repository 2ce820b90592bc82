package services_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// An iterator over whole pages counts each item of a page as delivered, and its checkpoint is after the last of them.
func TestPages_DeliverWholePages(t *testing.T) {
	var asked []string
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		number := r.URL.Query().Get("pageNum")
		asked = append(asked, number)
		var lists []string
		for i := range map[bool]int{true: 3}[number <= "3"] {
			lists = append(lists, fmt.Sprintf(`{"id":"a0000000000000000000%s00%d","name":"%s-%d","entityType":"contactList"}`, number, i, number, i))
		}
		return tests.Respond(200, `{"data":[`+strings.Join(lists, ",")+`],"pagination":{"pageNum":`+number+`,"totalPages":3,"totalRecords":9}}`), nil
	}))
	var progress prospectkit.Progress
	for page, err := range client.Lists.Pages(t.Context(), prospectkit.ListsParams{Limit: 3}, prospectkit.WithProgress(&progress)) {
		require.NoError(t, err)
		require.Len(t, page.Items, 3)
		if page.Number == 2 {
			break
		}
	}
	require.Equal(t, 6, progress.Report().Delivered)
	var rest []string
	for list, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 3}, from(progress.Checkpoint())) {
		require.NoError(t, err)
		rest = append(rest, list.Name)
	}
	require.Equal(t, []string{"3-0", "3-1", "3-2"}, rest)
	require.Equal(t, []string{"1", "2", "2", "3", "4"}, asked)
}

// Each page tells the rate window of its own response, also if it was read ahead, and the request id of an
// error that came before it.
func TestPages_TellTheirRateAndRequestID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, failed := time.Now(), false
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			number := r.URL.Query().Get("pageNum")
			if number == "2" && !failed {
				failed = true
				return tests.Respond(500, tests.Envelope("UNEXPECTED_ERROR")), nil
			}
			list := `{"id":"a000000000000000000000` + number + `0"}`
			if number > "3" {
				list = ""
			}
			return tests.Respond(200, `{"data":[`+list+`],"pagination":{"pageNum":`+number+`,"totalPages":3,"totalRecords":3}}`,
				"RateLimit-Limit", "120", "RateLimit-Remaining", "10"+number, "RateLimit-Reset", "30"), nil
		}))
		for _, opts := range [][]prospectkit.PageOption{nil, {prospectkit.Sequential()}} {
			failed = false
			number := 0
			for page, err := range client.Lists.Pages(t.Context(), prospectkit.ListsParams{Limit: 1}, opts...) {
				require.NoError(t, err)
				number++
				require.Equal(t, []any{"lists", 120, 100 + number}, []any{page.Rate.Surface, page.Rate.Limit, page.Rate.Remaining})
				require.False(t, page.Rate.At.Before(begin))
				require.Equal(t, 30*time.Second, page.Rate.ResetAt.Sub(page.Rate.At))
				require.Equal(t, map[int]string{2: "req-1"}[number], page.RequestID)
			}
			require.Equal(t, 3, number)
		}
	})
}

// So does every other kind of page.
func TestPages_OfEveryKindTellTheirRate(t *testing.T) {
	for name, read := range map[string]tests.AnyCall{
		"rows":                    tests.WithTwo((*prospectkit.ListsService).RowsPage, tests.ListID, prospectkit.RowsParams{}),
		"an undocumented listing": tests.Plain((*prospectkit.AgentsService).Page),
		"a search":                tests.With((*search).ProspectsPage, tests.Everything),
		"activities":              tests.With((*contacts).ActivitiesPage, tests.ContactID),
	} {
		synctest.Test(t, func(t *testing.T) {
			for _, headers := range [][]string{{"RateLimit-Limit", "7", "RateLimit-Remaining", "5"}, tests.Bare} {
				asked := 0
				client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
					if asked++; asked == 1 {
						return tests.Respond(500, tests.Envelope("UNEXPECTED_ERROR")), nil
					}
					return tests.Respond(200, `{"data":[{"id":"x"}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1},
						"agents":[{"id":"x"}],"profiles":[{"firstName":"Ada"}],"activities":[{}]}`, headers...), nil
				}))
				page, err := read(t.Context(), client)
				require.NoError(t, err)
				of := reflect.ValueOf(page).Elem()
				rate := of.FieldByName("Rate").Interface().(prospectkit.RateLimit)
				require.Equal(t, "req-1", of.FieldByName("RequestID").String(), name)
				if headers[1] == "" {
					require.Zero(t, rate, name)
					continue
				}
				require.Equal(t, "7 5", strconv.Itoa(rate.Limit)+" "+strconv.Itoa(rate.Remaining), name)
			}
		})
	}
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
		lists := tests.NewClient(t, tests.Always(200, body), noRetry).Lists
		for name, err := range map[string]error{
			"rows":  tests.Discard(lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{})),
			"typed": tests.Exhaust(prospectkit.RowsOf[struct{ ID string }](t.Context(), lists, tests.ListID, prospectkit.RowsParams{})),
		} {
			if want == "" {
				require.NoError(t, err, "%s: %s", name, body)
			} else {
				require.ErrorContains(t, err, want, "%s: %s", name, body)
			}
		}
	}
}
