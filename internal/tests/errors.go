package tests

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// Family makes one error of each kind the way a user gets it.
func Family(t *testing.T) map[string]error {
	t.Helper()
	create := func(rt http.RoundTripper) error {
		_, err := NewClient(t, rt).Lists.Create(t.Context(), prospectkit.NewList{Name: "x"})
		return err
	}
	limited := NewClient(t, Always(429, Envelope("RATE_LIMITED"), "Retry-After", "3600"))
	_, answered := limited.Account.Me(t.Context())
	_, held := limited.Account.Me(t.Context())
	_, refused := limited.Lists.Create(t.Context(), prospectkit.NewList{})
	deadDialer := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}
	}}
	return map[string]error{
		"refused locally":         refused,
		"refused by the limit":    held,
		"429":                     answered,
		"409":                     create(Always(409, Envelope("LIST_NAME_TAKEN"))),
		"never sent":              create(deadDialer),
		"500 to a write":          create(Always(500, Envelope("UNEXPECTED_ERROR"))),
		"cut":                     create(RoundTrip(CutOff)),
		"response cannot be read": create(Always(201, "{")),
	}
}

// Call makes a read or a write and reports what happened on the wire.
func Call(ctx context.Context, client *prospectkit.Client, write bool) (info prospectkit.Info, err error) {
	if write {
		_, err = client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}, prospectkit.WithInfo(&info))
	} else {
		_, err = client.Account.Me(ctx, prospectkit.WithInfo(&info))
	}
	return info, err
}

// AsError demands the error of a response.
func AsError(t *testing.T, err error) *prospectkit.Error {
	t.Helper()
	var e *prospectkit.Error
	require.ErrorAs(t, err, &e)
	return e
}

// NoWait is what Waits says of an error for which time alone does not help.
const NoWait time.Duration = -1

// Waits is what RetryAfter says: after how long the same call may succeed.
func Waits(err error) time.Duration {
	if wait, helps := prospectkit.RetryAfter(err); helps {
		return wait
	}
	return NoWait
}

// FitsAt demands a call whose wait for the rate limit does not fit, and returns when it would: before any attempt from a refusal, else
// from the error of the response.
func FitsAt(t *testing.T, err error) time.Time {
	t.Helper()
	require.ErrorIs(t, err, prospectkit.ErrRateLimited)
	require.ErrorIs(t, err, prospectkit.CodeRateLimited)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.ErrorContains(t, err, "the rate limit of surface ")
	refused, ok := errors.AsType[*prospectkit.RefusedError](err)
	if !ok {
		e := AsError(t, err)
		require.Positive(t, e.RetryAfter)
		require.Equal(t, e.RetryAfter, Waits(err))
		return e.ResetAt
	}
	require.Equal(t, prospectkit.RuleRateLimit, refused.Rule)
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	require.ErrorIs(t, err, prospectkit.RuleRateLimit)
	require.NotErrorIs(t, err, prospectkit.CodeValidationFailed)
	require.Equal(t, prospectkit.CodeRateLimited, prospectkit.CodeOf(err))
	return refused.FitsAt
}

// RequireUnknown demands the error for a call that may have happened.
func RequireUnknown(t *testing.T, err error) {
	t.Helper()
	_ = Unknown(t, err)
}

// Unknown demands that error, and returns it.
func Unknown(t *testing.T, err error) (unknown *prospectkit.OutcomeUnknownError) {
	t.Helper()
	require.ErrorAs(t, err, &unknown)
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
	require.False(t, unknown.SentAt.IsZero())
	return unknown
}

// Resolved is what Resolve finds out about a call that may have happened.
func Resolved(t *testing.T, err error) *prospectkit.Resolution {
	t.Helper()
	r, err := Unknown(t, err).Resolve(t.Context())
	require.NoError(t, err)
	return r
}

// RequireCutShort demands the error of an upload whose end never left.
func RequireCutShort(t *testing.T, err error, want string) {
	t.Helper()
	require.ErrorContains(t, err, want)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	attempts := AsError(t, err).Attempts
	require.Equal(t, "cut short", attempts[len(attempts)-1].Delivery)
}
