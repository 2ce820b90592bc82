package sandbox

import (
	"net/http"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.CampaignsSends:    {handle: (*call).listSends},
	op.CampaignsEditSend: {handle: (*call).editSend, json: true},
})

const (
	firstSend = time.Minute
	stepGap   = 24 * time.Hour
)

func (s Send) wire() object {
	return object{
		"id": s.ID, "stepId": s.StepID, "contactId": s.ContactID, "state": s.State, "dueAt": wireTime(s.DueAt), "subject": s.Subject, "body": s.Body,
	}
}

func (c *call) listSends() response {
	page := c.params().paging(100)
	return pageOf(page, c.campaign().Sends, Send.wire)
}

func (c *call) editSend() response {
	id, body := c.req.PathValue("sendId"), c.body
	subject, hasSubject := body.text("subject")
	words, hasBody := body.text("body")
	due, hasDue := body.text("dueAt")
	dueAt, err := time.Parse(timeFormat, due)
	if hasDue && (err != nil || dueAt.Format(timeFormat) != due || dueAt.Year() < 1970) {
		body.fail("dueAt", "has to be an instant such as 2026-01-31T09:30:00.000Z, after 1970")
	}
	if len(body.fields) == 0 {
		body.fail("subject", "body or dueAt is required")
	}
	body.only("subject", "body", "dueAt")
	body.valid()
	cp, s := c.ws.send(id)
	switch {
	case s == nil:
		deny("SCHEDULED_SEND_NOT_FOUND", "No scheduled send has this id.")
	case s.State != sendScheduled && s.State != sendApprovalRequired:
		deny("SCHEDULED_SEND_NOT_EDITABLE", "The send is "+s.State+".")
	}

	next := *s
	if hasSubject {
		next.Subject = subject
	}
	if hasBody {
		next.Body = words
	}
	if hasDue {
		next.DueAt = stamp(dueAt)
	}
	c.effect(func() {
		*s = next
		c.sb.scheduleSends(c.ws, cp, c.now)
	}, "send edited: %s", s.ID)
	return reply(http.StatusOK, object{"scheduledSend": next.wire()})
}

// send finds a scheduled send in the campaigns that have not been deleted.
func (ws *workspace) send(id string) (*Campaign, *Send) {
	for _, c := range campaigns.in(ws) {
		if s := findIn(c.Sends, func(s *Send) bool { return sameID(s.ID, id) }); s != nil && c.Access != accessDeleted {
			return c, s
		}
	}
	return nil, nil
}

// approvedBy is the request that approved a campaign last, if one did.
func (ws *workspace) approvedBy(c *Campaign) (requestID string) {
	for _, a := range ws.approvals {
		if a.campaignID == c.ID {
			requestID = a.requestID
		}
	}
	return requestID
}

// scheduleSends schedules the times at which sends are due, each once, and none before a given time.
func (sb *Sandbox) scheduleSends(ws *workspace, c *Campaign, earliest time.Time) {
	if c.Status != statusActive {
		return
	}
	known := map[time.Time]bool{}
	for _, s := range c.Sends {
		at := s.DueAt
		if at.Before(earliest) {
			at = earliest
		}
		if s.State != sendScheduled || known[at] {
			continue
		}
		known[at] = true
		ws.later(&at, "messages sent", c.ID, func() bool { return ws.sendDue(c, at) })
	}
}

// sendDue sends what is due into the outbox.
func (ws *workspace) sendDue(c *Campaign, at time.Time) (sent bool) {
	if c.Status != statusActive || c.Access == accessDeleted || !c.ActivatesAt.IsZero() {
		return false
	}
	for i := range c.Sends {
		s := &c.Sends[i]
		if s.State != sendScheduled || s.DueAt.After(at) {
			continue
		}
		channel := channelEmail
		if step := c.step(s.StepID); step != nil {
			channel = step.channel()
		}
		if !slices.Contains(ws.Accounts, channel) {
			s.State = sendFailed
			continue
		}
		s.State, sent = sendSent, true
		ws.sent = append(ws.sent, Outgoing{
			Time: at, RequestID: ws.approvedBy(c), Kind: "message", To: s.ContactID, Count: 1, CampaignID: c.ID, SendID: s.ID,
		})
	}
	return sent
}
