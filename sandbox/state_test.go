package sandbox_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// A seed is the same in Go and as JSON, and so is what a sandbox shows of it.
func TestASeedIsKept(t *testing.T) {
	state := fixture.Small(1)
	text, err := json.Marshal(state)
	require.NoError(t, err)
	var again sandbox.State
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, state, again)

	first := sandbox.New(t, sandbox.Seed(state), manual()).Snapshot()
	sameState(t, first, sandbox.New(t, sandbox.Seed(first), manual()).Snapshot())
	for i, ws := range first.Workspaces {
		seed := state.Workspaces[i]
		require.Equal(t, seed.Lists[1].Rows, ws.Lists[1].Rows)
		require.Equal(t, seed.SavedSearches, ws.SavedSearches)
		require.Equal(t, seed.Facts, ws.Facts)
		require.Len(t, ws.Campaigns, len(seed.Campaigns))
		require.Len(t, ws.Activities, len(seed.Activities))
	}
}

func TestValidateRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"twice":                  {`{"workspaces":[{"name":"a"},{"name":"a"}]}`, `another one is called "a"`},
		"negative credits":       {`{"workspaces":[{"credits":-1}]}`, "credits are negative"},
		"unknown scope":          {`{"workspaces":[{"keys":[{"scopes":["list"]}]}]}`, `unknown scope "list"`},
		"shared token":           {`{"workspaces":[{"keys":[{"token":"t"},{"token":"t"}]}]}`, "another key has its token"},
		"short id":               {`{"workspaces":[{"lists":[{"id":"12","name":"x"}]}]}`, "24 hexadecimal digits"},
		"nameless list":          {`{"workspaces":[{"lists":[{}]}]}`, "has no name"},
		"list kind":              {`{"workspaces":[{"lists":[{"name":"x","entityType":"list"}]}]}`, `unknown entity type "list"`},
		"folder kind":            {`{"workspaces":[{"folders":[{"name":"x","type":"y"}]}]}`, `unknown type "y"`},
		"folder twice":           {`{"workspaces":[{"folders":[{"name":"x","type":"agent"},{"name":"x","type":"campaign"},{"name":"x","type":"agent"}]}]}`, `another agent folder has the name`},
		"folder missing":         {`{"workspaces":[{"lists":[{"name":"x","folderId":"0123456789abcdef01234567"}]}]}`, "no contactList folder has the id"},
		"folder of another kind": {`{"workspaces":[{"folders":[{"id":"0123456789abcdef01234567","name":"x","type":"companyList"}],"lists":[{"name":"x","folderId":"0123456789abcdef01234567"}]}]}`, "no contactList folder has the id"},
		"one id in two cases":    {`{"workspaces":[{"lists":[{"id":"0123456789abcdef01234567","name":"x"},{"id":"0123456789ABCDEF01234567","name":"y"}]}]}`, "appears twice"},
		"row not object":         {`{"workspaces":[{"lists":[{"name":"x","rows":[1]}]}]}`, "not a JSON object"},
		"row id":                 {`{"workspaces":[{"lists":[{"name":"x","rows":[{"id":1}]}]}]}`, "the id is not 24 hexadecimal digits"},
		"row id, short":          {`{"workspaces":[{"lists":[{"name":"x","rows":[{"id":"ada"}]}]}]}`, "the id is not 24 hexadecimal digits"},
		"column id":              {`{"workspaces":[{"lists":[{"name":"x","columns":[{"id":"c","name":"c","type":"string"}]}]}]}`, "24 hexadecimal digits"},
		"user id":                {`{"workspaces":[{"user":{"id":"u"}}]}`, "24 hexadecimal digits"},
		"agent type":             {`{"workspaces":[{"agents":[{"name":"x","type":"y"}]}]}`, `unknown type "y"`},
		"agent status":           {`{"workspaces":[{"agents":[{"name":"x","status":"running"}]}]}`, `unknown status "running"`},
		"agent list":             {`{"workspaces":[{"agents":[{"name":"x","listId":"000000000000000000000001"}]}]}`, "no list has the id"},
		"agent config":           {`{"workspaces":[{"agents":[{"name":"x","config":[]}]}]}`, "not a JSON object"},
		"agent id":               {`{"workspaces":[{"agents":[{"name":"x","id":"1"}]}]}`, "24 hexadecimal digits"},
		"saved search id":        {`{"workspaces":[{"savedSearches":[{"name":"x","id":"1"}]}]}`, "24 hexadecimal digits"},
		"import id twice":        {`{"workspaces":[{"imports":[{"id":"000000000000000000000001"},{"id":"000000000000000000000001"}]}]}`, "appears twice"},
		"prospect":               {`{"workspaces":[{"prospects":[5]}]}`, "prospect or company 0: not a JSON object"},
		"company":                {`{"workspaces":[{"companies":[[]]}]}`, "prospect or company 0: not a JSON object"},
		"activity":               {`{"workspaces":[{"activities":[{"type":"note"}]}]}`, "lacks its type, or the id of its contact"},
		"activity of a type":     {`{"workspaces":[{"activities":[{"contactId":"000000000000000000000001"}]}]}`, "lacks its type, or"},
		"row twice":              {`{"workspaces":[{"lists":[{"name":"x","rows":[{"id":"0123456789abcdef01234567"},{"id":"0123456789abcdef01234567"}]}]}]}`, "another row has the id 0123456789abcdef01234567"},
	} {
		t.Run(name, func(t *testing.T) {
			var state sandbox.State
			require.NoError(t, json.Unmarshal([]byte(tc.file), &state))
			require.ErrorContains(t, state.Validate(), tc.want)
		})
	}
}

// Ids are unique within their kind: one may be that of a list, a campaign and a fact.
func TestOneIdMayServeSeveralKinds(t *testing.T) {
	state := sandbox.State{Workspaces: []sandbox.Workspace{{
		Folders: []sandbox.Folder{{ID: id(1), Name: "f", Type: "agent"}}, Lists: []sandbox.List{{ID: id(1), Name: "l"}},
		Campaigns: []sandbox.Campaign{{ID: id(1), Name: "c"}}, Facts: []sandbox.Fact{{ID: id(1), Claim: "Saves time."}},
		Hubs: []sandbox.Hub{{ID: id(1), Name: "h"}}, Agents: []sandbox.Agent{{ID: id(1), Name: "a"}},
		SavedSearches: []sandbox.SavedSearch{{ID: id(1), Name: "s"}}, Imports: []sandbox.Import{{ID: id(1), Reserved: true}},
	}}}
	sb := sandbox.New(t, sandbox.Seed(state))
	c := inPlace(t, sb)
	c.get(lists + "/" + id(1)).ok(200)
	c.do("PATCH", facts+id(1), object{"category": "faq"}).ok(200)
	c.get(campaignPath(id(1), "steps")).ok(200)
	sb.Do(func(tx *sandbox.Tx) {
		tx.Put("facts", sandbox.Row{"id": id(2), "claim": "x"})
		tx.CreateCampaign(sandbox.Campaign{ID: id(2), Name: "x"})
	})
	require.Len(t, sb.Campaigns(), 2)
}

func TestTokensThatNoRequestCanCarry(t *testing.T) {
	for _, token := range []string{"a:b", "a\nexport X=1", "a\x1b[2J", "\u202e"} {
		state := sandbox.State{Workspaces: []sandbox.Workspace{{Keys: []sandbox.Key{{Token: token}}}}}
		require.ErrorContains(t, state.Validate(), "no colon and no control character", "%q", token)
	}
}

func TestTeammatesPutObjects(t *testing.T) {
	sb := sandbox.New(t, manual())
	c := inPlace(t, sb)
	var hub string
	sb.Do(func(tx *sandbox.Tx) {
		hub = tx.Put("hubs", sandbox.Row{"name": "Company", "pages": []sandbox.Row{{"title": "Prices"}}})
		require.Equal(t, hub, tx.Put("hubs", sandbox.Row{"id": strings.ToUpper(hub), "default": true, "status": "processing", "readyAt": start.Add(time.Hour)}))
	})
	require.Len(t, sb.Snapshot().Workspaces[0].Hubs, 1)
	require.Equal(t, "Prices", sb.Snapshot().Workspaces[0].Hubs[0].Pages[0].Title, "what is not given stays")
	require.True(t, sb.Snapshot().Workspaces[0].Hubs[0].Default)
	c.get(hubs+"/"+hub+"/pages").fails(409, "KNOWLEDGE_HUB_NOT_READY")
	require.Equal(t, []string{"hub ready"}, kinds(sb.Advance(time.Hour)), "its time was set")
	again := sandbox.New(t, sandbox.Seed(sb.Snapshot()))
	again.Do(func(tx *sandbox.Tx) { require.NotEqual(t, hub, tx.Put("hubs", sandbox.Row{"name": "another"})) })
}

func TestTheCaseOfTheFieldsOfAPutDoesNotMatter(t *testing.T) {
	sb := sandbox.New(t)
	sb.Do(func(tx *sandbox.Tx) {
		tx.Put("lists", sandbox.Row{"Id": id(1), "Name": "made"})
		tx.Put("lists", sandbox.Row{"ID": id(1), "NAME": "renamed"})
	})
	require.Len(t, sb.Lists(), 1)
	require.Equal(t, "renamed", sb.Lists()[0].Name)
}

func TestAWrongPutIsReported(t *testing.T) {
	for kind, fields := range map[string]sandbox.Row{
		"gadgets": {}, "hubs": {"name": 1}, "agents": {"name": "x", "status": "asleep"}, "facts": {"claim": "x", "colour": "red"}, "folders": {"name": "x", "type": "agent", "id": "1"},
	} {
		rec := &recorder{}
		sb := sandbox.New(rec)
		before := sb.Snapshot()
		sb.Do(func(tx *sandbox.Tx) { require.Empty(t, tx.Put(kind, fields), kind) })
		require.Len(t, rec.errors, 1, kind)
		sameState(t, before, sb.Snapshot())
	}
}
