package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestSteps(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		require.Equal(t, []any{object{
			"id": id(51), "sequenceNumber": 1.0, "type": "email", "subject": "Hello {{firstName}}", "body": "Do you have a minute?", "topic": "",
		}}, c.get(campaignPath(drafted, "steps")).ok(200)["steps"])
		c.get(campaignPath(shared, "steps")).ok(200)
		c.get(campaignPath(deleted, "steps")).fails(404, "CAMPAIGN_NOT_FOUND")
		c.get(campaignPath("12", "steps")).fails(422, "VALIDATION_FAILED")
	})
}

func TestPreview(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		before := sb.Snapshot()
		body := c.do("POST", campaignPath(drafted, "steps", id(51), "preview"), object{"anything": "goes"}).ok(200)
		require.Equal(t, object{"stepId": id(51), "preview": object{
			"contactId": id(101), "subject": "Hello Ada", "body": "Do you have a minute?",
		}}, body)
		sameState(t, before, sb.Snapshot())
		require.Empty(t, sb.Outbox(), "nothing is sent")
		c.do("POST", campaignPath(drafted, "steps", id(52), "preview"), nil).fails(404, "SEQUENCE_STEP_NOT_FOUND")
		c.do("POST", campaignPath(deleted, "steps", id(52), "preview"), nil).fails(404, "CAMPAIGN_NOT_FOUND")
		c.do("POST", campaignPath(drafted, "steps", "12", "preview"), nil).fails(422, "VALIDATION_FAILED")
	})
}

func TestPreviewsThatAreUnavailable(t *testing.T) {
	words := sandbox.Step{ID: id(301), Type: "email", Topic: "Hi {{ firstName }} of {{company.name}}{{missing}} {{"}
	for name, tc := range map[string]struct {
		lists []string
		step  sandbox.Step
		want  string
	}{
		"no source list":    {nil, words, "no source list"},
		"a list that is no": {[]string{id(77)}, words, "no source list"},
		"no sample contact": {[]string{nobody}, words, "no contact"},
		"nothing to render": {[]string{reached}, sandbox.Step{ID: id(301), Type: "email", Subject: "x"}, "nothing to render"},
		"all is there":      {[]string{nobody, reached}, words, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sb := sandbox.New(t, outreachOptions()...)
			sb.Do(func(tx *sandbox.Tx) {
				tx.CreateCampaign(sandbox.Campaign{ID: id(300), ListIDs: tc.lists, Steps: []sandbox.Step{tc.step}})
			})
			r := inPlace(t, sb).do("POST", campaignPath(id(300), "steps", id(301), "preview"), nil)
			if tc.want == "" {
				require.Equal(t, "Hi Ada of  {{", at(r.ok(200), "preview", "body"))
				return
			}
			_, message := r.fails(422, "STEP_PREVIEW_UNAVAILABLE")
			require.Contains(t, message, tc.want)
		})
	}
}
