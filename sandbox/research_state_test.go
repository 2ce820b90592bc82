package sandbox_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestAgentsSearchesAndImportsSurviveWritingAndReading(t *testing.T) {
	state := sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
		Name: "a",
		Agents: []sandbox.Agent{{
			ID: id(1), Type: sandbox.PeopleWatcher, Name: "x", Status: "processing", ListID: id(2), Config: json.RawMessage(`{"listName":"x"}`),
			ExpiresAt: start, Running: true, BeganAt: start, NextAt: start, Due: 1, Spent: 2, Runs: 3, Delivered: 4,
		}},
		FilterOptions: map[string][]string{"k": {"v"}},
		Prospects:     sandbox.Rows(sandbox.Row{"k": "v"}),
		Companies:     sandbox.Rows(sandbox.Row{"name": "A"}),
		SavedSearches: []sandbox.SavedSearch{{ID: id(3), Name: "s", Companies: true, Filters: json.RawMessage(`{}`)}},
		Activities:    []sandbox.Activity{{ContactID: id(4), Type: "note", At: start, Scheduled: true}},
		Imports:       []sandbox.Import{{ID: id(5), Name: "f.csv", Format: "csv", Size: 6, Rows: 7, Reserved: true, Uploaded: true}},
		Lists:         []sandbox.List{{ID: id(2), Name: "x", Rows: sandbox.Rows(sandbox.Row{"id": rid("r")})}},
	}}}
	var file bytes.Buffer
	_, err := state.WriteTo(&file)
	require.NoError(t, err)
	again, err := sandbox.ReadState(&file)
	require.NoError(t, err)
	require.Equal(t, state, again)

	snapshot := sandbox.New(t, sandbox.Seed(state), sandbox.WithClock(sandbox.NewManualClock(start.Add(-time.Hour)))).Snapshot().Workspaces[0]
	want := state.Workspaces[0]
	require.Equal(t, want.Agents, snapshot.Agents)
	require.Equal(t, want.FilterOptions, snapshot.FilterOptions)
	require.Equal(t, want.Prospects, snapshot.Prospects)
	require.Equal(t, want.Companies, snapshot.Companies)
	require.Equal(t, want.SavedSearches, snapshot.SavedSearches)
	require.Equal(t, want.Activities, snapshot.Activities)
	require.Equal(t, want.Imports, snapshot.Imports)
}

func TestReadStateRefusesAgentsSearchesAndImports(t *testing.T) {
	for name, tc := range map[string]struct{ workspace, want string }{
		"agent type":         {`"agents":[{"name":"x","type":"y"}]`, `unknown type "y"`},
		"agent status":       {`"agents":[{"name":"x","status":"running"}]`, `unknown status "running"`},
		"agent list":         {`"agents":[{"name":"x","listId":"` + id(1) + `"}]`, "no list has the id"},
		"agent config":       {`"agents":[{"name":"x","config":[]}]`, "not a JSON object"},
		"agent id":           {`"agents":[{"name":"x","id":"1"}]`, "24 hexadecimal digits"},
		"saved search id":    {`"savedSearches":[{"name":"x","id":"1"}]`, "24 hexadecimal digits"},
		"import id twice":    {`"imports":[{"id":"` + id(1) + `"},{"id":"` + id(1) + `"}]`, "appears twice"},
		"prospect":           {`"prospects":[5]`, "prospect 0: not a JSON object"},
		"company":            {`"companies":[[]]`, "company 0: not a JSON object"},
		"activity":           {`"activities":[{"type":"note"}]`, "lacks its type, or the id of its contact"},
		"activity of a type": {`"activities":[{"contactId":"` + id(1) + `"}]`, "lacks its type, or"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sandbox.ReadState(strings.NewReader(`{"format":1,"workspaces":[{` + tc.workspace + `}]}`))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestSenselessPlansAreReported(t *testing.T) {
	for name, opt := range map[string]sandbox.Option{
		"started":    sandbox.Agents(sandbox.AgentPlan{Started: "running"}),
		"every":      sandbox.Agents(sandbox.AgentPlan{Every: -1}),
		"between":    sandbox.Agents(sandbox.AgentPlan{Between: -1}),
		"fails":      sandbox.Agents(sandbox.AgentPlan{FailsAt: -1}),
		"enrichment": sandbox.Agents(sandbox.AgentPlan{Enrichment: -1}),
		"ttl":        sandbox.Scrolling(sandbox.ScrollPlan{TTL: -1}),
		"code":       sandbox.Scrolling(sandbox.ScrollPlan{Code: "TOKEN_EXPIRED"}),
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			inPlace(t, sandbox.New(rec, opt)).get("/business/me").ok(200)
			require.Len(t, rec.errors, 1)
		})
	}
	for name, act := range map[string]func(*sandbox.Tx){
		"activity":     func(tx *sandbox.Tx) { tx.AddActivity(sandbox.Activity{Type: "note"}) },
		"saved search": func(tx *sandbox.Tx) { tx.SaveSearch(sandbox.SavedSearch{ID: "1", Name: "x"}) },
		"taken":        func(tx *sandbox.Tx) { tx.SaveSearch(sandbox.SavedSearch{ID: id(31), Name: "x"}) },
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			sandbox.New(rec, prospects()).Do(act)
			require.Len(t, rec.errors, 1)
		})
	}
}

// FuzzImports throws anything at the reader of forms and files.
func FuzzImports(f *testing.F) {
	const head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n"
	for _, body := range []string{
		"", "--b--", head, head + "a\nb\n\r\n--b--", head + "PK\x03\x04\r\n--b--", head + "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\r\n--b--",
		head + "\"a\nb,\"\"\r\n--b--", strings.Replace(head, "file", "importId", 1) + id(1) + "\r\n--b--",
	} {
		f.Add("multipart/form-data; boundary=b", body)
	}
	f.Add("multipart/form-data", head)
	f.Add("multipart/form-data; boundary=\"\x00\"", head)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		sb := sandbox.New(t)
		c := inPlace(t, sb)
		req := c.request("POST", imports, body)
		req.Header.Set("Content-Type", contentType)
		r, err := c.send(req)
		require.NoError(t, err)
		require.Less(t, r.status, 500)
		require.True(t, json.Valid(r.raw))
		require.Empty(t, sb.Problems())
	})
}
