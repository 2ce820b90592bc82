package sandbox_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestCampaignsAreListedNewestFirst(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		made := c.do("POST", campaigns, object{"name": " Q1 ", "listIds": []string{reached}}).ok(201)["campaign"].(object)
		require.Equal(t, object{
			"id": made["id"], "name": "Q1", "status": "draft", "initializationStatus": "running", "channels": []any{"email"},
			"listIds": []any{reached}, "createdAt": "2026-03-01T09:00:00.000Z",
		}, made)
		c.do("POST", campaigns, object{"name": "Q1"}).ok(201) // names may repeat
		all := c.get(campaigns).ok(200)["campaigns"].([]any)
		require.Len(t, all, 11, "the deleted one is left out")
		require.Equal(t, made["id"], at(all, 1, "id"))
		require.Equal(t, drafted, at(all, 9, "id"))
	})
}

// campaignBodies are bodies that creation and adjustment refuse alike.
func campaignBodies() map[string]struct {
	body   any
	status int
	code   string
	param  string
} {
	type refused = struct {
		body   any
		status int
		code   string
		param  string
	}
	with := func(name string, value any) object { return object{"name": "x", name: value} }
	return map[string]refused{
		"blank name":       {object{"name": " "}, 422, "VALIDATION_FAILED", "name"},
		"long name":        {object{"name": strings.Repeat("ä", 256)}, 422, "VALIDATION_FAILED", "name"},
		"name not text":    {object{"name": 1}, 422, "VALIDATION_FAILED", "name"},
		"unknown key":      {with("note", "x"), 422, "VALIDATION_FAILED", "note"},
		"no channel":       {with("channels", []string{}), 422, "INVALID_CAMPAIGN_CHANNELS", "channels"},
		"unknown channel":  {with("channels", []string{"fax"}), 422, "INVALID_CAMPAIGN_CHANNELS", "channels"},
		"channel twice":    {with("channels", []string{"email", "email"}), 422, "INVALID_CAMPAIGN_CHANNELS", "channels"},
		"channel text":     {with("channels", "email"), 422, "INVALID_CAMPAIGN_CHANNELS", "channels"},
		"three channels":   {with("channels", []string{"email", "social", "email"}), 422, "INVALID_CAMPAIGN_CHANNELS", "channels"},
		"lists not ids":    {with("listIds", []string{"12"}), 422, "VALIDATION_FAILED", "listIds"},
		"null lists":       {with("listIds", nil), 422, "VALIDATION_FAILED", "listIds"},
		"11 lists":         {with("listIds", manyIDs(11)), 422, "CAMPAIGN_LIST_CAP_REACHED", ""},
		"missing list":     {with("listIds", []string{id(77)}), 404, "LIST_NOT_FOUND", ""},
		"company list":     {with("listIds", []string{companyList}), 422, "CONTACT_LIST_REQUIRED", ""},
		"empty list":       {with("listIds", []string{nobody}), 422, "LIST_INCOMPATIBLE_WITH_CHANNELS", ""},
		"unreachable list": {with("listIds", []string{linked, nobody}), 422, "LIST_INCOMPATIBLE_WITH_CHANNELS", ""},
		"steps not array":  {with("steps", object{}), 422, "VALIDATION_FAILED", "steps"},
		"no steps":         {with("steps", []object{}), 422, "VALIDATION_FAILED", "steps"},
		"step type":        {with("steps", []object{{"type": "fax"}}), 422, "VALIDATION_FAILED", "steps"},
		"step number":      {with("steps", []object{{"type": "email", "sequenceNumber": 0}}), 422, "VALIDATION_FAILED", "steps"},
		"step key":         {with("steps", []object{{"type": "email", "delay": 1}}), 422, "VALIDATION_FAILED", "steps"},
		"step subject":     {with("steps", []object{{"type": "email", "subject": 1}}), 422, "VALIDATION_FAILED", "steps"},
		"step channel":     {with("steps", []object{{"type": "social_message"}}), 422, "VALIDATION_FAILED", "steps"},
		"step number taken": {
			with("steps", []object{{"type": "email", "sequenceNumber": 2}, {"type": "email"}}), 409, "STEP_POSITION_TAKEN", "",
		},
		"connection after message": {
			object{"name": "x", "channels": []string{"social"}, "steps": []object{{"type": "social_message"}, {"type": "social_connection"}}},
			422, "STEP_ORDER_INVALID", "",
		},
		"order by number": {object{"name": "x", "channels": []string{"social"}, "steps": []object{
			{"type": "social_connection", "sequenceNumber": 9}, {"type": "social_message", "sequenceNumber": 3},
		}}, 422, "STEP_ORDER_INVALID", ""},
		"long note": {object{"name": "x", "channels": []string{"social"}, "steps": []object{
			{"type": "social_connection", "body": strings.Repeat("ä", 201)},
		}}, 422, "CONNECTION_NOTE_TOO_LONG", ""},
	}
}

func TestCampaignBodiesThatAreRefused(t *testing.T) {
	sb := sandbox.New(t, outreachOptions(sandbox.NoLimits())...)
	c := inPlace(t, sb)
	for name, tc := range campaignBodies() {
		t.Run(name, func(t *testing.T) {
			c.t = t
			for _, r := range []result{c.do("POST", campaigns, tc.body), c.do("PATCH", campaignPath(drafted), tc.body)} {
				param, _ := r.fails(tc.status, tc.code)
				require.Equal(t, tc.param, param)
			}
		})
	}
}

func TestCampaignReferences(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		create := func(more object) result {
			more["name"] = "x"
			return c.do("POST", campaigns, more)
		}
		create(object{"knowledgeHubId": ready}).ok(201)
		create(object{"knowledgeHubId": id(77), "templateId": id(77), "writingStyleId": id(77)}).ok(201)
		create(object{"templateId": "12"}).fails(422, "VALIDATION_FAILED")
		param, message := c.do("POST", campaigns, object{"listIds": 1, "note": 2}).fails(422, "VALIDATION_FAILED")
		require.Equal(t, "name", param)
		require.Equal(t, "name is required; listIds has to be an array of strings; note is not a known field.", message)
	})
}

func TestTheMostOfACampaign(t *testing.T) {
	state := outreachState()
	var ten []string
	for i := range 10 {
		l := sandbox.List{ID: id(200 + i), Name: "list " + id(i), Rows: sandbox.Rows(sandbox.Row{"email": "a@b.example"})}
		state.Workspaces[0].Lists = append(state.Workspaces[0].Lists, l)
		ten = append(ten, l.ID)
	}
	c := inPlace(t, sandbox.New(t, sandbox.Seed(state)))
	body := object{
		"name": strings.Repeat("ä", 255), "channels": []string{"social", "email"}, "listIds": append(ten, strings.ToUpper(ten[9]), ten[0]),
		"steps": []object{{"type": "social_connection", "body": strings.Repeat("ä", 200)}, {"type": "social_connection"}, {"type": "social_message"}},
	}
	made := c.do("POST", campaigns, body).ok(201)["campaign"].(object)
	require.Len(t, made["listIds"], 10, "each list counts once")
	delete(body, "name")
	c.do("PATCH", campaignPath(drafted), body).ok(200)
}

func TestInitialization(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		status := func(id string) any {
			for _, one := range c.get(campaigns).ok(200)["campaigns"].([]any) {
				if at(one, "id") == id {
					return at(one, "initializationStatus")
				}
			}
			return nil
		}
		made := at(c.do("POST", campaigns, object{"name": "x", "channels": []string{"email", "social"}}).ok(201), "campaign", "id").(string)
		failing := at(c.do("POST", campaigns, object{"name": "y"}).ok(201), "campaign", "id").(string)
		change := object{"listIds": []string{reached}}
		c.do("PATCH", campaignPath(made), change).fails(409, "CAMPAIGN_INITIALIZING")
		c.do("PATCH", campaignPath(made), object{"name": "other changes pass"}).ok(200)
		require.Empty(t, c.get(campaignPath(made, "steps")).ok(200)["steps"])
		sb.Do(func(tx *sandbox.Tx) {
			tx.Put("campaigns", sandbox.Row{"id": failing, "initializationStatus": "failed"})
		})
		require.Equal(t, "failed", status(failing))
		c.do("PATCH", campaignPath(failing), change).ok(200)

		sb.Advance(30*time.Second - 1)
		require.Equal(t, "running", status(made))
		require.Equal(t, "campaign initialized", sb.Advance(1)[0].Kind)
		require.Equal(t, "completed", status(made))
		c.do("PATCH", campaignPath(made), change).ok(200)
		steps := c.get(campaignPath(made, "steps")).ok(200)["steps"].([]any)
		require.Len(t, steps, 2)
		require.Equal(t, "social_message", at(steps, 1, "type"))
		require.EqualValues(t, 2, at(steps, 1, "sequenceNumber"))
		require.Empty(t, c.get(campaignPath(failing, "steps")).ok(200)["steps"])
		c.do("POST", campaignPath(made, "approve"), nil).ok(202)
	})
}

func TestInitializationTakesAsLongAsItIsTold(t *testing.T) {
	sb := sandbox.New(t, outreachOptions(sandbox.InitializesFor(0))...)
	made := inPlace(t, sb).do("POST", campaigns, object{"name": "x"}).ok(201)["campaign"].(object)
	require.Equal(t, "completed", made["initializationStatus"])
	require.Len(t, sb.Campaigns()[0].Steps, 1)
}

func TestAdjustment(t *testing.T) {
	onEachOutreach(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		steps := func() []any { return c.get(campaignPath(drafted, "steps")).ok(200)["steps"].([]any) }
		adjusted := c.do("PATCH", campaignPath(strings.ToUpper(drafted)), object{"name": "new", "listIds": []string{}}).ok(200)["campaign"].(object)
		require.Equal(t, "new", adjusted["name"])
		require.Empty(t, adjusted["listIds"])
		require.Len(t, steps(), 1)
		c.do("PATCH", campaignPath(drafted), object{"steps": []object{{"type": "email", "topic": "x"}, {"type": "email", "subject": "y"}}}).ok(200)
		require.Equal(t, id(51), at(steps(), 0, "id"), "a step keeps its id")
		require.Empty(t, at(steps(), 0, "body"), "and nothing else")
		param, _ := c.do("PATCH", campaignPath(drafted), object{"channels": []string{"social"}}).fails(422, "VALIDATION_FAILED")
		require.Equal(t, "steps", param, "the steps that stay have to fit too")
		c.do("PATCH", campaignPath(drafted), object{}).fails(422, "VALIDATION_FAILED")
		c.do("PATCH", campaignPath(deleted), object{"name": "x"}).fails(404, "CAMPAIGN_NOT_FOUND")
		c.do("PATCH", campaignPath(id(77)), object{"name": "x"}).fails(404, "CAMPAIGN_NOT_FOUND")
		c.do("PATCH", campaignPath("12"), object{"name": "x"}).fails(422, "VALIDATION_FAILED")
		c.as(sb.Workspace("b").Token()).do("PATCH", campaignPath(drafted), object{"name": "x"}).fails(404, "CAMPAIGN_NOT_FOUND")
	})
}

func TestCampaignsCostTheirPrice(t *testing.T) {
	prices := sandbox.WithPrices(sandbox.Prices{"campaigns.create": 60, "campaigns.adjust": 5, "campaigns.preview-step": 30})
	onEachOutreach(t, []sandbox.Option{prices}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		c.do("POST", campaigns, object{"name": "x"}).ok(201)
		c.do("POST", campaigns, object{"name": "x"}).fails(402, "INSUFFICIENT_CREDITS")
		preview := campaignPath(drafted, "steps", id(51), "preview")
		c.do("POST", preview, nil).ok(200)
		c.do("POST", preview, nil).fails(402, "INSUFFICIENT_CREDITS")
		for range 2 {
			c.do("PATCH", campaignPath(drafted), object{"name": "y"}).ok(200)
		}
		c.do("PATCH", campaignPath(drafted), object{"name": "z"}).fails(402, "INSUFFICIENT_CREDITS")
		require.EqualValues(t, 0, sb.Balance())
		require.Len(t, sb.Ledger(), 4)
		require.Len(t, sb.Campaigns(), 11)
	})
}
