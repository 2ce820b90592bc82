package prospectkit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

func TestAgents_WaitEachRefusesWhatIsNoID(t *testing.T) {
	seen := 0
	for agent, err := range newClient(t, untouched(t)).Agents.WaitEach(t.Context(), agentID, "x") {
		seen++
		require.Nil(t, agent)
		require.Equal(t, []string{"agentIds must all be 24 hexadecimal digits; index 1 is not"}, refusals(t, err))
	}
	require.Equal(t, 1, seen)
}

// An agent that the listing lacks is read alone, and is as whole as the others.
func TestAgents_WaitEachReadsAlone(t *testing.T) {
	s := stage(t, always(200, `{"agents":[]}`), sees("active"))
	seen := 0
	for agent, err := range newClient(t, s).Agents.WaitEach(t.Context(), agentID) {
		seen++
		require.NoError(t, err)
		require.Equal(t, prospectkit.AgentStatusActive, agent.Status)
		require.NotEmpty(t, agent.Name)
		break
	}
	require.Equal(t, 1, seen)
	s.done()
}
