package firstcontact

import (
	"path"
	"strings"

	"example.com/prospectkit/internal/op"
)

// ask is one request, and its result.
type ask struct {
	name  string // what texts call it
	op    *op.Op
	query string // as in name=value&name=value, not escaped
	id    string // for the parameter of the path: the kind of one that was read before, or = and the id itself
	noKey bool
	fails failure // what is expected; none: a success

	got *exchange // the last response
	why string    // there is none
}

// failure is the error that is expected of an ask.
type failure struct {
	status int
	code   string
	param  string
	source Source
}

// Source says where an expectation comes from.
type Source string

// The sources.
const (
	Documented Source = "documented"
	Assumed    Source = "assumed" // by this project
)

const (
	unknownID = "=ffffffffffffffffffffffff"
	noName    = "prospectkit-check searches for what no list is called"
)

// nowhere is a path that no operation has.
var nowhere = &op.Op{
	Name: "unknown.endpoint", Method: op.AccountMe.Method, Path: path.Dir(op.AccountMe.Path) + "/prospectkit-check-unknown",
	Surface: op.AccountMe.Surface, Scope: op.ScopeAny,
}

// plan is all requests in the order in which they are sent: each free read once, and what tells more about pages, order and errors.
func plan() []*ask {
	notFound := func(code string, source Source) failure { return failure{404, code, "", source} }
	invalid := func(code, param string) failure { return failure{422, code, param, Documented} }
	return []*ask{
		{name: "the owner of the key", op: op.AccountMe},
		{name: "the credits", op: op.AccountCredits},
		{name: "lists, 1,000 a page", op: op.ListsList, query: "limit=1000"},
		{name: "lists", op: op.ListsList},
		{name: "lists, page 2", op: op.ListsList, query: "limit=1&pageNum=2"},
		{name: "lists, past the end", op: op.ListsList, query: "limit=1000&pageNum=1000000"},
		{name: "lists, search", op: op.ListsList, query: "search=" + noName},
		{name: "company lists", op: op.ListsList, query: "entityType=companyList"},
		{name: "a list", op: op.ListsGet, query: "include=columns", id: "list"},
		{name: "rows", op: op.ListsRows, id: "contactList"},
		{name: "rows, page 2", op: op.ListsRows, query: "limit=1&pageNum=2", id: "contactList"},
		{name: "rows, 1,000 a page", op: op.ListsRows, query: "limit=1000&sortBy=firstName&sortOrder=asc", id: "contactList"},
		{name: "rows of companies", op: op.ListsRows, query: "sortBy=name&sortOrder=desc", id: "companyList"},
		{name: "folders of contactList", op: op.FoldersList, query: "type=contactList"},
		{name: "folders of companyList", op: op.FoldersList, query: "type=companyList"},
		{name: "folders of campaign", op: op.FoldersList, query: "type=campaign"},
		{name: "folders of agent", op: op.FoldersList, query: "type=agent"},
		{name: "agents", op: op.AgentsList},
		{name: "an agent", op: op.AgentsGet, id: "agent"},
		{name: "values for a filter", op: op.AgentsAutocomplete, query: "field=region"},
		{name: "campaigns", op: op.CampaignsList},
		{name: "the steps of a campaign", op: op.CampaignsSteps, id: "campaign"},
		{name: "the sends of a campaign", op: op.CampaignsSends, id: "campaign"},
		{name: "knowledge hubs", op: op.HubsList},
		{name: "a knowledge hub", op: op.HubsGet, id: "hub"},
		{name: "the pages of a hub", op: op.HubsPages, id: "hub"},
		{name: "saved searches", op: op.SearchSaved},
		{name: "the filter options", op: op.SearchFilterOptions},
		{name: "the activities of a contact", op: op.ContactsTimeline, id: "contact"},

		{name: "an unknown list", op: op.ListsGet, id: unknownID, fails: notFound("LIST_NOT_FOUND", Documented)},
		{name: "an unknown agent", op: op.AgentsGet, id: unknownID, fails: notFound("AGENT_NOT_FOUND", Assumed)},
		{name: "an unknown campaign", op: op.CampaignsSteps, id: unknownID, fails: notFound("CAMPAIGN_NOT_FOUND", Assumed)},
		{name: "an unknown hub", op: op.HubsGet, id: unknownID, fails: notFound("KNOWLEDGE_HUB_NOT_FOUND", Assumed)},
		{name: "an id of another form", op: op.ListsGet, id: "=prospectkit-check", fails: failure{422, "VALIDATION_FAILED", "", Assumed}},
		{name: "an unknown path", op: nowhere, fails: notFound("ENDPOINT_NOT_FOUND", Documented)},
		{name: "no key", op: op.AccountMe, noKey: true, fails: failure{401, "UNAUTHORIZED", "", Documented}},
		{name: "limit=1001", op: op.ListsList, query: "limit=1001", fails: invalid("VALIDATION_FAILED", "limit")},
		{name: "a folder of another form", op: op.ListsList, query: "folderId=prospectkit-check", fails: invalid("VALIDATION_FAILED", "folderId")},
		{name: "folders of no kind", op: op.FoldersList, fails: invalid("VALIDATION_FAILED", "type")},
		{name: "an unknown row filter", op: op.ListsRows, query: `filters={"prospectkitCheck":["none"]}`, id: "contactList", fails: invalid("INVALID_ROW_FILTERS", "")},
	}
}

// descriptions has a row for each free read: what its success is expected to be, in JSON with types in place of values. A name that ends
// in ? may be missing, one in ~ is assumed; with "..." others are no news; "*" is any name; @ is one of parts. The first row is every unsuccessful response.
var descriptions = []struct {
	op     *op.Op
	source Source
	body   string
}{
	{nil, Documented, `{"error": {"code": "string", "message": "string", "param": "string null", "doc_url": "string null", "request_id": "string null"}}`},
	{op.AccountMe, Documented, `{"user": {"id": "id", "email": "string", "name": "string"}}`},
	{op.ListsList, Documented, `{"data": [{"id": "id", "name": "string", "entityType": "contactList|companyList", "contactsCount": "integer",
		"companiesCount": "integer", "createdAt": "timestamp", "folderId": "id null"}], "pagination": "@pagination"}`},
	{op.ListsGet, Documented, `{"list": {"id": "id", "name": "string", "entityType": "contactList|companyList", "contactsCount": "integer",
		"companiesCount": "integer", "createdAt": "timestamp", "folderId": "id null", "completionStatus?": "string null",
		"columns~": [{"id": "id", "name": "string", "type": "string"}]}}`},
	{op.ListsRows, Documented, `{"entityType": "contactList|companyList", "pagination": "@pagination", "data": [{"id~": "id", "...": "",
		"firstName?": "string null", "lastName?": "string null", "jobTitle?": "string null", "createdAt?": "timestamp null",
		"updatedAt?": "timestamp null", "name?": "string null", "domain?": "string null"}]}`},
	{op.FoldersList, Documented, `{"folders": [{"id": "id", "name": "string", "type": "contactList|companyList|campaign|agent"}]}`},
	{op.AccountCredits, Assumed, `{"credits": {"balance": "integer"}}`},
	{op.SearchFilterOptions, Assumed, `{"filterOptions": {"*": ["any"]}}`},
	{op.AgentsList, Assumed, `{"agents": ["@agent"]}`},
	{op.AgentsGet, Assumed, `{"agent": "@agent"}`},
	{op.AgentsAutocomplete, Assumed, `{"values": ["string"]}`},
	{op.CampaignsList, Assumed, `{"campaigns": [{"id": "id", "name": "string", "status": "` + states("campaign") + `",
		"initializationStatus": "running|completed|failed", "channels": ["email|social"], "listIds": ["id"], "createdAt": "timestamp"}]}`},
	{op.CampaignsSteps, Assumed, `{"steps": [{"id": "id", "sequenceNumber": "integer", "type": "email|social_connection|social_message",
		"subject": "string", "body": "string", "topic": "string"}]}`},
	{op.CampaignsSends, Assumed, `{"data": [{"id": "id", "stepId": "id", "contactId": "id", "state": "` +
		`scheduled|approval_required|sent|skipped|stopped|overwritten|replied|failed|*", "dueAt": "timestamp", "subject": "string", "body": "string"}],
		"pagination": "@pagination"}`},
	{op.HubsList, Assumed, `{"knowledgeHubs": ["@hub"]}`},
	{op.HubsGet, Assumed, `{"knowledgeHub": "@hub"}`},
	{op.HubsPages, Assumed, `{"pages": [{"id": "id", "title": "string"}]}`},
	{op.SearchSaved, Assumed, `{"savedSearches": [{"id": "id", "name": "string", "type": "prospects|companies"}]}`},
	{op.ContactsTimeline, Documented, `{"contactId": "id", "activities": [{"...": ""}], "nextCursor": "string null"}`},
}

// parts are descriptions that others use.
var parts = map[string]string{
	"pagination": `{"pageNum": "integer", "totalPages": "integer", "totalRecords": "integer"}`,
	"agent": `{"id": "id", "type": "person-discovery-via-filters|people-watcher|web-monitor null", "name": "string",
		"status": "` + states("agent") + `", "started~": "boolean", "listId": "id null", "contactsFound": "integer"}`,
	"hub": `{"id": "id", "name": "string", "status": "` + states("hub") + `", "isDefault": "boolean"}`,
}

func states(of string) string { return strings.Join(op.States[of], "|") }
