package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.CampaignsSteps:       {handle: (*call).listSteps},
	op.CampaignsPreviewStep: {handle: (*call).previewStep, path: []string{"stepId", "campaignId"}},
})

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
		case i > 0 && steps[i-1].SequenceNumber == s.SequenceNumber:
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

// steps reads the steps of a body.
func (f *form) steps() []Step {
	raw, ok := f.fields["steps"]
	if !ok {
		return nil
	}
	var all []map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil || len(all) == 0 {
		f.fail("steps", "has to be an array of objects, at least one")
		return nil
	}
	steps := make([]Step, len(all))
	for i, one := range all {
		if problem := readStep(one, &steps[i]); problem != "" {
			f.fail("steps", "number %d: %s", i, problem)
		}
	}
	return numbered(steps)
}

func readStep(fields fields, s *Step) (problem string) {
	f := form{fields, &checks{}}
	s.Type, _ = f.text("type")
	f.among("type", s.Type, true, stepTypes)
	if raw, ok := f.fields["sequenceNumber"]; ok && (json.Unmarshal(raw, &s.SequenceNumber) != nil || s.SequenceNumber < 1) {
		f.fail("sequenceNumber", "has to be an integer of at least 1")
	}
	s.Subject, _ = f.text("subject")
	s.Body, _ = f.text("body")
	s.Topic, _ = f.text("topic")
	f.only("type", "sequenceNumber", "subject", "body", "topic")
	return strings.Join(f.messages, ", ")
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
	lists := c.ws.sources(cp)
	if len(lists) == 0 {
		deny(code, "The campaign has no source list.")
	}
	if s.text() == "" {
		deny(code, "The step has nothing to render.")
	}
	filled := slices.IndexFunc(lists, func(l *list) bool { return len(l.rows) > 0 })
	if filled < 0 {
		deny(code, "The source lists have no contact.")
	}
	return lists[filled].rows[0]
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
