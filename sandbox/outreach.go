package sandbox

import (
	"slices"
	"time"
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

// Fact seeds a learned fact.
type Fact struct {
	ID        string `json:"id,omitempty"`
	Claim     string `json:"claim"`
	Category  string `json:"category,omitempty"`  // one of the eleven; custom is the default
	Retired   bool   `json:"retired,omitempty"`   // it responds like a missing one
	OtherTeam bool   `json:"otherTeam,omitempty"` // and so does it
}

// Hub seeds a knowledge hub.
type Hub struct {
	ID       string    `json:"id,omitempty"`
	Name     string    `json:"name"`
	Status   string    `json:"status,omitempty"`   // processing while it is built; ready, which is the default
	ReadyAt  time.Time `json:"readyAt,omitzero"`   // when a processing one is ready; never, if it is zero
	Default  bool      `json:"default,omitempty"`  // one at most
	Teammate bool      `json:"teammate,omitempty"` // a teammate owns it, who alone may make it the default
	Pageless bool      `json:"pageless,omitempty"` // it predates pages
	Pages    []HubPage `json:"pages,omitempty"`
}

// HubPage seeds a page of a knowledge hub.
type HubPage struct {
	ID    string `json:"id,omitempty"`
	Title string `json:"title"`
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

// outreach is the part of a workspace with campaigns and knowledge hubs.
type outreach struct {
	accounts  []string
	campaigns []*campaign // oldest first
	approvals []approval
	messages  []Outgoing      // that would have been sent
	audited   int             // how many of them
	heard     map[string]bool // the sends of those
	facts     []*Fact
	hubs      []*Hub
}

// campaign is a campaign of the state, with the approval that lets its messages be sent.
type campaign struct {
	Campaign
	approval approval
}

// approval lets the messages of a campaign be sent. Those of a seed have no request.
type approval struct {
	campaignID string
	requestID  string
}

func (c *campaign) snapshot() Campaign {
	out := c.Campaign
	out.Channels, out.ListIDs = slices.Clone(c.Channels), slices.Clone(c.ListIDs)
	out.Steps, out.Sends = slices.Clone(c.Steps), slices.Clone(c.Sends)
	return out
}

func (f *Fact) snapshot() Fact { return *f }

func (h *Hub) snapshot() Hub {
	out := *h
	out.Pages = slices.Clone(h.Pages)
	return out
}

func (c *campaign) step(id string) *Step {
	return findIn(c.Steps, func(s *Step) bool { return sameID(s.ID, id) })
}
