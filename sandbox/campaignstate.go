package sandbox

import (
	"cmp"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
)

// Campaign seeds a campaign. The lists, the channels, the steps and the two statuses are documented; where a campaign has them is
// assumed.
type Campaign struct {
	ID                   string    `json:"id,omitempty"`
	Name                 string    `json:"name"`
	Status               string    `json:"status,omitempty"` // draft, which is the default, active or stopped
	Access               string    `json:"access,omitempty"` // empty is the owner's; delegated, shared or deleted
	CreatedAt            time.Time `json:"createdAt,omitzero"`
	InitializationStatus string    `json:"initializationStatus,omitempty"` // running, completed, which is the default, or failed
	InitializedAt        time.Time `json:"initializedAt,omitzero"`         // when a running one settles; without it, as long after the first use as InitializesFor says
	InitializationFails  bool      `json:"initializationFails,omitempty"`  // as failed, that is
	Channels             []string  `json:"channels,omitempty"`             // email, social
	ListIDs              []string  `json:"listIds,omitempty"`              // its source lists, at most 10
	Steps                []Step    `json:"steps,omitempty"`
	LockedUntil          time.Time `json:"lockedUntil,omitzero"` // the activation lock
	ActivatesAt          time.Time `json:"activatesAt,omitzero"` // when the activation of an approved one is over
	Sends                []Send    `json:"sends,omitempty"`
}

// Step seeds a step of a campaign. Steps are kept in the order of their numbers.
type Step struct {
	ID             string `json:"id,omitempty"`
	SequenceNumber int    `json:"sequenceNumber,omitempty"` // from 1; without it, the place among the steps
	Type           string `json:"type"`                     // email, social_connection or social_message
	Subject        string `json:"subject,omitempty"`
	Body           string `json:"body,omitempty"`
	Topic          string `json:"topic,omitempty"` // from which the text would be generated
}

// Send seeds a scheduled send: a step for one contact.
type Send struct {
	ID        string    `json:"id,omitempty"`
	StepID    string    `json:"stepId,omitempty"`
	ContactID string    `json:"contactId,omitempty"`
	State     string    `json:"state,omitempty"` // scheduled, which is the default, or any other
	DueAt     time.Time `json:"dueAt,omitzero"`
	Subject   string    `json:"subject,omitempty"`
	Body      string    `json:"body,omitempty"`
}

// Channels, statuses and states. Active, stopped, completed, failed and most states of a send are documented. The others are assumed.
const (
	channelEmail  = "email"
	channelSocial = "social"

	initRunning   = "running"
	initCompleted = "completed"
	initFailed    = "failed"

	accessDeleted = "deleted"

	sendScheduled        = "scheduled"
	sendApprovalRequired = "approval_required"
	sendSent             = "sent"
	sendFailed           = "failed"
)

var (
	channels    = []string{channelEmail, channelSocial}
	accessKinds = []string{"", "delegated", "shared", accessDeleted}
)

// campaigns of a workspace. An active one of a seed needs no approval.
var campaigns = keeps(kind[Campaign]{
	name: "campaigns", missing: refusal{code: "CAMPAIGN_NOT_FOUND", message: "No campaign has this id."},
	seeds:  func(ws *Workspace) *[]Campaign { return &ws.Campaigns },
	check:  validateCampaign,
	hidden: func(c *Campaign) bool { return c.Access == accessDeleted },
	fill: func(c *Campaign) {
		c.Status, c.InitializationStatus = cmp.Or(c.Status, statusDraft), cmp.Or(c.InitializationStatus, initCompleted)
		c.Steps = numbered(c.Steps)
		for i := range c.Sends {
			c.Sends[i].State = cmp.Or(c.Sends[i].State, sendScheduled)
		}
	},
})

// approval lets the messages of a campaign be sent. Those of a seed have no request.
type approval struct {
	campaignID string
	requestID  string
}

func (c *Campaign) step(id string) *Step {
	return findIn(c.Steps, func(s *Step) bool { return sameID(s.ID, id) })
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

func (c *Campaign) begin(ws *workspace, created, now time.Time) {
	if c.CreatedAt.IsZero() {
		c.CreatedAt = stamp(created)
	}
	for i := range c.Sends {
		if c.Sends[i].DueAt.IsZero() {
			c.Sends[i].DueAt = stamp(now.Add(firstSend))
		}
	}
	if c.Status == statusActive { // nobody has to approve it
		ws.approvals = append(ws.approvals, approval{campaignID: c.ID})
	}
	if c.InitializationStatus == initRunning {
		if c.InitializedAt.IsZero() {
			c.InitializedAt = stamp(now.Add(ws.sb.pace.initialize))
		}
		ws.sb.scheduleInitialization(ws, c)
	}
	if !c.ActivatesAt.IsZero() {
		ws.sb.scheduleActivation(ws, c)
	}
	ws.sb.scheduleSends(ws, c, time.Time{})
}

// ReadyCampaign is a draft that can be approved, once an e-mail account is connected: it sends one message to each contact of
// the lists.
func ReadyCampaign(name string, listIDs ...string) Campaign {
	return Campaign{
		Name: name, Channels: []string{channelEmail}, ListIDs: listIDs,
		Steps: []Step{{Type: stepEmail, Subject: "Hello {{firstName}}", Body: "Do you have a minute?"}},
	}
}

// Campaigns returns the campaigns, including deleted ones, newest first.
func (w *Tenant) Campaigns() []Campaign { return newestFirst(campaigns.copies(w)) }

// Sends returns the scheduled sends of a campaign in all states, or none if there is no such campaign.
func (w *Tenant) Sends(campaignID string) []Send {
	return inspect(w, func(ws *workspace) []Send {
		return slices.Clone(cmp.Or(campaigns.find(ws, campaignID), new(Campaign)).Sends)
	})
}

// ConnectAccount connects an account to send from: email or social.
func (tx *Tx) ConnectAccount(channel string) {
	tx.connect("ConnectAccount", &tx.ws.Accounts, channels, channel)
}

// DisconnectAccount removes the account of a channel: its campaigns are no longer ready, and sends that are due fail.
func (tx *Tx) DisconnectAccount(channel string) {
	tx.disconnect("DisconnectAccount", &tx.ws.Accounts, channel)
}

// CreateCampaign adds a campaign and returns its id.
func (tx *Tx) CreateCampaign(c Campaign) (id string) {
	return campaigns.create(tx, "CreateCampaign", c)
}

// StopCampaign stops an active campaign: nothing more is sent until it is approved again.
func (tx *Tx) StopCampaign(campaignID string) {
	campaigns.change(tx, "StopCampaign", campaignID, func(c *Campaign, _ time.Time) bool {
		if c.Status != statusActive {
			return false
		}
		tx.sb.stop(c)
		return true
	})
}

// DeleteCampaign deletes a campaign: it responds like a missing one, and nothing more is sent.
func (tx *Tx) DeleteCampaign(campaignID string) {
	campaigns.change(tx, "DeleteCampaign", campaignID, func(c *Campaign, _ time.Time) bool {
		c.Access = accessDeleted
		return true
	})
}

// HoldLock holds the activation lock of a campaign for a while, as an approve or a stop does.
func (tx *Tx) HoldLock(campaignID string, d time.Duration) {
	campaigns.change(tx, "HoldLock", campaignID, func(c *Campaign, now time.Time) bool {
		c.LockedUntil = now.Add(d)
		return d > 0
	})
}

// SettleCampaign ends the initialization of a campaign, as completed or as failed.
func (tx *Tx) SettleCampaign(campaignID, status string) {
	campaigns.change(tx, "SettleCampaign", campaignID, func(c *Campaign, _ time.Time) bool {
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
