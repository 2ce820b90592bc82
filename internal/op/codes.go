package op

// Action is what a caller can do about an error code, in a word.
type Action string

// Code is one row of the error table.
type Code struct {
	Name     string
	Statuses []int // documented; never matched on, since two codes have two
	Action   Action
	Meaning  string
	Hint     string
}

const (
	hintFix     = "change the request: unchanged it is refused again"
	hintMissing = "missing, or hidden from this key, for which the response is the same: check the id and the key"
	hintNone    = "what it belongs to is there, and has none: it has to be made first"
	hintUseID   = "use the id instead of the name"
	hintState   = "the state forbids it: read the resource before you try anything else"
)

// Codes is the documented error table, in its order.
var Codes = []Code{
	{"UNAUTHORIZED", []int{401}, "new-key", "the key is missing, malformed, expired or revoked", "use another key: this one is missing, malformed, expired or revoked"},
	{"INSUFFICIENT_SCOPE", []int{403}, "new-key", "the key lacks the scope of the surface", "scopes cannot be edited: create a key with the scope needed; on a brand-new surface it may succeed later"},
	{"ENDPOINT_NOT_FOUND", []int{404}, "never", "no endpoint has this path and method", "check the base URL and, for an assumed operation, the path"},
	{"RATE_LIMITED", []int{429}, "after-delay", "the minute or day of the surface is used up", "wait as long as Retry-After says, then send the same request"},
	{"VALIDATION_FAILED", []int{422}, "fix-input", "the request does not fit the schema; param names the field", hintFix},
	{"INVALID_REQUEST", []int{400, 422}, "fix-input", "a value cannot be used, or the owning service refused", hintFix},
	{"UNEXPECTED_ERROR", []int{500}, "verify-first", "the service failed", "retry a read with backoff; before you retry a write, verify its outcome"},
	{"INSUFFICIENT_CREDITS", []int{402, 422}, "buy-credits", "the balance is too low; nothing was billed", "add credits or ask for less; nothing was billed"},
	{"LIST_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"LIST_NAME_TAKEN", []int{409}, "fix-input", "a list or an agent has this name", "choose another name; the holder may be an agent, which is not listed among the lists"},
	{"LIST_NAME_AMBIGUOUS", []int{409}, "fix-input", "several have this name", hintUseID},
	{"LIST_NAME_RESERVED", []int{422}, "fix-input", "the title of a system list", "choose another name"},
	{"LIST_PROCESSING", []int{409}, "after-state", "still being built or enriched", "wait until the list's completionStatus settles"},
	{"COLUMN_NAME_TAKEN", []int{409}, "fix-input", "a column of the list has it", "choose another name"},
	{"COLUMN_NAME_RESERVED", []int{422}, "fix-input", "of a built-in column", "choose another name"},
	{"COLUMN_NOT_FOUND", []int{404}, "never", "not in the list", hintMissing},
	{"SEARCH_FILTERS_INVALID", []int{422}, "fix-input", "they cannot be interpreted", hintFix},
	{"SAVED_SEARCH_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"SAVED_SEARCH_INVALID", []int{422}, "fix-input", "its filters cannot be run", hintFix},
	{"SAVED_SEARCH_NAME_AMBIGUOUS", []int{409}, "fix-input", "several have this name", hintUseID},
	{"SAVED_SEARCH_FILTERS_UNSUPPORTED", []int{422}, "fix-input", "param names the filter that cannot be stored", hintFix},
	{"SAVED_SEARCH_TYPE_MISMATCH", []int{422}, "fix-input", "it stores company filters", "run it through company search, with savedSearchId"},
	{"QUERY_FILTERS_INVALID", []int{422}, "fix-input", "the words yield no concrete filter", hintFix},
	{"EXCLUDE_COMPANY_LISTS_INVALID", []int{422}, "fix-input", "an id is not of a visible company list", hintFix},
	{"CONTACT_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"CONTACT_LIST_REQUIRED", []int{422}, "fix-input", "it is a company list", "use a contact list"},
	{"CONTACT_NOT_IN_LIST", []int{422}, "fix-input", "an id is not of a row", hintFix},
	{"EXPORT_NOT_FOUND", []int{404}, "never", "unknown or expired", hintMissing},
	{"EXPORT_LIMIT_EXCEEDED", []int{422}, "fix-input", "more leads than one export may hold", hintFix},
	{"CAMPAIGN_NOT_FOUND", []int{404}, "never", "missing or not visible", "missing, or hidden from this key: only the owner of a campaign may approve it"},
	{"CAMPAIGN_NAME_AMBIGUOUS", []int{409}, "fix-input", "several have this name", hintUseID},
	{"CAMPAIGN_LIST_CAP_REACHED", []int{422}, "fix-input", "it has 10; nothing was billed", hintFix},
	{"ALL_CONTACTS_ALREADY_ENRICHED", []int{409}, "never", "in the destination list; nothing was billed", hintState},
	{"CAMPAIGN_NOT_APPROVABLE", []int{409}, "never", "not in an approvable state", "look at the campaign: it may be active already"},
	{"CAMPAIGN_NOT_READY", []int{422}, "may-pass", "a source list, step content or connected account is missing, or the campaign is still being prepared", "supply what is missing; a retry may succeed only while the campaign is still being prepared"},
	{"CAMPAIGN_BUSY", []int{409}, "after-delay", "another approve or stop holds the lock", "another approve or stop holds the activation lock: wait some seconds, look at the campaign, then decide again"},
	{"CAMPAIGN_INITIALIZING", []int{409}, "after-state", "its lists cannot change until it is done", "wait until initializationStatus is completed or failed"},
	{"INVALID_CAMPAIGN_CHANNELS", []int{422}, "fix-input", "no valid combination", hintFix},
	{"INVALID_ROW_FILTERS", []int{422}, "fix-input", "no valid row filter object", hintFix},
	{"LIST_INCOMPATIBLE_WITH_CHANNELS", []int{422}, "may-pass", "no contact can be reached on them", "a retry may succeed shortly after the list was filled; otherwise choose another list or other channels"},
	{"LIST_EMPTY", []int{422}, "fix-input", "no contacts to derive companies from", hintFix},
	{"SEQUENCE_STEP_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"CONNECTION_NOTE_TOO_LONG", []int{422}, "fix-input", "over 200 characters", hintFix},
	{"SCHEDULED_SEND_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"SCHEDULED_SEND_NOT_EDITABLE", []int{409}, "never", "neither scheduled nor waiting for approval", hintState},
	{"SCHEDULED_SEND_NOT_SKIPPABLE", []int{409}, "never", "settled already", hintState},
	{"TEMPLATE_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"WRITING_STYLE_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"KNOWLEDGE_HUB_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"AGENT_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"AGENT_CONFIG_MISSING", []int{409}, "never", "a legacy draft without stored configuration", hintState},
	{"AGENT_LIMIT_REACHED", []int{403}, "buy-credits", "the free plan holds at most 10 agents, drafts included", "remove an agent or choose a larger plan; drafts count"},
	{"AGENT_NOT_A_DRAFT", []int{409}, "never", "its status is not initializing", "only a draft can be adjusted or activated"},
	{"AGENT_NOT_RUNNING", []int{409}, "never", "a draft, or the subscription is gone", hintState},
	{"AGENT_PROCESSING", []int{409}, "after-state", "a run is in progress", "wait until the run is over; adjust and activate still need a draft, which a running agent never becomes again"},
	{"AGENT_SIGNAL_REJECTED", []int{422}, "fix-input", "the search provider refused the prompt", hintFix},
	{"AGENT_SOURCE_LIST_EMPTY", []int{422}, "fix-input", "nothing in it can be watched", hintFix},
	{"AGENT_TYPE_UNSUPPORTED", []int{409}, "never", "a legacy kind, whose type reads null", hintState},
	{"RESEARCH_RUN_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"KNOWLEDGE_HUB_DEFAULT_UNDELETABLE", []int{409}, "never", "the default cannot be deleted", "make another hub the default first"},
	{"KNOWLEDGE_HUB_NOT_READY", []int{409}, "after-state", "still being built", "wait until the hub leaves processing"},
	{"KNOWLEDGE_PAGE_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"KNOWLEDGE_HUB_OWNER_ONLY", []int{403}, "never", "only they may make it the default", "ask the hub's owner"},
	{"KNOWLEDGE_HUB_PAGES_UNAVAILABLE", []int{409}, "never", "it predates pages and cannot be refreshed", hintState},
	{"KNOWLEDGE_HUB_WEBSITE_NOT_FOUND", []int{404}, "never", "the url is none of its websites", hintNone},
	{"KNOWLEDGE_PAGE_NOT_REGENERABLE", []int{409}, "never", "it has no cached sources", hintState},
	{"LEARNED_FACT_NOT_FOUND", []int{404}, "never", "unknown, retired or another team's", hintMissing},
	{"LEARNED_FACT_NOT_ANONYMIZED", []int{422}, "fix-input", "the claim fails the anonymization gate", hintFix},
	{"ATTACHMENT_NOT_FOUND", []int{404}, "never", "the note has none", hintNone},
	{"ATTACHMENT_ALREADY_EXISTS", []int{409}, "never", "the note has one", hintState},
	{"JOB_NOT_FOUND", []int{404}, "never", "unknown", hintMissing},
	{"IMPORT_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"IMPORT_FILE_MISSING", []int{400}, "fix-input", "neither a file nor a completed presigned upload", hintFix},
	{"IMPORT_FILE_UNSUPPORTED", []int{422}, "fix-input", "not CSV, XLS or XLSX", "send CSV, XLS or XLSX"},
	{"IMPORT_FILE_TOO_LARGE", []int{422}, "fix-input", "over 10 MB (multipart) or 50 MB (presigned)", hintFix},
	{"IMPORT_FILE_EMPTY", []int{422}, "fix-input", "no data rows", hintFix},
	{"CITY_FILTER_UNRESOLVED", []int{422}, "fix-input", "no such city was found", hintFix},
	{"CREDIT_LIMIT_EXCEEDS_PLAN", []int{422}, "buy-credits", "the monthly credit limit exceeds the plan", "choose a lower limit or a larger plan"},
	{"CRM_NOT_CONNECTED", []int{422}, "fix-input", "not connected", "connect the CRM for the team's designated sync user"},
	{"FOLDER_NAME_TAKEN", []int{409}, "fix-input", "a folder of this kind has it", "choose another name"},
	{"FOLDER_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"NOTE_NOT_FOUND", []int{404}, "never", "missing or not visible", hintMissing},
	{"NO_LEADS_TO_EXPORT", []int{422}, "fix-input", "the campaign has none", hintFix},
	{"NO_ROWS_TO_RESEARCH", []int{422}, "fix-input", "no row matches; nothing was charged", hintFix},
	{"PRIMARY_VALUE_NOT_ON_CONTACT", []int{422}, "fix-input", "it has to be there already", hintFix},
	{"PROVENANCE_NOT_FOUND", []int{404}, "never", "no run computed that row", hintNone},
	{"PROVIDERS_NOT_SUPPORTED", []int{422}, "fix-input", "only deep_research columns accept provider ids", hintFix},
	{"RUN_ALREADY_TERMINAL", []int{409}, "never", "completed, failed or cancelled", hintState},
	{"STEP_ORDER_INVALID", []int{422}, "fix-input", "a social_connection would follow a social_message", hintFix},
	{"STEP_POSITION_TAKEN", []int{409}, "never", "the sequence number is taken", hintState},
	{"STEP_PREVIEW_UNAVAILABLE", []int{422}, "fix-input", "no source list or sample contact, or none could be made", hintFix},
	{"WEBSITE_TRACKING_NOT_SET_UP", []int{404}, "never", "the account has none", hintNone},
}

var codeIndex = func() map[string]Code {
	index := make(map[string]Code, len(Codes))
	for _, c := range Codes {
		index[c.Name] = c
	}
	return index
}()

// CodeByName finds a code of the table. For any other name, it is the zero value.
func CodeByName(name string) (Code, bool) {
	c, ok := codeIndex[name]
	return c, ok
}
