package outcome_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// A repetition that our own limit refuses says both: why the first attempt failed, and why there is no second one.
func TestErrors_RefusedRetryKeepsTheFirstFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := errors.New("no route to host")
		holding := false
		var client *prospectkit.Client
		var err error
		client, err = prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithAttemptTimeout(time.Hour), prospectkit.WithTransport(tests.RoundTrip(func(*http.Request) (*http.Response, error) {
			if holding {
				return tests.Respond(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "3600"), nil
			}
			holding = true // a teammate uses the surface up, while this attempt fails
			_, err := client.Lists.Get(t.Context(), tests.ListID, tests.OneAttempt)
			require.ErrorIs(t, err, prospectkit.CodeRateLimited)
			holding = false
			return nil, other
		})))
		require.NoError(t, err)
		_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{Search: "secretname"})
		require.ErrorIs(t, err, other)
		require.ErrorIs(t, err, prospectkit.ErrRateLimited)
		require.Len(t, tests.AsError(t, err).Attempts, 1)
		require.Regexp(t, `^prospectkit: lists.list: no route to host; (after a wait of [^,]*, )?the rate limit of surface lists \(day\) has room in .*, which is beyond the longest wait allowed \(WithMaxWait\); retry at [^ ]*$`, err.Error())
		require.Positive(t, tests.Waits(err))
	})
}

// The end of a context says what the call was about, with the words of its cause.
var errInterrupted = errors.New("interrupt signal received")

func TestErrors_InterruptedCallsSayWhatTheyWaitedFor(t *testing.T) {
	stall := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	for want, rt := range map[string]tests.RoundTrip{
		"stopped while it waited for the response: interrupt signal received":                     stall,
		"500 UNEXPECTED_ERROR: prose: stopped before the next attempt: interrupt signal received": tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")),
		"stopped while it waited for the rate limit: interrupt signal received":                   tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "60"),
		"stopped before it was sent: interrupt signal received":                                   nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(100*time.Millisecond, func() { cancel(errInterrupted) })
			if rt == nil {
				cancel(errInterrupted)
				rt = tests.Always(200, tests.OneUser)
			}
			client := tests.NewClient(t, rt)
			_, err := client.Account.Me(ctx)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, errInterrupted)
			require.ErrorContains(t, err, want)
		})
	}
}

func TestErrors_RedirectsAreCalledSo(t *testing.T) {
	for status, redirect := range map[int]bool{299: false, 300: true, 399: true, 400: false} {
		text := (&prospectkit.Error{Op: "account.me", Status: status}).Error()
		require.Equal(t, redirect, strings.Contains(text, strconv.Itoa(status)+", a redirect, which is not followed"), text)
	}
}

func TestErrors_Punctuation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := tests.Within(t, time.Second)
		client := tests.NewClient(t, tests.Always(429, strings.Replace(tests.Envelope("RATE_LIMITED"), "prose", "The rate limit is exceeded.", 1), "Retry-After", "60"))
		_, err := client.Account.Me(ctx)
		require.EqualError(t, err, "prospectkit: account.me: 429 RATE_LIMITED: The rate limit is exceeded: "+
			"the rate limit of surface account (minute) has room in 1m0s, which is beyond the context's deadline; retry at 2000-01-01T00:01:00Z (request req-1)")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// refuses is a type of the caller's that tells in its error what it was given.
type refuses struct{}

func (r *refuses) UnmarshalJSON(text []byte) error { return &refusesError{string(text)} }

type refusesError struct{ text string }

func (e *refusesError) Error() string { return "cannot read " + e.text }

type withA struct {
	A int `json:"a"`
}

// Whatever refuses a value, the error names type and field, and neither id nor value.
func TestErrors_MismatchesHoldNoValues(t *testing.T) {
	const person = "Ada Lovelace <ada@engines.example> +49 30 23125"
	huge := strings.Repeat("9", 1<<20)
	for name, c := range map[string]struct {
		value, want string
		read        func(*prospectkit.Client, context.Context) error
	}{
		"number": {`"` + person + `"`, "field F: got string, want int", rowsAs[struct{ F int }]},
		"digits": {"4930231250000000000000", "field F: got number, want int8", rowsAs[struct{ F int8 }]},
		"huge":   {huge, "field F: got number, want float32", rowsAs[struct{ F float32 }]},
		"deep": {`{"a": {"b": ["` + person + `"]}}`, "field F.a.b: got string, want bool", rowsAs[struct {
			F struct {
				A struct {
					B []bool `json:"b"`
				} `json:"a"`
			}
		}]},
		"of many": {`[{"a": "` + person + `"}]`, "field F.a: got string, want int", rowsAs[struct{ F []*withA }]},
		"of two":  {`[{"a": "` + person + `"}]`, "field F.a: got string, want int", rowsAs[struct{ F [2]withA }]},
		"a map":   {`{"` + person + `": "` + person + `"}`, "field F: got string, want int", rowsAs[struct{ F map[string]int }]},
		"time":    {`"` + person + `"`, "a text is not a time as time.Time reads it", rowsAs[struct{ F time.Time }]},
		"Number":  {`"` + person + `"`, "a row does not fit struct { F json.Number }: ", rowsAs[struct{ F json.Number }]},
		"string": {`"` + person + `"`, "a row does not fit struct { F int \"json:\\\",string\\\"\" }: ", rowsAs[struct {
			F int `json:",string"`
		}]},
		"my own":  {`"` + person + `"`, "a field refused its value (*outcome_test.refusesError)", rowsAs[struct{ F refuses }]},
		"a call":  {`"` + person + `"`, "the response does not fit struct { F int }: field F: got string, want int", callAs[struct{ F int }]},
		"of mine": {`"` + person + `"`, "a field refused its value (*outcome_test.refusesError)", callAs[struct{ F refuses }]},
	} {
		id := tests.ListID + strings.Repeat("x", 1<<20)
		var out tests.Shows
		body := `{"F": ` + c.value + `, "data": [{"id": "` + id + `", "F": ` + c.value + `}]}`
		err := c.read(tests.NewClient(t, tests.Always(200, body), append(out.Options(), prospectkit.WithMaxResponseBytes(64<<20))...), t.Context())
		require.ErrorContains(t, err, c.want, name)
		if e, ok := errors.AsType[*prospectkit.Error](err); ok {
			if !errors.Is(err, prospectkit.ErrResponseLost) { // of a call, which has no rows
				require.Equal(t, id[:64], e.RowID, name)
			}
			e.RowID = ""
			out.Reset()
			out.Failure(e, prospectkit.Info{Attempts: e.Attempts})
		} else {
			out.Show(err)
		}
		for _, private := range []string{person, "Ada", "ada@", "49302312", "99999999", tests.ListID, "xxxx"} {
			if at := strings.Index(out.String(), private); at >= 0 {
				require.Fail(t, "shows "+private, "%s: %s", name, out.String()[max(0, at-100):min(out.Len(), at+100)])
			}
		}
		require.Less(t, out.Len(), 60_000, name)
	}
	var mine *refusesError
	err := rowsAs[struct{ F refuses }](tests.NewClient(t, tests.Always(200, `{"data": [{"id": "a", "F": 7}]}`)), t.Context())
	require.ErrorAs(t, err, &mine)
	require.Equal(t, "7", mine.text, "what a type of the caller's says stays reachable")
	require.Equal(t, "a", tests.AsError(t, err).RowID)
}

// A row may have the key for its id, or a very long one, wherever it comes from.
func TestErrors_RowIDOfEverySource(t *testing.T) {
	type whole struct{ F int }
	for id, want := range map[string]string{tests.Token: "[hidden]", strings.Repeat("x", 1<<20): strings.Repeat("x", 64)} {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, "agents") {
				return tests.Respond(200, `{"agent": {"id": "`+tests.ListID+`", "listId": "`+tests.ListID+`"}}`), nil
			}
			return tests.Respond(200, `{"data": [{"id": "`+id+`", "F": "x"}]}`), nil
		}))
		for _, source := range []prospectkit.RowSource{client.Lists, client.Agents} {
			err := tests.Exhaust(prospectkit.RowsOf[whole](t.Context(), source, tests.ListID, prospectkit.RowsParams{}))
			require.Equal(t, want, tests.AsError(t, err).RowID)
			require.Equal(t, tests.NoWait, tests.Waits(err), "the caller's type is what has to change")
		}
		err := tests.Exhaust(prospectkit.RowsOf[whole](t.Context(), struct{ prospectkit.RowSource }{client.Lists}, tests.ListID, prospectkit.RowsParams{}))
		require.LessOrEqual(t, len(tests.AsError(t, err).RowID), 64, "a source of the caller's, which tells no key")
	}
}

func rowsAs[T any](c *prospectkit.Client, ctx context.Context) error { //nolint:revive // the client is what differs
	return tests.Exhaust(prospectkit.RowsOf[T](ctx, c.Lists, tests.ListID, prospectkit.RowsParams{}))
}

func callAs[T any](c *prospectkit.Client, ctx context.Context) error { //nolint:revive // as above
	return c.Call(ctx, tests.UnnamedOperation(op.Unsafe), nil, new(T))
}

// Logs hold what the service writes only if it is a plain name.
func TestErrors_LogsBoundWhatTheServiceWrites(t *testing.T) {
	for code, want := range map[string]string{
		"LIST_ASLEEP": `"code":"LIST_ASLEEP"`, "LIST_NOT_FOUND": `"code":"LIST_NOT_FOUND"`, "": `"status":404,"`,
		"Ada Lovelace, 12 Engine Row": `"code":"undocumented"`, strings.Repeat("LONG_", 9): `"code":"undocumented"`, strings.Repeat("A", 100_000): `"code":"undocumented"`,
	} {
		var logs, value bytes.Buffer
		long := strings.Repeat("p\u2028", 20_000)
		body := fmt.Sprintf(`{"error": {"code": %q, "message": "m", "param": "%s", "request_id": "%s"}}`, code, long, long)
		client := tests.NewClient(t, tests.Always(404, body), prospectkit.WithLogger(slog.New(slog.NewJSONHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug}))))
		_, err := client.Account.Me(t.Context())
		slog.New(slog.NewJSONHandler(&value, nil)).Error("x", "error", err)
		require.Contains(t, logs.String(), want)
		require.Contains(t, value.String(), want)
		require.Less(t, logs.Len(), 2000)
		require.Less(t, value.Len(), 500)
		require.NotContains(t, value.String(), "\u2028")
		e := tests.AsError(t, err)
		require.LessOrEqual(t, len(e.Code), 64)
		require.Equal(t, code[:min(len(code), 64)], string(e.Code))
		for _, field := range []string{e.Message, e.Param, e.DocURL, e.RequestID, e.Body} {
			require.LessOrEqual(t, len(field), 2<<10)
		}
	}
}

// The state of a record is the service's word, too.
func TestErrors_StateInLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := tests.Within(t, time.Second)
		body := `{"agent": {"id": "` + tests.RunsID + `", "status": ` + tests.JSONText(hostile+tests.Token) + `}}`
		_, err := tests.NewClient(t, tests.Always(200, body)).Agents.WaitSettled(ctx, tests.RunsID)
		require.ErrorContains(t, err, "last seen as undocumented")
		require.Contains(t, tests.AsError(t, err).LogValue().String(), "last seen as undocumented")
	})
}

// errors.Is and errors.As find what a transport returned, but no error that holds the URL.
func TestErrors_TransportErrorsStayReachable(t *testing.T) {
	failing := func(err error) error {
		client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, err }), tests.OneAttempt)
		_, err = client.Account.Me(t.Context())
		return err
	}
	inner := &url.Error{Op: "Get", URL: "https://x.example/" + tests.ListID, Err: io.ErrUnexpectedEOF}
	for want, cause := range map[string]error{
		"unexpected EOF":                        inner,
		`middleware: Get "...": unexpected EOF`: fmt.Errorf("middleware: %w", inner),
		`refused 7: Get "...": unexpected EOF`:  errors.Join(&refusesError{"7"}, inner),
	} {
		err := failing(cause)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		var holder *url.Error
		require.NotErrorAs(t, err, &holder)
		require.ErrorContains(t, err, strings.TrimPrefix(want, "refused 7: "))
	}
	var mine *refusesError
	require.ErrorAs(t, failing(errors.Join(inner, &refusesError{"7"})), &mine)
	require.EqualError(t, failing(errors.New(`bad "quote and no end`)), `prospectkit: account.me: bad "..."`)
	require.EqualError(t, failing(errors.New(`"a\"b" and "c"`)), `prospectkit: account.me: "..." and "..."`)
}

func TestErrors_EveryKind(t *testing.T) {
	type facts struct {
		kind    string
		outcome prospectkit.Outcome
		wait    time.Duration
		code    prospectkit.Code
		fields  []string // of LogValue
	}
	answered := []string{"attempts", "code", "error.type", "op", "outcome", "request_id", "status"}
	want := map[string]facts{
		"refused locally":         {"*prospectkit.RefusedError", prospectkit.OutcomeNotApplied, tests.NoWait, prospectkit.CodeValidationFailed, []string{"error.type", "op", "outcome", "reason"}},
		"refused by the limit":    {"*prospectkit.RefusedError", prospectkit.OutcomeNotApplied, time.Hour, prospectkit.CodeRateLimited, []string{"error.type", "op", "outcome", "reason", "surface", "wait_ms"}},
		"429":                     {"*prospectkit.Error", prospectkit.OutcomeNotApplied, time.Hour, prospectkit.CodeRateLimited, []string{"attempts", "code", "error.type", "op", "outcome", "reason", "request_id", "status"}},
		"409":                     {"*prospectkit.Error", prospectkit.OutcomeNotApplied, tests.NoWait, prospectkit.CodeListNameTaken, answered},
		"never sent":              {"*prospectkit.Error", prospectkit.OutcomeNotApplied, tests.NoWait, "", []string{"attempts", "error.type", "op", "outcome", "reason"}},
		"500 to a write":          {"*prospectkit.OutcomeUnknownError", prospectkit.OutcomeUnknown, tests.NoWait, prospectkit.CodeUnexpectedError, answered},
		"cut":                     {"*prospectkit.OutcomeUnknownError", prospectkit.OutcomeUnknown, tests.NoWait, "", []string{"attempts", "error.type", "op", "outcome", "reason"}},
		"response cannot be read": {"*prospectkit.Error", prospectkit.OutcomeApplied, tests.NoWait, "", []string{"attempts", "error.type", "op", "outcome", "reason", "status"}},
	}
	for name, err := range tests.Family(t) {
		for _, wrapped := range []error{err, fmt.Errorf("syncing: %w", err), errors.Join(io.EOF, err)} {
			require.Equal(t, want[name].outcome, prospectkit.OutcomeOf(wrapped), name)
			require.Equal(t, want[name].code, prospectkit.CodeOf(wrapped), name)
		}
		ours, ok := err.(interface {
			Outcome() prospectkit.Outcome
			slog.LogValuer
		})
		require.True(t, ok, name)
		var line bytes.Buffer
		slog.New(slog.NewJSONHandler(&line, nil)).Warn("failed", "error", ours)
		var logged struct {
			Error map[string]any `json:"error"`
		}
		require.NoError(t, json.Unmarshal(line.Bytes(), &logged))
		fields := slices.Sorted(maps.Keys(logged.Error))
		wait := tests.Waits(err)
		if wait > 0 {
			wait = wait.Round(time.Minute)
		}
		told := facts{fmt.Sprintf("%T", err), ours.Outcome(), wait, prospectkit.CodeOf(err), fields}
		require.Equal(t, want[name], told, name)
		require.Equal(t, want[name].outcome == prospectkit.OutcomeUnknown, errors.Is(err, prospectkit.ErrOutcomeUnknown), name)
		require.Equal(t, name == "refused locally" || name == "refused by the limit", errors.As(err, new(*prospectkit.RefusedError)), name)
		require.Equal(t, name == "refused by the limit" || name == "429", errors.Is(err, prospectkit.ErrRateLimited), name)
		requireOneLine(t, err)
	}
}

func TestErrors_CausesStayReachable(t *testing.T) {
	errs := tests.Family(t)
	require.ErrorIs(t, errs["cut"], io.ErrUnexpectedEOF)
	require.ErrorIs(t, errs["refused locally"], prospectkit.ErrInvalid)
	var dns *net.DNSError
	require.ErrorAs(t, errs["never sent"], &dns)
	answered := tests.AsError(t, errs["500 to a write"])
	require.Equal(t, prospectkit.OutcomeUnknown, answered.Outcome(), "the response inside does not say otherwise")
}

func TestErrors_MissingScopeIsNamed(t *testing.T) {
	client := tests.NewClient(t, tests.Always(403, strings.Replace(tests.Envelope("INSUFFICIENT_SCOPE"), "prose", "Prose.", 1)))
	_, err := client.Lists.Get(t.Context(), tests.ListID)
	require.ErrorContains(t, err, `: Prose; this operation needs the scope "lists"`)
	require.ErrorIs(t, err, prospectkit.ErrForbidden)

	_, err = client.Account.Me(t.Context())
	require.NotContains(t, err.Error(), "needs the scope", "any key may call it: there is no scope to name")
	require.NotContains(t, client.Call(t.Context(), tests.UnnamedOperation(op.Read), nil, nil).Error(), "needs the scope")
}

func TestErrors_UnknownEndpoint(t *testing.T) {
	client := tests.NewClient(t, tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND")))
	_, err := client.Account.Me(t.Context())
	require.ErrorIs(t, err, prospectkit.CodeEndpointNotFound)
	require.NotErrorIs(t, err, prospectkit.ErrNotFound)
	require.NotContains(t, err.Error(), "WithRoutes", "the document shows this path")
	err = client.Call(t.Context(), tests.UnnamedOperation(op.Read), nil, nil)
	require.NotContains(t, err.Error(), "WithRoutes", "the caller gave this path")
}

// A gate, a token source or a store may make a call of its own. That its outcome is unknown says nothing about the call that was refused.
func TestRefusal_HidesTheOutcomeOfAnotherCall(t *testing.T) {
	sb := tests.EverySandbox(t, time.Now())
	sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())
	base, mine := tests.SandboxClient(t, sb), errors.New("the lock is not free")
	guarded, err := base.With(prospectkit.WithGate(func(ctx context.Context, in prospectkit.Intent) error {
		if !in.Writes {
			return nil
		}
		_, err := base.Lists.Create(ctx, prospectkit.NewList{Name: "lock"})
		return fmt.Errorf("%w: %w", mine, err)
	}))
	require.NoError(t, err)
	e, err := guarded.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Customers"})
	require.Nil(t, e)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.ErrorIs(t, err, prospectkit.RuleGate)
	require.ErrorIs(t, err, mine)
	require.NotErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	_, found := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	require.False(t, found, "it would be resolved")
	require.ErrorContains(t, err, "unknown")

	_, err = guarded.Lists.Ensure(t.Context(), prospectkit.NewList{Name: "Orders"})
	require.ErrorContains(t, err, "LIST_NAME_TAKEN", "of the lock")
	require.NotErrorIs(t, err, prospectkit.CodeListNameTaken)
	require.NotErrorIs(t, err, prospectkit.ErrConflict)
	_, found = errors.AsType[*prospectkit.Error](err)
	require.False(t, found)
}
