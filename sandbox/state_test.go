package sandbox_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestStateSurvivesWritingAndReading(t *testing.T) {
	state := sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
		Name: "a", User: sandbox.User{Name: "Ada"}, Credits: 7, Plan: "free",
		Keys:    []sandbox.Key{{Name: "k", Token: "t", Scopes: []string{"lists"}, ExpiresAt: time.Date(2030, 1, 2, 3, 4, 5, 6e6, time.UTC)}},
		Folders: []sandbox.Folder{{ID: "0123456789abcdef01234567", Name: "f", Type: sandbox.ContactList}},
		CRM:     sandbox.CRM{Connected: []string{"crm-1"}},
		Lists: []sandbox.List{
			{Name: "one", Rows: sandbox.Rows(sandbox.Row{"id": rid("x"), "n": 1.5}, sandbox.Row{"id": rid("y"), "s": "<&>"})},
			{Name: "two", EntityType: sandbox.CompanyList, Columns: []sandbox.Column{{Name: "c", Type: "number"}}},
		},
	}, {Name: "b"}}}

	var file bytes.Buffer
	n, err := state.WriteTo(&file)
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), n)
	require.Contains(t, file.String(), "\n  {\"id\":\""+rid("x")+"\",\"n\":1.5},\n  {", "one row to a line")

	again, err := sandbox.ReadState(&file)
	require.NoError(t, err)
	again.Workspaces[0].Lists[1].Rows = nil // an empty array is written for no rows
	again.Workspaces[1].Lists = nil
	require.Equal(t, state, again)
}

func TestReadStateRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ file, want string }{
		"not JSON":               {`{`, "unexpected EOF"},
		"unknown field":          {`{"format":1,"workspace":[]}`, "unknown field"},
		"another format":         {`{"format":2}`, "format 2"},
		"no format":              {`{}`, "format 0"},
		"trailing":               {`{"format":1}{}`, "data after"},
		"twice":                  {`{"format":1,"workspaces":[{"name":"a"},{"name":"a"}]}`, `"a" appears twice`},
		"negative credits":       {`{"format":1,"workspaces":[{"credits":-1}]}`, "credits are negative"},
		"unknown scope":          {`{"format":1,"workspaces":[{"keys":[{"scopes":["list"]}]}]}`, `unknown scope "list"`},
		"shared token":           {`{"format":1,"workspaces":[{"keys":[{"token":"t"},{"token":"t"}]}]}`, "another key has its token"},
		"short id":               {`{"format":1,"workspaces":[{"lists":[{"id":"12","name":"x"}]}]}`, "24 hexadecimal digits"},
		"nameless list":          {`{"format":1,"workspaces":[{"lists":[{}]}]}`, "has no name"},
		"list kind":              {`{"format":1,"workspaces":[{"lists":[{"name":"x","entityType":"list"}]}]}`, `unknown entity type "list"`},
		"folder kind":            {`{"format":1,"workspaces":[{"folders":[{"name":"x","type":"y"}]}]}`, `unknown type "y"`},
		"folder twice":           {`{"format":1,"workspaces":[{"folders":[{"name":"x","type":"agent"},{"name":"x","type":"campaign"},{"name":"x","type":"agent"}]}]}`, `another agent folder has the name`},
		"folder missing":         {`{"format":1,"workspaces":[{"lists":[{"name":"x","folderId":"0123456789abcdef01234567"}]}]}`, "no contactList folder has the id"},
		"folder of another kind": {`{"format":1,"workspaces":[{"folders":[{"id":"0123456789abcdef01234567","name":"x","type":"companyList"}],"lists":[{"name":"x","folderId":"0123456789abcdef01234567"}]}]}`, "no contactList folder has the id"},
		"one id in two cases":    {`{"format":1,"workspaces":[{"lists":[{"id":"0123456789abcdef01234567","name":"x"},{"id":"0123456789ABCDEF01234567","name":"y"}]}]}`, "appears twice"},
		"row not object":         {`{"format":1,"workspaces":[{"lists":[{"name":"x","rows":[1]}]}]}`, "not a JSON object"},
		"row id":                 {`{"format":1,"workspaces":[{"lists":[{"name":"x","rows":[{"id":1}]}]}]}`, "the id is not 24 hexadecimal digits"},
		"row id, short":          {`{"format":1,"workspaces":[{"lists":[{"name":"x","rows":[{"id":"ada"}]}]}]}`, "the id is not 24 hexadecimal digits"},
		"column id":              {`{"format":1,"workspaces":[{"lists":[{"name":"x","columns":[{"id":"c","name":"c","type":"string"}]}]}]}`, "24 hexadecimal digits"},
		"user id":                {`{"format":1,"workspaces":[{"user":{"id":"u"}}]}`, "24 hexadecimal digits"},
		"row twice":              {`{"format":1,"workspaces":[{"lists":[{"name":"x","rows":[{"id":"0123456789abcdef01234567"},{"id":"0123456789abcdef01234567"}]}]}]}`, "another row has the id 0123456789abcdef01234567"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sandbox.ReadState(strings.NewReader(tc.file))
			require.ErrorContains(t, err, tc.want)
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
		tx.CreateFact(sandbox.Fact{ID: id(2), Claim: "x"})
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
