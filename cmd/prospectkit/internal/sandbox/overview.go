package sandbox

import (
	"cmp"
	"net/http"
	"time"

	"example.com/prospectkit/sandbox"
)

type agentItem struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Type      string    `json:"type"` // empty is a legacy kind
	Status    string    `json:"status"`
	Runs      int       `json:"runs"`
	Delivered int       `json:"delivered"`
	NextAt    time.Time `json:"nextAt,omitzero"`
}

type campaignItem struct {
	ID                   string         `json:"id"`
	Name                 string         `json:"name"`
	Status               string         `json:"status"`
	InitializationStatus string         `json:"initializationStatus"`
	Steps                []string       `json:"steps"` // their ids, in their order
	Sends                map[string]int `json:"sends"` // by state
}

const mostLists = 100

// getOverview is what the dashboard shows besides the records. Its lists are the newest ones, without system lists.
func (h *host) getOverview(_ *http.Request, tenant *sandbox.Tenant) (any, error) {
	lists := listItems(tenant.Lists())
	return map[string]any{
		"seed": h.source, "workspaces": each(h.seed.Workspaces, func(ws sandbox.Workspace) string { return ws.Name }),
		"lists": lists[:min(len(lists), mostLists)], "listCount": len(lists),
		"agents": agentItems(tenant), "campaigns": campaignItems(tenant), "outbox": len(tenant.Outbox()),
		"problems": some(h.current.Load().Problems()),
	}, nil
}

func agentItems(tenant *sandbox.Tenant) []agentItem {
	return each(tenant.Agents(), func(a sandbox.Agent) agentItem {
		return agentItem{a.ID, a.Name, a.Type, cmp.Or(a.Status, "initializing"), a.Runs, a.Delivered, a.NextAt}
	})
}

func campaignItems(tenant *sandbox.Tenant) []campaignItem {
	return each(tenant.Campaigns(), func(c sandbox.Campaign) campaignItem {
		item := campaignItem{
			ID: c.ID, Name: c.Name, Status: cmp.Or(c.Status, "draft"), InitializationStatus: cmp.Or(c.InitializationStatus, "completed"),
			Steps: each(c.Steps, func(s sandbox.Step) string { return s.ID }), Sends: map[string]int{},
		}
		for _, s := range c.Sends {
			item.Sends[cmp.Or(s.State, "scheduled")]++
		}
		return item
	})
}
