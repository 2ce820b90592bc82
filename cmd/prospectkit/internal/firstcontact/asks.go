package firstcontact

import (
	"cmp"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"

	"example.com/prospectkit/cmd/prospectkit/internal/shapes"
	"example.com/prospectkit/internal/op"
)

// unknownID has the form of an id. That one exists is as good as impossible.
const unknownID = "ffffffffffffffffffffffff"

// noName is a text that no list has in its name.
const noName = "prospectkit-check searches for what no list is called"

// ask is one request of the plan, and its result.
type ask struct {
	name  string
	op    *op.Op
	query string                                // as in name=value&name=value, not escaped
	ids   func(*Run) (ids []string, why string) // for the parameters of the path; why there are none
	fails *failure                              // the error that is expected
	noKey bool
	likes string // what is asked, in a few words

	last *exchange
	view *view  // of a success that was expected
	why  string // there is no response
}

// reason says why an ask without a success tells nothing.
func (a *ask) reason() string {
	if a.last == nil {
		return cmp.Or(a.why, "it was not asked")
	}
	return a.last.refusal()
}

// asks reports whether a query has a parameter, as in limit=1000.
func (a *ask) asks(parameter string) bool {
	return strings.Contains("&"+a.query+"&", "&"+parameter+"&")
}

// failure is the error that is expected of an ask.
type failure struct {
	status int
	code   string
	param  string
	source Source
	rules  []string
}

func fixed(ids ...string) func(*Run) ([]string, string) {
	return func(*Run) ([]string, string) { return ids, "" }
}

// found takes ids that were read before, by the ask of that name.
func found(what, listing string, kinds ...string) func(*Run) ([]string, string) {
	return func(r *Run) ([]string, string) {
		for _, kind := range kinds {
			if id := r.ids[kind]; id != "" {
				return []string{id}, ""
			}
		}
		return nil, r.noneFound(what, listing)
	}
}

var anyList = found("list", "lists", "contact list", "company list")

// noneFound says why there is no id. Only a successful listing tells that there is nothing.
func (r *Run) noneFound(what, listing string) string {
	switch a := r.named(listing); {
	case a.view != nil:
		return "this workspace shows no " + what
	case a.last == nil:
		return a.why
	case a.last.succeeded():
		return fmt.Sprintf("the response for %q is no JSON", listing)
	default:
		return fmt.Sprintf("the response for %q was %d", listing, a.last.status)
	}
}

// plan is all requests in the order in which they are sent, the most telling first.
func plan() []*ask {
	campaign, hub := found("campaign", "campaigns", "campaign"), found("knowledge hub", "hubs", "hub")
	asks := []*ask{
		{name: "me", op: op.AccountMe, likes: "the owner of the key"},
		{name: "credits", op: op.AccountCredits, likes: "the credit balance"},
		{name: "lists", op: op.ListsList, likes: "the newest lists"},
		{name: "lists, page 2", op: op.ListsList, query: "limit=1&pageNum=2", likes: "a page of one list"},
		{name: "lists, past the end", op: op.ListsList, query: "limit=1000&pageNum=1000000", likes: "a page past the end"},
		{name: "lists without match", op: op.ListsList, query: "search=" + noName, likes: "lists by a name that none has"},
		{name: "company lists", op: op.ListsList, query: "entityType=companyList", likes: "only company lists"},
		{name: "list", op: op.ListsGet, query: "include=columns", ids: anyList, likes: "one list with its columns"},
		{name: "rows of contacts", op: op.ListsRows, ids: found("contact list", "lists", "contact list"), likes: "rows of a contact list"},
		{name: "rows, page 2", op: op.ListsRows, query: "limit=1&pageNum=2", ids: anyList, likes: "a page of one row"},
		{
			name: "rows, largest page", op: op.ListsRows, query: "limit=1000&sortBy=firstName&sortOrder=asc",
			ids: anyList, likes: "the largest page of rows, sorted by first name",
		},
		{name: "rows of companies", op: op.ListsRows, query: "sortBy=name&sortOrder=desc", ids: found("company list", "company lists", "company list"), likes: "rows of a company list, sorted by name from Z to A"},
		{name: "agents", op: op.AgentsList, likes: "the agents"},
		{name: "agent", op: op.AgentsGet, ids: found("agent", "agents", "agent"), likes: "one agent"},
		{name: "campaigns", op: op.CampaignsList, likes: "the campaigns"},
		{name: "steps", op: op.CampaignsSteps, ids: campaign, likes: "the steps of a campaign"},
		{name: "sends", op: op.CampaignsSends, ids: campaign, likes: "the scheduled sends of a campaign"},
		{name: "hubs", op: op.HubsList, likes: "the knowledge hubs"},
		{name: "hub", op: op.HubsGet, ids: hub, likes: "one knowledge hub"},
		{name: "pages", op: op.HubsPages, ids: hub, likes: "the pages of a knowledge hub"},
		{name: "saved searches", op: op.SearchSaved, likes: "the saved searches"},
		{name: "filter options", op: op.SearchFilterOptions, likes: "the filter values"},
	}
	for _, kind := range []string{"contactList", "companyList", "campaign", "agent"} {
		asks = append(asks, &ask{name: "folders of " + kind, op: op.FoldersList, query: "type=" + kind, likes: "the folders of one kind"})
	}
	return append(asks, ending()...)
}

// ending is the end of the plan: what is refused, which changes nothing and costs nothing, and what is a guess.
func ending() []*ask {
	const noSuchID, badQuery = "an id that does not exist", "a query that is invalid"
	nobody, malformed := fixed(unknownID), &failure{http.StatusUnprocessableEntity, "VALIDATION_FAILED", "", Assumed, []string{"path.id"}}
	return []*ask{
		{name: "unknown list", op: op.ListsGet, ids: nobody, likes: noSuchID, fails: notFound("LIST_NOT_FOUND", Documented)},
		{name: "unknown endpoint", op: nowhere(), likes: "a path that does not exist", fails: notFound("ENDPOINT_NOT_FOUND", Documented)},
		{
			name: "no key", op: op.AccountMe, noKey: true, likes: "a request without a key, which locks nothing",
			fails: &failure{http.StatusUnauthorized, "UNAUTHORIZED", "", Documented, nil},
		},
		{name: "limit over 1000", op: op.ListsList, query: "limit=1001", likes: badQuery, fails: invalid("VALIDATION_FAILED", "limit")},
		{name: "folders of no kind", op: op.FoldersList, likes: badQuery, fails: invalid("VALIDATION_FAILED", "type")},
		{
			name: "unknown row filter", op: op.ListsRows, query: `filters={"prospectkitCheck":["none"]}`, ids: anyList, likes: badQuery,
			fails: invalid("INVALID_ROW_FILTERS", ""),
		},
		{name: "malformed id", op: op.ListsGet, ids: fixed("prospectkit-check"), likes: "an id of another form", fails: malformed},
		{name: "unknown agent", op: op.AgentsGet, ids: nobody, likes: noSuchID, fails: notFound("AGENT_NOT_FOUND", Assumed)},
		{name: "unknown campaign", op: op.CampaignsSteps, ids: nobody, likes: noSuchID, fails: notFound("CAMPAIGN_NOT_FOUND", Assumed)},
		{name: "unknown hub", op: op.HubsGet, ids: nobody, likes: noSuchID, fails: notFound("KNOWLEDGE_HUB_NOT_FOUND", Assumed)},
		{
			name: "malformed folder", op: op.ListsList, query: "folderId=prospectkit-check", likes: badQuery,
			fails: invalid("VALIDATION_FAILED", "folderId"),
		},
		{name: "autocomplete", op: op.AgentsAutocomplete, query: "field=region", likes: "values for a filter of agents"},
		{
			name: "timeline", op: op.ContactsTimeline, ids: found("contact", "rows of contacts", "contact"),
			likes: "the activities of a contact; its path is a guess",
		},
	}
}

func notFound(code string, source Source) *failure {
	return &failure{http.StatusNotFound, code, "", source, nil}
}

func invalid(code, param string) *failure {
	return &failure{http.StatusUnprocessableEntity, code, param, Documented, nil}
}

// parts are descriptions that others use.
var parts = map[string]string{
	"list": `{"id": "id", "name": "string", "entityType": "contactList|companyList", "contactsCount": "integer",
		"companiesCount": "integer", "createdAt": "timestamp", "folderId": "id null"}`,
	"pagination": `{"pageNum": "integer", "totalPages": "integer", "totalRecords": "integer"}`,
	"agent": `{"id": "id", "type": "person-discovery-via-filters|people-watcher|web-monitor null", "name": "string",
		"status": "` + states("agent") + `", "started~": "boolean", "listId": "id null", "contactsFound": "integer"}`,
	"campaign": `{"id": "id", "name": "string", "status": "` + states("campaign") + `", "initializationStatus": "running|completed|failed",
		"channels": ["email|social"], "listIds": ["id"], "createdAt": "timestamp"}`,
	"step": `{"id": "id", "sequenceNumber": "integer", "type": "email|social_connection|social_message", "subject": "string",
		"body": "string", "topic": "string"}`,
	"send": `{"id": "id", "stepId": "id", "contactId": "id",
		"state": "scheduled|approval_required|sent|skipped|stopped|overwritten|replied|failed|*wait|*task", "dueAt": "timestamp", "subject": "string", "body": "string"}`,
	"hub": `{"id": "id", "name": "string", "status": "` + states("hub") + `", "isDefault": "boolean"}`,
}

func states(of string) string { return strings.Join(op.States[of], "|") }

// description is what is expected of the success of an operation.
type description struct {
	op     *op.Op
	source Source
	rules  []string // assumptions of the sandbox that it is about
	asks   string   // the open question that it settles
	body   string
}

// descriptions has a row for each free read. A body is JSON with types in place of values, as shapes.Describe reads it: a name that ends
// in ? may be missing, also from a documented response, and one that ends in ~ is assumed, as is every field that only the sandbox shows.
var descriptions = []description{
	{op.AccountMe, Documented, nil, "", `{"user": {"id": "id", "email": "string", "name": "string"}}`},
	{op.AccountCredits, Assumed, []string{"account.credits"}, "what the credit balance looks like", `{"credits": {"balance": "integer"}}`},
	{op.SearchFilterOptions, Assumed, []string{"search.filter-options"}, "what the filter options look like", `{"filterOptions": {"*": ["any"]}}`},
	{op.ListsList, Documented, nil, "which fields of a list may be null", `{"data": ["@list"], "pagination": "@pagination"}`},
	{
		op.ListsGet, Documented,
		[]string{"lists.completion-status"},
		"whether a single list is wrapped, and what its columns look like",
		`{"list": {"id": "id", "name": "string", "entityType": "contactList|companyList", "contactsCount": "integer",
			"companiesCount": "integer", "createdAt": "timestamp", "folderId": "id null", "completionStatus?": "string null",
			"columns~": [{"id": "id", "name": "string", "type": "string"}]}}`,
	},
	{
		op.ListsRows, Documented,
		[]string{"rows.filters.fields", "rows.filters.columns"},
		"which fields a row has, and where its id stands",
		`{"entityType": "contactList|companyList", "pagination": "@pagination", "data": [{"id~": "id", "...": "",
			"firstName?": "string null", "lastName?": "string null", "jobTitle?": "string null", "socialUrl?": "string null",
			"createdAt?": "timestamp null", "updatedAt?": "timestamp null", "name?": "string null", "domain?": "string null",
			"industry?": "any", "revenue?": "any", "socialHeadCount?": "any", "customColumns?": {"*": "any"}, "address?": "any", "company?": "any"}]}`,
	},
	{op.FoldersList, Documented, nil, "", `{"folders": [{"id": "id", "name": "string", "type": "contactList|companyList|campaign|agent"}]}`},
	{op.AgentsList, Assumed, []string{"agents.list"}, "whether agents are paged, and what wraps them", `{"agents": ["@agent"]}`},
	{op.AgentsGet, Assumed, []string{"agents.get"}, "what a single agent looks like", `{"agent": "@agent"}`},
	{op.AgentsAutocomplete, Assumed, []string{"agents.autocomplete"}, "what autocomplete returns", `{"values": ["string"]}`},
	{
		op.CampaignsList, Assumed,
		[]string{"campaigns.list", "campaigns.channels.names", "campaigns.draft", "campaigns.generated"},
		"what a campaign looks like", `{"campaigns": ["@campaign"]}`,
	},
	{op.CampaignsSteps, Assumed, []string{"steps.list", "steps.types"}, "what a step looks like", `{"steps": ["@step"]}`},
	{op.CampaignsSends, Assumed, []string{"sends.list"}, "what a scheduled send looks like", `{"data": ["@send"], "pagination": "@pagination"}`},
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

// Source says where an expectation comes from.
type Source string

// The sources.
const (
	Documented Source = "documented"
	Assumed    Source = "assumed" // by this project
)

// envelope is the description of every unsuccessful response.
const envelope = `{"error": {"code": "string", "message": "string", "param": "string null", "doc_url": "string null",
	"request_id": "string null"}}`

// described parses the descriptions once.
var described = sync.OnceValue(func() map[*op.Op]*shapes.Shape {
	all := map[*op.Op]*shapes.Shape{nil: shapes.Describe(envelope, parts)}
	for _, d := range descriptions {
		all[d.op] = shapes.Describe(d.body, parts)
	}
	return all
})

// nowhere is a path that no operation has.
func nowhere() *op.Op {
	o := *op.AccountMe
	o.Name, o.Path = "unknown.endpoint", path.Dir(o.Path)+"/prospectkit-check-unknown"
	return &o
}

// guesses are other paths at which an operation may be: those of an undocumented one, or where the documented path
// leads nowhere. Unknown paths are documented to respond with 404, so a guess does no harm.
func guesses(o *op.Op) []string {
	if o == op.ContactsTimeline {
		base := path.Dir(op.ContactsResolve.Path) + "/{contactId}/"
		return []string{base + "activities", base + "timeline", base + "activity"}
	}
	head, tail, _ := strings.Cut(strings.TrimPrefix(o.Path, "/"), "/")
	all := []string{"/" + tail}
	if i := strings.LastIndexByte(tail, '-'); i >= 0 {
		start := strings.LastIndexByte(tail[:i], '/') + 1
		all = append(all, "/"+head+"/"+tail[:start]+tail[i+1:])
	}
	if o.Surface == op.Account {
		all = append(all, "/"+head+"/account/"+tail)
	}
	return all
}
