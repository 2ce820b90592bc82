package sandbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

const hubs = "/business/knowledge-hubs"

func TestHubs(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		all := c.get(hubs).ok(200)["knowledgeHubs"].([]any)
		require.Len(t, all, 4)
		require.Equal(t, object{"id": ready, "name": "ready", "status": "ready", "isDefault": true}, all[3])
		require.Equal(t, "processing", at(all, 2, "status"))
		require.Equal(t, all[2], c.get(hubs + "/" + building).ok(200)["knowledgeHub"])
		c.get(hubs+"/"+id(77)).fails(404, "KNOWLEDGE_HUB_NOT_FOUND")
		c.get(hubs+"/12").fails(422, "VALIDATION_FAILED")
		c.as(sb.Workspace("b").Token()).get(hubs+"/"+ready).fails(404, "KNOWLEDGE_HUB_NOT_FOUND")

		require.Equal(t, []any{object{"id": id(81), "title": "Overview"}, object{"id": id(82), "title": "Pricing"}},
			c.get(hubs + "/" + ready + "/pages").ok(200)["pages"])
		c.get(hubs+"/"+ancient+"/pages").fails(409, "KNOWLEDGE_HUB_PAGES_UNAVAILABLE")
		c.get(hubs+"/"+building+"/pages").fails(409, "KNOWLEDGE_HUB_NOT_READY")
		c.get(hubs+"/"+id(77)+"/pages").fails(404, "KNOWLEDGE_HUB_NOT_FOUND")
		require.Empty(t, sb.Advance(time.Minute-1))
		require.Contains(t, sb.Advance(1), sandbox.Event{Time: start.Add(time.Minute), Kind: "hub ready", Subject: building})
		require.Empty(t, c.get(hubs + "/" + building + "/pages").ok(200)["pages"])
	})
}

func TestTheDefaultHub(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		choose := func(body any) result { return c.do("POST", hubs+"/default", body) }
		choose(object{"knowledgeHubId": foreign}).fails(403, "KNOWLEDGE_HUB_OWNER_ONLY")
		choose(object{"knowledgeHubId": building}).fails(409, "KNOWLEDGE_HUB_NOT_READY")
		choose(object{"knowledgeHubId": id(77)}).fails(404, "KNOWLEDGE_HUB_NOT_FOUND")
		for _, body := range []object{{}, {"knowledgeHubId": "12"}, {"knowledgeHubId": nil}, {"knowledgeHubId": ready, "hubId": ready}} {
			choose(body).fails(422, "VALIDATION_FAILED")
		}
		require.True(t, sb.Snapshot().Workspaces[0].Hubs[0].Default)
		for range 2 {
			require.Equal(t, true, at(choose(object{"knowledgeHubId": ancient}).ok(200), "knowledgeHub", "isDefault"))
			require.False(t, sb.Snapshot().Workspaces[0].Hubs[0].Default)
			require.True(t, sb.Snapshot().Workspaces[0].Hubs[2].Default)
		}
		sb.Do(func(tx *sandbox.Tx) { tx.Put("hubs", sandbox.Row{"name": "new", "default": true}) })
		require.True(t, sb.Snapshot().Workspaces[0].Hubs[4].Default)
		require.False(t, sb.Snapshot().Workspaces[0].Hubs[2].Default)
	})
	two := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Hubs: []sandbox.Hub{{Name: "a", Default: true}, {Name: "b", Default: true}}}}}))
	require.True(t, two.Snapshot().Workspaces[0].Hubs[0].Default)
	require.False(t, two.Snapshot().Workspaces[0].Hubs[1].Default)
}
