package op_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
)

// names lists the operations that a condition picks, in the order of the table.
func names(pick func(*op.Op) bool) []string {
	var list []string
	for _, o := range op.All() {
		if pick(o) {
			list = append(list, o.Name)
		}
	}
	return list
}

func TestEveryColumnIsFilled(t *testing.T) {
	require.Len(t, op.All(), 44)
	var (
		methods     = []string{"GET", "POST", "PATCH"}
		scopes      = []op.Scope{op.ScopeAny, op.ScopeLists, op.ScopeCampaigns, op.ScopeSearch, op.ScopeContacts, op.ScopeAgents, op.ScopeCompanies}
		classes     = []op.Class{op.Read, op.PaidRead, op.Idempotent, op.GuardedByName, op.GuardedByState, op.Unsafe}
		effects     = []op.Effect{op.No, op.Yes, op.Assumed}
		provenances = []op.Provenance{op.Documented, op.AssumedPath, op.CallerSupplied}
		shapes      = []op.Shape{op.Typed, op.Partial, op.Raw}
	)
	for _, o := range op.All() {
		require.Regexp(t, `^[a-z]+\.[a-z]+(-[a-z]+)*$`, o.Name)
		require.Contains(t, scopes, o.Scope, o.Name)
		require.Contains(t, op.DocumentedLimits, o.Surface, o.Name)
		require.Contains(t, classes, o.Class, o.Name)
		require.Subset(t, effects, []op.Effect{o.Spends, o.Sends, o.WritesOutside}, o.Name)
		require.Contains(t, provenances, o.Provenance, o.Name)
		require.Contains(t, shapes, o.Shape, o.Name)
		require.Equal(t, o.Class == op.Read, o.Verify == "", "%s: what shows an unknown outcome", o.Name)
		visible := map[bool]time.Duration{false: 10 * time.Second, true: 65 * time.Second}[o.Timeout == 75*time.Second]
		if o.Class == op.Read {
			visible = 0
		}
		require.Equal(t, visible, o.VisibleAfter, o.Name)
		require.NotEmpty(t, o.Summary, o.Name)
		require.NotContains(t, o.Summary, "|", "%s: it goes into a table", o.Name)
		if o.Provenance == op.CallerSupplied {
			require.Empty(t, o.Path, o.Name)
			continue
		}
		require.Contains(t, methods, o.Method, o.Name)
		require.Regexp(t, `^(/([a-z-]+|\{[a-zA-Z]+\}))+$`, o.Path, o.Name)
	}
}

func TestNamesFindTheirOperation(t *testing.T) {
	for _, o := range op.All() {
		found, ok := op.ByName(o.Name)
		require.True(t, ok)
		require.Same(t, o, found, "the name %s is not unique", o.Name)
	}
	_, ok := op.ByName("lists.nothing")
	require.False(t, ok)
}

func TestRoutesLiveInOneServeMux(t *testing.T) {
	mux := http.NewServeMux()
	for _, o := range op.All() {
		if o.Provenance == op.CallerSupplied {
			continue
		}
		require.NotPanics(t, func() { mux.Handle(o.Route(), http.NotFoundHandler()) }, "%s: taken, in conflict or malformed", o.Name)
	}
}

func TestRouteOfACallerSuppliedPath(t *testing.T) {
	require.Equal(t, "GET /business/lists/{listId}/rows", op.ListsRows.Route())
	require.Equal(t, "POST (path undocumented)", op.CampaignsPreviewStep.Route())
	require.Equal(t, "(path undocumented)", op.AgentsPause.Route())
}

func TestReadsAreGetsUnlessPaid(t *testing.T) {
	for _, o := range op.All() {
		require.Equal(t, o.Class == op.Read, o.Method == http.MethodGet, o.Name)
		require.Equal(t, o.Class == op.Read, o.FreeRead(), o.Name)
		require.Equal(t, o.Class != op.Read && o.Class != op.PaidRead, o.Write(), o.Name)
		if o.Class == op.Read {
			require.False(t, o.Spends.Possible() || o.Sends.Possible() || o.WritesOutside.Possible(), "%s: a read without consequences", o.Name)
		}
		if o.Class == op.PaidRead {
			require.True(t, o.Spends.Possible(), o.Name)
		}
	}
}

func TestTimeouts(t *testing.T) {
	for _, o := range op.All() {
		want := 30 * time.Second
		switch {
		case o.Surface == op.Agents:
			want = 75 * time.Second // above the service's own 60
		case o == op.ImportsCreate:
			want = 10 * time.Minute
		}
		require.Equal(t, want, o.Timeout, o.Name)
	}
}

// The sets below are written a second time on purpose: a column that a row forgets, or gains, has to be confirmed here.
func TestConsequences(t *testing.T) {
	effect := func(column func(*op.Op) op.Effect, e op.Effect) []string {
		return names(func(o *op.Op) bool { return column(o) == e })
	}
	spends := func(o *op.Op) op.Effect { return o.Spends }
	sends := func(o *op.Op) op.Effect { return o.Sends }
	writes := func(o *op.Op) op.Effect { return o.WritesOutside }

	require.Equal(t, []string{
		"agents.create-person-discovery", "agents.create-people-watcher", "agents.create-web-monitor", "agents.activate",
		"search.prospects",
	}, effect(spends, op.Yes))
	require.Equal(t, []string{
		"lists.add-members", "lists.add-contacts", "lists.save-to-list",
		"campaigns.create", "campaigns.adjust", "campaigns.preview-step",
		"search.save-to-list", "search.run-saved", "search.companies",
		"contacts.resolve", "imports.create",
	}, effect(spends, op.Assumed))
	require.Equal(t, []string{"lists.crm-push", "agents.adjust"}, names(func(o *op.Op) bool { return o.Free != "" }))
	require.Empty(t, names(func(o *op.Op) bool { return o.Free != "" && o.Spends != op.No }))
	require.Equal(t, []string{"campaigns.approve"}, names(func(o *op.Op) bool { return o.NoBody }))
	require.Equal(t, []string{"campaigns.approve"}, effect(sends, op.Yes))
	require.Empty(t, effect(sends, op.Assumed))
	require.Equal(t, []string{"lists.crm-push", "campaigns.approve"}, names(func(o *op.Op) bool { return o.Background }))
	require.Equal(t, []string{"lists.crm-push"}, effect(writes, op.Yes))
	require.Empty(t, effect(writes, op.Assumed))
}

// Their responses have no documented field whose value the caller does not know.
func TestConfirms(t *testing.T) {
	require.Equal(t, []string{
		"lists.move", "lists.crm-push", "agents.adjust", "agents.activate", "agents.pause",
		"campaigns.adjust", "campaigns.approve", "campaigns.edit-send", "hubs.set-default",
	}, names(func(o *op.Op) bool { return o.Confirms }))
}

func TestProvenance(t *testing.T) {
	of := func(p op.Provenance) []string { return names(func(o *op.Op) bool { return o.Provenance == p }) }
	require.Equal(t, []string{"agents.adjust", "hubs.pages"}, of(op.AssumedPath))
	require.Equal(t, []string{"agents.pause", "campaigns.preview-step", "contacts.timeline"}, of(op.CallerSupplied))
}

func TestClasses(t *testing.T) {
	of := func(c op.Class) []string { return names(func(o *op.Op) bool { return o.Class == c }) }
	require.Equal(t, []string{
		"campaigns.preview-step", "search.prospects", "search.run-saved", "search.companies", "contacts.resolve",
	}, of(op.PaidRead))
	require.Equal(t, []string{
		"lists.move", "agents.adjust", "campaigns.adjust", "campaigns.edit-send", "facts.edit", "hubs.set-default",
	}, of(op.Idempotent))
	require.Equal(t, []string{
		"lists.create", "agents.create-person-discovery", "agents.create-people-watcher", "agents.create-web-monitor",
	}, of(op.GuardedByName))
	require.Equal(t, []string{"agents.activate", "agents.pause", "campaigns.approve"}, of(op.GuardedByState))
	require.Equal(t, []string{
		"lists.crm-push", "lists.add-members", "lists.add-contacts", "lists.save-to-list", "campaigns.create",
		"search.save-to-list", "imports.create", "imports.presign",
	}, of(op.Unsafe))
}

func TestScopeAndSurface(t *testing.T) {
	type pool struct {
		op.Scope
		op.Surface
	}
	count := map[pool]int{}
	for _, o := range op.All() {
		count[pool{o.Scope, o.Surface}]++
	}
	require.Equal(t, map[pool]int{
		{op.ScopeLists, op.Lists}:          10,
		{op.ScopeLists, op.Imports}:        2,
		{op.ScopeAgents, op.Agents}:        9,
		{op.ScopeCampaigns, op.Campaigns}:  13,
		{op.ScopeSearch, op.Search}:        2,
		{op.ScopeSearch, op.SavedSearches}: 2,
		{op.ScopeCompanies, op.Companies}:  1,
		{op.ScopeContacts, op.Contacts}:    2,
		{op.ScopeAny, op.Account}:          2,
		{op.ScopeAny, op.Reference}:        1,
	}, count)
}

func TestWindows(t *testing.T) {
	for surface, w := range op.DocumentedLimits {
		require.Equal(t, w.PerMinute == 0, w.PerDay == 0, surface)
		require.NotEmpty(t, names(func(o *op.Op) bool { return o.Surface == surface }), "%s: no operation uses it", surface)
	}
	require.Equal(t, map[op.Surface]op.Limits{
		op.Lists: {120, 10_000}, op.Campaigns: {30, 1_000}, op.Account: {120, 10_000}, op.Search: {20, 1_000},
		op.SavedSearches: {60, 5_000}, op.Agents: {30, 2_000}, op.Contacts: {}, op.Companies: {}, op.Imports: {}, op.Reference: {},
	}, op.DocumentedLimits)
}

func TestOperationsNameKnownCodes(t *testing.T) {
	for _, o := range op.All() {
		all := slices.Concat(o.Codes, o.Likely)
		for _, name := range all {
			_, ok := op.CodeByName(name)
			require.True(t, ok, "%s names %s", o.Name, name)
		}
		sorted := slices.Sorted(slices.Values(all))
		require.Len(t, slices.Compact(sorted), len(all), "%s names a code twice", o.Name)
	}
}

// The documented codes of each operation, read once more and written down a second time. Operations that it names no
// code for, and no other operation can mean, have none.
func TestDocumentedCodes(t *testing.T) {
	const agent = "LIST_NAME_TAKEN INSUFFICIENT_CREDITS AGENT_LIMIT_REACHED VALIDATION_FAILED INVALID_REQUEST"
	documented := map[string]string{
		"lists.list":     "VALIDATION_FAILED",
		"lists.create":   "LIST_NAME_TAKEN VALIDATION_FAILED",
		"lists.get":      "LIST_NOT_FOUND",
		"lists.rows":     "INVALID_ROW_FILTERS",
		"lists.crm-push": "LIST_NOT_FOUND CONTACT_LIST_REQUIRED CRM_NOT_CONNECTED VALIDATION_FAILED",
		"folders.list":   "VALIDATION_FAILED INVALID_REQUEST",

		"agents.create-person-discovery": agent,
		"agents.create-people-watcher":   agent + " LIST_NOT_FOUND AGENT_SOURCE_LIST_EMPTY",
		"agents.create-web-monitor":      agent + " AGENT_SIGNAL_REJECTED",
		"agents.adjust":                  "AGENT_NOT_A_DRAFT AGENT_PROCESSING",
		"agents.activate":                "AGENT_NOT_A_DRAFT AGENT_PROCESSING INSUFFICIENT_CREDITS AGENT_SOURCE_LIST_EMPTY",
		"agents.pause":                   "AGENT_NOT_RUNNING AGENT_PROCESSING",

		"campaigns.adjust":       "CAMPAIGN_INITIALIZING",
		"campaigns.approve":      "CAMPAIGN_NOT_FOUND CAMPAIGN_NOT_APPROVABLE CAMPAIGN_BUSY CAMPAIGN_NOT_READY VALIDATION_FAILED",
		"campaigns.edit-send":    "SCHEDULED_SEND_NOT_EDITABLE",
		"campaigns.preview-step": "SEQUENCE_STEP_NOT_FOUND STEP_PREVIEW_UNAVAILABLE",
		"facts.edit":             "LEARNED_FACT_NOT_FOUND LEARNED_FACT_NOT_ANONYMIZED VALIDATION_FAILED",
		"hubs.set-default":       "KNOWLEDGE_HUB_OWNER_ONLY",
		"imports.create":         "IMPORT_FILE_MISSING IMPORT_FILE_UNSUPPORTED IMPORT_FILE_TOO_LARGE IMPORT_FILE_EMPTY",
	}
	for _, o := range op.All() {
		require.ElementsMatch(t, strings.Fields(documented[o.Name]), o.Codes, o.Name)
		delete(documented, o.Name)
	}
	require.Empty(t, documented)
}
