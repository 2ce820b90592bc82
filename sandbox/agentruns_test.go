package sandbox_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// kinds are those of events, in order.
func kinds(events []sandbox.Event) []string {
	var out []string
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// amounts are those of the ledger.
func amounts(sb *sandbox.Sandbox) []int64 {
	var out []int64
	for _, e := range sb.Ledger() {
		out = append(out, e.Amount)
	}
	return out
}

func TestAMonitorDeliversForFiftyCreditsEach(t *testing.T) {
	onEachRoad(t, []sandbox.Option{watched(), manual()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		made := c.do("POST", monitors, with(monitor(), object{"start": true, "searchPeriod": "6h"})).ok(201)["agent"].(object)
		begun := sb.Journal()[0].Time
		require.Equal(t, "processing", made["status"])
		require.Equal(t, true, made["started"])
		require.Equal(t, []sandbox.LedgerEntry{{
			Time: begun, Operation: "agents.create-web-monitor", RequestID: "req_000001", Amount: -250, Reason: "run of Openings", Balance: 750,
		}}, sb.Ledger())

		path := agents + "/" + made["id"].(string)
		record := c.get(path).ok(200)["agent"].(object)
		require.EqualValues(t, 1, record["contactsFound"], "the first result comes at once")
		list := record["listId"].(string)
		require.Equal(t, "Openings", at(c.get(lists+"/"+list).ok(200), "list", "name"))
		c.do("PATCH", path, object{}).fails(409, "AGENT_PROCESSING")
		c.do("POST", path+"/activate", nil).fails(409, "AGENT_PROCESSING")

		require.Equal(t, []string{"agent delivered", "agent delivered"}, kinds(sb.Advance(2*time.Minute)))
		require.Len(t, c.get(rowsOf(list)).ok(200)["data"], 3)
		require.Equal(t, []string{"agent delivered", "agent delivered", "agent run ended"}, kinds(sb.Advance(3*time.Minute)))
		require.Equal(t, "active", at(c.get(path).ok(200), "agent", "status"))
		require.Empty(t, sb.Advance(6*time.Hour-6*time.Minute))
		require.Equal(t, []string{"agent run began"}, kinds(sb.Advance(time.Minute)))
		require.EqualValues(t, 500, sb.Balance())
		sb.Advance(18 * time.Hour)
		require.Equal(t, []int64{-250, -250, -250, -250}, amounts(sb))
		require.Equal(t, []string{"agent run ended", "agent run began"}, kinds(sb.Advance(6*time.Hour)), "nothing is left to pay with")
	})
}

func TestAnActivationIsAStart(t *testing.T) {
	onEachRoad(t, []sandbox.Option{watched(), manual()}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		path := agents + "/" + id(21)
		started := c.do("POST", path+"/activate", nil).ok(200)["agent"].(object)
		require.Equal(t, true, started["started"])
		require.Equal(t, []int64{-250}, amounts(sb))
		c.do("POST", path+"/activate", nil).fails(409, "AGENT_PROCESSING")
		sb.Advance(time.Hour)
		c.do("POST", path+"/activate", nil).fails(409, "AGENT_NOT_A_DRAFT")
		alone := c.do("POST", watchers, with(watcher(), object{"listId": id(3)})).ok(201)["agent"].(object)
		c.do("POST", agents+"/"+alone["id"].(string)+"/activate", nil).fails(422, "AGENT_SOURCE_LIST_EMPTY")
		require.Len(t, sb.Rows(started["listId"].(string)), 5)
	})
}

func TestAStartNeedsCredits(t *testing.T) {
	for credits, enough := range map[int64]bool{0: false, 249: false, 250: true} {
		onEachRoad(t, []sandbox.Option{watched(), manual(), sandbox.Credits(credits)}, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
			t.Helper()
			create := c.do("POST", monitors, with(monitor(), object{"start": true}))
			if enough {
				create.ok(201)
				return
			}
			create.fails(402, "INSUFFICIENT_CREDITS")
			if credits == 0 {
				c.do("POST", discovery, with(finder(), object{"start": true})).fails(402, "INSUFFICIENT_CREDITS")
				c.do("POST", watchers, with(watcher(), object{"start": true})).fails(402, "INSUFFICIENT_CREDITS")
			}
			c.do("POST", agents+"/"+id(21)+"/activate", nil).fails(402, "INSUFFICIENT_CREDITS")
		})
	}
}

func TestAWatcherPaysForEachContactOnEachCycle(t *testing.T) {
	onEachRoad(t, []sandbox.Option{watched(), manual(), sandbox.WithPrices(sandbox.Prices{"agents.create-people-watcher": 7})}, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		body := with(watcher(), object{"listId": gone, "listIds": []string{id(1), id(2), id(1)}, "frequency": 2, "start": true, "expirationDate": nil})
		list := sb.Agents
		c.do("POST", watchers, body).ok(201)
		require.Equal(t, []int64{-21}, amounts(sb), "three people, each once, with a social-network URL")
		require.Equal(t, []string{"agent delivered", "agent delivered", "agent run ended"}, kinds(sb.Advance(time.Hour)))
		require.Equal(t, []string{id(101), id(102), id(104)}, names(c.get(rowsOf(list()[0].ListID)).ok(200), "id"))
		sb.Advance(4 * 24 * time.Hour)
		require.Equal(t, []int64{-21, -21, -21}, amounts(sb))
		require.Len(t, sb.Rows(list()[0].ListID), 3, "who is there already is replaced")
	})
}

func TestARunSpendsAtMostItsLimit(t *testing.T) {
	dear := sandbox.WithPrices(sandbox.Prices{"agents.create-people-watcher": 600, "agents.create-web-monitor": 400})
	sb := sandbox.New(t, watched(), manual(), dear, sandbox.Credits(100_000))
	c := inPlace(t, sb)
	c.do("POST", monitors, with(monitor(), object{"start": true, "maxCreditSpend": 1000})).ok(201)
	sb.Advance(time.Hour)
	require.Equal(t, []int64{-800}, amounts(sb))
	sb.Advance(24 * time.Hour)
	require.Equal(t, []int64{-800, -800}, amounts(sb), "the limit is that of one run")
	c.do("POST", watchers, with(watcher(), object{"start": true, "maxCreditSpend": 1000})).ok(201)
	require.EqualValues(t, -600, amounts(sb)[2], "one of two people is watched")
}

func TestFiltersShapeWhatADiscoveryDelivers(t *testing.T) {
	filters := object{
		"where": []string{"Berlin, Germany"}, "what": []string{"Data Engineer", "Astrologer"}, "trade": []string{"Retail"}, "size": []string{"501-1,000"},
		"home": []string{"United Kingdom"}, "boss": []string{"acme.example"},
	}
	plan := sandbox.Agents(sandbox.AgentPlan{Results: 3, Vocabulary: map[string][]string{"employer": {"acme.example"}}})
	sb := sandbox.New(t, watched(), manual(), plan)
	c := inPlace(t, sb)
	c.do("POST", discovery, with(filters, object{"listName": "Engineers", "start": true})).ok(201)
	sb.Advance(time.Hour)
	found := sb.Rows(sb.Agents()[0].ListID)
	require.Len(t, found, 3)
	for _, raw := range found {
		var row object
		require.NoError(t, json.Unmarshal(raw, &row))
		require.Equal(t, "Data Engineer", row["jobTitle"])
		require.Equal(t, object{"city": "Berlin", "country": "Germany"}, row["address"])
		require.Equal(t, "Retail", at(row, "company", "industry"))
		require.EqualValues(t, 720, at(row, "company", "socialHeadCount"))
		require.Equal(t, "acme.example", at(row, "company", "domain"))
		require.True(t, strings.HasSuffix(row["email"].(string), ".example"))
	}
	for _, unknown := range []string{"head of sales", "501-1000", "DE"} {
		c.do("POST", discovery, object{"listName": unknown, "start": true, "any": []string{unknown}}).ok(201)
	}
	sb.Advance(47 * time.Hour)
	for _, agent := range sb.Agents()[:3] {
		require.Empty(t, sb.Rows(agent.ListID), "accepted, and matches nothing")
		require.Equal(t, "active", agent.Status)
	}
}

// The sizes are those of the document: the commas are part of them.
func TestEverySizeOfAnEmployerIsRecognised(t *testing.T) {
	sizes := strings.Fields("1-10 11-50 51-200 201-500 501-1,000 1,001-5,000 5,001-10,000 10,001+")
	sb := sandbox.New(t, watched(), manual(), sandbox.NoLimits())
	c := inPlace(t, sb)
	deliver := func(size string) int {
		c.do("POST", discovery, object{"listName": fmt.Sprintf("%q", size), "start": true, "size": []string{size}}).ok(201)
		return len(sb.Rows(sb.Agents()[0].ListID))
	}
	for _, size := range sizes {
		require.NotZero(t, deliver(size), size)
		if plain := strings.ReplaceAll(size, ",", ""); plain != size {
			require.Zero(t, deliver(plain), plain)
		}
		require.Zero(t, deliver(strings.Replace(size, "-", " - ", 1)+" "), "spacing is part of the value, too: %s", size)
	}
}

func TestCompaniesGoToACompanyList(t *testing.T) {
	sb := sandbox.New(t, watched(), manual())
	c := inPlace(t, sb)
	c.do("POST", monitors, with(monitor(), object{"entityType": "company", "start": true})).ok(201)
	body := c.get(rowsOf(sb.Agents()[0].ListID)).ok(200)
	require.Equal(t, "companyList", body["entityType"])
	require.Contains(t, body["data"].([]any)[0], "domain")
}

func TestAgentsExpireFailAndPause(t *testing.T) {
	sb := sandbox.New(t, watched(), manual(), sandbox.Credits(100_000), sandbox.WithRoute("agents.pause", pauseRoute))
	c := inPlace(t, sb)
	c.do("POST", monitors, with(monitor(), object{"listName": "A", "start": true, "expirationDate": "2026-03-02"})).ok(201)
	c.do("POST", monitors, with(monitor(), object{"listName": "B", "start": true, "expirationDate": nil})).ok(201)
	b := agents + "/" + sb.Agents()[0].ID
	c.do("POST", b+"/pause", nil).fails(409, "AGENT_PROCESSING")
	sb.Advance(time.Hour)
	c.do("POST", b+"/pause", nil).ok(200)
	events := sb.Advance(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).Sub(start.Add(time.Hour)))
	require.Equal(t, []string{"agent expired"}, kinds(events), "a paused agent begins no run")
	require.Equal(t, "expired", sb.Agents()[1].Status)
	sb.Do(func(tx *sandbox.Tx) { tx.Put("agents", sandbox.Row{"id": sb.Agents()[0].ID, "status": "active"}) })
	sb.Advance(25 * time.Hour)
	require.Len(t, sb.Ledger(), 3)
	sb.Do(func(tx *sandbox.Tx) { tx.Put("agents", sandbox.Row{"id": sb.Agents()[0].ID, "status": "failed"}) })
	require.Empty(t, sb.Advance(100*24*time.Hour))
}

func TestADraftWhoseDateHasPassedIsNotStarted(t *testing.T) {
	sb := sandbox.New(t, watched(), manual(), sandbox.Credits(0)) // which is found later
	c := inPlace(t, sb)
	c.do("POST", monitors, with(monitor(), object{"expirationDate": "2026-03-05"})).ok(201)
	sb.Advance(10 * 24 * time.Hour)
	param, _ := c.do("POST", agents+"/"+sb.Agents()[0].ID+"/activate", nil).fails(422, "VALIDATION_FAILED")
	require.Equal(t, "expirationDate", param)
	require.Empty(t, sb.Ledger())
}

func TestARunSurvivesASnapshot(t *testing.T) {
	sb := sandbox.New(t, watched(), manual())
	inPlace(t, sb).do("POST", monitors, with(monitor(), object{"start": true})).ok(201)
	sb.Advance(time.Minute)
	again := sandbox.New(t, sandbox.Seed(sb.Snapshot()), sandbox.WithClock(sandbox.NewManualClock(start.Add(time.Minute))))
	require.Equal(t, kinds(sb.Advance(48*time.Hour)), kinds(again.Advance(48*time.Hour)))
	sameState(t, sb.Snapshot(), again.Snapshot())
	require.Equal(t, sb.Rows(sb.Agents()[0].ListID), again.Rows(again.Agents()[0].ListID))
}

func TestASeededAgentRunsFromTheFirstUseOn(t *testing.T) {
	config := json.RawMessage(`{"listName":"x","entityType":"person","prompt":"p","searchPeriod":"1h"}`)
	sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Credits: 1000, Agents: []sandbox.Agent{
		{Name: "runs", Type: sandbox.WebMonitor, Status: "active", Config: config},
		{Name: "in a run", Type: sandbox.WebMonitor, Status: "processing", Due: 1, Config: config},
		{Name: "stands", Type: sandbox.WebMonitor, Status: "active"},
	}}}}), manual())
	require.Empty(t, sb.Events())
	sb.Advance(59 * time.Minute)
	list := sb.Agents()
	require.Zero(t, list[0].Runs)
	require.Equal(t, "active", list[1].Status, "its run has ended")
	sb.Advance(time.Minute)
	list = sb.Agents()
	require.Equal(t, "processing", list[2].Status)
	require.Len(t, sb.Rows(list[2].ListID), 1)
	require.True(t, slices.ContainsFunc(sb.Lists(), func(l sandbox.List) bool { return l.Name == "runs" }))
}

func TestTeammatesKeepAgents(t *testing.T) {
	sb := sandbox.New(t, watched())
	c := inPlace(t, sb)
	var made string
	sb.Do(func(tx *sandbox.Tx) {
		made = tx.CreateAgent(sandbox.Agent{Name: "theirs", Type: sandbox.PeopleWatcher, Status: "failed", ListID: id(2)})
		tx.Put("agents", sandbox.Row{"id": made, "status": "paused"})
		tx.Delete("agents", id(21))
	})
	theirs := c.get(agents + "/" + made).ok(200)
	require.Equal(t, "paused", at(theirs, "agent", "status"))
	require.Equal(t, id(2), at(theirs, "agent", "listId"))
	c.get(agents+"/"+id(21)).fails(404, "AGENT_NOT_FOUND")
	for name, act := range map[string]func(*sandbox.Tx){
		"unknown type":  func(tx *sandbox.Tx) { tx.CreateAgent(sandbox.Agent{Name: "x", Type: "y"}) },
		"id taken":      func(tx *sandbox.Tx) { tx.CreateAgent(sandbox.Agent{ID: id(22), Name: "x"}) },
		"no such list":  func(tx *sandbox.Tx) { tx.CreateAgent(sandbox.Agent{Name: "x", ListID: id(77)}) },
		"no such state": func(tx *sandbox.Tx) { tx.Put("agents", sandbox.Row{"id": id(22), "status": "running"}) },
		"delete":        func(tx *sandbox.Tx) { tx.Delete("agents", id(77)) },
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			sandbox.New(rec, watched()).Do(act)
			require.Len(t, rec.errors, 1)
		})
	}
}

// An industry is the one value that is never lost: it becomes the closest, or it is dropped, and the filter grows wider.
func TestAnIndustryThatIsNotRecognisedWidens(t *testing.T) {
	found := func(name string, plan sandbox.AgentPlan, body object) []object {
		t.Helper()
		sb := sandbox.New(t, watched(), manual(), sandbox.Agents(plan))
		inPlace(t, sb).do("POST", discovery, with(body, object{"listName": name, "start": true})).ok(201)
		sb.Advance(time.Hour)
		rows := []object{}
		for _, raw := range sb.Rows(sb.Agents()[0].ListID) {
			var row object
			require.NoError(t, json.Unmarshal(raw, &row))
			rows = append(rows, row)
		}
		return rows
	}
	industries := func(rows []object) (all []any) {
		for _, row := range rows {
			if one := at(row, "company", "industry"); !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
		return all
	}
	var plain sandbox.AgentPlan
	germans := object{"locations": []string{"Germany"}}
	require.Len(t, found("plain", plain, germans), 5)
	dropped := found("dropped", plain, with(germans, object{"industries": []string{"Qwxyz"}}))
	require.Len(t, dropped, 5, "as if it had not been sent")
	require.Greater(t, len(industries(dropped)), 1)
	for _, row := range dropped {
		require.Equal(t, "Germany", at(row, "address", "country"), "the other filters hold")
	}
	require.Len(t, found("alone", plain, object{"filters": object{"industry": []string{"Qwxyz"}}}), 5, "accepted: it is not empty")

	for text, want := range map[string]any{
		"software development companies": "Software Development", "biotech": "Biotechnology", "finance": "Financial Services", "retail services": "Retail", "ENERGY": "Renewable Energy Power Generation",
		"Retail": "Retail",
	} {
		rows := found(text, plain, with(germans, object{"industries": []string{text, "Qwxyz"}}))
		require.Len(t, rows, 5)
		require.Equal(t, []any{want}, industries(rows), text)
	}
	require.Empty(t, found("unknown place", plain, object{"locations": []string{"Qwxyz"}}), "any other value matches nothing")
}
