package services_test

import (
	"context"
	"fmt"
	"net/http"
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
	for list, err := range client.Lists.All(t.Context(), prospectkit.ListsParams{Limit: 3}, prospectkit.WithProgress(&prospectkit.Progress{ResumeFrom: progress.Checkpoint()})) {
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
				require.Equal(t, "lists", page.Rate.Surface)
				require.Equal(t, 120, page.Rate.Limit)
				require.Equal(t, 100+number, page.Rate.Remaining)
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
	for name, read := range map[string]func(context.Context, *prospectkit.Client) (prospectkit.RateLimit, string){
		"rows": func(ctx context.Context, c *prospectkit.Client) (prospectkit.RateLimit, string) {
			page, err := c.Lists.RowsPage(ctx, tests.ListID, prospectkit.RowsParams{})
			require.NoError(t, err)
			return page.Rate, page.RequestID
		},
		"an undocumented listing": func(ctx context.Context, c *prospectkit.Client) (prospectkit.RateLimit, string) {
			page, err := c.Agents.Page(ctx)
			require.NoError(t, err)
			return page.Rate, page.RequestID
		},
		"a search": func(ctx context.Context, c *prospectkit.Client) (prospectkit.RateLimit, string) {
			page, err := c.Search.ProspectsPage(ctx, prospectkit.SearchParams{})
			require.NoError(t, err)
			return page.Rate, page.RequestID
		},
		"activities": func(ctx context.Context, c *prospectkit.Client) (prospectkit.RateLimit, string) {
			page, err := c.Contacts.ActivitiesPage(ctx, tests.ContactID)
			require.NoError(t, err)
			return page.Rate, page.RequestID
		},
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
				rate, id := read(t.Context(), client)
				require.Equal(t, "req-1", id, name)
				if headers[1] == "" {
					require.Zero(t, rate, name)
					continue
				}
				require.Equal(t, "7 5", strconv.Itoa(rate.Limit)+" "+strconv.Itoa(rate.Remaining), name)
			}
		})
	}
}
