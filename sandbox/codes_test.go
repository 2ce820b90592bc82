package sandbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// onlyByFault are the codes of operations that the document only hints at: their paths are undocumented, so no rule returns them.
var onlyByFault = strings.Fields(`
	COLUMN_NAME_TAKEN COLUMN_NAME_RESERVED COLUMN_NOT_FOUND SAVED_SEARCH_NAME_AMBIGUOUS SAVED_SEARCH_FILTERS_UNSUPPORTED
	QUERY_FILTERS_INVALID EXPORT_NOT_FOUND EXPORT_LIMIT_EXCEEDED CAMPAIGN_NAME_AMBIGUOUS ALL_CONTACTS_ALREADY_ENRICHED
	SCHEDULED_SEND_NOT_SKIPPABLE RESEARCH_RUN_NOT_FOUND KNOWLEDGE_HUB_DEFAULT_UNDELETABLE KNOWLEDGE_PAGE_NOT_FOUND
	KNOWLEDGE_HUB_WEBSITE_NOT_FOUND KNOWLEDGE_PAGE_NOT_REGENERABLE ATTACHMENT_NOT_FOUND ATTACHMENT_ALREADY_EXISTS JOB_NOT_FOUND
	CREDIT_LIMIT_EXCEEDS_PLAN FOLDER_NAME_TAKEN NOTE_NOT_FOUND NO_LEADS_TO_EXPORT NO_ROWS_TO_RESEARCH
	PRIMARY_VALUE_NOT_ON_CONTACT PROVENANCE_NOT_FOUND PROVIDERS_NOT_SUPPORTED RUN_ALREADY_TERMINAL WEBSITE_TRACKING_NOT_SET_UP`)

// byRule are the codes that some rule returns, and how to cause them.
func byRule() map[string]func(caller) result {
	all := map[string]func(caller) result{}
	for _, codes := range []map[string]func(caller) result{generalCodes(), listCodes(), agentCodes(), searchCodes(), campaignCodes()} {
		maps.Copy(all, codes)
	}
	return all
}

func post(path string, body any) func(caller) result {
	return func(c caller) result { return c.do("POST", path, body) }
}

func patch(path string, body any) func(caller) result {
	return func(c caller) result { return c.do("PATCH", path, body) }
}

func get(path string, query ...string) func(caller) result {
	return func(c caller) result { return c.get(path, query...) }
}

func generalCodes() map[string]func(caller) result {
	return map[string]func(caller) result{
		"UNAUTHORIZED":         func(c caller) result { return c.as("nobody").get(lists) },
		"INSUFFICIENT_SCOPE":   func(c caller) result { return c.as("searcher").get(lists) },
		"ENDPOINT_NOT_FOUND":   get("/business/nothing"),
		"VALIDATION_FAILED":    get(lists, "limit", "0"),
		"INVALID_REQUEST":      post(lists, "["),
		"UNEXPECTED_ERROR":     get(rowsOf(reached), "filters", `{"numberOfEmployees":[5]}`),
		"INSUFFICIENT_CREDITS": post("/business/prospects/search", object{"size": 100}),
		"RATE_LIMITED": func(c caller) result {
			for range 20 {
				c.do("POST", "/business/prospects/search", object{"size": 101})
			}
			return c.do("POST", "/business/prospects/search", object{"size": 101})
		},
	}
}

func listCodes() map[string]func(caller) result {
	save := func(more object) func(caller) result {
		body := object{"sourceListId": reached, "listId": linked}
		maps.Copy(body, more)
		if more["listName"] != nil {
			delete(body, "listId")
		}
		return post("/business/lists/save-to-list", body)
	}
	imports := func(n int) func(caller) result { return post("/business/imports", object{"importId": id(n)}) }
	return map[string]func(caller) result{
		"LIST_NOT_FOUND":          get(lists + "/" + id(77)),
		"LIST_NAME_TAKEN":         post(lists, create("people")),
		"LIST_NAME_AMBIGUOUS":     save(object{"listName": "twice"}),
		"LIST_NAME_RESERVED":      post(lists, create("All Contacts")),
		"LIST_PROCESSING":         save(object{"sourceListId": id(401)}),
		"CONTACT_NOT_IN_LIST":     save(object{"contactIds": []string{id(77)}}),
		"CONTACT_NOT_FOUND":       post(lists+"/"+linked+"/members", object{"contactIds": []string{id(77)}}),
		"CONTACT_LIST_REQUIRED":   post(lists+"/"+companyList+"/crm-push", object{"crm": "crm-1"}),
		"CRM_NOT_CONNECTED":       post(lists+"/"+reached+"/crm-push", object{"crm": "crm-1"}),
		"FOLDER_NOT_FOUND":        patch(lists+"/"+reached, object{"folderId": id(77)}),
		"INVALID_ROW_FILTERS":     get(rowsOf(reached), "filters", "x"),
		"IMPORT_NOT_FOUND":        imports(77),
		"IMPORT_FILE_MISSING":     imports(411),
		"IMPORT_FILE_UNSUPPORTED": imports(412),
		"IMPORT_FILE_TOO_LARGE":   imports(413),
		"IMPORT_FILE_EMPTY":       imports(414),
	}
}

func agentCodes() map[string]func(caller) result {
	const agents = "/business/agents/"
	draft := func(n int) func(caller) result { return post(agents+id(n)+"/activate", nil) }
	return map[string]func(caller) result{
		"AGENT_NOT_FOUND":        get(agents + id(77)),
		"AGENT_TYPE_UNSUPPORTED": draft(421),
		"AGENT_CONFIG_MISSING":   draft(422),
		"AGENT_PROCESSING":       draft(423),
		"AGENT_NOT_A_DRAFT":      draft(424),
		"AGENT_NOT_RUNNING":      post(agents+id(422)+"/pause", nil),
		"AGENT_SIGNAL_REJECTED":  post(agents+"web-monitor", object{"listName": "x", "entityType": "person", "prompt": "[rejected]"}),
		"AGENT_SOURCE_LIST_EMPTY": post(agents+"people-watcher", object{
			"listName": "x", "eventType": "social-person-post-updates", "listId": nobody, "start": true,
		}),
		"AGENT_LIMIT_REACHED": func(c caller) result {
			return c.as("free").do("POST", agents+"web-monitor", object{"listName": "x", "entityType": "person", "prompt": "x"})
		},
	}
}

func searchCodes() map[string]func(caller) result {
	run := func(n int) func(caller) result { return post("/business/saved-searches/"+id(n)+"/run", object{}) }
	return map[string]func(caller) result{
		"SEARCH_FILTERS_INVALID":        post("/business/prospects/search", object{"filters": 1}),
		"SAVED_SEARCH_NOT_FOUND":        run(77),
		"SAVED_SEARCH_INVALID":          run(431),
		"SAVED_SEARCH_TYPE_MISMATCH":    run(432),
		"CITY_FILTER_UNRESOLVED":        post("/companies/search", object{"filters": object{"headquartersCity": []string{"Atlantis"}}}),
		"EXCLUDE_COMPANY_LISTS_INVALID": post("/companies/search", object{"excludeCompanyLists": []string{id(77)}}),
	}
}

func campaignCodes() map[string]func(caller) result {
	adjust := func(change object) func(caller) result { return patch(campaignPath(drafted), change) }
	steps := func(more ...object) func(caller) result {
		return adjust(object{"channels": []string{"social"}, "steps": more})
	}
	start := func(more string, id string) func(caller) result {
		return post(campaigns, object{"name": "x", more: id})
	}
	return map[string]func(caller) result{
		"CAMPAIGN_NOT_FOUND":              get(campaignPath(deleted, "steps")),
		"CAMPAIGN_NOT_APPROVABLE":         post(campaignPath(active, "approve"), nil),
		"CAMPAIGN_NOT_READY":              post(campaignPath(bare, "approve"), nil),
		"CAMPAIGN_BUSY":                   post(campaignPath(locked, "approve"), nil),
		"CAMPAIGN_INITIALIZING":           patch(campaignPath(running), object{"listIds": []string{reached}}),
		"CAMPAIGN_LIST_CAP_REACHED":       adjust(object{"listIds": manyIDs(11)}),
		"INVALID_CAMPAIGN_CHANNELS":       adjust(object{"channels": []string{}}),
		"LIST_INCOMPATIBLE_WITH_CHANNELS": adjust(object{"listIds": []string{linked}}),
		"LIST_EMPTY":                      adjust(object{"listIds": []string{nobody}}),
		"STEP_ORDER_INVALID":              steps(object{"type": "social_message"}, object{"type": "social_connection"}),
		"STEP_POSITION_TAKEN":             steps(object{"type": "social_message", "sequenceNumber": 2}, object{"type": "social_message"}),
		"CONNECTION_NOTE_TOO_LONG":        steps(object{"type": "social_connection", "body": strings.Repeat("x", 201)}),
		"SEQUENCE_STEP_NOT_FOUND":         post(campaignPath(drafted, "steps", id(77), "preview"), nil),
		"STEP_PREVIEW_UNAVAILABLE":        post(campaignPath(lost, "steps", id(53), "preview"), nil),
		"SCHEDULED_SEND_NOT_FOUND":        patch("/business/scheduled-sends/"+id(77), object{"subject": "x"}),
		"SCHEDULED_SEND_NOT_EDITABLE":     patch("/business/scheduled-sends/"+id(62), object{"subject": "x"}),
		"TEMPLATE_NOT_FOUND":              start("templateId", id(77)),
		"WRITING_STYLE_NOT_FOUND":         start("writingStyleId", id(77)),
		"KNOWLEDGE_HUB_NOT_FOUND":         start("knowledgeHubId", id(77)),
		"KNOWLEDGE_HUB_NOT_READY":         get(hubs + "/" + building + "/pages"),
		"KNOWLEDGE_HUB_OWNER_ONLY":        post(hubs+"/default", object{"knowledgeHubId": foreign}),
		"KNOWLEDGE_HUB_PAGES_UNAVAILABLE": get(hubs + "/" + ancient + "/pages"),
		"LEARNED_FACT_NOT_FOUND":          patch(facts+id(77), object{"claim": "x"}),
		"LEARNED_FACT_NOT_ANONYMIZED":     patch(facts+fact, object{"claim": "under NDA"}),
	}
}

// codeOptions are those of a sandbox in which every one of these requests is refused as it should be.
func codeOptions() []sandbox.Option {
	state := outreachState()
	ws := &state.Workspaces[0]
	ws.Credits = 99
	ws.Keys = []sandbox.Key{{Name: "owner", Token: "owner"}, {Token: "searcher", Scopes: []string{"search"}}}
	ws.Lists = append(ws.Lists,
		sandbox.List{ID: id(401), Name: "busy", CompletionStatus: "processing"}, sandbox.List{Name: "twice"}, sandbox.List{Name: "twice"})
	ws.Campaigns[0].Steps[0].ID = id(53)
	ws.Imports = []sandbox.Import{
		{ID: id(411), Reserved: true},
		{ID: id(412), Reserved: true, Uploaded: true, Size: 1},
		{ID: id(413), Reserved: true, Uploaded: true, Size: 50<<20 + 1, Format: "csv", Rows: 1},
		{ID: id(414), Reserved: true, Uploaded: true, Size: 1, Format: "csv"},
	}
	ws.Agents = []sandbox.Agent{
		{ID: id(421), Name: "legacy"},
		{ID: id(422), Name: "old draft", Type: "web-monitor"},
		{ID: id(423), Name: "running", Type: "web-monitor", Status: "processing"},
		{ID: id(424), Name: "active", Type: "web-monitor", Status: "active"},
	}
	ws.SavedSearches = []sandbox.SavedSearch{
		{ID: id(431), Name: "broken", Filters: json.RawMessage(`{"nobody":1}`)}, {ID: id(432), Name: "companies", Companies: true},
	}
	free := sandbox.Workspace{Name: "free", Plan: "free", Keys: []sandbox.Key{{Token: "free"}}}
	for i := range 10 {
		free.Agents = append(free.Agents, sandbox.Agent{Name: fmt.Sprint("agent ", i), Type: "web-monitor"})
	}
	state.Workspaces = append(state.Workspaces, free)
	return []sandbox.Option{
		sandbox.Seed(state), sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.WithRoute("campaigns.preview-step", previews),
		sandbox.WithRoute("agents.pause", "POST /business/agents/{agentId}/pause"),
	}
}

// TestEveryCodeIsWithinReach proves for each documented code that a rule or a fault returns it.
func TestEveryCodeIsWithinReach(t *testing.T) {
	rules := byRule()
	within := append(slices.Collect(maps.Keys(rules)), onlyByFault...)
	var all []string
	for _, code := range op.Codes {
		all = append(all, code.Name)
		for _, status := range code.Statuses {
			t.Run(fmt.Sprintf("fault/%s/%d", code.Name, status), func(t *testing.T) {
				sb := sandbox.New(t)
				sb.Fail("*", sandbox.Status(status, code.Name))
				inPlace(t, sb).get("/business/me").fails(status, code.Name)
			})
		}
		if ask, ok := rules[code.Name]; ok {
			t.Run("rule/"+code.Name, func(t *testing.T) {
				sb := sandbox.New(t, codeOptions()...)
				before := sb.Snapshot()
				ask(inPlace(t, sb)).fails(code.Statuses[0], code.Name)
				require.Equal(t, before, sb.Snapshot(), "nothing was changed")
				require.Empty(t, sb.Problems())
			})
		}
	}
	require.Len(t, all, 92)
	require.ElementsMatch(t, all, within, "each code once: by a rule, or only by a fault")
}
