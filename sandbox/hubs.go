package sandbox

import (
	"net/http"

	"example.com/prospectkit/internal/op"
)

var hubEndpoints = map[*op.Op]endpoint{
	op.HubsList:       {handle: (*call).listHubs, rule: ruleHubs},
	op.HubsGet:        {handle: (*call).getHub},
	op.HubsPages:      {handle: (*call).listPages},
	op.HubsSetDefault: {handle: (*call).setDefaultHub, rule: ruleHubChoice, json: true},
}

var (
	rulePageless    = assumed("hubs.pageless", "the pages of a hub that predates pages return KNOWLEDGE_HUB_PAGES_UNAVAILABLE")
	ruleHubs        = assumed("hubs.list", "knowledgeHubs is an array, newest first, of id, name, status and isDefault; a single one is wrapped in knowledgeHub")
	ruleHubReady    = assumed("hubs.ready", "a hub that is no longer processing has the status ready")
	rulePages       = assumed("hubs.pages", "pages is an array of id and title")
	ruleHubChoice   = assumed("hubs.set-default", "takes knowledgeHubId; returns 200 with knowledgeHub")
	ruleHubBuilding = assumed("hubs.processing", "reading the pages of a processing hub, and making it the default, return KNOWLEDGE_HUB_NOT_READY, as documented for its deletion")
)

// The states of a hub.
const (
	hubProcessing = "processing"
	hubReady      = "ready"
)

type wireHub struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	IsDefault bool   `json:"isDefault"`
}

type wireHubPage struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

func (c *call) wireHub(h *Hub) wireHub {
	c.uses(ruleHubs)
	if h.Status == hubReady {
		c.uses(ruleHubReady)
	}
	return wireHub{h.ID, h.Name, h.Status, h.Default}
}

func (c *call) hub() *Hub { return must(c.hubByID(c.pathID("hubId"))) }

func (c *call) hubByID(id string) (*Hub, error) {
	if h := c.ws.hub(id); h != nil {
		c.found(h.ID, id)
		return h, nil
	}
	return nil, refuse("KNOWLEDGE_HUB_NOT_FOUND", "No knowledge hub has this id.")
}

func (ws *workspace) hub(id string) *Hub {
	return find(ws.hubs, func(h *Hub) bool { return sameID(h.ID, id) })
}

func (c *call) listHubs() response {
	return reply(http.StatusOK, object{"knowledgeHubs": appendNewest([]wireHub{}, c.ws.hubs, c.wireHub)})
}

func (c *call) getHub() response {
	return reply(http.StatusOK, object{"knowledgeHub": c.wireHub(c.hub())})
}

func (c *call) listPages() response {
	h := c.hub()
	if h.Pageless {
		c.uses(rulePageless)
		deny("KNOWLEDGE_HUB_PAGES_UNAVAILABLE", "The hub predates pages.")
	}
	c.built(h)
	c.uses(rulePages)
	return reply(http.StatusOK, object{"pages": appendEach([]wireHubPage{}, h.Pages, func(p HubPage) wireHubPage { return wireHubPage(p) })})
}

// built ends the request if a hub is still being built.
func (c *call) built(h *Hub) {
	if h.Status == hubProcessing {
		c.uses(ruleHubBuilding)
		deny("KNOWLEDGE_HUB_NOT_READY", "The hub is still being built.")
	}
}

func (c *call) setDefaultHub() response {
	id := c.body.requiredID("knowledgeHubId")
	c.body.only("knowledgeHubId")
	c.body.valid()
	h := must(c.hubByID(id))
	if h.Teammate {
		deny("KNOWLEDGE_HUB_OWNER_ONLY", "Only the owner of the hub may make it the default.")
	}
	c.built(h)

	next := *h
	next.Default = true
	c.effect(func() {
		for _, other := range c.ws.hubs {
			other.Default = other == h
		}
	}, "default hub: %s", h.ID)
	return reply(http.StatusOK, object{"knowledgeHub": c.wireHub(&next)})
}
