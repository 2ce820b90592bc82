package sandbox_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

const (
	campaigns = "/business/campaigns"
	previews  = "POST /business/campaigns/{campaignId}/steps/{stepId}/preview"
)

// The lists and campaigns of outreachState.
var (
	reached     = id(1) // one contact by email, one by both, one by nothing
	linked      = id(2) // one contact, by the social network only
	nobody      = id(3)
	companyList = id(4)
	drafted     = id(11)
	active      = id(12)
	stopped     = id(13)
	running     = id(14) // being initialized, until a minute after start
	locked      = id(15) // until a minute after start
	bare        = id(16) // nothing at all
	deleted     = id(17)
	shared      = id(18)
	handed      = id(19) // delegated
	lost        = id(20) // its list is gone
	ready       = id(31)
	building    = id(32) // until a minute after start
	ancient     = id(33) // from before there were pages
	foreign     = id(34) // a teammate's
	fact        = id(41)
)

func campaignPath(id string, rest ...string) string {
	path := campaigns + "/" + id
	for _, part := range rest {
		path += "/" + part
	}
	return path
}

func outreachState() sandbox.State {
	seed := func(id, name, status string) sandbox.Campaign {
		c := sandbox.ReadyCampaign(name, reached)
		c.ID, c.Status, c.CreatedAt = id, status, start.Add(-time.Hour)
		return c
	}
	inStep := seed(drafted, "drafted", "")
	inStep.Steps[0].ID = id(51)
	sending := seed(active, "active", "active")
	sending.Steps[0].ID = id(52)
	for i, state := range []string{
		"scheduled", "approval_required", "sent", "skipped", "stopped", "overwritten", "replied", "failed", "waiting",
	} {
		sending.Sends = append(sending.Sends, sandbox.Send{
			ID: id(60 + i), StepID: id(52), ContactID: id(101), State: state, DueAt: start.Add(time.Hour), Subject: "Hello",
		})
	}
	preparing := seed(running, "running", "")
	preparing.InitializationStatus, preparing.InitializedAt = "running", start.Add(time.Minute)
	busy := seed(locked, "locked", "")
	busy.LockedUntil = start.Add(time.Minute)
	gone, seen, given := seed(deleted, "deleted", ""), seed(shared, "shared", ""), seed(handed, "delegated", "")
	listless := seed(lost, "lost", "")
	listless.ListIDs = []string{id(5)}
	gone.Access, seen.Access, given.Access = "deleted", "shared", "delegated"
	return sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", Credits: 100, Accounts: []string{"email", "social"},
		Lists: []sandbox.List{
			{ID: reached, Name: "people", Rows: sandbox.Rows(
				sandbox.Row{"id": id(101), "firstName": "Ada", "email": "ada@engines.example"},
				sandbox.Row{"id": id(102), "firstName": "Bob", "email": "bob@engines.example", "socialUrl": "https://social.example/bob"},
				sandbox.Row{"id": id(103), "firstName": "Eve", "email": " "},
			)},
			{ID: linked, Name: "linked", Rows: sandbox.Rows(sandbox.Row{"id": id(104), "socialUrl": "https://social.example/zoe"})},
			{ID: nobody, Name: "nobody"},
			{ID: companyList, Name: "firms", EntityType: sandbox.CompanyList},
		},
		Campaigns: []sandbox.Campaign{
			listless, inStep, sending, seed(stopped, "stopped", "stopped"), preparing, busy, {ID: bare, Name: "bare"}, gone, seen, given,
		},
		Facts: []sandbox.Fact{
			{ID: fact, Claim: "Teams save a day a week.", Category: "products"},
			{ID: id(42), Claim: "Old.", Retired: true},
			{ID: id(43), Claim: "Theirs.", OtherTeam: true},
		},
		Hubs: []sandbox.Hub{
			{ID: ready, Name: "ready", Default: true, Pages: []sandbox.HubPage{{ID: id(81), Title: "Overview"}, {ID: id(82), Title: "Pricing"}}},
			{ID: building, Name: "building", Status: "processing", ReadyAt: start.Add(time.Minute)},
			{ID: ancient, Name: "ancient", Pageless: true},
			{ID: foreign, Name: "foreign", Teammate: true},
		},
	}}}
}

// outreachOptions are a clock that stands at start, and the state.
func outreachOptions(more ...sandbox.Option) []sandbox.Option {
	return append([]sandbox.Option{
		sandbox.Seed(outreachState()), sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.WithRoute("campaigns.preview-step", previews),
	}, more...)
}

// onEachOutreach runs a test on each road, each time with its own clock.
func onEachOutreach(t *testing.T, more []sandbox.Option, test func(t *testing.T, sb *sandbox.Sandbox, c caller)) {
	t.Helper()
	for road, dial := range map[string]func(testing.TB, *sandbox.Sandbox) caller{"transport": inPlace, "socket": bySocket} {
		t.Run(road, func(t *testing.T) {
			sb := sandbox.New(t, outreachOptions(more...)...)
			test(t, sb, dial(t, sb))
		})
	}
}

func TestOutreachSurvivesASnapshot(t *testing.T) {
	sb := sandbox.New(t, outreachOptions()...)
	c := inPlace(t, sb)
	c.do("POST", campaigns, object{"name": "new", "listIds": []string{reached}}).ok(201)
	c.do("POST", campaignPath(drafted, "approve"), nil).ok(202)
	snapshot := sb.Snapshot()
	require.Len(t, snapshot.Workspaces[0].Campaigns, 11)

	clock := sandbox.NewManualClock(start)
	again := sandbox.New(t, sandbox.Seed(snapshot), sandbox.WithClock(clock))
	sameState(t, snapshot, again.Snapshot())
	sb.Advance(48 * time.Hour)
	again.Advance(48 * time.Hour)
	sameState(t, sb.Snapshot(), again.Snapshot())
	require.Len(t, again.Outbox(), len(sb.Outbox()))
	require.NotEmpty(t, again.Outbox())

	snapshot.Workspaces[0].Campaigns[0].Steps[0].Subject = "changed by the caller"
	snapshot.Workspaces[0].Campaigns[2].Sends[0].State = "changed by the caller"
	snapshot.Workspaces[0].Hubs[0].Pages[0].Title = "changed by the caller"
	sameState(t, sb.Snapshot(), again.Snapshot())
}

func TestUndatedSeedsBeginWithTheFirstUse(t *testing.T) {
	state := outreachState()
	ws := &state.Workspaces[0]
	for i := range ws.Campaigns {
		ws.Campaigns[i].CreatedAt = time.Time{}
	}
	ws.Campaigns[2].Sends[0].DueAt = time.Time{}
	sb := sandbox.New(t, sandbox.Seed(state)) // outside the bubble
	synctest.Test(t, func(t *testing.T) {
		body := inPlace(t, sb).get(campaigns).ok(200)
		require.Equal(t, "delegated", at(body, "campaigns", 0, "name"))
		require.Equal(t, "1999-12-31T23:59:59.000Z", at(body, "campaigns", 0, "createdAt"))
		require.Empty(t, sb.Outbox())
		time.Sleep(time.Minute)
		require.Len(t, sb.Outbox(), 1, "a minute later")
	})
}

func TestInvalidOutreachIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		ws   sandbox.Workspace
		want string
	}{
		"account":        {sandbox.Workspace{Accounts: []string{"fax"}}, `unknown account "fax"`},
		"status":         {sandbox.Workspace{Campaigns: []sandbox.Campaign{{Status: "paused"}}}, `unknown status "paused"`},
		"access":         {sandbox.Workspace{Campaigns: []sandbox.Campaign{{Access: "public"}}}, `unknown access "public"`},
		"initialization": {sandbox.Workspace{Campaigns: []sandbox.Campaign{{InitializationStatus: "done"}}}, `"done"`},
		"channel":        {sandbox.Workspace{Campaigns: []sandbox.Campaign{{Channels: []string{"fax"}}}}, `unknown channel "fax"`},
		"short id":       {sandbox.Workspace{Campaigns: []sandbox.Campaign{{ID: "12"}}}, "24 hexadecimal digits"},
		"lists":          {sandbox.Workspace{Campaigns: []sandbox.Campaign{{ListIDs: manyIDs(11)}}}, "11 lists"},
		"step type":      {sandbox.Workspace{Campaigns: []sandbox.Campaign{{Steps: []sandbox.Step{{Type: "fax"}}}}}, `unknown step type "fax"`},
		"step order": {sandbox.Workspace{Campaigns: []sandbox.Campaign{{Steps: []sandbox.Step{
			{Type: "social_message"}, {Type: "social_connection"},
		}}}}, "STEP_ORDER_INVALID"},
		"same id":  {sandbox.Workspace{Facts: []sandbox.Fact{{ID: id(1)}, {ID: id(1)}}}, "appears twice"},
		"category": {sandbox.Workspace{Facts: []sandbox.Fact{{Category: "gossip"}}}, `unknown category "gossip"`},
		"hub":      {sandbox.Workspace{Hubs: []sandbox.Hub{{Status: "new"}}}, `unknown status "new"`},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, sandbox.State{Workspaces: []sandbox.Workspace{tc.ws}}.Validate(), tc.want)
		})
	}
}

func TestSenselessActsOnCampaignsAreReported(t *testing.T) {
	for name, act := range map[string]func(*sandbox.Tx){
		"connect":          func(tx *sandbox.Tx) { tx.ConnectAccount("fax") },
		"create: id taken": func(tx *sandbox.Tx) { tx.CreateCampaign(sandbox.Campaign{ID: drafted}) },
		"create: status":   func(tx *sandbox.Tx) { tx.CreateCampaign(sandbox.Campaign{Status: "paused"}) },
		"stop a draft":     func(tx *sandbox.Tx) { tx.StopCampaign(drafted) },
		"stop nothing":     func(tx *sandbox.Tx) { tx.StopCampaign(id(77)) },
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			sb := sandbox.New(rec, outreachOptions()...)
			before := sb.Snapshot()
			sb.Do(act)
			require.Len(t, rec.errors, 1)
			sameState(t, before, sb.Snapshot())
		})
	}
}

func TestRoutesThatAreLeftOpen(t *testing.T) {
	path := campaignPath(drafted, "steps", id(51), "preview")
	inPlace(t, sandbox.New(t, sandbox.Seed(outreachState()))).do("POST", path, nil).fails(404, "ENDPOINT_NOT_FOUND")
	sb := sandbox.New(t, outreachOptions(sandbox.WithRoute("hubs.pages", "GET /hubs/{hubId}/pages"))...)
	c := inPlace(t, sb)
	c.do("POST", path, nil).ok(200)
	require.Equal(t, 1, sb.Calls("campaigns.preview-step"))
	c.get("/hubs/" + ready + "/pages").ok(200)
	c.get("/business/knowledge-hubs/"+ready+"/pages").fails(404, "ENDPOINT_NOT_FOUND")
	sb.Fail("campaigns.preview-step", sandbox.HTML(502))
	require.Equal(t, 502, c.do("POST", path, nil).status)

	for name, opt := range map[string]sandbox.Option{
		"unknown":    sandbox.WithRoute("campaigns.stop", "POST /x"),
		"documented": sandbox.WithRoute("lists.list", "GET /x"),
		"method":     sandbox.WithRoute("campaigns.preview-step", "GET /x/{campaignId}/{stepId}"),
		"no method":  sandbox.WithRoute("agents.pause", "/x/{agentId}"),
		"unclean":    sandbox.WithRoute("agents.pause", "POST /x//{agentId}"),
		"parameter":  sandbox.WithRoute("campaigns.preview-step", "POST /x/{campaignId}"),
		"taken":      sandbox.WithRoute("agents.pause", "POST /business/agents/{agentId}/activate"),
		"malformed":  sandbox.WithRoute("agents.pause", "POST /x/{agentId}/{"),
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			inPlace(t, sandbox.New(rec, opt)).get("/business/me").ok(200)
			require.Len(t, rec.errors, 1)
			require.Contains(t, rec.errors[0], "WithRoute")
		})
	}
}
