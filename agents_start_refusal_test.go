package prospectkit_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// One thing that activation would refuse is enough: no draft is saved for it.
func TestCreateAndStart_RefusedBeforeTheDraft(t *testing.T) {
	for name, spec := range map[string]prospectkit.AgentSpec{
		"no cap": monitor(), "no prompt": altered(capped(), func(s *monitorOf) { s.Prompt = "" }), "no name": altered(capped(), func(s *monitorOf) { s.ListName = "" }),
	} {
		s := stage(t)
		agent, err := newClient(t, s).Agents.CreateAndStart(t.Context(), spec)
		require.Nil(t, agent, name)
		require.Len(t, refusals(t, err), 1, name)
		s.done()
	}
}

// The error after a draft was saved has the fields of the response that refused to start it.
func TestCreateAndStart_RefusalAfterTheDraft(t *testing.T) {
	for op, method := range map[string]func(*prospectkit.AgentsService) error{
		"agents.create-and-start": func(s *prospectkit.AgentsService) error {
			_, err := s.CreateAndStart(t.Context(), capped())
			return err
		},
		"agents.ensure": func(s *prospectkit.AgentsService) error {
			spec := capped()
			spec.Start = true
			_, err := s.Ensure(t.Context(), spec)
			return err
		},
	} {
		s := stage(t, otherAgents, draftSaved,
			always(402, `{"error":{"type":"x","code":"INSUFFICIENT_CREDITS","message":"no credits","requestId":"req-7"}}`))
		err := method(newClient(t, s).Agents)
		require.ErrorIs(t, err, prospectkit.ErrNotStarted)
		require.ErrorIs(t, err, prospectkit.CodeInsufficientCredits)
		refused, _ := errors.AsType[*prospectkit.Error](err)
		require.Equal(t, op, refused.Op)
		require.Equal(t, 402, refused.Status)
		require.Equal(t, prospectkit.CodeInsufficientCredits, refused.Code)
	}
}
