package prospectkit_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// An unknown outcome holds an Error where there was a response, and only there.
func TestUnknownOutcomesHoldTheirResponse(t *testing.T) {
	for name, c := range map[string]struct {
		step   roundTrip
		status int
	}{
		"response lost": {cutOff, 0}, "response of a failure": {always(500, envelope("UNEXPECTED_ERROR")), 500},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newClient(t, c.step).Lists.Create(t.Context(), prospectkit.NewList{Name: "Leads"})
			require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
			e, ok := errors.AsType[*prospectkit.Error](err)
			require.Equal(t, c.status != 0, ok)
			if ok {
				require.Equal(t, c.status, e.Status)
				require.Equal(t, prospectkit.OutcomeUnknown, e.Outcome())
			} else {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			}
		})
	}
}

// The text of what was not started says that, and nothing of a response that there was none of.
func TestTextOfADraft(t *testing.T) {
	_, err := newClient(t, sees("initializing")).Agents.WaitSettled(t.Context(), agentID)
	require.EqualError(t, err, "prospectkit: agents.get: the agent was never started: a draft does nothing until it is activated")
}
