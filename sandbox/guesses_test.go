package sandbox_test

import (
	"strings"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// guess is a request that depends on an assumption, and the sandbox it needs.
type guess struct {
	opts []sandbox.Option
	ask  func(caller) result
}

// allGuesses have one for each rule.
var allGuesses = []map[string]guess{formGuesses, listGuesses, outreachGuesses, approvalGuesses, agentGuesses, searchGuesses, contactGuesses}

func guessesIn(opts []sandbox.Option, asks map[string]func(caller) result) map[string]guess {
	guesses := map[string]guess{}
	for rule, ask := range asks {
		guesses[rule] = guess{opts, ask}
	}
	return guesses
}

// listGuesses are requests of lists and rows, and of any body, that depend on assumptions.
var listGuesses = guessesIn([]sandbox.Option{guessSeed()}, map[string]func(caller) result{
	"lists.move":        func(c caller) result { return c.do("PATCH", lists+"/"+id(2), object{"folderId": nil}) },
	"lists.move.folder": func(c caller) result { return c.do("PATCH", lists+"/"+id(2), object{"folderId": id(66)}) },
	"lists.include":     func(c caller) result { return c.get(lists+"/"+id(1), "include", "x") },
	"lists.system-read": func(c caller) result { return c.get(lists + "/" + id(9)) },
	"lists.titles":      func(c caller) result { return c.do("POST", lists, create("All Companies")) },
	"lists.add-members": func(c caller) result {
		return c.do("POST", lists+"/"+id(2)+"/members", object{"contactIds": []string{id(101)}})
	},
	"lists.add-contacts": func(c caller) result {
		return c.do("POST", lists+"/"+id(2)+"/contacts", object{"contacts": []object{{}}})
	},
	"lists.save-to-list": func(c caller) result {
		return c.do("POST", lists+"/save-to-list", object{"sourceListId": id(1), "listId": id(2)})
	},
	"lists.processing": func(c caller) result {
		return c.do("POST", lists+"/save-to-list", object{"sourceListId": id(4), "listId": id(2)})
	},
	"crm.status":          func(c caller) result { return c.do("POST", lists+"/"+id(1)+"/crm-push", object{"crm": "crm-1"}) },
	"account.credits":     func(c caller) result { return c.get("/business/credits") },
	"path.id":             func(c caller) result { return c.get(lists + "/12") },
	"body.malformed":      func(c caller) result { return c.do("POST", lists, "[") },
	"body.missing":        func(c caller) result { return c.do("POST", lists, nil) },
	"body.size":           func(c caller) result { return c.do("POST", lists, strings.Repeat(" ", 12<<20+1)) },
	"rows.sort.values":    func(c caller) result { return c.get(rowsOf(id(1)), "sortBy", "lastName", "sortOrder", "asc") },
	"rows.filters.match":  func(c caller) result { return c.get(rowsOf(id(1)), "filters", `{"name":["x"]}`) },
	"rows.filters.fields": func(c caller) result { return c.get(rowsOf(id(1)), "filters", `{"keywords":"x"}`) },
	"rows.filters.columns": func(c caller) result {
		return c.get(rowsOf(id(1)), "filters", `{"customColumns":{"c":{"dataType":"boolean","value":true}}}`)
	},
	"rows.filters.ignored":  func(c caller) result { return c.get(rowsOf(id(3)), "filters", `{"title":["x"]}`) },
	"rows.filters.length":   func(c caller) result { return c.get(rowsOf(id(1)), "filters", filterOf(8001)) },
	"search.filter-options": func(c caller) result { return c.get("/business/prospects/filter-options") },
	"lists.save-to-list.kind": func(c caller) result {
		return c.do("POST", lists+"/save-to-list", object{"sourceListId": id(1), "listId": id(3)})
	},
	"body.content-type": func(c caller) result {
		req := c.request("POST", lists, create("x"))
		req.Header.Del("Content-Type")
		r, err := c.send(req)
		require.NoError(c.t, err)
		return r
	},
})

func guessSeed() sandbox.Option {
	state := sandbox.State{Workspaces: []sandbox.Workspace{{
		CRM: sandbox.CRM{Connected: []string{"crm-1"}},
		Lists: []sandbox.List{
			{ID: id(1), Name: "source", Rows: sandbox.Rows(sandbox.Row{"id": id(101)}, sandbox.Row{"id": id(191)})},
			{ID: id(2), Name: "target"},
			{ID: id(3), Name: "firms", EntityType: sandbox.CompanyList},
			{ID: id(4), Name: "busy", CompletionStatus: "processing"},
			{ID: id(9), Name: "Everybody", System: true},
			{ID: mixed, Name: "letters"},
		},
	}}}
	return sandbox.Seed(state)
}

// outreachGuesses are requests of campaigns and hubs that depend on assumptions.
var outreachGuesses = guessesIn(outreachOptions(), map[string]func(caller) result{
	"campaigns.list":           func(c caller) result { return c.get(campaigns) },
	"campaigns.create":         func(c caller) result { return c.do("POST", campaigns, object{"name": "x"}) },
	"campaigns.channels.names": func(c caller) result { return c.do("POST", campaigns, object{"name": "x"}) },
	"campaigns.references": func(c caller) result {
		return c.do("POST", campaigns, object{"name": "x", "knowledgeHubId": ready})
	},
	"campaigns.adjust": func(c caller) result { return c.do("PATCH", campaignPath(drafted), object{"name": "x"}) },
	"campaigns.empty": func(c caller) result {
		return c.do("PATCH", campaignPath(drafted), object{"listIds": []string{nobody}})
	},
	"campaigns.reach.fields": func(c caller) result {
		return c.do("PATCH", campaignPath(drafted), object{"listIds": []string{linked}})
	},
	"steps.list": func(c caller) result { return c.get(campaignPath(drafted, "steps")) },
	"steps.sent": func(c caller) result {
		return c.do("PATCH", campaignPath(drafted), object{"steps": []object{{"type": "email"}}})
	},
	"steps.types": func(c caller) result {
		return c.do("PATCH", campaignPath(drafted), object{"steps": []object{{"type": "social_message"}}})
	},
	"steps.preview.shape": func(c caller) result {
		return c.do("POST", campaignPath(drafted, "steps", id(51), "preview"), nil)
	},
	"approve.lists": func(c caller) result { return approvalOf(c, lost) },
	"sends.list":    func(c caller) result { return c.get(campaignPath(active, "scheduled-sends")) },
	"sends.edit.shape": func(c caller) result {
		return c.do("PATCH", "/business/scheduled-sends/"+id(60), object{"subject": "x"})
	},
	"hubs.pageless":    func(c caller) result { return c.get(hubs + "/" + ancient + "/pages") },
	"facts.gate.words": func(c caller) result { return c.do("PATCH", facts+fact, object{"claim": "three NDAs"}) },
	"hubs.list":        func(c caller) result { return c.get(hubs) },
	"hubs.ready":       func(c caller) result { return c.get(hubs + "/" + ready) },
	"hubs.pages":       func(c caller) result { return c.get(hubs + "/" + ready + "/pages") },
	"hubs.set-default": func(c caller) result {
		return c.do("POST", hubs+"/default", object{"knowledgeHubId": ancient})
	},
	"hubs.processing": func(c caller) result { return c.get(hubs + "/" + building + "/pages") },
})

// approvalGuesses are approvals of campaigns that lack nothing documented.
var approvalGuesses = map[string]guess{
	"approve.steps":    {outreachOptions(almostReady(func(c *sandbox.Campaign) { c.Steps = nil })), approveBare},
	"approve.channels": {outreachOptions(almostReady(func(c *sandbox.Campaign) { c.Channels = nil })), approveBare},
}

func approveBare(c caller) result { return approvalOf(c, bare) }

// almostReady is the state with a campaign in place of the bare one.
func almostReady(change func(*sandbox.Campaign)) sandbox.Option {
	state := outreachState()
	all := state.Workspaces[0].Campaigns
	for i := range all {
		if all[i].ID == bare {
			all[i] = sandbox.ReadyCampaign("almost", reached)
			all[i].ID = bare
			change(&all[i])
		}
	}
	return sandbox.Seed(state)
}

// agentGuesses are requests of agents that depend on assumptions.
var agentGuesses = guessesIn([]sandbox.Option{watched(), sandbox.WithRoute("agents.pause", pauseRoute)}, map[string]func(caller) result{
	"agents.filters": func(c caller) result { return c.do("POST", discovery, finder()) },
	"agents.industry": func(c caller) result {
		return c.do("POST", discovery, with(finder(), object{"industry": []string{"x"}}))
	},
	"agents.extra":    func(c caller) result { return c.do("POST", monitors, with(monitor(), object{"x": 1})) },
	"agents.start":    func(c caller) result { return c.do("POST", monitors, with(monitor(), object{"start": true})) },
	"agents.list":     func(c caller) result { return c.get(agents) },
	"agents.get":      func(c caller) result { return c.get(agents + "/" + id(21)) },
	"agents.signal":   func(c caller) result { return c.do("POST", monitors, with(monitor(), object{"prompt": "[rejected]"})) },
	"agents.adjust":   func(c caller) result { return c.do("PATCH", agents+"/"+id(21), object{"prompt": "q"}) },
	"agents.activate": func(c caller) result { return c.do("POST", agents+"/"+id(21)+"/activate", nil) },
	"agents.pause":    func(c caller) result { return c.do("POST", agents+"/"+id(23)+"/pause", nil) },
	"agents.autocomplete": func(c caller) result {
		return c.get(agents+"/autocomplete", "field", "title")
	},
})

// searchGuesses are requests of searches that depend on assumptions.
var searchGuesses = guessesIn([]sandbox.Option{prospects()}, map[string]func(caller) result{
	"credits.default-prices": func(c caller) result { return c.do("POST", search, object{"filters": object{}}) },
	"scroll.refused":         func(c caller) result { return c.do("POST", search, object{"filters": object{}, "scrollToken": "x"}) },
	"search.size.least":      func(c caller) result { return c.do("POST", search, object{"filters": object{}, "size": 0}) },
	"search.filters.none":    func(c caller) result { return c.do("POST", search, object{}) },
	"search.filters.words":   func(c caller) result { return c.do("POST", search, object{"filters": including("x", "y")}) },
	"search.saved.list":      func(c caller) result { return c.get(saved) },
	"search.save-to-list": func(c caller) result {
		return c.do("POST", search+"/save-to-list", object{"filters": object{}, "listId": id(1)})
	},
	"search.matching":      func(c caller) result { return c.do("POST", search, object{"filters": including("tags", "odd")}) },
	"search.filters.empty": func(c caller) result { return c.do("POST", search, object{"filters": object{"tags": []any{}}}) },
	"search.companies":     func(c caller) result { return c.do("POST", companiesSearch, object{}) },
	"companies.city.names": func(c caller) result {
		return c.do("POST", companiesSearch, object{"filters": object{"headquartersCity": "Paris"}})
	},
	"companies.exclude.match": func(c caller) result {
		return c.do("POST", companiesSearch, object{"excludeCompanyLists": []string{id(2)}})
	},
})

// contactGuesses are requests of contacts and imports that depend on assumptions.
var contactGuesses = guessesIn(busyContact(), map[string]func(caller) result{
	"contacts.activity":          func(c caller) result { return c.get(timelineOf(101)) },
	"contacts.cursor.refused":    func(c caller) result { return c.get(timelineOf(101), "cursor", "x") },
	"contacts.known":             func(c caller) result { return c.get(timelineOf(999)) },
	"contacts.resolve":           func(c caller) result { return c.do("POST", resolve, object{"email": "x"}) },
	"imports.create":             func(c caller) result { return upload(c, "file", "x.csv", []byte("a\nb\n")) },
	"imports.json":               func(c caller) result { return c.do("POST", imports, object{"importId": id(1)}) },
	"imports.form":               func(c caller) result { return c.asForm("note", "x", "x.csv", "a\nb\n") },
	"imports.content":            func(c caller) result { return c.asForm("x.txt", "a\nb\n") },
	"imports.megabytes":          func(c caller) result { return c.asForm("x.csv", "a\n"+strings.Repeat("b", 10_000_001)) },
	"contacts.first-page.extras": func(c caller) result { return c.get(timelineOf(101)) },
	"imports.presign":            func(c caller) result { return c.do("POST", imports+"/presign", nil) },
})
