package sandbox

import (
	"slices"
	"time"
)

var _ = ambient("campaigns.generated", "a new campaign is initialized for 30 s, or as long as InitializesFor says: running, then completed; one without steps then gets one or two for each channel")

// makeCampaign adds a draft, which is initialized in the background.
func (c *call) makeCampaign(seed Campaign) *campaign {
	seed.CreatedAt = stamp(c.now)
	seed.InitializationStatus, seed.InitializedAt = initRunning, c.now.Add(c.sb.pace.initialize)
	cp := c.ws.addCampaign(seed)
	if c.sb.pace.initialize > 0 {
		c.sb.scheduleInitialization(c.ws, cp)
	} else {
		c.ws.settle(cp, initCompleted)
	}
	return cp
}

// scheduleInitialization schedules the end of the initialization of a campaign.
func (sb *Sandbox) scheduleInitialization(ws *workspace, c *campaign) {
	at := c.InitializedAt
	sb.agenda.add(at, "campaign initialized", c.ID, func() bool {
		if c.InitializationStatus != initRunning || !c.InitializedAt.Equal(at) {
			return false
		}
		status := initCompleted
		if c.InitializationFails {
			status = initFailed
		}
		ws.settle(c, status)
		return true
	})
}

// settle ends the initialization of a campaign. One that succeeds leaves steps.
func (ws *workspace) settle(c *campaign, status string) {
	c.InitializationStatus, c.InitializedAt, c.InitializationFails = status, time.Time{}, false
	if status == initCompleted && len(c.Steps) == 0 {
		c.Steps = ws.keepIDs(nil, generated(c.Channels))
	}
	ws.version++
}

// generated returns the steps of a campaign that was created without any.
func generated(over []string) []Step {
	var steps []Step
	if slices.Contains(over, channelSocial) {
		steps = append(steps,
			Step{Type: stepConnection, Body: "Hello {{firstName}}, may we connect?"},
			Step{Type: stepMessage, Body: "Hello {{firstName}}, thank you for connecting."})
	}
	if slices.Contains(over, channelEmail) {
		steps = append(steps, Step{Type: stepEmail, Subject: "A question, {{firstName}}", Body: "Hello {{firstName}}, do you have a minute?"})
	}
	return numbered(steps)
}
