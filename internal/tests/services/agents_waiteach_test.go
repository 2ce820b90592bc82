package services_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func TestAgents_WaitEachRefusesWhatIsNoID(t *testing.T) {
	seen := 0
	for agent, err := range tests.NewClient(t, tests.Untouched(t)).Agents.WaitEach(t.Context(), tests.AgentID, "x") {
		seen++
		require.Nil(t, agent)
		require.Equal(t, []string{"agentIds must all be 24 hexadecimal digits; index 1 is not"}, tests.Refusals(t, err))
	}
	require.Equal(t, 1, seen)
}

// An agent that the listing lacks is read alone, and is as whole as the others.
func TestAgents_WaitEachReadsAlone(t *testing.T) {
	s := tests.Stage(t, tests.Always(200, `{"agents":[]}`), tests.Sees("active"))
	seen := 0
	for agent, err := range tests.NewClient(t, s).Agents.WaitEach(t.Context(), tests.AgentID) {
		seen++
		require.NoError(t, err)
		require.Equal(t, prospectkit.AgentStatusActive, agent.Status)
		require.NotEmpty(t, agent.Name)
		break
	}
	require.Equal(t, 1, seen)
	s.Done()
}
