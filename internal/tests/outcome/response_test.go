package outcome_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// An unknown outcome holds an Error where there was a response, and only there.
func TestUnknownOutcomesHoldTheirResponse(t *testing.T) {
	for name, c := range map[string]struct {
		step   tests.RoundTrip
		status int
	}{
		"response lost": {tests.CutOff, 0}, "response of a failure": {tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")), 500},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tests.NewClient(t, c.step).Lists.Create(t.Context(), prospectkit.NewList{Name: "Leads"})
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
	_, err := tests.NewClient(t, tests.Sees("initializing")).Agents.WaitSettled(t.Context(), tests.AgentID)
	require.EqualError(t, err, "prospectkit: agents.get: the agent was never started: a draft does nothing until it is activated")
}
