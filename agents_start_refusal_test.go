package prospectkit_test

import (
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
