package call_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// The routes of a client hold for its calls and those of derived clients, whose own replace one.
func TestRoutes_OfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		routes := map[string]string{
			"agents.pause":      "POST /business/agents/{agentId}/halt",
			"contacts.timeline": "GET /business/people/{contactId}/log",
			"hubs.pages":        "GET /business/hubs/{hubId}/pages",
		}
		var same []sandbox.Option
		for name, route := range routes {
			same = append(same, sandbox.WithRoute(name, route))
		}
		sb := tests.EverySandbox(t, time.Now(), same...)
		client := tests.SandboxClient(t, sb, prospectkit.WithRoutes(routes))
		delete(routes, "agents.pause") // the client has a copy
		client, err := client.With(prospectkit.WithRoutes(routes))
		require.NoError(t, err)
		_, err = client.Agents.Pause(t.Context(), tests.RunsID)
		require.NoError(t, err)
		_, err = client.Contacts.ActivitiesPage(t.Context(), tests.ContactID)
		require.NoError(t, err)
		_, err = client.Facts.KnowledgePages(t.Context(), tests.HubID)
		require.NoError(t, err)
		elsewhere, err := client.With(prospectkit.WithRoutes(map[string]string{"hubs.pages": "GET /business/elsewhere/{hubId}"}))
		require.NoError(t, err)
		_, err = elsewhere.Facts.KnowledgePages(t.Context(), tests.HubID)
		require.ErrorIs(t, err, prospectkit.CodeEndpointNotFound)
		_, err = client.Agents.Pause(t.Context(), tests.RunsID, prospectkit.NoSend(), prospectkit.ReadOnly())
		require.ErrorAs(t, err, new(*prospectkit.RefusedError), "a route lifts no rule")
		last := sb.Journal()[len(sb.Journal())-1]
		require.True(t, strings.HasSuffix(last.Path, "/business/elsewhere/"+tests.HubID), last.Path)
	})
}

// An operation of your own is yours, whatever its name.
func TestRoutes_NotOfCall(t *testing.T) {
	r := new(recorder)
	client := tests.NewClient(t, r, prospectkit.WithRoutes(map[string]string{"agents.pause": "POST /business/agents/{agentId}/halt"}))
	o := tests.UnnamedOperation(op.Read)
	o.Name, o.Method, o.Path = "agents.pause", "GET", "/business/mine"
	require.NoError(t, client.Call(t.Context(), o, nil, nil))
	require.Equal(t, "/api/v1/business/mine", r.path)
}

func TestRoutes_Refusals(t *testing.T) {
	_, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithRoutes(map[string]string{
		"agents.halt": "POST /x", "lists.list": "GET /business/lists", "hubs.pages": "POST /business/hubs/{hubId}", "agents.pause": "/business/x", "contacts.timeline": "POST /business/x",
	}))
	const form = " must be a method and a path like POST /lists/{listId}, of letters, digits, - _ . ~ and whole parameters, without empty or dot segments"
	require.Equal(t, []string{
		"WithRoutes agents.halt is not an operation with an undocumented path",
		"WithRoutes agents.pause" + form,
		"WithRoutes contacts.timeline has the method POST, must have GET",
		"WithRoutes hubs.pages has the method POST, must have GET",
		"WithRoutes lists.list is not an operation with an undocumented path",
	}, tests.Refusals(t, err))
	_, err = prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithRoutes(map[string]string{"agents.pause": "GET /business/{id}/pause"}))
	require.Equal(t, []string{`WithRoutes agents.pause is "GET", must be one of ["POST" "PUT" "PATCH" "DELETE"]`}, tests.Refusals(t, err))
}
