package outcome_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// undialed is a transport that fails to connect.
func undialed(err error) http.RoundTripper {
	dial := func(context.Context, string, string) (net.Conn, error) { return nil, err }
	return &http.Transport{DialContext: dial, DialTLSContext: dial}
}

// situations are calls that fail, each in another way. Nothing of what is secret here may be logged.
var situations = map[string]struct {
	transport http.RoundTripper
	options   []prospectkit.ClientOption
	before    func(ctx context.Context, c *prospectkit.Client) error // a call whose lines do not count
	call      func(ctx context.Context, c *prospectkit.Client) error // readMe if nil
}{
	"no such host": {transport: undialed(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}})},
	"connection refused": {transport: undialed(&net.OpError{
		Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 443}, Err: errors.New("connect: connection refused"),
	})},
	"TLS":        {transport: undialed(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}})},
	"dialer":     {transport: undialed(errors.New("secret words of other code"))},
	"empty name": {call: createList("")},
	"two problems": {call: func(ctx context.Context, c *prospectkit.Client) error {
		return sortRows(ctx, c, "secret", "secret: order")
	}},
	"read-only":        {options: []prospectkit.ClientOption{prospectkit.ReadOnly()}, call: createList("secret")},
	"no-spend":         {options: []prospectkit.ClientOption{prospectkit.NoSpend()}, call: findPeople},
	"gate":             {options: []prospectkit.ClientOption{prospectkit.WithGate(refuseAll)}},
	"journal":          {options: []prospectkit.ClientOption{prospectkit.WithJournal(&tests.Notebook{Broken: errors.New("secret path is full")})}, call: createList("secret")},
	"journal's host":   {options: []prospectkit.ClientOption{prospectkit.WithJournal(&tests.Notebook{Broken: &net.DNSError{Err: "no such host", Name: "books.example.com"}})}, call: createList("secret")},
	"spend cap":        {options: []prospectkit.ClientOption{prospectkit.WithSpendGuard(spend.NewGuard(7, spend.Prices{"search.prospects": {PerCall: 8}}))}, call: findPeople},
	"token source":     {transport: tests.Always(401, tests.Envelope("UNAUTHORIZED")), options: otherToken("", errors.New("secret vault")), before: readMe},
	"same token":       {transport: tests.Always(401, tests.Envelope("UNAUTHORIZED")), options: otherToken(tests.Token, nil)},
	"canceled":         {call: func(ctx context.Context, c *prospectkit.Client) error { return until(ctx, -1, c, readMe) }},
	"deadline":         {transport: stall, call: func(ctx context.Context, c *prospectkit.Client) error { return until(ctx, time.Second, c, readMe) }},
	"time limit":       {transport: stall, options: []prospectkit.ClientOption{prospectkit.WithAttemptTimeout(2 * time.Second)}},
	"wait refused":     {transport: tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "3600"), before: readMe},
	"404":              {transport: tests.Always(404, tests.Envelope("LIST_NOT_FOUND"))},
	"no endpoint":      {transport: tests.Always(404, tests.Envelope("ENDPOINT_NOT_FOUND"))},
	"401":              {transport: tests.Always(401, tests.Envelope("UNAUTHORIZED"))},
	"402":              {transport: tests.Always(402, tests.Envelope("INSUFFICIENT_CREDITS"))},
	"409":              {transport: tests.Always(409, tests.Envelope("LIST_NAME_TAKEN")), call: createList("secret")},
	"422":              {transport: tests.Always(422, `{"error":{"code":"VALIDATION_FAILED","message":"secret","param":"name","request_id":"req_1"}}`), call: createList("secret")},
	"429":              {transport: tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "3600")},
	"undocumented":     {transport: tests.Always(409, tests.Envelope("LIST_ASLEEP"))},
	"500 of a read":    {transport: tests.Always(500, tests.Envelope("UNEXPECTED_ERROR"))},
	"500 of a write":   {transport: tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")), call: createList("secret")},
	"no response":      {transport: tests.RoundTrip(tests.Consumed), call: createList("secret")},
	"reset":            {transport: tests.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, errConnReset }), call: createList("secret")},
	"response lost":    {transport: tests.Always(201, `{"list": "secret`), call: createList("secret")},
	"page of a proxy":  {transport: tests.Always(404, "<p>secret</p>", "Content-Type", "text/html")},
	"login page":       {transport: tests.Always(200, "<p>secret</p>", "Content-Type", "text/html")},
	"redirect":         {transport: tests.Always(302, "", "Location", "https://secret.example/login")},
	"without an id":    {transport: tests.Always(200, `{"user":{"name":"secret"}}`)},
	"other code fails": {transport: tests.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, errors.New("secret words of other code") })},
}

var errConnReset = &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}

var stall = tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
})

func refuseAll(context.Context, prospectkit.Intent) error {
	return errors.New("secret approval")
}

func readMe(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Account.Me(ctx))
}

func createList(name string) func(context.Context, *prospectkit.Client) error {
	return func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Discard(c.Lists.Create(ctx, prospectkit.NewList{Name: name}))
	}
}

func sortRows(ctx context.Context, c *prospectkit.Client, id, key string) error {
	return tests.Discard(c.Lists.RowsPage(ctx, id, prospectkit.RowsParams{SortBy: key}))
}

func findPeople(ctx context.Context, c *prospectkit.Client) error {
	return tests.Discard(c.Search.ProspectsPage(ctx, prospectkit.SearchParams{}))
}

func otherToken(token string, err error) []prospectkit.ClientOption {
	source := func(context.Context) (string, error) { return token, err }
	return []prospectkit.ClientOption{prospectkit.WithTokenSource(source), prospectkit.WithRetry(prospectkit.RetryPolicy{})}
}

func until(ctx context.Context, d time.Duration, c *prospectkit.Client, call func(context.Context, *prospectkit.Client) error) error {
	bound, cancel := context.WithTimeout(ctx, max(d, time.Nanosecond))
	defer cancel()
	if d < 0 {
		cancel()
	}
	return call(bound, c)
}

// logLinesOf are the lines about a call that fails: of the logger of the client, and of the error that the program logs.
func logLinesOf(t *testing.T, name string) (lines string, levelled []string) {
	t.Helper()
	s := situations[name]
	var text, asJSON bytes.Buffer
	options := &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		if a.Key == "wait_ms" { // has jitter
			require.GreaterOrEqual(t, a.Value.Int64(), int64(3_600_000))
			return slog.String(a.Key, "N")
		}
		return a
	}}
	synctest.Test(t, func(t *testing.T) {
		all := []prospectkit.ClientOption{tests.OneAttempt}
		for _, handler := range []slog.Handler{slog.NewTextHandler(&text, options), slog.NewJSONHandler(&asJSON, options)} {
			all = append(all, prospectkit.WithLogger(slog.New(onlyCalls{handler})))
		}
		transport := s.transport
		if transport == nil {
			transport = tests.Always(200, tests.OneUser)
		}
		call := s.call
		if call == nil {
			call = readMe
		}
		client := tests.NewClient(t, transport, append(all, s.options...)...)
		if s.before != nil {
			require.Error(t, s.before(t.Context(), client))
			text.Reset()
			asJSON.Reset()
		}
		err := call(t.Context(), client)
		require.Error(t, err, name)
		slog.New(slog.NewTextHandler(&text, options)).Error("failed", "err", err)
		slog.New(slog.NewJSONHandler(&asJSON, options)).Error("failed", "err", err)
		if std, ok := transport.(*http.Transport); ok {
			std.CloseIdleConnections()
		}
	})
	return text.String() + asJSON.String(), strings.Split(strings.TrimSpace(text.String()), "\n")
}

// onlyCalls leaves out what is not about the end of a call.
type onlyCalls struct{ slog.Handler }

func (h onlyCalls) Handle(ctx context.Context, r slog.Record) error {
	if r.Message != "prospectkit end" {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// What is logged about each kind of failure. Lines of different failures differ, no attribute is empty, and nothing of the
// caller, the service or other code gets out.
func TestLogs_SayWhy(t *testing.T) {
	file := tests.Path("testdata", "logs.txt")
	var got strings.Builder
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(situations)) {
		lines, texts := logLinesOf(t, name)
		fmt.Fprintf(&got, "# %s\n%s\n", name, lines)
		for _, line := range texts {
			require.Empty(t, seen[line], "%s: the same line: %s", name, line)
			seen[line] = name
		}
	}
	require.NotContains(t, got.String(), "secret")
	require.NotContains(t, got.String(), tests.Token)
	require.NotRegexp(t, `=""|=0\b|:""|:0\b|null`, got.String())
	golden.Equal(t, file, got.String())
}

// A log names each parameter that was refused, but no value, whatever the problem quotes.
func TestRefusedError_LogsItsParameters(t *testing.T) {
	e := &prospectkit.RefusedError{Op: "lists.get", Violations: []prospectkit.Violation{
		{Param: "listId", Problem: "is empty"}, {Param: "opts[0]", Problem: `is "a \": Ada", must be one of ["x" "y"]`}, {Param: "file", Problem: "cannot be opened: open /home/ada"},
	}}
	require.Equal(t, `[op=lists.get error.type=refused_locally reason=listId is empty; opts[0] is "...", must be one of ["..."]; file cannot be opened outcome=not applied]`, e.LogValue().String())
}

// What Ensure and Resolve handle, and what a program may expect, is no warning.
func TestLogs_WhatIsHandledIsNoWarning(t *testing.T) {
	tests.Ensuring(t, tests.SeededList("Q1", sandbox.ContactList), nil, func(t *testing.T, _ *sandbox.Sandbox, client *prospectkit.Client) {
		lines, _ := tests.LogLines(t, slog.LevelWarn, func(logger prospectkit.ClientOption) {
			logging := tests.Derived(t, client, logger)
			ensured, err := logging.Lists.Ensure(t.Context(), tests.Q1)
			require.NoError(t, err)
			require.False(t, ensured.Created)
			require.ErrorIs(t, tests.Discard(logging.Lists.Get(t.Context(), tests.ListID)), prospectkit.ErrNotFound)
		})
		require.Empty(t, lines)
	})
}

// Errors of methods that make several calls have error types of the same set.
func TestLogs_ErrorTypesOfSeveralCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := tests.Within(t, 5*time.Second)
		_, late := tests.NewClient(t, tests.Sees("processing")).Agents.WaitSettled(ctx, tests.AgentID)
		_, draft := tests.NewClient(t, tests.Sees("initializing")).Agents.WaitSettled(t.Context(), tests.AgentID)
		for want, err := range map[string]error{
			"[op=agents.get error.type=deadline_exceeded reason=not settled after 5s and 2 polls, last seen as processing; context deadline exceeded outcome=not applied]": late,
			"[op=agents.get error.type=not_started reason=the agent was never started: a draft does nothing until it is activated outcome=not applied]":                    draft,
			"[op=lists.crm-push error.type=no_response outcome=unknown]":                                                                                                   &prospectkit.OutcomeUnknownError{Op: "lists.crm-push"},
			"[op=lists.get error.type=LIST_NOT_FOUND code=LIST_NOT_FOUND outcome=not applied]":                                                                             &prospectkit.Error{Op: "lists.get", Code: prospectkit.CodeListNotFound},
			"[op=lists.get error.type=503 reason=a response without the error envelope status=503 outcome=unknown attempts=1]": &prospectkit.Error{
				Op: "lists.get", Status: 503, Attempts: []prospectkit.Attempt{{Status: 503}},
			},
		} {
			value, ok := err.(slog.LogValuer)
			require.True(t, ok, want)
			require.Equal(t, want, value.LogValue().String())
		}
	})
}
