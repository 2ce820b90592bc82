package call_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// A row of a page may become a struct of this size.
type wideRow struct {
	ID    string `json:"id"`
	Wide  [128]int64
	Items []struct{ Wide [128]int64 } `json:"items"`
}

// manyOf is a JSON text of about a MiB.
func manyOf(head, unit, tail string) string {
	return head + strings.TrimSuffix(strings.Repeat(unit+",", 1<<20/(len(unit)+1)), ",") + tail
}

// Every way to read a response, each with one that could become far more than its text.
var hugeCases = map[string]struct {
	body string
	call func(context.Context, *prospectkit.Client) error
}{
	"lists": {manyOf(`{"data":[`, `{"id":"a"}`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(c.Lists.All(ctx, prospectkit.ListsParams{}))
	}},
	"columns of a list": {manyOf(`{"list":{"id":"a","columns":[`, `{}`, `]}}`), func(ctx context.Context, c *prospectkit.Client) error {
		_, err := c.Lists.Get(ctx, tests.ListID)
		return err
	}},
	"folders": {manyOf(`{"folders":[`, `{"id":"a"}`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		_, err := c.Lists.Folders(ctx, prospectkit.AgentFolder)
		return err
	}},
	"lists of a push": {manyOf(`{"crm":"x","listIds":[`, `0`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		_, err := c.Lists.PushToCRM(ctx, tests.ListID, prospectkit.CRMPush{CRM: "x", All: true})
		return err
	}},
	"rows": {manyOf(`{"data":[`, `{}`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(c.Lists.Rows(ctx, tests.ListID, prospectkit.RowsParams{}))
	}},
	"rows by pages": {manyOf(`{"data":[`, `{}`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(c.Lists.RowsPages(ctx, tests.ListID, prospectkit.RowsParams{Limit: 10}))
	}},
	"rows of a struct": {manyOf(`{"data":[`, `{}`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(prospectkit.RowsOf[wideRow](ctx, c.Lists, tests.ListID, prospectkit.RowsParams{}))
	}},
	"a row of many structs": {manyOf(`{"data":[{"id":"a","items":[`, `{}`, `]}]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(prospectkit.RowsOf[wideRow](ctx, c.Lists, tests.ListID, prospectkit.RowsParams{}))
	}},
	"a row of maps": {manyOf(`{"data":[{"id":"a","items":[`, `{"":0}`, `]}]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(prospectkit.RowsOf[map[string]any](ctx, c.Lists, tests.ListID, prospectkit.RowsParams{}))
	}},
	"a row, decoded": {manyOf(`{"data":[{"id":"a","items":[`, `{}`, `]}]}`), func(ctx context.Context, c *prospectkit.Client) error {
		page, err := c.Lists.RowsPage(ctx, tests.ListID, prospectkit.RowsParams{})
		if err != nil {
			return err
		}
		return page.Items[0].Decode(new(wideRow))
	}},
	"profiles": {manyOf(`{"profiles":[`, `1`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(c.Search.Prospects(ctx, prospectkit.SearchParams{}, prospectkit.MaxPaidPages(math.MaxInt)))
	}},
	"profiles of a saved search": {manyOf(`{"profiles":[`, `1`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(c.Search.RunSaved(ctx, tests.SavedID, 0, prospectkit.MaxPaidPages(math.MaxInt)))
	}},
	"activities": {manyOf(`{"activities":[`, `1`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(c.Contacts.Activities(ctx, tests.ContactID))
	}},
	"agents": {manyOf(`{"agents":[`, `{}`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Exhaust(c.Agents.All(ctx))
	}},
	"agents in an array": {manyOf(`[`, `{}`, `]`), func(ctx context.Context, c *prospectkit.Client) error {
		_, err := c.Agents.Page(ctx)
		return err
	}},
	"an operation of the caller's": {manyOf(`{"items":[`, `{}`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return c.Call(ctx, prospectkit.Operation{
			Name: "x", Method: http.MethodGet, Path: "/x", Surface: "lists", Reads: true, Free: true,
		}, nil, new(wideRow))
	}},
}

// A mebibyte stays some mebibytes, whatever it is read into, and nobody asks again for what is too much.
func TestDecode_MemoryIsBounded(t *testing.T) {
	for name, tc := range hugeCases {
		for _, packed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, packed), func(t *testing.T) {
				sent := 0
				client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
					sent++
					resp := tests.Respond(http.StatusOK, tc.body)
					if packed {
						resp = tests.Respond(http.StatusOK, zippedText(t, tc.body))
						resp.Header.Set("Content-Encoding", "gzip")
					}
					return resp, nil
				}))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if err := tc.call(t.Context(), client); name == "lists of a push" {
					require.NoError(t, err, "the service has confirmed it")
				} else {
					require.ErrorContains(t, err, "the response holds too much at byte ")
				}
				runtime.ReadMemStats(&after)
				require.Equal(t, 1, sent)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(60<<20), "of text, and of slices that grow")
			})
		}
	}
}

func zippedText(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return out.String()
}
