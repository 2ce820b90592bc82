package firstcontact

import (
	"path"

	"example.com/prospectkit/internal/op"
)

// ask is one request, and what is documented of the response that the sandbox cannot show.
type ask struct {
	name  string // what texts call it
	op    *op.Op
	query string // escaped; {} is the id
	id    string // for the path or the query: the kind of one that was read before, or = and the id itself
	noKey bool
	page  int64  // how many elements it may have
	order string // of its elements, as in "createdAt desc"
	none  bool   // nothing matches
}

const (
	unknownID = "=ffffffffffffffffffffffff"
	allLists  = "lists, 1,000 a page"
)

// errorsOf is the operation of findings about all errors.
const errorsOf = "errors"

// nowhere is a path that no operation has.
var nowhere = &op.Op{Name: errorsOf, Path: path.Dir(op.AccountMe.Path) + "/prospectkit-check-unknown", Surface: op.AccountMe.Surface, Scope: op.ScopeAny}

// plan is all requests in the order in which they are sent: each free read once, and what tells more about pages, order and errors.
var plan = []ask{
	{name: "the owner of the key", op: op.AccountMe},
	{name: "the credits", op: op.AccountCredits},
	{name: allLists, op: op.ListsList, query: "limit=1000", page: 1000, order: "createdAt desc"},
	{name: "lists", op: op.ListsList, page: 50},
	{name: "lists, page 2", op: op.ListsList, query: "limit=1&pageNum=2", page: 1},
	{name: "lists, past the end", op: op.ListsList, query: "limit=1000&pageNum=1000000", none: true},
	{name: "lists, search for signs", op: op.ListsList, query: "search=%25_%25"}, // they are no wildcards
	{name: "lists, search for a part of a name in the other case", op: op.ListsList, query: "search={}", id: "name"},
	{name: "company lists", op: op.ListsList, query: "entityType=companyList", page: 50},
	{name: "lists of a folder", op: op.ListsList, query: "folderId={}", id: "folder"},
	{name: "a list", op: op.ListsGet, query: "include=columns", id: "list"},
	{name: "rows", op: op.ListsRows, id: "contactList", page: 100},
	{name: "rows, page 2", op: op.ListsRows, query: "limit=1&pageNum=2", id: "contactList", page: 1},
	{name: "rows, 1,000 a page", op: op.ListsRows, query: "limit=1000&sortBy=firstName&sortOrder=asc", id: "contactList", page: 1000, order: "firstName asc"},
	{name: "rows of companies", op: op.ListsRows, query: "sortBy=name&sortOrder=desc", id: "companyList", page: 100, order: "name desc"},
	{name: "folders of lists", op: op.FoldersList, query: "type=contactList"},
	{name: "folders of company lists", op: op.FoldersList, query: "type=companyList"},
	{name: "folders of campaigns", op: op.FoldersList, query: "type=campaign"},
	{name: "folders of agents", op: op.FoldersList, query: "type=agent"},
	{name: "agents", op: op.AgentsList},
	{name: "an agent", op: op.AgentsGet, id: "agents"},
	{name: "values for a filter", op: op.AgentsAutocomplete, query: "field=region"},
	{name: "campaigns", op: op.CampaignsList},
	{name: "the steps of a campaign", op: op.CampaignsSteps, id: "campaigns"},
	{name: "the sends of a campaign", op: op.CampaignsSends, id: "campaigns"},
	{name: "knowledge hubs", op: op.HubsList},
	{name: "a knowledge hub", op: op.HubsGet, id: "hubs"},
	{name: "the pages of a hub", op: op.HubsPages, id: "hubs"},
	{name: "saved searches", op: op.SearchSaved},
	{name: "the filter options", op: op.SearchFilterOptions},
	{name: "the activities of a contact", op: op.ContactsTimeline, id: "contact"},

	{name: "an unknown list", op: op.ListsGet, id: unknownID},
	{name: "an unknown agent", op: op.AgentsGet, id: unknownID},
	{name: "an unknown campaign", op: op.CampaignsSteps, id: unknownID},
	{name: "an unknown hub", op: op.HubsGet, id: unknownID},
	{name: "an id of another form", op: op.ListsGet, id: "=prospectkit-check"},
	{name: "an unknown path", op: nowhere},
	{name: "no key", op: op.AccountMe, noKey: true},
	{name: "limit=1001", op: op.ListsList, query: "limit=1001"},
	{name: "a folder of another form", op: op.ListsList, query: "folderId=prospectkit-check"},
	{name: "folders of no kind", op: op.FoldersList},
	{name: "an unknown row filter", op: op.ListsRows, query: "filters=%7B%22prospectkitCheck%22%3A%5B%22none%22%5D%7D", id: "contactList"},
}

// columns are keys by which rows can be sorted, by the kind of their list.
var columns = map[string][]string{
	"contactList": {"firstName", "lastName", "jobTitle", "createdAt"}, "companyList": {"name", "domain", "industry", "revenue", "socialHeadCount"},
}

// open are objects whose keys are undocumented, but for id and the columns of rows.
var open = map[string]bool{"lists.rows.data[]": true, "search.filter-options.filterOptions": true}

// nullable is documented as null, too, or may be, and never so in the sandbox.
var nullable = map[string]bool{"errors.error.request_id": true, "errors.error.doc_url": true, "lists.get.list.completionStatus": true}

// vocabularies are the documented or assumed words of a place: those of the first that has all which the sandbox sends there.
var vocabularies = [][]string{
	{"contactList", "companyList"},
	{"contactList", "companyList", "campaign", "agent"},
	{"person-discovery-via-filters", "people-watcher", "web-monitor"},
	op.States["campaign"], op.States["agent"], op.States["hub"],
	{"running", "completed", "failed"},
	{"email", "social"},
	{"email", "social_connection", "social_message"},
	{"prospects", "companies"},
}
