package prospectkit_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/catalogue"
)

// inTurn responds with one transport after another, and fails the test if more is asked for.
func inTurn(t *testing.T, steps ...roundTrip) (rt roundTrip, asked *int) {
	t.Helper()
	asked = new(int)
	return func(r *http.Request) (*http.Response, error) {
		*asked++
		require.LessOrEqual(t, *asked, len(steps), "one request too many")
		return steps[*asked-1](r)
	}, asked
}

var breaks roundTrip = func(*http.Request) (*http.Response, error) { return nil, errBroken }

// Once an attempt of a call may have been delivered, the call ends as applied or as unknown. A clear refusal that comes later
// proves nothing: it may be the first attempt that took the name.
func TestRetry_UnknownStaysUnknown(t *testing.T) {
	made := always(201, `{"list":`+oneList+`}`)
	failed := always(500, envelope("UNEXPECTED_ERROR"))
	limited := always(429, envelope("RATE_LIMITED"), "Retry-After", "1")
	tests := []struct {
		name  string
		steps []roundTrip
		want  prospectkit.Outcome
		cause error // that of the first attempt with an unknown outcome
	}{
		{"then success", []roundTrip{breaks, made}, prospectkit.OutcomeApplied, nil},
		{"then a name that is taken", []roundTrip{breaks, always(409, envelope("LIST_NAME_TAKEN"))}, prospectkit.OutcomeUnknown, errBroken},
		{"then no credits", []roundTrip{failed, always(402, envelope("INSUFFICIENT_CREDITS"))}, prospectkit.OutcomeUnknown, prospectkit.CodeUnexpectedError},
		{"then a redirect", []roundTrip{breaks, always(302, "")}, prospectkit.OutcomeUnknown, errBroken},
		{"then refusals to the end", []roundTrip{breaks, limited, limited}, prospectkit.OutcomeUnknown, errBroken},
		{"then more unknown", []roundTrip{failed, breaks, breaks}, prospectkit.OutcomeUnknown, prospectkit.CodeUnexpectedError},
		{"after a refusal", []roundTrip{limited, breaks, always(409, envelope("LIST_NAME_TAKEN"))}, prospectkit.OutcomeUnknown, errBroken},
		{"then a response that is lost", []roundTrip{breaks, always(201, "{}")}, prospectkit.OutcomeApplied, nil},
		{"never unknown", []roundTrip{limited, always(409, envelope("LIST_NAME_TAKEN"))}, prospectkit.OutcomeNotApplied, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt, asked := inTurn(t, test.steps...)
				var info prospectkit.Info
				_, err := newClient(t, rt).Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"},
					prospectkit.AllowRetryUnknown(), prospectkit.WithInfo(&info))
				require.Equal(t, test.want, prospectkit.OutcomeOf(err), "%v", err)
				require.Equal(t, len(test.steps), *asked)
				require.Len(t, info.Attempts, *asked)
				if test.cause != nil {
					requireUnknown(t, err)
					require.ErrorIs(t, err, test.cause)
				}
			})
		})
	}
}

// What may spend, send or add twice is not repeated even if the caller asks for it.
func TestRetry_CallsThatAllowNoRetryUnknown(t *testing.T) {
	client := newClient(t, always(200, "{}"))
	for name, err := range map[string]error{
		"paid":    client.Call(t.Context(), described(http.MethodPost, catalogue.ClassPaidRead), nil, nil, prospectkit.AllowRetryUnknown()),
		"unsafe":  client.Call(t.Context(), described(http.MethodPost, catalogue.ClassUnsafe), nil, nil, prospectkit.AllowRetryUnknown()),
		"state":   client.Call(t.Context(), described(http.MethodPost, catalogue.ClassGuardedByState), nil, nil, prospectkit.AllowRetryUnknown()),
		"unclear": client.Call(t.Context(), described(http.MethodPost, catalogue.ClassIdempotent), nil, nil, prospectkit.AllowRetryUnknown()),
	} {
		var refused *prospectkit.RefusedError
		require.ErrorAs(t, err, &refused, name)
		require.Equal(t, prospectkit.RuleRetryUnknown, refused.Rule, name)
	}
}

// Without being asked, one call sends a write once, also where the retry policy would allow more.
func TestRetry_PolicyRetriesNoWrites(t *testing.T) {
	rt, asked := inTurn(t, breaks)
	_, err := call(t.Context(), newClient(t, rt, prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 10})), true)
	requireUnknown(t, err)
	require.Equal(t, 1, *asked)
}
