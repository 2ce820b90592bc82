package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.CampaignsApprove: {handle: (*call).approveCampaign},
	op.CampaignsSends:   {handle: (*call).listSends, takes: pages},
	op.CampaignsEditSend: {handle: (*call).editSend, json: true, takes: []taking{
		either("subject", "body", "dueAt"), optional("subject", anyText), optional("body", anyText), optional("dueAt", anInstant),
		only("subject", "body", "dueAt"),
	}},
})

func (c *call) approveCampaign() response {
	cp, missing := campaigns.byID(c, c.req.PathValue("campaignId"))
	switch {
	case missing != nil || cp.Access != "":
		deny("CAMPAIGN_NOT_FOUND", "No campaign of yours has this id.")
	case c.now.Before(cp.LockedUntil):
		deny("CAMPAIGN_BUSY", "The campaign is being activated or stopped.")
	case cp.Status == statusActive:
		deny("CAMPAIGN_NOT_APPROVABLE", "The campaign is active.")
	}
	if lacks := c.lacks(cp); len(lacks) > 0 {
		deny("CAMPAIGN_NOT_READY", "The campaign lacks "+strings.Join(lacks, ", ")+".")
	}
	c.effect(func() {
		c.ws.approvedBy[cp.ID] = c.id
		cp.Status, cp.ActivatesAt = statusActive, c.now.Add(c.sb.activates)
		cp.LockedUntil = cp.ActivatesAt
		c.sb.scheduleActivation(c.ws, cp)
	}, "campaign approved: %s", cp.ID)
	return reply(http.StatusAccepted, object{"campaignId": cp.ID, "status": statusActive})
}

// lacks lists what a campaign needs before it can be approved.
func (c *call) lacks(cp *Campaign) (lacks []string) {
	for what, is := range map[string]bool{
		"the end of its preparation": cp.InitializationStatus == initRunning, "a source list": len(c.ws.sources(cp)) == 0,
		"a step": len(cp.Steps) == 0, "a channel": len(cp.Channels) == 0,
	} {
		if is {
			lacks = append(lacks, what)
		}
	}
	slices.Sort(lacks)
	for _, s := range cp.Steps {
		if missing := s.missing(); missing != "" {
			lacks = append(lacks, fmt.Sprintf("%s of step %d", missing, s.SequenceNumber))
		}
	}
	for _, channel := range cp.Channels {
		if !slices.Contains(c.ws.Accounts, channel) {
			lacks = append(lacks, "a connected account for "+channel)
		}
	}
	return lacks
}

// sources are the source lists that have not been deleted.
func (ws *workspace) sources(c *Campaign) []*List {
	lists := appendEach(nil, c.ListIDs, func(id string) *List { return ws.list(id) })
	return slices.DeleteFunc(lists, func(l *List) bool { return l == nil })
}

func (sb *Sandbox) scheduleActivation(ws *workspace, c *Campaign) {
	ws.later(&c.ActivatesAt, "campaign activated", c.ID, func() bool {
		if c.Status != statusActive {
			return false
		}
		at := c.ActivatesAt
		c.ActivatesAt = time.Time{}
		sb.enrol(ws, c, at)
		sb.scheduleSends(ws, c, at)
		return true
	})
}

// enrol schedules each step for each contact of the source lists, unless it is there already.
func (sb *Sandbox) enrol(ws *workspace, c *Campaign, at time.Time) {
	there := map[[2]string]bool{}
	for _, s := range c.Sends {
		there[[2]string{s.StepID, s.ContactID}] = true
	}
	for _, l := range ws.sources(c) {
		for i, id := range ws.index(l).ids {
			row := l.Rows[i]
			for n, step := range c.Steps {
				key := [2]string{step.ID, id}
				if there[key] || !reachable(row, step.channel()) {
					continue
				}
				there[key] = true
				c.Sends = append(c.Sends, Send{
					ID: ws.newID(), StepID: step.ID, ContactID: id, State: sendScheduled,
					DueAt: stamp(at.Add(firstSend + time.Duration(n)*stepGap)), Subject: render(step.Subject, row), Body: render(step.text(), row),
				})
			}
		}
	}
}

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
	return pageOf(c.paging(100), c.campaign().Sends, Send.wire)
}

func anInstant(_ *call, v value) string {
	at, err := time.Parse(timeFormat, v.text)
	if err != nil || at.Format(timeFormat) != v.text || at.Year() < 1970 {
		return "has to be an instant such as 2026-01-31T09:30:00.000Z, after 1970"
	}
	return ""
}

func (c *call) editSend() response {
	cp, s := c.ws.send(c.req.PathValue("sendId"))
	switch {
	case s == nil:
		deny("SCHEDULED_SEND_NOT_FOUND", "No scheduled send has this id.")
	case s.State != sendScheduled && s.State != sendApprovalRequired:
		deny("SCHEDULED_SEND_NOT_EDITABLE", "The send is "+s.State+".")
	}
	if step := cp.step(s.StepID); step != nil {
		stop(arrange([]Step{{Type: step.Type, Body: c.in.text("body")}}))
	}
	next := *s
	stop(patch(&next, c.sent))
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
			Time: at, RequestID: ws.approvedBy[c.ID], Kind: "message", To: s.ContactID, Count: 1, CampaignID: c.ID, SendID: s.ID,
		})
	}
	return sent
}
