package sandbox

import (
	"slices"
	"time"
)

// ReadyCampaign is a draft that can be approved, once an e-mail account is connected: it sends one message to each contact of
// the lists.
func ReadyCampaign(name string, listIDs ...string) Campaign {
	return Campaign{
		Name: name, Channels: []string{channelEmail}, ListIDs: listIDs,
		Steps: []Step{{Type: stepEmail, Subject: "Hello {{firstName}}", Body: "Do you have a minute?"}},
	}
}

// Campaigns returns the campaigns, including deleted ones, newest first.
func (w *Tenant) Campaigns() []Campaign {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	return appendNewest([]Campaign{}, w.ws.campaigns, (*campaign).snapshot)
}

// Sends returns the scheduled sends of a campaign in all states, or none if there is no such campaign.
func (w *Tenant) Sends(campaignID string) []Send {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	if c := w.ws.campaign(campaignID); c != nil {
		return slices.Clone(c.Sends)
	}
	return nil
}

// Facts returns the learned facts, including those that the API hides, oldest first.
func (w *Tenant) Facts() []Fact {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	return appendEach([]Fact{}, w.ws.facts, (*Fact).snapshot)
}

// Hubs copies the knowledge hubs, newest first.
func (w *Tenant) Hubs() []Hub {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	return appendNewest([]Hub{}, w.ws.hubs, (*Hub).snapshot)
}

// ConnectAccount connects an account to send from: email or social.
func (tx *Tx) ConnectAccount(channel string) {
	tx.connect("ConnectAccount", &tx.ws.accounts, channels, channel)
}

// DisconnectAccount removes the account of a channel: its campaigns are no longer ready, and sends that are due fail.
func (tx *Tx) DisconnectAccount(channel string) {
	tx.disconnect("DisconnectAccount", &tx.ws.accounts, channel)
}

// add adds one object, if its seed is valid and its ids are new.
func (tx *Tx) add(what string, seed Workspace, apply func(now time.Time)) {
	if !tx.valid(what, seed) {
		return
	}
	tx.change(what, func(now time.Time) bool {
		taken := false
		seed.ids(func(kind, id string) { taken = taken || id != "" && tx.ws.has(kind, id) })
		if !taken {
			seed.ids(func(_, id string) { tx.ws.seen(id) })
			apply(now)
		}
		return !taken
	})
}

func (ws *workspace) has(kind, id string) (found bool) {
	var all Workspace
	ws.snapshotOutreach(&all)
	all.ids(func(otherKind, other string) { found = found || otherKind == kind && sameID(other, id) })
	return found
}

// CreateCampaign adds a campaign and returns its id.
func (tx *Tx) CreateCampaign(c Campaign) (id string) {
	tx.add("CreateCampaign", Workspace{Campaigns: []Campaign{c}}, func(now time.Time) {
		made := tx.ws.addCampaign(c)
		tx.sb.beginCampaign(tx.ws, made, now)
		id = made.ID
	})
	return id
}

// CreateFact adds a learned fact and returns its id.
func (tx *Tx) CreateFact(f Fact) (id string) {
	tx.add("CreateFact", Workspace{Facts: []Fact{f}}, func(time.Time) { id = tx.ws.addFact(f).ID })
	return id
}

// CreateHub adds a knowledge hub and returns its id.
func (tx *Tx) CreateHub(h Hub) (id string) {
	tx.add("CreateHub", Workspace{Hubs: []Hub{h}}, func(time.Time) {
		if h.Default {
			for _, other := range tx.ws.hubs {
				other.Default = false
			}
		}
		made := tx.ws.addHub(h)
		tx.sb.scheduleHub(tx.ws, made)
		id = made.ID
	})
	return id
}

// RetireFact retires a learned fact: it responds like a missing one.
func (tx *Tx) RetireFact(factID string) {
	tx.change("RetireFact", func(time.Time) bool {
		f := tx.ws.fact(factID)
		if f != nil {
			f.Retired = true
		}
		return f != nil
	})
}

func (tx *Tx) withCampaign(what, campaignID string, apply func(*campaign, time.Time) bool) {
	tx.change(what, func(now time.Time) bool {
		c := tx.ws.campaign(campaignID)
		return c != nil && apply(c, now)
	})
}

// StopCampaign stops an active campaign: nothing more is sent until it is approved again.
func (tx *Tx) StopCampaign(campaignID string) {
	tx.withCampaign("StopCampaign", campaignID, func(c *campaign, _ time.Time) bool {
		if c.Status != statusActive {
			return false
		}
		tx.sb.stop(c)
		return true
	})
}

// DeleteCampaign deletes a campaign: it responds like a missing one, and nothing more is sent.
func (tx *Tx) DeleteCampaign(campaignID string) {
	tx.withCampaign("DeleteCampaign", campaignID, func(c *campaign, _ time.Time) bool {
		c.Access = accessDeleted
		return true
	})
}

// HoldLock holds the activation lock of a campaign for a while, as an approve or a stop does.
func (tx *Tx) HoldLock(campaignID string, d time.Duration) {
	tx.withCampaign("HoldLock", campaignID, func(c *campaign, now time.Time) bool {
		c.LockedUntil = now.Add(d)
		return d > 0
	})
}

// SettleCampaign ends the initialization of a campaign, as completed or as failed.
func (tx *Tx) SettleCampaign(campaignID, status string) {
	tx.withCampaign("SettleCampaign", campaignID, func(c *campaign, _ time.Time) bool {
		if c.InitializationStatus != initRunning || status != initCompleted && status != initFailed {
			return false
		}
		tx.ws.settle(c, status)
		return true
	})
}

// MoveSend sets the state of a scheduled send. One that is scheduled again is sent when it is due; one that was sent stays sent.
func (tx *Tx) MoveSend(sendID, state string) {
	tx.change("MoveSend", func(now time.Time) bool {
		c, s := tx.ws.send(sendID)
		if s == nil || state == "" || s.State == sendSent && state == sendScheduled {
			return false
		}
		s.State = state
		tx.sb.scheduleSends(tx.ws, c, now)
		return true
	})
}
