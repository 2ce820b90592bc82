package services_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// One thing that activation would refuse is enough: no draft is saved for it.
func TestCreateAndStart_RefusedBeforeTheDraft(t *testing.T) {
	for name, spec := range map[string]prospectkit.AgentSpec{
		"no cap": tests.Monitor(), "no prompt": tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.Prompt = "" }), "no name": tests.Altered(tests.Capped(), func(s *tests.MonitorOf) { s.ListName = "" }),
	} {
		s := tests.Stage(t)
		agent, err := tests.NewClient(t, s).Agents.CreateAndStart(t.Context(), spec)
		require.Nil(t, agent, name)
		require.Len(t, tests.Refusals(t, err), 1, name)
		s.Done()
	}
}

// The error after a draft was saved has the fields of the response that refused to start it.
func TestCreateAndStart_RefusalAfterTheDraft(t *testing.T) {
	for op, method := range map[string]func(*prospectkit.AgentsService) error{
		"agents.create-and-start": func(s *prospectkit.AgentsService) error {
			_, err := s.CreateAndStart(t.Context(), tests.Capped())
			return err
		},
		"agents.ensure": func(s *prospectkit.AgentsService) error {
			spec := tests.Capped()
			spec.Start = true
			_, err := s.Ensure(t.Context(), spec)
			return err
		},
	} {
		s := tests.Stage(t, tests.OtherAgents, tests.DraftSaved,
			tests.Always(402, `{"error":{"type":"x","code":"INSUFFICIENT_CREDITS","message":"no credits","requestId":"req-7"}}`))
		err := method(tests.NewClient(t, s).Agents)
		require.ErrorIs(t, err, prospectkit.ErrNotStarted)
		require.ErrorIs(t, err, prospectkit.CodeInsufficientCredits)
		refused, _ := errors.AsType[*prospectkit.Error](err)
		require.Equal(t, op, refused.Op)
		require.Equal(t, 402, refused.Status)
		require.Equal(t, prospectkit.CodeInsufficientCredits, refused.Code)
	}
}
