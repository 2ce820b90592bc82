package call_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
)

// Once an attempt of a call may have been delivered, the call ends as applied or as unknown. A clear refusal that comes later
// proves nothing: it may be the first attempt that took the name.
func TestRetry_UnknownStaysUnknown(t *testing.T) {
	made := tests.Always(201, `{"list":`+tests.OneList+`}`)
	failed := tests.Always(500, tests.Envelope("UNEXPECTED_ERROR"))
	limited := tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "1")
	cases := []struct {
		name  string
		steps []tests.RoundTrip
		want  prospectkit.Outcome
		cause error // that of the first attempt with an unknown outcome
	}{
		{"then success", []tests.RoundTrip{tests.Breaks, made}, prospectkit.OutcomeApplied, nil},
		{"then a name that is taken", []tests.RoundTrip{tests.Breaks, tests.Always(409, tests.Envelope("LIST_NAME_TAKEN"))}, prospectkit.OutcomeUnknown, tests.ErrBroken},
		{"then no credits", []tests.RoundTrip{failed, tests.Always(402, tests.Envelope("INSUFFICIENT_CREDITS"))}, prospectkit.OutcomeUnknown, prospectkit.CodeUnexpectedError},
		{"then a redirect", []tests.RoundTrip{tests.Breaks, tests.Always(302, "")}, prospectkit.OutcomeUnknown, tests.ErrBroken},
		{"then refusals to the end", []tests.RoundTrip{tests.Breaks, limited, limited}, prospectkit.OutcomeUnknown, tests.ErrBroken},
		{"then more unknown", []tests.RoundTrip{failed, tests.Breaks, tests.Breaks}, prospectkit.OutcomeUnknown, prospectkit.CodeUnexpectedError},
		{"after a refusal", []tests.RoundTrip{limited, tests.Breaks, tests.Always(409, tests.Envelope("LIST_NAME_TAKEN"))}, prospectkit.OutcomeUnknown, tests.ErrBroken},
		{"then a response that is lost", []tests.RoundTrip{tests.Breaks, tests.Always(201, "{}")}, prospectkit.OutcomeApplied, nil},
		{"never unknown", []tests.RoundTrip{limited, tests.Always(409, tests.Envelope("LIST_NAME_TAKEN"))}, prospectkit.OutcomeNotApplied, nil},
	}
	for _, test := range cases {
		tests.InTime(t, test.name, func(t *testing.T) {
			rt := tests.Stage(t, test.steps...)
			var info prospectkit.Info
			_, err := tests.NewClient(t, rt).Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"},
				prospectkit.AllowRetryUnknown(), prospectkit.WithInfo(&info))
			require.Equal(t, test.want, prospectkit.OutcomeOf(err), "%v", err)
			rt.Done()
			require.Len(t, info.Attempts, len(rt.Sent))
			if test.cause != nil {
				tests.RequireUnknown(t, err)
				require.ErrorIs(t, err, test.cause)
			}
		})
	}
}

// What may spend, send, write outside or add twice is not repeated even if the caller asks for it. What costs nothing, sends nothing and
// leaves the same state is, and so is a read.
func TestRetry_CallsThatAllowNoRetryUnknown(t *testing.T) {
	described := func(class op.Class, free, sendsNothing bool) prospectkit.Operation {
		return tests.Altered(tests.Described(http.MethodPost, class), func(o *prospectkit.Operation) {
			o.Free, o.SendsNothing = free, sendsNothing
		})
	}
	for name, c := range map[string]struct {
		operation prospectkit.Operation
		allowed   bool
	}{
		"paid":           {described(op.PaidRead, false, false), false},
		"unsafe":         {described(op.Unsafe, false, false), false},
		"state":          {described(op.GuardedByState, false, false), false},
		"unclear":        {described(op.Idempotent, false, false), false},
		"free, may send": {described(op.Idempotent, true, false), false},
		"the same state": {described(op.Idempotent, true, true), true},
		"a read":         {tests.Described(http.MethodGet, op.Read), true},
	} {
		err := tests.NewClient(t, tests.Always(200, "{}")).Call(t.Context(), c.operation, nil, nil, prospectkit.AllowRetryUnknown())
		if c.allowed {
			require.NoError(t, err, name)
		} else {
			require.Equal(t, []string{tests.NotRepeatable}, tests.Refusals(t, err), name)
		}
	}
}

// Without being asked, one call sends a write once, also where the retry policy would allow more.
func TestRetry_PolicyRetriesNoWrites(t *testing.T) {
	rt := tests.Stage(t, tests.Breaks)
	_, err := tests.Call(t.Context(), tests.NewClient(t, rt, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 10})), true)
	tests.RequireUnknown(t, err)
	require.Len(t, rt.Sent, 1)
}

// A status that refuses content before any work leaves nothing in doubt, whoever sends it. A 413 does so only for a body that a server can
// find too long: to a short request, some platforms send it for their response, after the work.
func TestRefusedUnread(t *testing.T) {
	add := func(contacts int) func(context.Context, *prospectkit.Client) error {
		return func(ctx context.Context, c *prospectkit.Client) error {
			all := make([]prospectkit.Fields, contacts)
			for i := range all {
				all[i] = prospectkit.Fields{"email": "ada@example.com", "firstName": strings.Repeat("a", 250)}
			}
			return tests.Discard(c.Lists.AddContacts(ctx, tests.ListID, prospectkit.Fields{"contacts": all}))
		}
	}
	upload := func(size int) func(context.Context, *prospectkit.Client) error {
		return func(ctx context.Context, c *prospectkit.Client) error {
			return tests.Discard(c.Imports.Upload(ctx, tests.CSVUpload(strings.Repeat("a", size))))
		}
	}
	approve := func(ctx context.Context, c *prospectkit.Client) error {
		return tests.Discard(c.Campaigns.ApproveUnreviewed(ctx, tests.CampaignID))
	}
	for _, c := range []struct {
		name   string
		status int
		body   string
		call   func(context.Context, *prospectkit.Client) error
		want   prospectkit.Outcome
		says   string
	}{
		{"413 to 400 contacts", 413, tests.HTML, add(400), prospectkit.OutcomeNotApplied, "send less at a time"},
		{"413 to a file", 413, tests.HTML, upload(1 << 20), prospectkit.OutcomeNotApplied, "send less at a time"},
		{"413 to two contacts", 413, tests.HTML, add(2), prospectkit.OutcomeUnknown, ""},
		{"413 to no body", 413, tests.HTML, approve, prospectkit.OutcomeUnknown, ""},
		{"413 of the service to two contacts", 413, tests.Envelope("IMPORT_FILE_TOO_LARGE"), add(2), prospectkit.OutcomeNotApplied, ""},
		{"407", 407, tests.HTML, approve, prospectkit.OutcomeNotApplied, "a proxy on the way asks for its own password"},
		{"411", 411, "", approve, prospectkit.OutcomeNotApplied, "Content-Length"},
		{"414", 414, tests.HTML, add(2), prospectkit.OutcomeNotApplied, "filters"},
		{"431", 431, tests.HTML, add(2), prospectkit.OutcomeNotApplied, "filters"},
		{"520", 520, tests.HTML, add(2), prospectkit.OutcomeUnknown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := 0
			err := c.call(t.Context(), tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
				requests++
				if r.Body != nil {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				return tests.Respond(c.status, c.body), nil
			})))
			require.Error(t, err)
			require.Equal(t, c.want, prospectkit.OutcomeOf(err), "%v", err)
			require.ErrorContains(t, err, c.says)
			require.Equal(t, 1, requests)
		})
	}
}

// Squid and HAProxy respond 400 to a URL that is too long for them. Varnish closes the connection without a response, and of HAProxy's net/http
// sometimes reads none.
func TestLongURLRefused(t *testing.T) {
	closed := tests.RoundTrip(func(*http.Request) (*http.Response, error) { return nil, io.EOF })
	for name, transport := range map[string]http.RoundTripper{"400": tests.Always(400, tests.HTML), "closed": closed} {
		client := tests.NewClient(t, transport, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1}))
		for filters, says := range map[string]bool{strings.Repeat("統", 1000): true, strings.Repeat("a", 1000): false} {
			_, err := client.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{Filter: filter.Contact{Title: filter.AnyOf(filters)}})
			require.Equal(t, says, strings.Contains(err.Error(), "fewer or shorter values"), "%s: %v", name, err)
		}
	}
}
