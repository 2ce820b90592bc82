package tests

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

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

// RequireUnknown demands the error for a call that may have happened.
func RequireUnknown(t *testing.T, err error) {
	t.Helper()
	var unknown *prospectkit.OutcomeUnknownError
	require.ErrorAs(t, err, &unknown)
	require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
	require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
	require.False(t, unknown.SentAt.IsZero())
}
