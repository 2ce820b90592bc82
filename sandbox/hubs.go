package sandbox

import (
	"cmp"
	"net/http"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.HubsList:       {handle: (*call).listHubs},
	op.HubsGet:        {handle: (*call).getHub},
	op.HubsPages:      {handle: (*call).listPages},
	op.HubsSetDefault: {handle: (*call).setDefaultHub, json: true, takes: []taking{required("knowledgeHubId", anID), only("knowledgeHubId")}},
})

// The states of a hub.
const (
	hubProcessing = "processing"
	hubReady      = "ready"
)

// Hub seeds a knowledge hub.
type Hub struct {
	ID       string    `json:"id,omitempty"`
	Name     string    `json:"name"`
	Status   string    `json:"status,omitempty"`   // processing while it is built; ready, which is the default
	ReadyAt  time.Time `json:"readyAt,omitzero"`   // when a processing one is ready; never, if it is zero
	Default  bool      `json:"default,omitempty"`  // of several in a seed, the first one is
	Teammate bool      `json:"teammate,omitempty"` // a teammate owns it, who alone may make it the default
	Pageless bool      `json:"pageless,omitempty"` // it predates pages
	Pages    []HubPage `json:"pages,omitempty"`
}

// HubPage seeds a page of a knowledge hub.
type HubPage struct {
	ID    string `json:"id,omitempty"`
	Title string `json:"title"`
}

var hubs = keeps(kind[Hub]{
	name: "hubs", missing: refusal{"KNOWLEDGE_HUB_NOT_FOUND", "No knowledge hub has this id.", ""},
	seeds: func(ws *Workspace) *[]Hub { return &ws.Hubs },
	check: func(_ *Workspace, h Hub, fail failing) {
		fail.among("hub", h.Name, "status", cmp.Or(h.Status, hubReady), op.States["hub"]...)
	},
	fill: func(_ *workspace, h *Hub) { h.Status = cmp.Or(h.Status, hubReady) },
})

func (h *Hub) begin(ws *workspace, _, _ time.Time) {
	if h.Default {
		h.becomeDefault(ws)
	}
	ws.later(&h.ReadyAt, "hub ready", h.ID, func() bool {
		if h.Status != hubProcessing {
			return false
		}
		h.Status, h.ReadyAt = hubReady, time.Time{}
		return true
	})
}

func (h *Hub) becomeDefault(ws *workspace) {
	for _, other := range hubs.in(ws) {
		other.Default = other == h
	}
}

func (h *Hub) wire() object {
	return object{"id": h.ID, "name": h.Name, "status": h.Status, "isDefault": h.Default}
}

func (c *call) listHubs() response {
	return listing("knowledgeHubs", newestFirst(hubs.in(c.ws)), (*Hub).wire)
}

func (c *call) getHub() response {
	return reply(http.StatusOK, object{"knowledgeHub": hubs.of(c, "hubId").wire()})
}

func (c *call) listPages() response {
	h := hubs.of(c, "hubId")
	if h.Pageless {
		deny("KNOWLEDGE_HUB_PAGES_UNAVAILABLE", "The hub predates pages.")
	}
	h.built()
	return reply(http.StatusOK, object{"pages": append([]HubPage{}, h.Pages...)})
}

// built ends the request if a hub is still being built.
func (h *Hub) built() {
	if h.Status == hubProcessing {
		deny("KNOWLEDGE_HUB_NOT_READY", "The hub is still being built.")
	}
}

func (c *call) setDefaultHub() response {
	h := must(hubs.byID(c, c.in.text("knowledgeHubId")))
	if h.Teammate {
		deny("KNOWLEDGE_HUB_OWNER_ONLY", "Only the owner of the hub may make it the default.")
	}
	h.built()
	c.effect(func() { h.becomeDefault(c.ws) }, "default hub: %s", h.ID)
	return reply(http.StatusOK, object{"knowledgeHub": h.wire()})
}
