package outcome_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// The error of an agent that was never started matches its class, and the conflict that it is, and no other.
func TestErrors_ClassesOfADraft(t *testing.T) {
	draft := tests.Always(200, `{"agent":{"id":"`+tests.AgentID+`","status":"initializing","listId":null}}`)
	_, err := prospectkit.Collect(tests.NewClient(t, draft).Agents.Rows(t.Context(), tests.AgentID, prospectkit.RowsParams{}), 1)
	require.ElementsMatch(t, []error{prospectkit.ErrConflict, prospectkit.ErrNotStarted}, classesOf(err))
	require.NotErrorIs(t, err, prospectkit.CodeListNotFound)
}

// A gateway's error may have the shape of an envelope: its 404 says nothing about the resource, and its 429 is one.
func TestErrors_ClassesOfAForeignResponse(t *testing.T) {
	none, missing := []error(nil), []error{prospectkit.ErrNotFound}
	rate := []string{"RateLimit-Limit", "120", "RateLimit-Remaining", "119", "RateLimit-Reset", "30"}
	for _, c := range []struct {
		status int
		body   string
		header []string
		want   []error
	}{
		{404, `{"error":{"code":"ResourceNotFound","message":"The backend pool is being updated."}}`, tests.Bare, none},
		{404, `{"error":{"code":"ResourceNotFound","request_id":"req_1"}}`, tests.Bare, missing},
		{404, `{"error":{"code":"ResourceNotFound"}}`, rate, missing},
		{404, `{"error":{"code":"LIST_NOT_FOUND"}}`, tests.Bare, missing},
		{401, `{"error":{"code":"401","message":"Access denied due to missing subscription key."}}`, tests.Bare, none},
		{429, `{"error":{"code":"429","message":"Rate limit is exceeded."}}`, tests.Bare, []error{prospectkit.ErrRateLimited}},
	} {
		_, err := tests.Call(t.Context(), tests.NewClient(t, tests.Always(c.status, c.body, c.header...), tests.OneAttempt), false)
		require.Equal(t, c.want, classesOf(err), c.body)
	}
}

// No class is the class of nothing.
func TestErrors_NoClassMatchesNothing(t *testing.T) {
	none := prospectkit.ErrorClass("")
	_, page := tests.Call(t.Context(), tests.NewClient(t, tests.Always(404, "<html>")), false)
	for _, err := range []error{prospectkit.CodeEndpointNotFound, prospectkit.Code("NEW"), page, new(prospectkit.Error), &prospectkit.RefusedError{Rule: prospectkit.RuleRateLimit}} {
		require.NotErrorIs(t, err, none)
	}
}

// A refusal by a rule has no code, and a draft whose start was refused for another reason is no conflict.
func TestErrors_CodesAndClassesOfRefusals(t *testing.T) {
	err := tests.Move(t.Context(), tests.NewClient(t, tests.Untouched(t), prospectkit.ReadOnly()))
	require.Empty(t, prospectkit.CodeOf(err))
	require.NotErrorIs(t, err, prospectkit.ErrInvalid)
	err = tests.Move(t.Context(), tests.NewClient(t, tests.Untouched(t)), prospectkit.WithMaxWait(-1))
	require.Equal(t, prospectkit.CodeValidationFailed, prospectkit.CodeOf(err))
	s := tests.Stage(t, tests.OtherAgents, tests.DraftSaved, tests.Always(402, tests.Envelope("INSUFFICIENT_CREDITS")))
	_, err = tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), tests.Capped())
	require.ErrorIs(t, err, prospectkit.ErrNotStarted)
	require.NotErrorIs(t, err, prospectkit.ErrConflict)
}

// A wait and the end of a window belong to no other refusal than that of a rate limit.
func TestErrors_EndOfARateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		missing := refusedRead(t, 404, tests.Envelope("LIST_NOT_FOUND"), "RateLimit-Reset", "30", "RateLimit-Remaining", "0")
		require.Zero(t, tests.AsError(t, missing).ResetAt, "nobody has to wait for it")
		missing = refusedRead(t, 404, tests.Envelope("LIST_NOT_FOUND"), "Retry-After", "30")
		require.Equal(t, time.Now().Add(30*time.Second), tests.AsError(t, missing).ResetAt)
		require.Equal(t, tests.NoWait, tests.Waits(missing))
	})
}

// What was applied is said to be.
func TestErrors_LostResponsesSayThatItHappened(t *testing.T) {
	_, err := tests.Call(t.Context(), tests.NewClient(t, tests.Always(201, "{")), true)
	require.ErrorContains(t, err, "applied (status 201), but the response was lost")
}

// What is known of a call is in its error. One error may hold those of several calls: what may have happened is never hidden behind what
// did not.
func TestOutcomeOf(t *testing.T) {
	missing := &prospectkit.Error{Code: prospectkit.CodeListNotFound}
	unknown := &prospectkit.OutcomeUnknownError{Op: "lists.add-contacts"}
	for name, tc := range map[string]struct {
		err     error
		outcome prospectkit.Outcome
	}{
		"no error":                {nil, prospectkit.OutcomeApplied},
		"of another package":      {io.EOF, prospectkit.OutcomeUnknown},
		"a deadline":              {context.DeadlineExceeded, prospectkit.OutcomeUnknown},
		"that nobody filled in":   {new(prospectkit.Error), prospectkit.OutcomeUnknown},
		"a class":                 {prospectkit.ErrNotFound, prospectkit.OutcomeNotApplied},
		"an unknown one":          {prospectkit.ErrOutcomeUnknown, prospectkit.OutcomeUnknown},
		"a lost response":         {prospectkit.ErrResponseLost, prospectkit.OutcomeApplied},
		"a code of the future":    {prospectkit.Code("NEW_ONE"), prospectkit.OutcomeUnknown},
		"the second is unknown":   {errors.Join(missing, unknown), prospectkit.OutcomeUnknown},
		"the first is":            {errors.Join(unknown, missing), prospectkit.OutcomeUnknown},
		"deep inside":             {fmt.Errorf("sync: %w", errors.Join(missing, fmt.Errorf("list B: %w", errors.Join(unknown)))), prospectkit.OutcomeUnknown},
		"one was applied":         {errors.Join(missing, prospectkit.ErrResponseLost), prospectkit.OutcomeApplied},
		"none happened":           {fmt.Errorf("%w: %w", errors.New("sync failed"), missing), prospectkit.OutcomeNotApplied},
		"a class beside an error": {fmt.Errorf("%w: %w", prospectkit.ErrNotFound, missing), prospectkit.OutcomeNotApplied},
		"no call":                 {errors.Join(io.EOF, context.Canceled), prospectkit.OutcomeUnknown},
	} {
		require.Equal(t, tc.outcome, prospectkit.OutcomeOf(tc.err), name)
		require.Equal(t, tests.NoWait, tests.Waits(tc.err), name)
	}
}
