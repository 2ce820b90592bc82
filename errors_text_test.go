package prospectkit

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/internal/op"
)

func TestError_Text(t *testing.T) {
	t.Parallel()
	cause := errors.New("no route")
	for want, e := range map[string]Error{
		"prospectkit: o: no details are known":                                                            {},
		"prospectkit: o: prose":                                                                           {Message: "prose"},
		"prospectkit: o: no route":                                                                        {cause: cause},
		"prospectkit: o: GONE":                                                                            {Code: "GONE"},
		"prospectkit: o: 410 GONE: prose (param p, request r, 2 attempts)":                                {Status: 410, Code: "GONE", Message: "prose", Param: "p", RequestID: "r", Attempts: make([]Attempt, 2)},
		"prospectkit: o: 302, a redirect, which is not followed; it points to host x":                     {Status: 302, hint: "it points to host x"},
		`prospectkit: o: 299 without the error envelope (content type "text/html")`:                       {Status: 299, ContentType: "text/html", Attempts: make([]Attempt, 1)},
		`prospectkit: o: 400 without the error envelope`:                                                  {Status: 400},
		"prospectkit: o: unusable response with status 200: no route":                                     {Status: 200, cause: cause},
		"prospectkit: o: applied (status 201), but the response was lost: no route":                       {Status: 201, Code: "GONE", outcome: OutcomeApplied, cause: cause},
		"prospectkit: o: unusable response with status 200 (content type \"application/json\"): no route": {Status: 200, ContentType: "application/json", cause: cause},
		"prospectkit: o: 403 NO: Not you; this operation needs the scope \"lists\" (request \"r\\n s\")":  {Status: 403, Code: "NO", Message: "Not you.", hint: `this operation needs the scope "lists"`, RequestID: "\"r\\n s\""},
	} {
		e.Op = "o"
		require.Equal(t, want, e.Error())
	}
}

func TestWaitError_Text(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 13, 0, 0, 0, time.FixedZone("", 3600))
	for want, e := range map[string]waitError{
		"the rate limit of surface lists (day) has no room within the longest wait allowed (WithMaxWait)": {surface: "lists", WaitTooLongError: budget.WaitTooLongError{Window: budget.Day}},
		"the rate limit of surface lists (day) has no room within the context's deadline":                 {surface: "lists", WaitTooLongError: budget.WaitTooLongError{Window: budget.Day, Deadline: true}},
		"after a wait of 2ms, the rate limit of surface lists (day) has room in 1.5s, which is beyond the longest wait allowed (WithMaxWait); " +
			"retry at 2026-11-22T12:00:00Z": {budget.WaitTooLongError{Window: budget.Day, Wait: 1500*time.Millisecond + 1, FitsAt: at}, "lists", 2 * time.Millisecond},
	} {
		require.Equal(t, want, e.Error())
		refused := ruleRefusal(&op.Op{Name: "o"}, RuleRateLimit, &e)
		require.Equal(t, "prospectkit: o: refused locally: no room in time: "+want, refused.Error())
	}
}

func TestNotSettled_Text(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*Error{
		"prospectkit: o: not settled after 2s and 1 poll, no state was seen":         notSettled(&op.Op{Name: "o"}, "", 1, 2*time.Second, nil, nil),
		"prospectkit: o: not settled after 2s and 3 polls, last seen as a: gone":     notSettled(&op.Op{Name: "o"}, "a", 3, 2*time.Second, errors.New("gone"), nil),
		"prospectkit: o: not settled after 2s and 1 poll, last seen as a: 410; gone": notSettled(&op.Op{Name: "o"}, "a", 1, 2*time.Second, errors.New("prospectkit: o: 410"), errors.New("gone")),
	} {
		require.Equal(t, want, e.Error())
	}
}

func TestErrorLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "prospectkit", errorLine())
	require.Equal(t, "prospectkit: lists.get: it failed: why", errorLine("lists.get", "it failed.", "", "why"))
	require.NotContains(t, errorLine("a\nb"), "\n")
}

func TestCauseText(t *testing.T) {
	t.Parallel()
	require.Empty(t, causeText(nil, "lists.get"))
	require.Equal(t, "cut", causeText(errors.New("prospectkit: lists.get: cut"), "lists.get"))
	require.Equal(t, "prospectkit: lists.list: cut", causeText(errors.New("prospectkit: lists.list: cut"), "lists.get"))
}

func TestWithCause(t *testing.T) {
	t.Parallel()
	require.NoError(t, withCause(nil, nil))
	require.Equal(t, io.EOF, withCause(io.EOF, nil))
	require.Equal(t, io.EOF, withCause(nil, io.EOF))
	require.Equal(t, io.EOF, withCause(io.EOF, io.EOF), "once is enough")
	both := withCause(io.EOF, errTooLate)
	require.ErrorIs(t, both, io.EOF)
	require.ErrorIs(t, both, context.DeadlineExceeded)
	require.EqualError(t, both, "EOF; the deadline is too near for another attempt")
}

func TestContextEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	require.NoError(t, contextEnd(ctx, ""))
	cancel(io.EOF)
	require.EqualError(t, contextEnd(ctx, ""), "EOF; context canceled")
	err := contextEnd(ctx, "before it was sent")
	require.EqualError(t, err, "stopped before it was sent: EOF; context canceled")
	require.ErrorIs(t, err, io.EOF)
	require.ErrorIs(t, err, context.Canceled)
}
