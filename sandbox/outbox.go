package sandbox

import (
	"fmt"
	"slices"
	"time"
)

// Outgoing is something that the service would have sent. The sandbox sends nothing.
type Outgoing struct {
	Time      time.Time `json:"time"`
	RequestID string    `json:"requestId"`
	Kind      string    `json:"kind"`  // "crm" or "message"
	To        string    `json:"to"`    // a CRM, or the id of a contact
	Count     int       `json:"count"` // of contacts

	CampaignID string `json:"campaignId,omitempty"` // of a message, whose request is the one that approved it: none, if the seed did
	SendID     string `json:"sendId,omitempty"`

	ListID     string   `json:"listId,omitempty"` // of a push into a CRM
	ContactIDs []string `json:"contactIds,omitempty"`
	Overwrite  bool     `json:"overwrite,omitempty"` // fields of existing records
}

// Outbox lists everything that the service would have sent, oldest first.
func (w *Tenant) Outbox() []Outgoing {
	return inspect(w, func(ws *workspace) []Outgoing { return copied(ws.sent) })
}

// auditMessages looks for messages that nobody approved, and for those that were sent twice.
func (ws *workspace) auditMessages() (problems []string) {
	for _, m := range ws.sent[ws.audited:] {
		switch {
		case m.Kind != "message":
			continue
		case !slices.Contains(ws.approvals, approval{m.CampaignID, m.RequestID}):
			problems = append(problems, fmt.Sprintf("a message went out without an approval: %+v", m))
		case ws.heard[m.SendID]:
			problems = append(problems, fmt.Sprintf("a message went out twice: %+v", m))
		}
		ws.heard[m.SendID] = true
	}
	ws.audited = len(ws.sent)
	return problems
}
