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
	op.CampaignsApprove: {handle: (*call).approveCampaign, noBody: true},
})

var (
	_             = ambient("approve.lock", "an activation holds the lock for 3 s, or as long as ActivatesFor says; so does a stop")
	ruleStepless  = assumed("approve.steps", "a campaign without steps is not ready")
	ruleListGone  = assumed("approve.lists", "a deleted source list does not count")
	ruleNoChannel = assumed("approve.channels", "a campaign without channels is not ready")
)

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
	c.effect(func() { c.sb.approve(c.ws, cp, c.id) }, "campaign approved: %s", cp.ID)
	return reply(http.StatusAccepted, object{"campaignId": cp.ID, "status": statusActive})
}

// lacks lists what a campaign needs before it can be approved. An assumption decides only if nothing documented
// is lacking.
func (c *call) lacks(cp *Campaign) (lacks []string) {
	var perhaps []string
	var rules []*Rule
	if cp.InitializationStatus == initRunning {
		lacks = append(lacks, "the end of its preparation")
	}
	lists := c.ws.sources(cp)
	if len(lists) < len(cp.ListIDs) {
		rules = append(rules, ruleListGone)
	}
	switch {
	case len(cp.ListIDs) == 0:
		lacks = append(lacks, "a source list")
	case len(lists) == 0:
		perhaps = append(perhaps, "a source list")
	}
	if len(cp.Steps) == 0 {
		rules, perhaps = append(rules, ruleStepless), append(perhaps, "a step")
	}
	for _, s := range cp.Steps {
		if missing := s.missing(); missing != "" {
			lacks = append(lacks, fmt.Sprintf("%s of step %d", missing, s.SequenceNumber))
		}
	}
	if len(cp.Channels) == 0 {
		rules, perhaps = append(rules, ruleNoChannel), append(perhaps, "a channel")
	}
	for _, channel := range cp.Channels {
		if !slices.Contains(c.ws.Accounts, channel) {
			lacks = append(lacks, "a connected account for "+channel)
		}
	}
	if len(lacks) == 0 {
		c.uses(rules...)
	}
	return append(lacks, perhaps...)
}

// sources are the source lists that have not been deleted.
func (ws *workspace) sources(c *Campaign) []*list {
	lists := appendEach(nil, c.ListIDs, func(id string) *list { return ws.byID[id] })
	return slices.DeleteFunc(lists, func(l *list) bool { return l == nil })
}

// approve lets the messages of a campaign be sent once its activation has ended.
func (sb *Sandbox) approve(ws *workspace, c *Campaign, requestID string) {
	ws.approvals = append(ws.approvals, approval{c.ID, requestID})
	c.Status = statusActive
	c.ActivatesAt = sb.now.Add(sb.pace.activate)
	c.LockedUntil = c.ActivatesAt
	sb.scheduleActivation(ws, c)
}

// stop suspends what a campaign has not sent yet.
func (sb *Sandbox) stop(c *Campaign) {
	c.Status, c.ActivatesAt = statusStopped, time.Time{}
	c.LockedUntil = sb.now.Add(sb.pace.activate)
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
		for i, row := range l.rows {
			for n, step := range c.Steps {
				key := [2]string{step.ID, l.ids[i]}
				if there[key] || !reachable(row, step.channel()) {
					continue
				}
				there[key] = true
				c.Sends = append(c.Sends, Send{
					ID: ws.newID(), StepID: step.ID, ContactID: l.ids[i], State: sendScheduled,
					DueAt: stamp(at.Add(firstSend + time.Duration(n)*stepGap)), Subject: render(step.Subject, row), Body: render(step.text(), row),
				})
			}
		}
	}
}
