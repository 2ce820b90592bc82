package main

import (
	"cmp"
	"net/http"
	"time"
)

// overview is what the dashboard shows beside the records.
type overview struct {
	Seed       string         `json:"seed"`
	Workspaces []string       `json:"workspaces"`
	Agents     []agentItem    `json:"agents"`
	Campaigns  []campaignItem `json:"campaigns"`
	Outbox     int            `json:"outbox"` // messages and pushes that would have left
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
	Sends                map[string]int `json:"sends"` // by state
}

func (h *host) getOverview(w http.ResponseWriter, r *http.Request) {
	tenant, ok := h.tenant(w, r)
	if !ok {
		return
	}
	o := overview{
		Seed: h.source, Agents: []agentItem{}, Campaigns: []campaignItem{}, Outbox: len(tenant.Outbox()),
		Problems: append([]string{}, h.current.Load().Problems()...),
	}
	for _, ws := range h.seed.Workspaces {
		o.Workspaces = append(o.Workspaces, ws.Name)
	}
	for _, a := range tenant.Agents() {
		o.Agents = append(o.Agents, agentItem{a.ID, a.Name, a.Type, cmp.Or(a.Status, "initializing"), a.Runs, a.Delivered, a.NextAt})
	}
	for _, c := range tenant.Campaigns() {
		item := campaignItem{c.ID, c.Name, cmp.Or(c.Status, "draft"), cmp.Or(c.InitializationStatus, "completed"), map[string]int{}}
		for _, s := range c.Sends {
			item.Sends[cmp.Or(s.State, "scheduled")]++
		}
		o.Campaigns = append(o.Campaigns, item)
	}
	respond(w, http.StatusOK, o)
}
