package call_test

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

// breaksOff gives a response whose body breaks off at a byte; -1: it is whole.
func breaksOff(body string, at int, header ...string) tests.RoundTrip {
	return func(*http.Request) (*http.Response, error) {
		resp := tests.Respond(200, body, header...)
		if at >= 0 {
			resp.ContentLength = -1
			resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(body[:at]), iotest.ErrReader(io.ErrUnexpectedEOF)))
		}
		return resp, nil
	}
}

// A body that breaks off says less than a whole one: what shows that a whole response is not the service's, or that it is an unsuccessful response,
// shows that of its beginning. All of these have the rate headers.
func TestDecode_LessEvidenceProvesNoMore(t *testing.T) {
	envelope := tests.Envelope("LIST_NOT_FOUND")
	for name, c := range map[string]struct {
		kind, body string
		from       int // the first byte after which it shows
	}{
		"a page":                    {"text/html", tests.HTML, 0},
		"a page declared as JSON":   {"application/json", " " + tests.HTML, 2},
		"an undeclared page":        {"", tests.HTML, 1},
		"a text":                    {"text/plain; charset=utf-8", "upstream connect error", 0},
		"an undeclared text":        {"", "upstream connect error", 1},
		"a text in brackets":        {"text/plain", "[error] upstream timed out", 0},
		"a text in braces":          {"text/plain", "{{template}} not found", 0},
		"an envelope":               {"application/json", envelope, strings.Index(envelope, `"message"`)},
		"an error beside something": {"application/json", `{"id":[7,"a,b"],"error":"down","status":"active"}`, len(`{"id":[7,"a,b"],"error":"down",`)},
	} {
		t.Run(name, func(t *testing.T) {
			tests.EachOperation(t, func(t *testing.T, row *op.Op, call tests.AnyCall) {
				if row.Class == op.Read {
					return
				}
				for _, at := range []int{-1, c.from, c.from + 1, len(c.body) - 1} {
					_, err := call(t.Context(), tests.NewClient(t, breaksOff(c.body, at, "Content-Type", c.kind), tests.OneAttempt))
					require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err), "cut at %d: %v", at, err)
				}
				packed := tests.Zip(c.body)
				_, err := call(t.Context(), tests.NewClient(t, breaksOff(packed, len(packed)-8, "Content-Type", c.kind, "Content-Encoding", "gzip"), tests.OneAttempt))
				require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err), "compressed: %v", err)
			})
		})
	}
	for name, c := range map[string]struct{ kind, body string }{
		"nothing": {"application/json", "{"}, "nothing, undeclared": {"", "{"}, "the beginning of JSON": {"", `{"id":`}, "compressed": {"application/json", "\x1f\x8b\x08"},
	} {
		_, err := tests.EveryCall["campaigns.approve"](t.Context(), tests.NewClient(t, breaksOff(c.body, len(c.body)-1, "Content-Type", c.kind)))
		require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err), "%s: %v", name, err)
	}
}

// Neither does one that is damaged: an error before the damage is one, also if the response is whole, and so is one behind damage at the
// very beginning.
func TestDecode_DamagedErrors(t *testing.T) {
	for _, body := range []string{
		`{"error":{"code":"LIST_NOT_FOUND","message":"n`, `{"error":{"code":"LIST_NOT_FOUND","message":"a` + "\n" + `b"}}`,
		`{"error":{"code":"LIST_NOT_FOUND","message":"C:\Users"}}`, `{"error":{"code":"LIST_NOT_FOUND",}}`,
		`{"error":{"code":"LIST_NOT_FOUND","param":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}}`, `{"id":7,"error":"down",}`,
		`)]}'` + "\n" + `{"error":{"code":"LIST_NOT_FOUND"}}`, "\x00" + `{"error":{"code":"LIST_NOT_FOUND"}}`, `{\"error":"down"}`, `"error":"down"}`,
	} {
		tests.EachOperation(t, func(t *testing.T, row *op.Op, call tests.AnyCall) {
			if row.Class == op.Read {
				return
			}
			_, err := call(t.Context(), tests.NewClient(t, breaksOff(body, -1), tests.OneAttempt))
			require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err), "%.60s: %v", body, err)
		})
	}
}

// So is what shows that a response is not to this call: the id of something else, or that a cache has kept it. That counts, too, if the
// rest cannot be read.
func TestDecode_CutResponsesToAnotherCall(t *testing.T) {
	const id = `{"campaignId":"65f0c0ffee65f0c0ffee6fff"`
	for name, rt := range map[string]tests.RoundTrip{
		"another id":        breaksOff(id+`,"status":"active"}`, len(id)+1),
		"damaged, another":  breaksOff(id+",\"status\":\"a\nb\"}", -1),
		"stored":            breaksOff(`{}`, 0, "Age", "9"),
		"stored, damaged":   breaksOff(`{"campaignId":`, -1, "Age", "9"),
		"too long, another": breaksOff(id+`,"status":"`+strings.Repeat("x", 100)+`"}`, 140),
	} {
		_, err := tests.EveryCall["campaigns.approve"](t.Context(), tests.NewClient(t, rt, prospectkit.WithMaxResponseBytes(90)))
		unknown := tests.AsUnknown(t, err)
		require.True(t, unknown.Ticket().Open, "%s: it may be that of the call, rewritten on the way", name)
	}
}

// Each element of a page has to be whole, not only the first.
func TestDecode_EveryElementIsLookedAt(t *testing.T) {
	const head, tail = `{"data":[` + tests.OneList + `,` + tests.OneList, `],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":3}}`
	for last, want := range map[string]string{`,{"name":"x"}`: "a list has no id", `,{"id":"","name":"x"}`: "a list has no id", ``: ""} {
		page, err := tests.NewClient(t, tests.Always(200, head+last+tail)).Lists.Page(t.Context(), prospectkit.ListsParams{}, tests.OneAttempt)
		if want == "" {
			require.NoError(t, err)
			require.Len(t, page.Items, 2)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

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
	"columns of a list": {manyOf(`{"list":{"id":"a","columns":[`, `{}`, `]}}`), called("lists.get")},
	"folders":           {manyOf(`{"folders":[`, `{"id":"a"}`, `]}`), called("folders.list")},
	"lists of a push":   {manyOf(`{"crm":"crm-1","listIds":[`, `0`, `]}`), called("lists.crm-push")},
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
	"agents in an array": {manyOf(`[`, `{}`, `]`), called("agents.list")},
	"an operation of the caller's": {manyOf(`{"items":[`, `{}`, `]}`), func(ctx context.Context, c *prospectkit.Client) error {
		return c.Call(ctx, tests.Described(http.MethodGet, op.Read), nil, new(wideRow))
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
						resp = tests.Respond(http.StatusOK, tests.Zip(tc.body))
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
