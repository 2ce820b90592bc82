package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.CampaignsList: {handle: (*call).listCampaigns},
	op.CampaignsCreate: {handle: (*call).createCampaign, json: true, takes: slices.Concat([]taking{required("name", aName)}, drafts, []taking{
		optional("knowledgeHubId", anID), optional("templateId", anID), optional("writingStyleId", anID),
		only("name", "channels", "listIds", "steps", "knowledgeHubId", "templateId", "writingStyleId"),
	})},
	op.CampaignsAdjust: {handle: (*call).adjustCampaign, json: true, takes: slices.Concat([]taking{
		either("name", "channels", "listIds", "steps"), optional("name", aName),
	}, drafts, []taking{only("name", "channels", "listIds", "steps")})},
	op.CampaignsSteps:       {handle: (*call).listSteps},
	op.CampaignsPreviewStep: {handle: (*call).previewStep, path: []string{"stepId", "campaignId"}},
})

// drafts are what creation and adjustment both take. Channels have a code of their own.
var drafts = []taking{optional("listIds", idList(0, math.MaxInt)), optional("steps", someSteps)}

const maxLists = 10

// The states of a campaign.
const (
	statusDraft   = "draft"
	statusActive  = "active"
	statusStopped = "stopped"
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
	name: "campaigns", missing: refusal{"CAMPAIGN_NOT_FOUND", "No campaign has this id.", ""},
	seeds:  func(ws *Workspace) *[]Campaign { return &ws.Campaigns },
	check:  validateCampaign,
	hidden: func(c *Campaign) bool { return c.Access == accessDeleted },
	fill: func(_ *workspace, c *Campaign) {
		c.Status, c.InitializationStatus = cmp.Or(c.Status, statusDraft), cmp.Or(c.InitializationStatus, initCompleted)
		c.Steps = numbered(c.Steps)
		for i := range c.Sends {
			c.Sends[i].State = cmp.Or(c.Sends[i].State, sendScheduled)
		}
	},
})

func (c *Campaign) step(id string) *Step {
	return findIn(c.Steps, func(s *Step) bool { return sameID(s.ID, id) })
}

func validateCampaign(_ *Workspace, c Campaign, fail failing) {
	fail.among("campaign", c.Name, "status", cmp.Or(c.Status, statusDraft), op.States["campaign"]...)
	fail.among("campaign", c.Name, "access", c.Access, accessKinds...)
	fail.among("campaign", c.Name, "initialization status", cmp.Or(c.InitializationStatus, initCompleted), initRunning, initCompleted, initFailed)
	for _, channel := range c.Channels {
		fail.among("campaign", c.Name, "channel", channel, channels...)
	}
	if len(c.ListIDs) > maxLists {
		fail("campaign %q: %d lists, %d are allowed", c.Name, len(c.ListIDs), maxLists)
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
	if c.InitializationStatus == initRunning {
		if c.InitializedAt.IsZero() {
			c.InitializedAt = stamp(now.Add(ws.sb.initializes))
		}
		ws.sb.scheduleInitialization(ws, c)
	}
	if c.Status == statusActive && !c.ActivatesAt.IsZero() && c.ActivatesAt.Before(now) { // it was stopped meanwhile
		c.ActivatesAt = now
	}
	ws.sb.scheduleActivation(ws, c)
	ws.sb.scheduleSends(ws, c, now)
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

// StopCampaign stops an active campaign: nothing more is sent until it is approved again.
func (tx *Tx) StopCampaign(campaignID string) {
	campaigns.change(tx, "StopCampaign", campaignID, func(c *Campaign, now time.Time) error {
		if c.Status != statusActive {
			return fmt.Errorf("the campaign is not active: its status is %s", c.Status)
		}
		c.Status, c.ActivatesAt, c.LockedUntil = statusStopped, time.Time{}, now.Add(tx.sb.activates)
		return nil
	})
}

func (c *Campaign) wire() object {
	return object{
		"id": c.ID, "name": c.Name, "status": c.Status, "initializationStatus": c.InitializationStatus,
		"channels": append([]string{}, c.Channels...), "listIds": append([]string{}, c.ListIDs...), "createdAt": wireTime(c.CreatedAt),
	}
}

func (c *call) campaign() *Campaign { return campaigns.of(c, "campaignId") }

func (c *call) listCampaigns() response {
	return listing("campaigns", slices.DeleteFunc(newestFirst(campaigns.in(c.ws)), campaigns.hidden), (*Campaign).wire)
}

// draft makes the changes of a body, which was checked but for its channels.
func (c *call) draft(d *Campaign) {
	if chosen := c.in.texts("channels"); c.in.has("channels") {
		unknown := slices.ContainsFunc(chosen, func(channel string) bool { return !slices.Contains(channels, channel) })
		distinct := slices.Compact(slices.Sorted(slices.Values(chosen)))
		if unknown || len(chosen) == 0 || len(distinct) < len(chosen) {
			deny("INVALID_CAMPAIGN_CHANNELS", "channels has to hold email, social or both.", "channels")
		}
	}
	for _, name := range []string{"knowledgeHubId", "templateId", "writingStyleId"} {
		delete(c.body, name) // which have no effect
	}
	stop(patch(d, must(json.Marshal(c.body))))
	d.Name = strings.TrimSpace(d.Name)
	d.Steps = numbered(d.Steps)
}

// sources finds the source lists of a campaign, and rejects unsuitable ones.
func (c *call) sources(ids, over []string) (found []string) {
	if distinct := slices.Compact(slices.Sorted(slices.Values(appendEach(nil, ids, strings.ToLower)))); len(distinct) > maxLists {
		deny("CAMPAIGN_LIST_CAP_REACHED", "A campaign has at most 10 lists.")
	}
	reached := len(ids) == 0
	for _, id := range ids {
		l := must(lists.byID(c, id))
		if l.EntityType != ContactList {
			deny("CONTACT_LIST_REQUIRED", "A source list is a company list.")
		}
		if slices.Contains(found, l.ID) {
			continue
		}
		found = append(found, l.ID)
		reached = reached || c.reaches(l, over)
	}
	if !reached {
		deny("LIST_INCOMPATIBLE_WITH_CHANNELS", "No contact of the lists can be reached over "+strings.Join(over, " or ")+".")
	}
	return found
}

// reaches reports whether a list has a contact that one of the channels already reaches.
func (c *call) reaches(l *List, over []string) bool {
	return slices.ContainsFunc(l.Rows, func(row json.RawMessage) bool {
		return slices.ContainsFunc(over, func(channel string) bool { return reachable(row, channel) })
	})
}

func reachable(row json.RawMessage, channel string) bool {
	name := "email"
	if channel == channelSocial {
		name = "socialUrl"
	}
	address, _ := fieldString(row, name)
	return strings.TrimSpace(address) != ""
}

func (c *call) createCampaign() response {
	d := Campaign{Channels: []string{channelEmail}}
	c.draft(&d)
	d.ListIDs = c.sources(d.ListIDs, d.Channels)
	stop(fit(d.Steps, d.Channels))
	cp := &Campaign{}
	c.buy(1, "campaign generated", func() { cp = c.makeCampaign(d) }, "campaign created: %q", d.Name)
	return reply(http.StatusCreated, object{"campaign": cp.wire()})
}

func (c *call) adjustCampaign() response {
	cp := c.campaign()
	next := copied(*cp)
	c.draft(&next)
	if c.in.has("listIds") {
		if cp.InitializationStatus == initRunning {
			deny("CAMPAIGN_INITIALIZING", "The campaign is being initialized.")
		}
		next.ListIDs = c.sources(next.ListIDs, next.Channels)
	}
	if c.in.has("steps") || c.in.has("channels") {
		stop(fit(next.Steps, next.Channels))
	}
	c.buy(1, "campaign adjusted", func() {
		next.Steps = c.ws.keepIDs(cp.Steps, next.Steps)
		*cp = next
	}, "campaign adjusted: %s", cp.ID)
	return reply(http.StatusOK, object{"campaign": cp.wire()})
}

// keepIDs gives new steps the ids of the old steps with the same place and type.
func (ws *workspace) keepIDs(old, steps []Step) []Step {
	for i := range steps {
		for _, s := range old {
			if s.SequenceNumber == steps[i].SequenceNumber && s.Type == steps[i].Type {
				steps[i].ID = s.ID
			}
		}
		ws.fill(&steps[i].ID)
	}
	return steps
}

// makeCampaign adds a draft, which is initialized in the background.
func (c *call) makeCampaign(seed Campaign) *Campaign {
	seed.CreatedAt = stamp(c.now)
	seed.InitializationStatus, seed.InitializedAt = initRunning, c.now.Add(c.sb.initializes)
	cp := campaigns.add(c.ws, seed)
	if c.sb.initializes > 0 {
		c.sb.scheduleInitialization(c.ws, cp)
	} else {
		c.ws.settle(cp)
	}
	return cp
}

func (sb *Sandbox) scheduleInitialization(ws *workspace, c *Campaign) {
	ws.later(&c.InitializedAt, "campaign initialized", c.ID, func() bool {
		if c.InitializationStatus != initRunning {
			return false
		}
		ws.settle(c)
		return true
	})
}

// settle ends the initialization of a campaign, which leaves steps.
func (ws *workspace) settle(c *Campaign) {
	c.InitializationStatus, c.InitializedAt = initCompleted, time.Time{}
	if len(c.Steps) == 0 {
		c.Steps = ws.keepIDs(nil, generated(c.Channels))
	}
}

// generated returns the steps of a campaign that was created without any.
func generated(over []string) (steps []Step) {
	for _, channel := range over {
		kind := map[string]string{channelEmail: stepEmail, channelSocial: stepMessage}[channel]
		steps = append(steps, Step{Type: kind, Subject: "A question, {{firstName}}", Body: "Hello {{firstName}}, do you have a minute?"})
	}
	return numbered(steps)
}

const (
	stepEmail      = "email"
	stepConnection = "social_connection"
	stepMessage    = "social_message"

	longestNote = 200
)

var stepTypes = []string{stepEmail, stepConnection, stepMessage}

func (s *Step) channel() string {
	if s.Type == stepEmail {
		return channelEmail
	}
	return channelSocial
}

// text is the text of a step, generated from its topic if it has none.
func (s *Step) text() string { return cmp.Or(s.Body, s.Topic) }

// missing says what a step lacks before it can be sent, or is empty.
func (s *Step) missing() string {
	switch {
	case s.Topic != "", s.Type == stepConnection:
	case s.Type == stepEmail && s.Subject == "":
		return "a subject"
	case s.Body == "":
		return "a body"
	}
	return ""
}

// numbered numbers steps without a number by their place, and sorts all.
func numbered(steps []Step) []Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].SequenceNumber = cmp.Or(steps[i].SequenceNumber, i+1)
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.SequenceNumber, b.SequenceNumber) })
	return steps
}

// arrange rejects sorted steps that cannot follow each other.
func arrange(steps []Step) error {
	messaged := false
	for i, s := range steps {
		switch {
		case i > 0 && steps[i-1].SequenceNumber == s.SequenceNumber: //nolint:gosec // G602: i > 0
			return refuse("STEP_POSITION_TAKEN", "Two steps have the same sequenceNumber.")
		case s.Type == stepConnection && messaged:
			return refuse("STEP_ORDER_INVALID", "A social_connection step would follow a social_message step.")
		case s.Type == stepConnection && runes(s.Body) > longestNote:
			return refuse("CONNECTION_NOTE_TOO_LONG", "A connection note has at most 200 characters.")
		}
		messaged = messaged || s.Type == stepMessage
	}
	return nil
}

// aStep is what a step of a body takes.
var aStep = []taking{
	required("type", oneOf(stepTypes...)), optional("sequenceNumber", integer(1, math.MaxInt32)),
	optional("subject", anyText), optional("body", anyText), optional("topic", anyText),
	only("type", "sequenceNumber", "subject", "body", "topic"),
}

func someSteps(c *call, v value) string {
	var all []fields
	if json.Unmarshal([]byte(v.raw), &all) != nil || len(all) == 0 {
		return "has to be an array of objects, at least one"
	}
	for i, step := range all {
		if wrong := c.wrong(bodyInput(step), aStep); len(wrong.messages) > 0 {
			return fmt.Sprintf("number %d: %s", i, strings.Join(wrong.messages, ", "))
		}
	}
	return ""
}

// fit rejects steps for which a campaign has no channel.
func fit(steps []Step, channels []string) error {
	for _, s := range steps {
		if !slices.Contains(channels, s.channel()) {
			return invalid("steps", "has a "+s.Type+" step, for which the campaign has no channel")
		}
	}
	return arrange(steps)
}

func (c *call) listSteps() response {
	return listing("steps", c.campaign().Steps, func(s Step) object {
		return object{"id": s.ID, "sequenceNumber": s.SequenceNumber, "type": s.Type, "subject": s.Subject, "body": s.Body, "topic": s.Topic}
	})
}

func (c *call) previewStep() response {
	cp := c.campaign()
	s := cp.step(c.req.PathValue("stepId"))
	if s == nil {
		deny("SEQUENCE_STEP_NOT_FOUND", "The campaign has no step with this id.")
	}
	sample := c.sample(cp, s)
	c.charge("preview generated", "step previewed: "+s.ID)
	contact, _ := fieldString(sample, "id")
	return reply(http.StatusOK, object{"stepId": s.ID, "preview": object{
		"contactId": contact, "subject": render(s.Subject, sample), "body": render(s.text(), sample),
	}})
}

// sample finds a contact to render a step for.
func (c *call) sample(cp *Campaign, s *Step) json.RawMessage {
	const code = "STEP_PREVIEW_UNAVAILABLE"
	sources := c.ws.sources(cp)
	if len(sources) == 0 {
		deny(code, "The campaign has no source list.")
	}
	if s.text() == "" {
		deny(code, "The step has nothing to render.")
	}
	filled := slices.IndexFunc(sources, func(l *List) bool { return len(l.Rows) > 0 })
	if filled < 0 {
		deny(code, "The source lists have no contact.")
	}
	return sources[filled].Rows[0]
}

var placeholder = regexp.MustCompile(`(?s)\{\{.*?\}\}`)

// render fills in the fields of a contact. A missing field becomes empty.
func render(text string, contact json.RawMessage) string {
	return placeholder.ReplaceAllStringFunc(text, func(field string) string {
		value, _ := lookup(contact, strings.TrimSpace(field[2:len(field)-2]))
		filled, _ := asString(value)
		return filled
	})
}
