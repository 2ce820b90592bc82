package sandbox_test

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

const (
	agents     = "/business/agents"
	discovery  = agents + "/person-discovery-via-filters"
	watchers   = agents + "/people-watcher"
	monitors   = agents + "/web-monitor"
	pauseRoute = "POST /business/agents/{agentId}/pause"
)

func manual() sandbox.Option { return sandbox.WithClock(sandbox.NewManualClock(start)) }

// watched are lists to watch, agents of every state, and 1,000 credits.
func watched() sandbox.Option {
	config := json.RawMessage(`{"listName":"x","entityType":"person","prompt":"p"}`)
	return sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", Credits: 1000,
		Lists: []sandbox.List{
			{ID: id(1), Name: "people", Rows: sandbox.Rows(
				sandbox.Row{"id": id(101), "socialUrl": "https://social.example/in/a"}, sandbox.Row{"id": id(102), "socialUrl": "https://social.example/in/b"}, sandbox.Row{"id": id(103)},
			)},
			{ID: id(2), Name: "more", Rows: sandbox.Rows(sandbox.Row{"id": id(102), "socialUrl": "https://social.example/in/b"}, sandbox.Row{"id": id(104), "socialUrl": "https://social.example/in/d"})},
			{ID: id(3), Name: "nobody", Rows: sandbox.Rows(sandbox.Row{"id": id(105)}, sandbox.Row{"id": id(106), "socialUrl": ""})},
			{ID: id(4), Name: "firms", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(sandbox.Row{"id": id(107), "socialUrl": "https://social.example/c"})},
			{ID: id(5), Name: "Everybody", System: true},
		},
		Agents: []sandbox.Agent{
			{ID: id(21), Name: "draft", Type: sandbox.WebMonitor, Config: config},
			{ID: id(22), Name: "busy", Type: sandbox.WebMonitor, Status: "processing"},
			{ID: id(23), Name: "active", Type: sandbox.WebMonitor, Status: "active"},
			{ID: id(24), Name: "paused", Type: sandbox.WebMonitor, Status: "paused"},
			{ID: id(25), Name: "expired", Type: sandbox.WebMonitor, Status: "expired"},
			{ID: id(26), Name: "failed", Type: sandbox.WebMonitor, Status: "failed"},
			{ID: id(27), Name: "legacy"},
			{ID: id(28), Name: "empty draft", Type: sandbox.PeopleWatcher},
		},
	}}})
}

func with(base object, changes object) object {
	merged := maps.Clone(base)
	for key, value := range changes {
		if value == gone {
			delete(merged, key)
		} else {
			merged[key] = value
		}
	}
	return merged
}

// gone takes a field out.
var gone = new(int)

func watcher() object {
	return object{"listName": "Job changes", "eventType": "social-person-profile-updates", "listId": id(1)}
}

func monitor() object {
	return object{"listName": "Openings", "entityType": "person", "prompt": "opened an office in 2026"}
}

func finder() object {
	return object{"listName": "Sellers", "anyName": []string{"Head of Sales"}}
}

func TestAgentDrafts(t *testing.T) {
	for path, body := range map[string]object{discovery: finder(), watchers: watcher(), monitors: monitor()} {
		onEachRoad(t, []sandbox.Option{watched(), manual()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
			t.Helper()
			before := sb.Lists()
			made := c.do("POST", path, body).ok(201)["agent"].(object)
			require.Len(t, made, 5)
			require.Equal(t, strings.TrimPrefix(path, agents+"/"), made["type"])
			require.Equal(t, body["listName"], made["name"])
			require.Equal(t, "initializing", made["status"])
			require.Equal(t, false, made["started"])
			require.Equal(t, before, sb.Lists(), "a draft has no results list")
			require.Empty(t, sb.Ledger())
			require.Equal(t, sb.Journal()[0].Time.AddDate(0, 1, 0), sb.Agents()[0].ExpiresAt, "a month, if nothing is said")
			sb.Advance(60 * 24 * time.Hour)
			require.Equal(t, "initializing", sb.Agents()[0].Status, "a draft never changes its state")
			c.do("POST", path, body).fails(409, "LIST_NAME_TAKEN")
		})
	}
}

// fieldCase is a change to a creation, and the param of the refusal; empty if there is none.
type fieldCase struct {
	change object
	param  string
}

func checkFields(t *testing.T, path string, base object, cases map[string]fieldCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sb := sandbox.New(t, watched(), manual())
			r := inPlace(t, sb).do("POST", path, with(base, tc.change))
			if tc.param == "" {
				r.ok(201)
				return
			}
			param, message := r.fails(422, "VALIDATION_FAILED")
			require.Equal(t, tc.param, param)
			require.Contains(t, message, tc.param)
		})
	}
}

func TestFieldsOfEveryAgent(t *testing.T) {
	day := func(n int) string { return start.AddDate(0, 0, n).Format("2006-01-02") }
	cases := map[string]fieldCase{
		"name missing":          {object{"listName": gone}, "listName"},
		"name empty":            {object{"listName": ""}, "listName"},
		"name blank":            {object{"listName": " "}, "listName"},
		"name no text":          {object{"listName": 5}, "listName"},
		"name of one character": {object{"listName": "x"}, ""},
		"start no flag":         {object{"start": "yes"}, "start"},
		"start null":            {object{"start": nil}, "start"},
		"start false":           {object{"start": false}, ""},
		"expires today":         {object{"expirationDate": day(0)}, "expirationDate"},
		"expires tomorrow":      {object{"expirationDate": day(1)}, ""},
		"expires never":         {object{"expirationDate": nil}, ""},
		"expires no date":       {object{"expirationDate": "2026-02-30"}, "expirationDate"},
		"expires at a time":     {object{"expirationDate": "2027-01-01T00:00:00Z"}, "expirationDate"},
		"expires no text":       {object{"expirationDate": 5}, "expirationDate"},
		"spends 999":            {object{"maxCreditSpend": 999}, "maxCreditSpend"},
		"spends 1000":           {object{"maxCreditSpend": 1000}, ""},
		"spends 200000":         {object{"maxCreditSpend": 200_000}, ""},
		"spends 200001":         {object{"maxCreditSpend": 200_001}, "maxCreditSpend"},
		"spends a part":         {object{"maxCreditSpend": 1000.5}, "maxCreditSpend"},
		"spends null":           {object{"maxCreditSpend": nil}, "maxCreditSpend"},
	}
	checkFields(t, monitors, monitor(), cases)
	checkFields(t, watchers, watcher(), cases)
	checkFields(t, discovery, finder(), cases)
}

func TestFieldsOfAMonitor(t *testing.T) {
	checkFields(t, monitors, monitor(), map[string]fieldCase{
		"entity missing":      {object{"entityType": gone}, "entityType"},
		"entity company":      {object{"entityType": "company"}, ""},
		"entity other":        {object{"entityType": "people"}, "entityType"},
		"prompt missing":      {object{"prompt": gone}, "prompt"},
		"prompt empty":        {object{"prompt": ""}, "prompt"},
		"prompt of 2000":      {object{"prompt": strings.Repeat("ä", 2000)}, ""},
		"prompt of 2001":      {object{"prompt": strings.Repeat("ä", 2001)}, "prompt"},
		"period of an hour":   {object{"searchPeriod": "1h"}, ""},
		"period of six hours": {object{"searchPeriod": "6h"}, ""},
		"period of a week":    {object{"searchPeriod": "7d"}, ""},
		"period other":        {object{"searchPeriod": "2h"}, "searchPeriod"},
		"no pages":            {object{"numResults": 0}, "numResults"},
		"one page":            {object{"numResults": 1}, ""},
		"100 pages":           {object{"numResults": 100}, ""},
		"101 pages":           {object{"numResults": 101}, "numResults"},
	})
}

func TestFieldsOfAWatcher(t *testing.T) {
	checkFields(t, watchers, watcher(), map[string]fieldCase{
		"event missing":          {object{"eventType": gone}, "eventType"},
		"event posts":            {object{"eventType": "social-person-post-updates"}, ""},
		"event other":            {object{"eventType": "posts"}, "eventType"},
		"no source":              {object{"listId": gone}, "listId"},
		"both sources":           {object{"listIds": []string{id(2)}}, "listId"},
		"source no id":           {object{"listId": "x"}, "listId"},
		"source no text":         {object{"listId": 5}, "listId"},
		"sources":                {object{"listId": gone, "listIds": []string{id(1), id(2), id(1)}}, ""},
		"no sources":             {object{"listId": gone, "listIds": []string{}}, "listIds"},
		"sources no ids":         {object{"listId": gone, "listIds": []string{"x"}}, "listIds"},
		"frequency 0":            {object{"frequency": 0}, "frequency"},
		"frequency 1":            {object{"frequency": 1}, ""},
		"frequency 90":           {object{"frequency": 90}, ""},
		"frequency 91":           {object{"frequency": 91}, "frequency"},
		"a field without a name": {object{"anything": true}, ""},
	})
}

func TestFieldsOfADiscovery(t *testing.T) {
	checkFields(t, discovery, finder(), map[string]fieldCase{
		"no filter":             {object{"anyName": gone}, "filters"},
		"empty filter":          {object{"anyName": []string{}}, "filters"},
		"filter no strings":     {object{"anyName": []int{5}}, "anyName"},
		"one of two filters":    {object{"other": []string{}}, ""},
		"filters inside":        {object{"anyName": gone, "f": object{"g": []string{"x"}}}, ""},
		"an unrecognised value": {object{"anyName": []string{"head of sales"}}, ""},
	})
}

func TestAllAgentFailuresAreListedFirstOffenderFirst(t *testing.T) {
	c := inPlace(t, sandbox.New(t))
	param, message := c.do("POST", monitors, object{"numResults": 0, "maxCreditSpend": 1, "entityType": "x"}).fails(422, "VALIDATION_FAILED")
	require.Equal(t, "listName", param)
	require.Equal(t, "listName is required; entityType has to be one of person, company; prompt is required; "+
		"numResults has to be 1 to 100; maxCreditSpend has to be 1000 to 200000.", message)
}

func TestAgentRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		path   string
		body   any
		status int
		code   string
	}{
		"name of a list":         {monitors, with(monitor(), object{"listName": "people"}), 409, "LIST_NAME_TAKEN"},
		"name of an agent":       {watchers, with(watcher(), object{"listName": "failed"}), 409, "LIST_NAME_TAKEN"},
		"name of a system list":  {watchers, with(watcher(), object{"listName": "everybody"}), 422, "LIST_NAME_RESERVED"},
		"no such source":         {watchers, with(watcher(), object{"listId": id(99)}), 404, "LIST_NOT_FOUND"},
		"no such second source":  {watchers, with(watcher(), object{"listId": gone, "listIds": []string{id(1), id(99)}}), 404, "LIST_NOT_FOUND"},
		"signal":                 {monitors, with(monitor(), object{"prompt": "a [Rejected] prompt"}), 422, "AGENT_SIGNAL_REJECTED"},
		"nobody to watch":        {watchers, with(watcher(), object{"listId": id(3), "start": true}), 422, "AGENT_SOURCE_LIST_EMPTY"},
		"companies to watch":     {watchers, with(watcher(), object{"listId": id(4), "start": true}), 422, "AGENT_SOURCE_LIST_EMPTY"},
		"nobody to watch, but":   {watchers, with(watcher(), object{"listId": id(3)}), 201, ""},
		"somebody among sources": {watchers, with(watcher(), object{"listId": gone, "listIds": []string{id(3), id(1)}, "start": true}), 201, ""},
		"no object":              {monitors, "[]", 400, "INVALID_REQUEST"},
		"nothing":                {monitors, nil, 422, "VALIDATION_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, []sandbox.Option{watched(), manual()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
				t.Helper()
				r := c.do("POST", tc.path, tc.body)
				if tc.status == 201 {
					r.ok(201)
					return
				}
				r.fails(tc.status, tc.code)
			})
		})
	}
}

func TestForeignListsCannotBeWatched(t *testing.T) {
	sb := sandbox.New(t, watched())
	c := inPlace(t, sb).as(sb.Workspace("b").Token())
	c.do("POST", watchers, watcher()).fails(404, "LIST_NOT_FOUND")
	c.get(agents+"/"+id(21)).fails(404, "AGENT_NOT_FOUND")
	require.Empty(t, c.get(agents).ok(200)["agents"])
}

func TestTheFreePlanHoldsTenAgents(t *testing.T) {
	for plan, full := range map[string]bool{"free": true, "team": false} {
		onEachRoad(t, []sandbox.Option{sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
			Plan: plan, Agents: []sandbox.Agent{{Name: "one of old", Status: "expired"}}, Lists: []sandbox.List{{ID: id(1), Name: "people"}},
		}}})}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
			t.Helper()
			for n := range 9 {
				c.do("POST", monitors, with(monitor(), object{"listName": strconv.Itoa(n)})).ok(201)
			}
			r := c.do("POST", monitors, monitor())
			if !full {
				r.ok(201)
				return
			}
			for path, body := range map[string]object{discovery: finder(), watchers: watcher(), monitors: monitor()} {
				c.do("POST", path, body).fails(403, "AGENT_LIMIT_REACHED")
			}
			c.do("POST", monitors, with(monitor(), object{"listName": "8"})).fails(409, "LIST_NAME_TAKEN")
			sb.Do(func(tx *sandbox.Tx) { tx.Delete("agents", sb.Agents()[9].ID) })
			c.do("POST", monitors, monitor()).ok(201)
		})
	}
}

func TestAgentListing(t *testing.T) {
	onEachRoad(t, []sandbox.Option{watched()}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		all := c.get(agents).ok(200)["agents"].([]any)
		require.Len(t, all, 8)
		require.Equal(t, object{
			"id": id(28), "type": "people-watcher", "name": "empty draft", "status": "initializing", "started": false, "listId": nil,
			"contactsFound": 0.0,
		}, all[0])
		require.Nil(t, at(all, 1, "type"), "a legacy kind")
		require.Equal(t, all[7], c.get(agents + "/" + id(21)).ok(200)["agent"])
		c.get(agents+"/"+id(99)).fails(404, "AGENT_NOT_FOUND")
		c.get(agents+"/x").fails(422, "VALIDATION_FAILED")
	})
}

func TestOnlyDraftsAreAdjustedActivatedOrLeftAlone(t *testing.T) {
	onEachRoad(t, []sandbox.Option{watched(), sandbox.WithRoute("agents.pause", pauseRoute)}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		for agent, codes := range map[int][2]string{
			21: {"", "AGENT_NOT_RUNNING"},
			22: {"AGENT_PROCESSING", "AGENT_PROCESSING"},
			23: {"AGENT_NOT_A_DRAFT", ""},
			24: {"AGENT_NOT_A_DRAFT", "AGENT_NOT_RUNNING"},
			25: {"AGENT_NOT_A_DRAFT", "AGENT_NOT_RUNNING"},
			26: {"AGENT_NOT_A_DRAFT", "AGENT_NOT_RUNNING"},
			27: {"AGENT_TYPE_UNSUPPORTED", "AGENT_NOT_RUNNING"},
			28: {"AGENT_CONFIG_MISSING", "AGENT_NOT_RUNNING"},
		} {
			path := agents + "/" + id(agent)
			if codes[0] != "" {
				c.do("PATCH", path, object{}).fails(409, codes[0])
				c.do("POST", path+"/activate", nil).fails(409, codes[0])
			}
			if codes[1] != "" {
				c.do("POST", path+"/pause", nil).fails(409, codes[1])
			}
		}
		for _, missing := range []string{id(99), strings.ToUpper(id(0xabc))} {
			c.do("PATCH", agents+"/"+missing, object{}).fails(404, "AGENT_NOT_FOUND")
			c.do("POST", agents+"/"+missing+"/activate", nil).fails(404, "AGENT_NOT_FOUND")
			c.do("POST", agents+"/"+missing+"/pause", nil).fails(404, "AGENT_NOT_FOUND")
		}
	})
}

func TestPauseIsServedOnlyWhereTheTestSays(t *testing.T) {
	c := inPlace(t, sandbox.New(t, watched()))
	c.do("POST", agents+"/"+id(23)+"/pause", nil).fails(404, "ENDPOINT_NOT_FOUND")
	sb := sandbox.New(t, watched(), sandbox.WithRoute("agents.pause", "PUT /business/agents/{agentId}/status"))
	c = inPlace(t, sb)
	require.Equal(t, "paused", at(c.do("PUT", agents+"/"+id(23)+"/status", nil).ok(200), "agent", "status"))
	c.do("PUT", agents+"/"+id(23)+"/status", nil).fails(409, "AGENT_NOT_RUNNING")
}

func TestAgentAdjust(t *testing.T) {
	onEachRoad(t, []sandbox.Option{watched(), manual()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		path := agents + "/" + at(c.do("POST", watchers, watcher()).ok(201), "agent", "id").(string)
		require.Equal(t, "New name", at(c.do("PATCH", path, object{"listName": "New name", "listIds": []string{id(2)}}).ok(200), "agent", "name"))
		c.do("PATCH", path, object{"expirationDate": "2026-04-01"}).ok(200)
		agent := sb.Agents()[0]
		require.JSONEq(t, `{"listName":"New name","eventType":"social-person-profile-updates","listIds":["`+id(2)+`"],"expirationDate":"2026-04-01"}`, string(agent.Config))
		require.Equal(t, time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), agent.ExpiresAt)
		c.do("PATCH", path, object{"expirationDate": nil}).ok(200)
		require.Zero(t, sb.Agents()[0].ExpiresAt)

		for param, change := range map[string]any{"start": true, "frequency": 91, "eventType": "x", "listName": "", "maxCreditSpend": 1, "listId": "x"} {
			refused, _ := c.do("PATCH", path, object{param: change}).fails(422, "VALIDATION_FAILED")
			require.Equal(t, param, refused)
		}
		require.Equal(t, "New name ", at(c.do("PATCH", path, object{"listName": "New name "}).ok(200), "agent", "name"), "it is its own")
		c.do("PATCH", path, object{"listName": "people"}).fails(409, "LIST_NAME_TAKEN")
		c.do("PATCH", path, object{"listId": id(99)}).fails(404, "LIST_NOT_FOUND")
		c.do("PATCH", path, "[").fails(400, "INVALID_REQUEST")
		c.do("PATCH", agents+"/"+id(21), object{"prompt": "[rejected]"}).fails(422, "AGENT_SIGNAL_REJECTED")
	})
}

func TestAutocomplete(t *testing.T) {
	own := sandbox.Agents(sandbox.AgentPlan{Vocabulary: map[string][]string{"industry": {"Cheese"}}})
	onEachRoad(t, []sandbox.Option{own}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
		t.Helper()
		require.Contains(t, c.get(agents+"/autocomplete", "field", "title").ok(200)["values"], "Head of Sales")
		require.Equal(t, []any{"Berlin, Germany"}, c.get(agents+"/autocomplete", "field", "region", "anything", "berl").ok(200)["values"])
		require.Equal(t, []any{"Cheese"}, c.get(agents+"/autocomplete", "field", "industry").ok(200)["values"])
		require.Empty(t, c.get(agents+"/autocomplete", "field", "industry", "q", "x").ok(200)["values"])
		for _, query := range [][]string{{}, {"field", ""}, {"field", "employer"}} {
			param, _ := c.get(agents+"/autocomplete", query...).fails(422, "VALIDATION_FAILED")
			require.Equal(t, "field", param)
		}
	})
}
