package prospectkit_test

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

// classesOf lists the classes that an error matches.
func classesOf(err error) (matched []error) {
	for _, class := range []error{
		prospectkit.ErrNotFound, prospectkit.ErrConflict, prospectkit.ErrInvalid, prospectkit.ErrUnauthorized, prospectkit.ErrForbidden,
		prospectkit.ErrInsufficientCredits, prospectkit.ErrRateLimited, prospectkit.ErrOutcomeUnknown, prospectkit.ErrRefusedLocally,
		prospectkit.ErrResponseLost, prospectkit.ErrNotStarted,
	} {
		if errors.Is(err, class) {
			matched = append(matched, class)
		}
	}
	return matched
}

// The error of an agent that was never started matches its class, and the conflict that it is, and no other.
func TestErrors_ClassesOfADraft(t *testing.T) {
	draft := always(200, `{"agent":{"id":"`+agentID+`","status":"initializing","listId":null}}`)
	_, err := prospectkit.Collect(newClient(t, draft).Agents.Rows(t.Context(), agentID, prospectkit.RowsParams{}), 1)
	require.Equal(t, []error{prospectkit.ErrConflict, prospectkit.ErrNotStarted}, classesOf(err))
	require.NotErrorIs(t, err, prospectkit.CodeListNotFound)
}

// The classes of an unsuccessful response are those of its code, or of its status.
func TestErrors_ClassesOfAResponse(t *testing.T) {
	for status, c := range map[int]struct {
		body string
		want []error
	}{
		404: {envelope("LIST_NOT_FOUND"), []error{prospectkit.ErrNotFound}},
		409: {envelope("LIST_NAME_TAKEN"), []error{prospectkit.ErrConflict}},
		401: {envelope("NEW_CODE"), []error{prospectkit.ErrUnauthorized}},
		429: {envelope("RATE_LIMITED"), []error{prospectkit.ErrRateLimited}},
		418: {envelope("TEAPOT"), nil},
	} {
		_, err := newClient(t, always(status, c.body)).Account.Me(t.Context(), prospectkit.WithRetry(prospectkit.NoRetry))
		require.Error(t, err)
		require.Equal(t, c.want, classesOf(err), status)
	}
}

// No class is the class of nothing.
func TestErrors_NoClassMatchesNothing(t *testing.T) {
	none := prospectkit.ErrorClass("")
	_, page := call(t.Context(), newClient(t, always(404, "<html>")), false)
	for _, err := range []error{prospectkit.CodeEndpointNotFound, prospectkit.Code("NEW"), page, new(prospectkit.Error), &prospectkit.RateLimitWaitError{}} {
		require.NotErrorIs(t, err, none)
	}
	require.Equal(t, prospectkit.OutcomeApplied, prospectkit.OutcomeOf(prospectkit.ErrResponseLost))
	require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(prospectkit.ErrOutcomeUnknown))
	require.Equal(t, prospectkit.ActionVerifyFirst, new(prospectkit.Error).Advice().Action, "an error that nobody filled in proves nothing")
}

// A refusal by a rule has no code, and a draft whose start was refused for another reason is no conflict.
func TestErrors_CodesAndClassesOfRefusals(t *testing.T) {
	err := move(t.Context(), newClient(t, untouched(t), prospectkit.ReadOnly()))
	require.Empty(t, prospectkit.CodeOf(err))
	require.NotErrorIs(t, err, prospectkit.ErrInvalid)
	err = move(t.Context(), newClient(t, untouched(t)), prospectkit.WithMaxWait(-1))
	require.Equal(t, prospectkit.CodeValidationFailed, prospectkit.CodeOf(err))
	require.NotContains(t, prospectkit.AdviceOf(err).Hint, "environment")
	s := stage(t, otherAgents, draftSaved, always(402, envelope("INSUFFICIENT_CREDITS")))
	_, err = newClient(t, s).Agents.CreateAndStart(t.Context(), capped())
	require.ErrorIs(t, err, prospectkit.ErrNotStarted)
	require.NotErrorIs(t, err, prospectkit.ErrConflict)
}

// A wait refused for the deadline matches what it says, and nothing else.
func TestErrors_ClassesOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, always(429, "", "Retry-After", "60"), prospectkit.WithRetry(prospectkit.NoRetry))
		_, _ = call(t.Context(), client, false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := call(ctx, client, false)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, prospectkit.ErrNotFound)
	})
}

// When a rate limit ends is told by the window, if no wait was told; and a wait belongs to no other advice.
func TestErrors_EndOfARateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := always(429, envelope("RATE_LIMITED"), "RateLimit-Limit", "120", "RateLimit-Remaining", "0", "RateLimit-Reset", "30")
		_, err := call(t.Context(), newClient(t, limited, prospectkit.WithRetry(prospectkit.NoRetry)), false)
		require.Equal(t, time.Now().Add(30*time.Second), asError(t, err).ResetAt)
		_, err = call(t.Context(), newClient(t, always(404, envelope("LIST_NOT_FOUND"), "RateLimit-Reset", "30", "RateLimit-Remaining", "0")), false)
		require.Zero(t, asError(t, err).ResetAt, "nobody has to wait for it")
		_, err = call(t.Context(), newClient(t, always(404, envelope("LIST_NOT_FOUND"), "Retry-After", "30")), false)
		require.Equal(t, time.Now().Add(30*time.Second), asError(t, err).ResetAt)
		require.Zero(t, asError(t, err).Advice().After)
	})
}

// What was applied is said to be.
func TestErrors_LostResponsesSayThatItHappened(t *testing.T) {
	_, err := call(t.Context(), newClient(t, always(201, "{")), true)
	require.Contains(t, asError(t, err).Advice().Hint, "it happened")
}

// A whole response that came as the context ended was not waited for.
func TestErrors_ResponseAsTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := call(ctx, newClient(t, roundTrip(func(*http.Request) (*http.Response, error) {
		cancel()
		return respond(404, envelope("LIST_NOT_FOUND")), nil
	})), false)
	require.ErrorIs(t, err, prospectkit.CodeListNotFound)
	require.NotContains(t, err.Error(), "while it waited")
}
