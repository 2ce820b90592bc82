package sandbox

import (
	"cmp"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
)

func validateOutreach(ws Workspace, fail failing) {
	for _, account := range ws.Accounts {
		fail.among("workspace", ws.Name, "account", account, channels...)
	}
	for _, c := range ws.Campaigns {
		validateCampaign(c, fail)
	}
	for _, f := range ws.Facts {
		fail.among("fact", f.Claim, "category", cmp.Or(f.Category, "custom"), factCategories...)
	}
	defaults := 0
	for _, h := range ws.Hubs {
		fail.among("hub", h.Name, "status", cmp.Or(h.Status, hubReady), op.States["hub"]...)
		if h.Default {
			defaults++
		}
	}
	if defaults > 1 {
		fail("%d hubs are the default", defaults)
	}
}

func validateCampaign(c Campaign, fail failing) {
	fail.among("campaign", c.Name, "status", cmp.Or(c.Status, statusDraft), op.States["campaign"]...)
	fail.among("campaign", c.Name, "access", c.Access, accessKinds...)
	fail.among("campaign", c.Name, "initialization status", cmp.Or(c.InitializationStatus, initCompleted), initRunning, initCompleted, initFailed)
	for _, channel := range c.Channels {
		fail.among("campaign", c.Name, "channel", channel, channels...)
	}
	if len(c.ListIDs) > maxLists {
		fail("campaign %q: %d lists, %d are allowed", c.Name, len(c.ListIDs), maxLists)
	}
	for _, id := range c.ListIDs {
		if !isID(id) {
			fail("campaign %q: the list id %q is not 24 hexadecimal digits", c.Name, id)
		}
	}
	for _, s := range c.Steps {
		fail.among("campaign", c.Name, "step type", s.Type, stepTypes...)
	}
	if err := arrange(numbered(c.Steps)); err != nil {
		fail("campaign %q: %v", c.Name, err)
	}
}

func (ws *workspace) loadOutreach(seed Workspace) {
	ws.accounts, ws.heard = slices.Clone(seed.Accounts), map[string]bool{}
	for _, c := range seed.Campaigns {
		ws.addCampaign(c)
	}
	for _, f := range seed.Facts {
		ws.addFact(f)
	}
	for _, h := range seed.Hubs {
		ws.addHub(h)
	}
}

// addCampaign keeps a campaign. An active one needs no approval.
func (ws *workspace) addCampaign(seed Campaign) *campaign {
	c := &campaign{Campaign: seed}
	c.Campaign = c.snapshot()
	ws.fill(&c.ID)
	c.Status = cmp.Or(c.Status, statusDraft)
	c.InitializationStatus = cmp.Or(c.InitializationStatus, initCompleted)
	c.Steps = numbered(c.Steps)
	for i := range c.Steps {
		ws.fill(&c.Steps[i].ID)
	}
	for i := range c.Sends {
		ws.fill(&c.Sends[i].ID)
		c.Sends[i].State = cmp.Or(c.Sends[i].State, sendScheduled)
	}
	if c.Status == statusActive {
		c.approval = approval{campaignID: c.ID}
		ws.approvals = append(ws.approvals, c.approval)
	}
	ws.campaigns = append(ws.campaigns, c)
	return c
}

func (ws *workspace) addFact(seed Fact) *Fact {
	f := &seed
	ws.fill(&f.ID)
	f.Category = cmp.Or(f.Category, "custom")
	ws.facts = append(ws.facts, f)
	return f
}

func (ws *workspace) addHub(seed Hub) *Hub {
	h := &seed
	h.Pages = slices.Clone(h.Pages)
	ws.fill(&h.ID)
	for i := range h.Pages {
		ws.fill(&h.Pages[i].ID)
	}
	h.Status = cmp.Or(h.Status, hubReady)
	ws.hubs = append(ws.hubs, h)
	return h
}

// beginOutreach sets and schedules the times that the seed leaves to the first use.
func (sb *Sandbox) beginOutreach(ws *workspace, now time.Time) {
	for i, c := range ws.campaigns {
		if c.CreatedAt.IsZero() {
			c.CreatedAt = stamp(now.Add(time.Duration(i-len(ws.campaigns)) * time.Second))
		}
		sb.beginCampaign(ws, c, now)
	}
	for _, h := range ws.hubs {
		sb.scheduleHub(ws, h)
	}
}

func (sb *Sandbox) beginCampaign(ws *workspace, c *campaign, now time.Time) {
	if c.CreatedAt.IsZero() {
		c.CreatedAt = stamp(now)
	}
	for i := range c.Sends {
		if c.Sends[i].DueAt.IsZero() {
			c.Sends[i].DueAt = stamp(now.Add(firstSend))
		}
	}
	if c.InitializationStatus == initRunning {
		if c.InitializedAt.IsZero() {
			c.InitializedAt = stamp(now.Add(sb.pace.initialize))
		}
		sb.scheduleInitialization(ws, c)
	}
	if !c.ActivatesAt.IsZero() {
		sb.scheduleActivation(ws, c)
	}
	sb.scheduleSends(ws, c, time.Time{})
}

func (sb *Sandbox) scheduleHub(ws *workspace, h *Hub) {
	if h.Status != hubProcessing || h.ReadyAt.IsZero() {
		return
	}
	sb.agenda.add(h.ReadyAt, "hub ready", h.ID, func() bool {
		if h.Status != hubProcessing {
			return false
		}
		h.Status, h.ReadyAt = hubReady, time.Time{}
		ws.version++
		return true
	})
}

func (ws *workspace) snapshotOutreach(out *Workspace) {
	out.Accounts = slices.Clone(ws.accounts)
	out.Campaigns = appendEach(nil, ws.campaigns, (*campaign).snapshot)
	out.Facts = appendEach(nil, ws.facts, (*Fact).snapshot)
	out.Hubs = appendEach(nil, ws.hubs, (*Hub).snapshot)
}
