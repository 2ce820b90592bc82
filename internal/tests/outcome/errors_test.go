package outcome_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

// classes are the targets that stand for the service's refusals, by the status that names them best.
var classes = map[int]error{
	401: prospectkit.ErrUnauthorized, 402: prospectkit.ErrInsufficientCredits, 403: prospectkit.ErrForbidden, 404: prospectkit.ErrNotFound,
	409: prospectkit.ErrConflict, 422: prospectkit.ErrInvalid, 429: prospectkit.ErrRateLimited,
}

// classesOf lists the classes that an error matches.
func classesOf(err error) (matched []error) {
	others := []error{prospectkit.ErrOutcomeUnknown, prospectkit.ErrResponseLost, prospectkit.ErrNotStarted}
	for _, class := range slices.AppendSeq(others, maps.Values(classes)) {
		if errors.Is(err, class) {
			matched = append(matched, class)
		}
	}
	return matched
}

// requireClass demands that an error is of one class and no other; 0 means of none.
func requireClass(t *testing.T, err error, want int) {
	t.Helper()
	if want == 0 {
		require.Empty(t, classesOf(err), "%v", err)
	} else {
		require.Equal(t, []error{classes[want]}, classesOf(err), "%v", err)
	}
}

// refusedRead responds to a read, once, and returns the error.
func refusedRead(t *testing.T, status int, body string, header ...string) error {
	t.Helper()
	client := tests.NewClient(t, tests.Always(status, body, header...), tests.OneAttempt)
	_, err := client.Lists.Get(t.Context(), tests.ListID)
	require.Error(t, err)
	return err
}

func TestErrors_EveryDocumentedCode(t *testing.T) {
	for _, row := range op.Codes {
		code := prospectkit.Code(row.Name)
		for _, status := range row.Statuses {
			err := fmt.Errorf("wrapped: %w", refusedRead(t, status, tests.Envelope(row.Name)))
			require.ErrorIs(t, err, code)
			require.NotErrorIs(t, err, code+"X")
			require.Equal(t, code, prospectkit.CodeOf(err))
			answered := tests.AsError(t, err)
			require.Equal(t, status, answered.Status)
			require.Equal(t, "lists.get", answered.Op)
			require.Equal(t, "prose", answered.Message)
			require.Equal(t, "req-1", answered.RequestID)
			require.ErrorContains(t, err, fmt.Sprintf("%d %s: prose", status, code))
			require.Equal(t, prospectkit.OutcomeNotApplied, answered.Outcome())
			require.True(t, code.Known())
			switch code {
			case prospectkit.CodeInsufficientScope, prospectkit.CodeRateLimited, prospectkit.CodeUnexpectedError: // of which it says more
			default:
				require.ErrorContains(t, err, "; "+row.Hint+" (request req-1)", "the text says what helps")
			}
			requireClass(t, err, classStatus(row))
		}
	}
}

// classStatus says which class a code belongs to, whatever status it comes with.
func classStatus(row op.Code) int {
	switch prospectkit.Code(row.Name) {
	case prospectkit.CodeInsufficientCredits:
		return 402
	case prospectkit.CodeEndpointNotFound, prospectkit.CodeUnexpectedError:
		return 0 // neither says anything about the resource
	case prospectkit.CodeInvalidRequest, prospectkit.CodeImportFileMissing:
		return 422
	}
	return row.Statuses[0]
}

func TestErrors_CodeDecidesAndNotTheStatus(t *testing.T) {
	for _, status := range []int{400, 404, 409, 418, 422, 500} {
		err := refusedRead(t, status, tests.Envelope("LIST_NOT_FOUND"))
		require.ErrorIs(t, err, prospectkit.CodeListNotFound)
		requireClass(t, err, 404)
	}
}

func TestErrors_FutureCodePassesUnchanged(t *testing.T) {
	for status, class := range map[int]int{
		400: 422, 401: 401, 402: 402, 403: 403, 404: 404, 409: 409, 422: 422, 429: 429, 410: 0, 418: 0, 451: 0, 500: 0, 503: 0,
	} {
		err := refusedRead(t, status, tests.Envelope("moon-Too Far"))
		require.ErrorIs(t, err, prospectkit.Code("moon-Too Far"))
		require.Equal(t, prospectkit.Code("moon-Too Far"), prospectkit.CodeOf(err))
		require.False(t, prospectkit.CodeOf(err).Known())
		requireClass(t, err, class)
		require.ErrorAs(t, err, new(*prospectkit.Error))
	}
}

func TestErrors_EnvelopeFields(t *testing.T) {
	var answered *prospectkit.Error
	require.ErrorAs(t, refusedRead(t, 422, "\ufeff"+`{"trace":[{}],"error":{"code":"VALIDATION_FAILED","message":"limit: too large","param":"limit",
		"doc_url":"https://docs.example.com/#x","request_id":"req-9","more":{"a":1}}}`, "Content-Type", "text/plain"), &answered)
	require.Equal(t, prospectkit.CodeValidationFailed, answered.Code)
	require.Equal(t, []string{"limit: too large", "limit", "https://docs.example.com/#x", "req-9", "text/plain"},
		[]string{answered.Message, answered.Param, answered.DocURL, answered.RequestID, answered.ContentType})
	require.EqualError(t, answered, "prospectkit: lists.get: 422 VALIDATION_FAILED: limit: too large; change the request: unchanged it is refused again (param limit, request req-9)")
}

// notTheEnvelope are responses of proxies, of broken services, and of nobody we know.
var notTheEnvelope = []struct {
	name        string
	status      int
	contentType string
	body        string
}{
	{"proxy page", 502, "text/html", "<html><h1>Bad Gateway</h1></html>"},
	{"empty failure", 500, "", ""},
	{"truncated JSON", 500, "application/json", `{"error":{"code":"UNEXPECTED_ERROR","mess`},
	{"JSON and more", 422, "application/json", tests.Envelope("VALIDATION_FAILED") + "x"},
	{"JSON array", 422, "application/json", `[{"error":{"code":"VALIDATION_FAILED"}}]`},
	{"JSON string", 422, "application/json", `"VALIDATION_FAILED"`},
	{"error is text", 404, "application/json", `{"error":"LIST_NOT_FOUND"}`},
	{"error is null", 404, "application/json", `{"error":null}`},
	{"code is missing", 404, "application/json", `{"error":{"message":"LIST_NOT_FOUND"}}`},
	{"code is a number", 404, "application/json", `{"error":{"code":404}}`},
	{"code is null", 409, "application/json", `{"error":{"code":null,"message":"x"}}`},
	{"code is empty", 409, "application/json", `{"error":{"code":""}}`},
	{"code at the top", 409, "application/json", `{"code":"LIST_NAME_TAKEN"}`},
	{"page not found", 404, "text/html", "<html>404</html>"},
	{"login page", 401, "text/html", "<html>log in</html>"},
	{"wrong content type", 404, "image/png", "\x89PNG\r\n\x1a\n"},
	{"redirect", 302, "text/html", ""},
	{"not modified", 304, "", ""},
	{"teapot", 418, "application/json", `{}`},
	{"unknown status", 599, "application/json", `{"data":[]}`},
}

func TestErrors_ResponsesWithoutTheEnvelope(t *testing.T) {
	for _, c := range notTheEnvelope {
		t.Run(c.name, func(t *testing.T) {
			err := refusedRead(t, c.status, c.body, "Content-Type", c.contentType)
			answered := tests.AsError(t, err)
			require.Equal(t, c.status, answered.Status)
			require.Equal(t, c.contentType, answered.ContentType)
			require.Equal(t, c.body, answered.Body)
			require.Empty(t, answered.Code)
			require.Empty(t, prospectkit.CodeOf(err))
			require.Empty(t, answered.Message+answered.Param+answered.DocURL+answered.RequestID)
			require.ErrorContains(t, err, strconv.Itoa(c.status))
			requireClass(t, err, 0)

			client := tests.NewClient(t, tests.Always(c.status, c.body, "Content-Type", c.contentType))
			_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown, "nobody knows who responded to the write")
			require.ErrorAs(t, err, &answered)
			require.Equal(t, c.status, answered.Status)
			require.Equal(t, prospectkit.OutcomeUnknown, answered.Outcome())
		})
	}
}

func TestErrors_BodyIsCutAt2KiB(t *testing.T) {
	answered := tests.AsError(t, refusedRead(t, 404, strings.Repeat("x", 5000), "Content-Type", "text/plain"))
	require.Len(t, answered.Body, 2048)
	require.Less(t, len(answered.Error()), 200, "the text of the error does not hold the body")

	noUTF8 := strings.Repeat("\xff", 1500) // three bytes for each in a text that was decoded
	require.ErrorAs(t, refusedRead(t, 404, `{"error":{"code":"X","message":"`+noUTF8+`","param":"`+noUTF8[:200]+`"}}`), &answered)
	require.EqualValues(t, "X", answered.Code)
	require.Len(t, answered.Message, 2046, "whole characters")
	require.Len(t, answered.Param, 600)
}

func TestErrors_SuccessWithoutContent(t *testing.T) {
	for _, status := range []int{200, 202, 204} {
		client := tests.NewClient(t, tests.Always(status, ""), tests.OneAttempt)
		credits, err := client.Account.Credits(t.Context())
		require.NoError(t, err, "nothing is promised about the body")
		require.True(t, credits.IsZero())
		moved, err := client.Lists.MoveToRoot(t.Context(), tests.ListID)
		require.NoError(t, err)
		require.True(t, moved.IsZero())

		_, err = client.Account.Me(t.Context())
		require.ErrorAs(t, err, new(*prospectkit.Error))
		require.EqualError(t, err, fmt.Sprintf("prospectkit: account.me: unusable response with status %d: the response is empty", status))
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "a read changes nothing")

		_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
		lost := tests.AsError(t, err)
		require.ErrorIs(t, err, prospectkit.ErrResponseLost)
		require.Equal(t, status, lost.Status)
		require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err))
	}
	client := tests.NewClient(t, tests.Always(204, tests.OneUser))
	user, err := client.Account.Me(t.Context())
	require.NoError(t, err, "whoever sends a body means it")
	require.Equal(t, "Ada", user.Name)
}

// hostile breaks lines, paints terminals, hides text and fills logs.
var hostile = "a\r\nb\x00\x1b[31m\x7f\u0085\u009b2J\u2028\u202e\ufeff" + strings.Repeat("x", 5000)

func requireOneLine(t *testing.T, err error) {
	t.Helper()
	text := err.Error()
	require.Less(t, len(text), 2500)
	for _, r := range text {
		require.True(t, unicode.IsPrint(r), "%q in %q", r, text)
	}
}

func TestErrors_AreOneLine(t *testing.T) {
	full := `{"error":{"code":C,"message":C,"param":C,"doc_url":C,"request_id":C}}`
	body := strings.ReplaceAll(full, "C", tests.JSONText(hostile))
	for _, status := range []int{404, 429, 500} {
		err := refusedRead(t, status, body)
		require.Equal(t, prospectkit.Code(hostile[:64]), prospectkit.CodeOf(err), "the code itself stays as it came, up to a bound")
		requireOneLine(t, err)
	}
	requireOneLine(t, refusedRead(t, 404, "", "Content-Type", hostile))
	requireOneLine(t, refusedRead(t, 302, "", "Location", "https://%C2%85%E2%80%A8"+strings.Repeat("x", 5000)+"/"))

	broken := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New(hostile) }),
		tests.OneAttempt)
	_, err := broken.Account.Me(t.Context())
	requireOneLine(t, err)
	_, err = broken.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	requireOneLine(t, err)
	lost := tests.NewClient(t, tests.Always(201, `{"list":`+tests.JSONText(hostile)+`}`))
	_, err = lost.Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
	require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(err))
	requireOneLine(t, err)
	column := filter.Contact{CustomColumns: map[string]filter.Column{hostile[:30]: filter.Bool(true)}}
	_, err = lost.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{Filter: column})
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	requireOneLine(t, err)
}
