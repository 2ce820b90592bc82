package tests

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// What many tests would else say in several lines.

// OneAttempt is the policy of a call that is not repeated.
var OneAttempt = prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: 1})

// InTime runs a subtest in virtual time.
func InTime(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// Within is a context that ends with the test, or so much later.
func Within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// Serving runs a subtest with a server in memory.
func Serving(t *testing.T, name string, h http.HandlerFunc, test func(t *testing.T, m *MemoryServer)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { InMemory(t, h, test) })
}

// Derived is a client derived from another one.
func Derived(t *testing.T, from *prospectkit.Client, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	client, err := from.With(opts...)
	require.NoError(t, err)
	return client
}

// AsUnknown demands the error of a call that may have happened.
func AsUnknown(t *testing.T, err error) *prospectkit.OutcomeUnknownError {
	t.Helper()
	RequireUnknown(t, err)
	unknown, _ := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	return unknown
}

// AsRefused demands the error of a call that was refused locally.
func AsRefused(t *testing.T, err error) *prospectkit.RefusedError {
	t.Helper()
	refused, ok := errors.AsType[*prospectkit.RefusedError](err)
	require.True(t, ok, "%v", err)
	return refused
}

// LosesWrites loses the response to what is no GET, and responds to the others.
func LosesWrites(reads RoundTrip) RoundTrip {
	return func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet {
			return CutOff(r)
		}
		return reads(r)
	}
}

// InTurn responds by one step after the other, and by the last one from then on.
func InTurn(steps ...RoundTrip) RoundTrip {
	next := 0
	return func(r *http.Request) (*http.Response, error) {
		step := steps[next]
		next = min(next+1, len(steps)-1)
		return step(r)
	}
}
