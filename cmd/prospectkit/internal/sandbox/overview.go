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
	Lists      []shownList    `json:"lists"`     // newest first, without system lists: a hundred at most
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

func (h *host) getOverview(w http.ResponseWriter, r *http.Request) {
	tenant, ok := h.tenant(w, r)
	if !ok {
		return
	}
	o := overview{
		Seed: h.source, Agents: agentItems(tenant), Campaigns: campaignItems(tenant), Outbox: len(tenant.Outbox()),
		Problems: append([]string{}, h.current.Load().Problems()...),
	}
	for _, ws := range h.seed.Workspaces {
		o.Workspaces = append(o.Workspaces, ws.Name)
	}
	o.showLists(tenant.Lists())
	respond(w, http.StatusOK, o)
}

// shownList is a list as the dashboard shows it.
type shownList struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	EntityType string `json:"entityType"`
	Rows       int    `json:"rows"`
}

const mostLists = 100

// showLists returns the newest lists, and how many there are.
func (o *overview) showLists(lists []sandbox.List) {
	o.Lists = []shownList{}
	for _, l := range lists {
		if l.System {
			continue
		}
		if o.ListCount++; o.ListCount <= mostLists {
			o.Lists = append(o.Lists, shownList{l.ID, l.Name, l.EntityType, len(l.Rows)})
		}
	}
}

func agentItems(tenant *sandbox.Tenant) []agentItem {
	items := []agentItem{}
	for _, a := range tenant.Agents() {
		items = append(items, agentItem{a.ID, a.Name, a.Type, cmp.Or(a.Status, "initializing"), a.Runs, a.Delivered, a.NextAt})
	}
	return items
}

func campaignItems(tenant *sandbox.Tenant) []campaignItem {
	items := []campaignItem{}
	for _, c := range tenant.Campaigns() {
		item := campaignItem{
			ID: c.ID, Name: c.Name, Status: cmp.Or(c.Status, "draft"), InitializationStatus: cmp.Or(c.InitializationStatus, "completed"),
			Steps: []string{}, Sends: map[string]int{},
		}
		for _, s := range c.Steps {
			item.Steps = append(item.Steps, s.ID)
		}
		for _, s := range c.Sends {
			item.Sends[cmp.Or(s.State, "scheduled")]++
		}
		items = append(items, item)
	}
	return items
}
