package firstcontact

import (
	"sync"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes"
)

// Source says where an expectation comes from.
type Source string

// The sources.
const (
	Documented Source = "documented"
	Assumed    Source = "assumed" // by this project
)

// parts are descriptions that others use.
var parts = map[string]string{
	"list": `{"id": "id", "name": "string", "entityType": "contactList|companyList", "contactsCount": "integer",
		"companiesCount": "integer", "createdAt": "timestamp", "folderId": "id null"}`,
	"pagination": `{"pageNum": "integer", "totalPages": "integer", "totalRecords": "integer"}`,
	"agent": `{"id": "id", "type": "person-discovery-via-filters|people-watcher|web-monitor null", "name": "string",
		"status": "initializing|processing|active|paused|expired|failed", "started~": "boolean", "listId": "id null", "contactsFound": "integer"}`,
	"campaign": `{"id": "id", "name": "string", "status": "draft|active|stopped", "initializationStatus": "running|completed|failed",
		"channels": ["email|social"], "listIds": ["id"], "createdAt": "timestamp"}`,
	"step": `{"id": "id", "sequenceNumber": "integer", "type": "email|social_connection|social_message", "subject": "string",
		"body": "string", "topic": "string"}`,
	"send": `{"id": "id", "stepId": "id", "contactId": "id",
		"state": "scheduled|approval_required|sent|skipped|stopped|overwritten|replied|failed|*wait|*task", "dueAt": "timestamp", "subject": "string", "body": "string"}`,
	"hub": `{"id": "id", "name": "string", "status": "processing|ready", "isDefault": "boolean"}`,
}

// description is what is expected of the success of an operation.
type description struct {
	op     *op.Op
	source Source
	rules  []string // of the sandbox
	asks   string   // the open question that it settles
	body   string
}

var descriptions = []description{
	{op.AccountMe, Documented, []string{"account.me", "auth.basic", "auth.open", "status"}, "", `{"user": {"id": "id", "email": "string", "name": "string"}}`},
	{op.AccountCredits, Assumed, []string{"account.credits"}, "what the credit balance looks like", `{"credits": {"balance": "integer"}}`},
	{
		op.SearchFilterOptions, Assumed,
		[]string{"search.filter-options"},
		"what the filter options look like",
		`{"filterOptions": {"*": ["any"]}}`,
	},
	{op.ListsList, Documented, nil, "which fields of a list may be null", `{"data": ["@list"], "pagination": "@pagination"}`},
	{
		op.ListsGet, Documented,
		[]string{"lists.get", "lists.completion-status"},
		"whether a single list is wrapped, and what its columns look like",
		`{"list": {"id": "id", "name": "string", "entityType": "contactList|companyList", "contactsCount": "integer",
			"companiesCount": "integer", "createdAt": "timestamp", "folderId": "id null", "completionStatus?": "string null",
			"columns~": [{"id": "id", "name": "string", "type": "string"}]}}`,
	},
	{
		op.ListsRows, Documented,
		[]string{"rows.id", "rows.filters.fields", "rows.filters.columns"},
		"which fields a row has, and where its id stands",
		`{"entityType": "contactList|companyList", "pagination": "@pagination", "data": [{"id~": "id", "...": "",
			"firstName?": "string null", "lastName?": "string null", "jobTitle?": "string null", "socialUrl?": "string null",
			"createdAt?": "timestamp null", "updatedAt?": "timestamp null", "name?": "string null", "domain?": "string null",
			"industry?": "any", "revenue?": "any", "socialHeadCount?": "any", "customColumns?": {"*": "any"}, "address?": "any", "company?": "any"}]}`,
	},
	{
		op.FoldersList, Documented,
		[]string{"folders"},
		"",
		`{"folders": [{"id": "id", "name": "string", "type": "contactList|companyList|campaign|agent"}]}`,
	},
	{op.AgentsList, Assumed, []string{"agents.list"}, "whether agents are paged, and what wraps them", `{"agents": ["@agent"]}`},
	{op.AgentsGet, Assumed, []string{"agents.get"}, "what a single agent looks like", `{"agent": "@agent"}`},
	{op.AgentsAutocomplete, Assumed, []string{"agents.autocomplete"}, "what autocomplete returns", `{"values": ["string"]}`},
	{
		op.CampaignsList, Assumed,
		[]string{"campaigns.list", "campaigns.channels.names", "campaigns.draft", "campaigns.generated"},
		"what a campaign looks like", `{"campaigns": ["@campaign"]}`,
	},
	{op.CampaignsSteps, Assumed, []string{"steps.list", "steps.types"}, "what a step looks like", `{"steps": ["@step"]}`},
	{
		op.CampaignsSends, Assumed,
		[]string{"sends.list"},
		"what a scheduled send looks like",
		`{"data": ["@send"], "pagination": "@pagination"}`,
	},
	{op.HubsList, Assumed, []string{"hubs.list", "hubs.ready"}, "what a knowledge hub looks like", `{"knowledgeHubs": ["@hub"]}`},
	{op.HubsGet, Assumed, []string{"hubs.list"}, "what a single knowledge hub looks like", `{"knowledgeHub": "@hub"}`},
	{op.HubsPages, Assumed, []string{"hubs.pages"}, "what the pages of a hub look like", `{"pages": [{"id": "id", "title": "string"}]}`},
	{
		op.SearchSaved, Assumed,
		[]string{"search.saved.list"},
		"what a saved search looks like",
		`{"savedSearches": [{"id": "id", "name": "string", "type": "prospects|companies"}]}`,
	},
	{
		op.ContactsTimeline, Documented,
		[]string{"contacts.activity"},
		"where the timeline is, and what an activity looks like",
		`{"contactId": "id", "activities": [{"type~": "string", "at~": "timestamp", "scheduled~": "boolean", "campaignId?": "id", "sendId?": "id"}],
			"nextCursor": "string null"}`,
	},
}

// envelope is the description of every unsuccessful response.
const envelope = `{"error": {"code": "string", "message": "string", "param": "string null", "doc_url": "string null",
	"request_id": "string null"}}`

// described parses the descriptions once.
var described = sync.OnceValue(func() map[*op.Op]*shapes.Shape {
	all := map[*op.Op]*shapes.Shape{nil: mustDescribe(envelope)}
	for _, d := range descriptions {
		all[d.op] = mustDescribe(d.body)
	}
	return all
})

func mustDescribe(text string) *shapes.Shape {
	s, err := shapes.Describe(text, parts)
	if err != nil {
		panic(err) // a test reads every description
	}
	return s
}
