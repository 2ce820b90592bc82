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
	c.effect(func() { c.sb.approve(c.ws, cp, c.id) }, "campaign approved: %s", cp.ID)
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
