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

	CampaignID string `json:"campaignId"` // of a message, whose request is the one that approved it: none, if the seed did
	SendID     string `json:"sendId"`
}

// Outbox lists everything that the service would have sent, oldest first.
func (w *Tenant) Outbox() []Outgoing {
	w.sb.enter()
	defer w.sb.mu.Unlock()
	out := slices.Clone(w.ws.messages)
	for _, p := range w.ws.pushes {
		out = append(out, Outgoing{Time: p.Time, RequestID: p.RequestID, Kind: "crm", To: p.CRM, Count: len(p.ContactIDs)})
	}
	slices.SortStableFunc(out, func(a, b Outgoing) int { return a.Time.Compare(b.Time) })
	return out
}

// auditMessages looks for messages that nobody approved, and for those that were sent twice.
func (ws *workspace) auditMessages() (problems []string) {
	for _, m := range ws.messages[ws.audited:] {
		if !slices.Contains(ws.approvals, approval{m.CampaignID, m.RequestID}) {
			problems = append(problems, fmt.Sprintf("a message went out without an approval: %+v", m))
		}
		if ws.heard[m.SendID] {
			problems = append(problems, fmt.Sprintf("a message went out twice: %+v", m))
		}
		ws.heard[m.SendID] = true
	}
	ws.audited = len(ws.messages)
	return problems
}
