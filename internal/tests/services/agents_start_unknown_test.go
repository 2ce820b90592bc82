package services_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// The first creation may have made what holds the name: that the name is taken does not make its outcome known.
func TestEnsureAgent_StaysUnknownWhenTheNameIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		created := 0
		service := tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.Method == http.MethodPost:
				if created++; created == 1 {
					return tests.CutOff(r)
				}
				return tests.NameTaken(r)
			case strings.HasSuffix(r.URL.Path, "/lists") && created == 2:
				return tests.HoldingList(r)
			case strings.HasSuffix(r.URL.Path, "/lists"):
				return tests.Always(200, `{"data":[],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":0}}`)(r)
			}
			return tests.OtherAgents(r)
		})
		_, err := tests.NewClient(t, service).Agents.Ensure(t.Context(), tests.Capped())
		require.Equal(t, 2, created)
		require.ErrorIs(t, err, prospectkit.ErrOutcomeUnknown)
		require.Equal(t, prospectkit.OutcomeUnknown, prospectkit.OutcomeOf(err))
	})
}

// What has the name, and is of another kind, stands beside the error of Ensure, and is never taken for the draft of CreateAndStart.
func TestAgents_NameOfAnotherKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
			Name: "main", Credits: 5000, Agents: []sandbox.Agent{{ID: tests.AgentID, Name: tests.Capped().ListName, Type: sandbox.PersonDiscovery, Status: "initializing"}},
		}}}))
		agents := tests.SandboxClient(t, sb).Agents
		held, err := agents.Ensure(t.Context(), tests.Capped())
		require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
		require.Equal(t, tests.AgentID, held.Agent.ID)
		require.False(t, held.Created)
		agent, err := agents.CreateAndStart(t.Context(), tests.Capped())
		require.ErrorIs(t, err, prospectkit.CodeListNameTaken)
		require.Nil(t, agent)
		require.Zero(t, sb.Calls("agents.activate")+sb.Calls("agents.adjust"))
	})
}
