package prospectkit_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// A log names each parameter that was refused.
func TestRefusedError_LogsItsParameters(t *testing.T) {
	e := &prospectkit.RefusedError{Op: "lists.get", Violations: []prospectkit.Violation{{Param: "listId", Problem: "is empty"}, {Param: "opts[0]", Problem: "is nil"}}}
	require.Equal(t, "[op=lists.get rule= params=listId,opts[0]]", e.LogValue().String())
}

// Advice about a network error does not speak of a context that has not ended.
func TestAdvice_NamesTheContextOnlyIfItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := roundTrip(func(*http.Request) (*http.Response, error) { return nil, http.ErrServerClosed })
		_, err := newClient(t, down, prospectkit.WithRetry(prospectkit.NoRetry)).Account.Me(t.Context())
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.NotContains(t, prospectkit.AdviceOf(err).Hint, "context")
	})
}
