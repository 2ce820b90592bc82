package prospectkit_test

import (
	"errors"
	"testing"

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
