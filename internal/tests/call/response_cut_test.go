package call_test

import (
	"errors"
	"io"
	"net/http"
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
					_, err := call(t.Context(), tests.NewClient(t, breaksOff(c.body, at, "Content-Type", c.kind), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})))
					require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err), "cut at %d: %v", at, err)
				}
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
			_, err := call(t.Context(), tests.NewClient(t, breaksOff(body, -1), prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})))
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
		unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
		require.True(t, ok, "%s: %v", name, err)
		require.True(t, unknown.Ticket().Open, "it may be that of the call, rewritten on the way")
	}
}
