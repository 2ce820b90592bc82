package sandbox

import (
	"cmp"
	"net/http"
	"time"

	"example.com/prospectkit/sandbox"
)

// overview is what the dashboard shows besides the records.
type overview struct {
	Seed       string         `json:"seed"`
	Workspaces []string       `json:"workspaces"`
	Lists      []listItem     `json:"lists"`     // newest first, without system lists: a hundred at most
	ListCount  int            `json:"listCount"` // of all of them
	Agents     []agentItem    `json:"agents"`
	Campaigns  []campaignItem `json:"campaigns"`
	Outbox     int            `json:"outbox"` // messages and pushes that would have been sent
	Problems   []string       `json:"problems"`
}

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

func (h *host) getOverview(_ *http.Request, tenant *sandbox.Tenant) (any, error) {
	lists := listItems(tenant.Lists())
	return overview{
		Seed: h.source, Workspaces: each(h.seed.Workspaces, func(ws sandbox.Workspace) string { return ws.Name }),
		Lists: lists[:min(len(lists), mostLists)], ListCount: len(lists),
		Agents: agentItems(tenant), Campaigns: campaignItems(tenant), Outbox: len(tenant.Outbox()),
		Problems: append([]string{}, h.current.Load().Problems()...),
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
