package op

import (
	"cmp"
	"strings"
	"time"
)

// The time limits of one attempt. The service is documented to time out after 60 s for agents. A shorter
// limit of ours would turn known outcomes into unknown ones.
const (
	UsualTimeout  = 30 * time.Second
	agentsTimeout = 75 * time.Second
	uploadTimeout = 10 * time.Minute
)

// How long a change may take to show is undocumented, but agents may work until their time-out.
const (
	UsuallyVisibleAfter = 10 * time.Second
	agentsVisibleAfter  = 65 * time.Second
)

// Codes shared by the three kinds of agent.
var (
	agentCodes  = []string{"LIST_NAME_TAKEN", "INSUFFICIENT_CREDITS", "AGENT_LIMIT_REACHED", "VALIDATION_FAILED", "INVALID_REQUEST"}
	agentLikely = []string{"LIST_NAME_RESERVED"}
)

// Codes that the draft-only operations share.
var (
	draftCodes  = []string{"AGENT_NOT_A_DRAFT", "AGENT_PROCESSING"}
	draftLikely = []string{"AGENT_NOT_FOUND", "AGENT_CONFIG_MISSING", "AGENT_TYPE_UNSUPPORTED"}
)

// Codes about what a campaign is made of.
var campaignLikely = []string{
	"LIST_NOT_FOUND", "CONTACT_LIST_REQUIRED", "LIST_EMPTY", "LIST_INCOMPATIBLE_WITH_CHANNELS", "CAMPAIGN_LIST_CAP_REACHED",
	"INVALID_CAMPAIGN_CHANNELS", "STEP_ORDER_INVALID", "STEP_POSITION_TAKEN", "CONNECTION_NOTE_TOO_LONG",
	"INVALID_REQUEST", "INSUFFICIENT_CREDITS",
}

// To add an operation: CONTRIBUTING.md, "Adding an operation".

// Lists, rows and folders.
var (
	ListsList = def(Op{
		Name: "lists.list", Method: "GET", Path: "/business/lists", Class: Read, Shape: Typed,
		Summary: "page through the lists, newest first",
		Codes:   []string{"VALIDATION_FAILED"},
	})
	ListsCreate = def(Op{
		Name: "lists.create", Method: "POST", Path: "/business/lists", Class: GuardedByName, Confirms: No, Shape: Typed, Entity: "list", Resolves: true,
		Summary: "create an empty list",
		Verify:  "the list of that name, created since the call; a teammate may have made it in the same moment",
		Codes:   []string{"LIST_NAME_TAKEN", "VALIDATION_FAILED"},
		Likely:  []string{"LIST_NAME_RESERVED"},
	})
	ListsGet = def(Op{
		Name: "lists.get", Method: "GET", Path: "/business/lists/{listId}", Class: Read, Shape: Partial, Entity: "list",
		Summary: "read one list, with its custom columns if asked",
		Codes:   []string{"LIST_NOT_FOUND"},
	})
	ListsMove = def(Op{
		Name: "lists.move", Method: "PATCH", Path: "/business/lists/{listId}", Class: Idempotent, Confirms: Yes, Shape: Partial, RawResponse: true, Resolves: true,
		Summary: "move a list into a folder",
		Verify:  "the folder of the list; a teammate may have moved it",
		Likely:  []string{"LIST_NOT_FOUND", "FOLDER_NOT_FOUND"},
	})
	ListsRows = def(Op{
		Name: "lists.rows", Method: "GET", Path: "/business/lists/{listId}/rows", Class: Read, Shape: Partial,
		Summary: "page through the rows of a list, filtered and sorted",
		Codes:   []string{"INVALID_ROW_FILTERS"},
		Likely:  []string{"LIST_NOT_FOUND", "LIST_PROCESSING"},
	})
	ListsCRMPush = def(Op{
		Name: "lists.crm-push", Method: "POST", Path: "/business/lists/{listId}/crm-push", Class: Unsafe, WritesOutside: Yes, Shape: Typed,
		Background: true, Confirms: Yes,
		Summary: "push contacts into the connected CRM, in the background",
		Verify:  "no documented read shows it: look in the CRM",
		Free:    "no credits are spent",
		Codes:   []string{"LIST_NOT_FOUND", "CONTACT_LIST_REQUIRED", "CRM_NOT_CONNECTED", "VALIDATION_FAILED"},
	})
	ListsAddMembers = def(Op{
		Name: "lists.add-members", Method: "POST", Path: "/business/lists/{listId}/members", Class: Unsafe, Confirms: No, Spends: Assumed, Shape: Raw,
		Summary: "add existing contacts to a list",
		Verify:  "no documented read proves it: compare the rows of the list with what you know of them",
		Likely:  []string{"LIST_NOT_FOUND", "CONTACT_NOT_FOUND", "INSUFFICIENT_CREDITS"},
	})
	ListsAddContacts = def(Op{
		Name: "lists.add-contacts", Method: "POST", Path: "/business/lists/{listId}/contacts", Class: Unsafe, Confirms: No, Spends: Assumed, Shape: Raw,
		Summary: "add new raw rows to a list",
		Verify:  "no documented read proves it: compare the rows of the list with what you know of them",
		Likely:  []string{"LIST_NOT_FOUND", "INSUFFICIENT_CREDITS"},
	})
	ListsSave = def(Op{
		Name: "lists.save-to-list", Method: "POST", Path: "/business/lists/save-to-list", Class: Unsafe, Confirms: No, Spends: Assumed, Shape: Raw,
		Summary: "save contacts of one list into another",
		Verify:  "no documented read proves it: look at the destination list and its counts",
		Likely: []string{
			"LIST_NOT_FOUND", "LIST_NAME_AMBIGUOUS", "LIST_NAME_TAKEN", "LIST_NAME_RESERVED", "LIST_PROCESSING", "CONTACT_NOT_IN_LIST",
			"ALL_CONTACTS_ALREADY_ENRICHED", "INSUFFICIENT_CREDITS",
		},
	})
	FoldersList = def(Op{
		Name: "folders.list", Method: "GET", Path: "/business/folders", Class: Read, Scope: ScopeLists, Surface: Lists, Shape: Typed, Entity: "folders",
		Summary: "list the folders of one kind",
		Codes:   []string{"VALIDATION_FAILED", "INVALID_REQUEST"},
	})
)

// Agents.
var (
	AgentsCreateDiscovery = def(Op{
		Name: "agents.create-person-discovery", Method: "POST", Path: "/business/agents/person-discovery-via-filters",
		Class: GuardedByName, Confirms: No, Spends: Yes, Shape: Partial, Entity: "agent", Resolves: true,
		Summary: "create an agent that delivers people matching filters",
		Verify:  "the agent of that name; a teammate may have made it",
		Codes:   agentCodes,
		Likely:  agentLikely,
	})
	AgentsCreateWatcher = def(Op{
		Name: "agents.create-people-watcher", Method: "POST", Path: "/business/agents/people-watcher",
		Class: GuardedByName, Confirms: No, Spends: Yes, Shape: Partial, Entity: "agent", Resolves: true,
		Summary: "create an agent that watches the people of lists",
		Verify:  "the agent of that name; a teammate may have made it",
		Codes:   append([]string{"LIST_NOT_FOUND", "AGENT_SOURCE_LIST_EMPTY"}, agentCodes...),
		Likely:  append([]string{"CONTACT_LIST_REQUIRED", "LIST_PROCESSING"}, agentLikely...),
	})
	AgentsCreateMonitor = def(Op{
		Name: "agents.create-web-monitor", Method: "POST", Path: "/business/agents/web-monitor",
		Class: GuardedByName, Confirms: No, Spends: Yes, Shape: Partial, Entity: "agent", Resolves: true,
		Summary: "create an agent that searches the web on a schedule",
		Verify:  "the agent of that name; a teammate may have made it",
		Codes:   append([]string{"AGENT_SIGNAL_REJECTED"}, agentCodes...),
		Likely:  agentLikely,
	})
	AgentsList = def(Op{
		Name: "agents.list", Method: "GET", Path: "/business/agents", Class: Read, Shape: Partial,
		Summary: "list the agents",
	})
	AgentsGet = def(Op{
		Name: "agents.get", Method: "GET", Path: "/business/agents/{agentId}", Class: Read, Shape: Partial, Entity: "agent",
		Summary: "read one agent",
		Likely:  []string{"AGENT_NOT_FOUND"},
	})
	AgentsAdjust = def(Op{
		Name: "agents.adjust", Method: "PATCH", Path: "/business/agents/{agentId}", Class: Idempotent,
		Provenance: AssumedPath, Confirms: Yes, Shape: Raw,
		Summary: "edit a draft agent",
		Verify:  "no documented read proves it: the configuration of a draft is undocumented",
		Codes:   draftCodes,
		Likely:  append([]string{"LIST_NAME_TAKEN", "LIST_NAME_RESERVED", "AGENT_SIGNAL_REJECTED", "LIST_NOT_FOUND"}, draftLikely...),
	})
	AgentsActivate = def(Op{
		Name: "agents.activate", Method: "POST", Path: "/business/agents/{agentId}/activate", Class: GuardedByState, Spends: Yes,
		Confirms: Yes, Shape: Partial, Entity: "agent", Resolves: true,
		Summary: "start a draft agent",
		Verify:  "the status of the agent: a draft never changes on its own",
		Codes:   append([]string{"INSUFFICIENT_CREDITS", "AGENT_SOURCE_LIST_EMPTY"}, draftCodes...),
		Likely:  append([]string{"AGENT_SIGNAL_REJECTED", "LIST_NOT_FOUND"}, draftLikely...),
	})
	AgentsPause = def(Op{
		Name: "agents.pause", Class: GuardedByState,
		Provenance: CallerSupplied, Confirms: Yes, Shape: Raw, Resolves: true,
		Summary: "pause a running agent",
		Verify:  "the status of the agent",
		Codes:   []string{"AGENT_NOT_RUNNING", "AGENT_PROCESSING"},
		Likely:  []string{"AGENT_NOT_FOUND", "AGENT_TYPE_UNSUPPORTED"},
	})
	AgentsAutocomplete = def(Op{
		Name: "agents.autocomplete", Method: "GET", Path: "/business/agents/autocomplete", Class: Read, Shape: Raw,
		Summary: "look up filter values: region, industry, title",
	})
)

// Campaigns, scheduled sends, learned facts and knowledge hubs.
var (
	CampaignsList = def(Op{
		Name: "campaigns.list", Method: "GET", Path: "/business/campaigns", Class: Read, Shape: Partial,
		Summary: "list the campaigns",
	})
	CampaignsCreate = def(Op{
		Name: "campaigns.create", Method: "POST", Path: "/business/campaigns", Class: Unsafe, Confirms: No, Spends: Assumed, Shape: Partial, RawResponse: true,
		Summary: "create a campaign",
		Verify:  "no documented read proves it: names may repeat; look at the campaigns",
		Likely:  append([]string{"KNOWLEDGE_HUB_NOT_FOUND", "TEMPLATE_NOT_FOUND", "WRITING_STYLE_NOT_FOUND"}, campaignLikely...),
	})
	CampaignsAdjust = def(Op{
		Name: "campaigns.adjust", Method: "PATCH", Path: "/business/campaigns/{campaignId}", Class: Idempotent, Spends: Assumed, Confirms: Yes, Shape: Partial,
		Summary: "change a campaign, its lists for example",
		Verify:  "no documented read proves it: look at the campaign",
		Codes:   []string{"CAMPAIGN_INITIALIZING"},
		Likely:  append([]string{"CAMPAIGN_NOT_FOUND"}, campaignLikely...),
	})
	CampaignsApprove = def(Op{
		Name: "campaigns.approve", Method: "POST", Path: "/business/campaigns/{campaignId}/approve", Class: GuardedByState, Sends: Yes, NoBody: true, Shape: Typed,
		Background: true, Confirms: Yes, Resolves: true,
		Summary: "approve a campaign: its messages start to go out",
		Verify: "the status of the campaign, where it can be read: one that is not active may still become so, because activation runs in " +
			"the background; a second approval could restart what a teammate has stopped",
		Codes: []string{"CAMPAIGN_NOT_FOUND", "CAMPAIGN_NOT_APPROVABLE", "CAMPAIGN_BUSY", "CAMPAIGN_NOT_READY", "VALIDATION_FAILED"},
	})
	CampaignsSteps = def(Op{
		Name: "campaigns.steps", Method: "GET", Path: "/business/campaigns/{campaignId}/steps", Class: Read, Shape: Partial,
		Summary: "list the steps of a campaign",
		Likely:  []string{"CAMPAIGN_NOT_FOUND"},
	})
	CampaignsSends = def(Op{
		Name: "campaigns.scheduled-sends", Method: "GET", Path: "/business/campaigns/{campaignId}/scheduled-sends", Class: Read, Shape: Partial,
		Summary: "list the scheduled sends of a campaign",
		Likely:  []string{"CAMPAIGN_NOT_FOUND"},
	})
	CampaignsEditSend = def(Op{
		Name: "campaigns.edit-send", Method: "PATCH", Path: "/business/scheduled-sends/{sendId}",
		Class: Idempotent, Confirms: Yes, Shape: Partial,
		Summary: "edit a scheduled send before it goes out",
		Verify:  "the fields of a scheduled send are undocumented: look at the scheduled sends of the campaign",
		Codes:   []string{"SCHEDULED_SEND_NOT_EDITABLE"},
		Likely:  []string{"SCHEDULED_SEND_NOT_FOUND", "CONNECTION_NOTE_TOO_LONG"},
	})
	CampaignsPreviewStep = def(Op{
		Name: "campaigns.preview-step", Method: "POST", Class: PaidRead, Spends: Assumed,
		Provenance: CallerSupplied, Shape: Partial,
		Summary: "render a step for a sample lead, without saving or sending",
		Verify:  "nothing was saved or sent; whether it cost credits is undocumented",
		Codes:   []string{"SEQUENCE_STEP_NOT_FOUND", "STEP_PREVIEW_UNAVAILABLE"},
		Likely:  []string{"CAMPAIGN_NOT_FOUND", "INSUFFICIENT_CREDITS"},
	})
	FactsEdit = def(Op{
		Name: "facts.edit", Method: "PATCH", Path: "/business/knowledge-hubs/learned-facts/{factId}", Scope: ScopeCampaigns, Surface: Campaigns,
		Class: Idempotent, Confirms: No, Shape: Typed, Entity: "fact",
		Summary: "edit a learned fact",
		Verify:  "no read of a fact is documented: look at the fact in the app; a second edit may undo what a teammate wrote",
		Codes:   []string{"LEARNED_FACT_NOT_FOUND", "LEARNED_FACT_NOT_ANONYMIZED", "VALIDATION_FAILED"},
	})
	HubsList = def(Op{
		Name: "hubs.list", Method: "GET", Path: "/business/knowledge-hubs", Scope: ScopeCampaigns, Surface: Campaigns, Class: Read, Shape: Raw,
		Summary: "list the knowledge hubs",
	})
	HubsGet = def(Op{
		Name: "hubs.get", Method: "GET", Path: "/business/knowledge-hubs/{hubId}", Scope: ScopeCampaigns, Surface: Campaigns, Class: Read, Shape: Raw,
		Summary: "read one knowledge hub",
		Likely:  []string{"KNOWLEDGE_HUB_NOT_FOUND"},
	})
	HubsPages = def(Op{
		Name: "hubs.pages", Method: "GET", Path: "/business/knowledge-hubs/{hubId}/pages", Scope: ScopeCampaigns, Surface: Campaigns, Class: Read,
		Provenance: AssumedPath, Shape: Raw,
		Summary: "list the pages of a knowledge hub",
		Likely:  []string{"KNOWLEDGE_HUB_NOT_FOUND", "KNOWLEDGE_HUB_NOT_READY", "KNOWLEDGE_HUB_PAGES_UNAVAILABLE", "KNOWLEDGE_PAGE_NOT_FOUND"},
	})
	HubsSetDefault = def(Op{
		Name: "hubs.set-default", Method: "POST", Path: "/business/knowledge-hubs/default", Scope: ScopeCampaigns, Surface: Campaigns,
		Class: Idempotent, Confirms: Yes, Shape: Raw,
		Summary: "make a knowledge hub the default",
		Verify:  "the fields of a knowledge hub are undocumented: look at the knowledge hubs",
		Codes:   []string{"KNOWLEDGE_HUB_OWNER_ONLY"},
		Likely:  []string{"KNOWLEDGE_HUB_NOT_FOUND", "KNOWLEDGE_HUB_NOT_READY"},
	})
)

// Search, contacts and imports.
var (
	SearchProspects = def(Op{
		Name: "search.prospects", Method: "POST", Path: "/business/prospects/search", Class: PaidRead, Spends: Yes, Shape: Partial,
		Summary: "search for prospects, by scroll token",
		Verify:  "no documented read shows whether the page was billed",
		Likely:  []string{"SEARCH_FILTERS_INVALID", "INSUFFICIENT_CREDITS"},
	})
	SearchSave = def(Op{
		Name: "search.save-to-list", Method: "POST", Path: "/business/prospects/search/save-to-list", Class: Unsafe, Confirms: No, Spends: Assumed, Shape: Raw,
		Summary: "run a search on the server and save the matches into a list",
		Verify:  "no documented read proves it: look at the destination list and its counts",
		Likely:  []string{"SEARCH_FILTERS_INVALID", "LIST_NOT_FOUND", "LIST_NAME_AMBIGUOUS", "LIST_NAME_TAKEN", "LIST_NAME_RESERVED", "INSUFFICIENT_CREDITS"},
	})
	SearchSaved = def(Op{
		Name: "search.saved", Method: "GET", Path: "/business/saved-searches", Surface: SavedSearches, Class: Read, Shape: Raw,
		Summary: "list the saved searches",
	})
	SearchRunSaved = def(Op{
		Name: "search.run-saved", Method: "POST", Path: "/business/saved-searches/{savedSearchId}/run", Surface: SavedSearches, Class: PaidRead, Spends: Assumed, Shape: Partial,
		Summary: "run a saved search, by scroll token",
		Verify:  "no documented read shows whether the page was billed",
		Likely:  []string{"SAVED_SEARCH_NOT_FOUND", "SAVED_SEARCH_INVALID", "SAVED_SEARCH_TYPE_MISMATCH", "INSUFFICIENT_CREDITS"},
	})
	SearchCompanies = def(Op{
		Name: "search.companies", Method: "POST", Path: "/companies/search", Scope: ScopeCompanies, Surface: Companies,
		Class: PaidRead, Spends: Assumed, Shape: Raw,
		Summary: "search for companies",
		Verify:  "no documented read shows whether the page was billed",
		Likely: []string{
			"SEARCH_FILTERS_INVALID", "CITY_FILTER_UNRESOLVED", "EXCLUDE_COMPANY_LISTS_INVALID", "SAVED_SEARCH_NOT_FOUND",
			"SAVED_SEARCH_INVALID", "INSUFFICIENT_CREDITS",
		},
	})
	SearchFilterOptions = def(Op{
		Name: "search.filter-options", Method: "GET", Path: "/business/prospects/filter-options", Scope: ScopeAny, Surface: Reference, Class: Read, Shape: Raw,
		Summary: "read the accepted search filter values",
	})
	ContactsResolve = def(Op{
		Name: "contacts.resolve", Method: "POST", Path: "/business/contacts/resolve", Class: PaidRead, Spends: Assumed, Shape: Partial,
		Summary: "find the id of a contact",
		Verify:  "nothing was changed; whether it cost credits is undocumented",
		Likely:  []string{"CONTACT_NOT_FOUND", "INSUFFICIENT_CREDITS"},
	})
	ContactsTimeline = def(Op{
		Name: "contacts.timeline", Method: "GET", Class: Read, Provenance: CallerSupplied, Shape: Partial,
		Summary: "page through the activities of a contact, by cursor",
		Likely:  []string{"CONTACT_NOT_FOUND"},
	})
	ImportsCreate = def(Op{
		Name: "imports.create", Method: "POST", Path: "/business/imports", Scope: ScopeLists, Surface: Imports, Class: Unsafe, Confirms: No, Spends: Assumed,
		Timeout: uploadTimeout, Shape: Raw,
		Summary: "import a CSV, XLS or XLSX file",
		Verify:  "no read of an import is documented",
		Codes:   []string{"IMPORT_FILE_MISSING", "IMPORT_FILE_UNSUPPORTED", "IMPORT_FILE_TOO_LARGE", "IMPORT_FILE_EMPTY"},
		Likely:  []string{"IMPORT_NOT_FOUND", "INSUFFICIENT_CREDITS"},
	})
	ImportsPresign = def(Op{
		Name: "imports.presign", Method: "POST", Path: "/business/imports/presign", Scope: ScopeLists, Surface: Imports, Class: Unsafe, Confirms: No, Shape: Partial, RawResponse: true,
		Summary: "reserve an upload for a file of up to 50 MB",
		Verify:  "no documented read shows it; a second call only reserves another upload",
		Likely:  []string{"IMPORT_FILE_UNSUPPORTED", "IMPORT_FILE_TOO_LARGE"},
	})
)

// Account.
var (
	AccountMe = def(Op{
		Name: "account.me", Method: "GET", Path: "/business/me", Class: Read, Shape: Typed, Entity: "user",
		Summary: "read the account the key belongs to",
	})
	AccountCredits = def(Op{
		Name: "account.credits", Method: "GET", Path: "/business/credits", Class: Read, Shape: Raw,
		Summary: "read the credit balance",
	})
)

// States are the words for the state of what has one, documented or assumed: seeds of the sandbox take them, and the check of
// cmd/prospectkit expects them.
var States = map[string][]string{
	"agent":    {"initializing", "processing", "active", "paused", "expired", "failed"},
	"campaign": {"draft", "active", "stopped"},
	"hub":      {"processing", "ready"},
}

var all []*Op

// All returns the operations in the order of the table. Do not change the slice.
func All() []*Op { return all }

// ByName finds an operation.
func ByName(name string) (*Op, bool) {
	for _, o := range all {
		if o.Name == name {
			return o, true
		}
	}
	return nil, false
}

// family is what the rows share whose names have the same part before the dot.
type family struct {
	surface      Surface
	scope        Scope
	timeout      time.Duration
	visibleAfter time.Duration
}

var families = map[string]family{
	"lists":     {surface: Lists, scope: ScopeLists},
	"agents":    {surface: Agents, scope: ScopeAgents, timeout: agentsTimeout, visibleAfter: agentsVisibleAfter},
	"campaigns": {surface: Campaigns, scope: ScopeCampaigns},
	"search":    {surface: Search, scope: ScopeSearch},
	"contacts":  {surface: Contacts, scope: ScopeContacts},
	"account":   {surface: Account, scope: ScopeAny},
}

// def fills what a row leaves out: surface, scope and times as its family has them or as is usual, the
// provenance Documented, and the effect No. operations.json has every column once more: what a row forgets or
// gains shows there.
func def(o Op) *Op {
	name, _, _ := strings.Cut(o.Name, ".")
	shared := families[name]
	o.Surface = cmp.Or(o.Surface, shared.surface)
	o.Scope = cmp.Or(o.Scope, shared.scope)
	o.Timeout = cmp.Or(o.Timeout, shared.timeout, UsualTimeout)
	if o.Class != Read { // which changes nothing
		o.VisibleAfter = cmp.Or(o.VisibleAfter, shared.visibleAfter, UsuallyVisibleAfter)
	}
	o.Spends, o.Sends, o.WritesOutside = cmp.Or(o.Spends, No), cmp.Or(o.Sends, No), cmp.Or(o.WritesOutside, No)
	o.Provenance = cmp.Or(o.Provenance, Documented)
	all = append(all, &o)
	return &o
}
