package call_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
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
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
		})
	}
}

// What may spend, send or add twice is not repeated even if the caller asks for it.
func TestRetry_CallsThatAllowNoRetryUnknown(t *testing.T) {
	client := tests.NewClient(t, tests.Always(200, "{}"))
	for name, err := range map[string]error{
		"paid":    client.Call(t.Context(), tests.Described(http.MethodPost, op.PaidRead), nil, nil, prospectkit.AllowRetryUnknown()),
		"unsafe":  client.Call(t.Context(), tests.Described(http.MethodPost, op.Unsafe), nil, nil, prospectkit.AllowRetryUnknown()),
		"state":   client.Call(t.Context(), tests.Described(http.MethodPost, op.GuardedByState), nil, nil, prospectkit.AllowRetryUnknown()),
		"unclear": client.Call(t.Context(), tests.Described(http.MethodPost, op.Idempotent), nil, nil, prospectkit.AllowRetryUnknown()),
	} {
		require.Equal(t, []string{tests.NotRepeatable}, tests.Refusals(t, err), name)
	}
}

// Without being asked, one call sends a write once, also where the retry policy would allow more.
func TestRetry_PolicyRetriesNoWrites(t *testing.T) {
	rt := tests.Stage(t, tests.Breaks)
	_, err := tests.Call(t.Context(), tests.NewClient(t, rt, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 10})), true)
	tests.RequireUnknown(t, err)
	require.Len(t, rt.Sent, 1)
}
