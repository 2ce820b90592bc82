package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// What every call below takes, in short.
type (
	ctxt   = context.Context
	client = prospectkit.Client
	option = prospectkit.CallOption
	fields = prospectkit.Fields

	lists     = prospectkit.ListsService
	agents    = prospectkit.AgentsService
	campaigns = prospectkit.CampaignsService
	facts     = prospectkit.FactsService
	search    = prospectkit.SearchService
	contacts  = prospectkit.ContactsService
	imports   = prospectkit.ImportsService
	account   = prospectkit.AccountService
)

// AnyCall is one call of an operation's method, with everything it needs.
type AnyCall func(ctx ctxt, c *client, opts ...option) (any, error)

// Ids of the exchanges. Those of different kinds may be equal.
const (
	AgentID    = "65f0c0ffee65f0c0ffee6a01"
	ResultsID  = "65f0c0ffee65f0c0ffee65ff" // the list that an agent fills
	FolderID   = "65f0c0ffee65f0c0ffee6a01"
	ColumnID   = "65f0c0ffee65f0c0ffee6b01"
	CampaignID = "65f0c0ffee65f0c0ffee6c01"
	StepID     = "65f0c0ffee65f0c0ffee6c02"
	SendID     = "65f0c0ffee65f0c0ffee6c03"
	FactID     = "65f0c0ffee65f0c0ffee6f01"
	HubID      = "65f0c0ffee65f0c0ffee6b01"
	SavedID    = "65f0c0ffee65f0c0ffee6501"
	ContactID  = "65f0c0ffee65f0c0ffee6d01"
	ImportID   = "65f0c0ffee65f0c0ffee6e01"
	SourceID   = "65f0c0ffee65f0c0ffee65f8" // a list that others are filled from
	DraftID    = "65f0c0ffee65f0c0ffee6a08" // an agent that is a draft
	RunsID     = "65f0c0ffee65f0c0ffee6a09" // one that is active
)

// undocumentedRoutes are those of EverySandbox.
var undocumentedRoutes = map[string]string{
	"agents.pause":           "POST /business/agents/{agentId}/pause",
	"campaigns.preview-step": "POST /business/campaigns/{campaignId}/steps/{stepId}/preview",
	"contacts.timeline":      "GET /business/contacts/{contactId}/activities",
}

// Routes tells a client the undocumented routes. The clients of this package have it.
func Routes() prospectkit.ClientOption { return prospectkit.WithRoutes(undocumentedRoutes) }

var vps = filter.Search{"job_title_levels": filter.Including("vp")}

// EveryCall has one call of each operation, which succeeds against EverySandbox. Fields with undocumented
// names are those that the sandbox assumes.
var EveryCall = map[string]AnyCall{
	"lists.list":   With((*lists).Page, prospectkit.ListsParams{Limit: 2, Kind: prospectkit.ContactList, Search: "ber"}),
	"lists.create": With((*lists).Create, prospectkit.NewList{Name: "Q1"}),
	"lists.get":    With((*lists).GetWithColumns, ListID),
	"lists.move":   WithTwo((*lists).Move, ListID, FolderID),
	"lists.rows": WithTwo((*lists).RowsPage, ListID, prospectkit.RowsParams{
		Limit: 1, SortBy: "firstName", Descending: true,
		Filter: filter.Contact{CompanyName: filter.AnyOf("Engines")},
	}),
	"lists.crm-push":     WithTwo((*lists).PushToCRM, ListID, prospectkit.CRMPush{CRM: "crm-1", ContactIDs: []string{ContactID}}),
	"lists.add-members":  WithTwo((*lists).AddMembers, SourceID, fields{"contactIds": []string{ContactID}}),
	"lists.add-contacts": WithTwo((*lists).AddContacts, ListID, fields{"contacts": []fields{{"firstName": "Eve"}}}),
	"lists.save-to-list": With((*lists).SaveContacts, prospectkit.ContactSave{ListID: ListID, All: true, Extra: fields{"sourceListId": SourceID}}),
	"folders.list":       With((*lists).Folders, prospectkit.ContactListFolder),

	"agents.create-person-discovery": With((*agents).Create, prospectkit.AgentSpec(Discovery())),
	"agents.create-people-watcher":   With((*agents).Create, prospectkit.AgentSpec(Watcher())),
	"agents.create-web-monitor":      With((*agents).Create, prospectkit.AgentSpec(Monitor())),
	"agents.list":                    Plain((*agents).Page),
	"agents.get":                     With((*agents).Get, RunsID),
	"agents.adjust":                  WithTwo((*agents).Adjust, DraftID, fields{"maxCreditSpend": 2000}),
	"agents.activate":                With((*agents).Activate, DraftID),
	"agents.pause":                   With((*agents).Pause, RunsID),
	"agents.autocomplete":            With((*agents).Autocomplete, prospectkit.AutocompleteTitle),

	"campaigns.list":            Plain((*campaigns).Page),
	"campaigns.create":          With((*campaigns).Create, prospectkit.NewCampaign{ListIDs: []string{ListID}, Extra: fields{"name": "Summer"}}),
	"campaigns.adjust":          WithTwo((*campaigns).Adjust, CampaignID, prospectkit.CampaignChanges{Extra: fields{"name": "Autumn"}}),
	"campaigns.approve":         With((*campaigns).ApproveUnreviewed, CampaignID),
	"campaigns.steps":           With((*campaigns).StepsPage, CampaignID),
	"campaigns.scheduled-sends": With((*campaigns).SendsPage, CampaignID),
	"campaigns.edit-send":       WithTwo((*campaigns).EditSend, SendID, fields{"body": "Hello"}),
	"campaigns.preview-step": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Campaigns.PreviewStep(ctx, CampaignID, StepID, nil, opts...)
	},
	"facts.edit":       WithTwo((*facts).Edit, FactID, prospectkit.FactEdit{Claim: "Teams save a day a week.", Category: prospectkit.FactUseCases}),
	"hubs.list":        Plain((*facts).Hubs),
	"hubs.get":         With((*facts).Hub, HubID),
	"hubs.pages":       With((*facts).KnowledgePages, HubID),
	"hubs.set-default": With((*facts).SetDefaultHub, fields{"knowledgeHubId": HubID}),

	"search.prospects":      With((*search).ProspectsPage, prospectkit.SearchParams{Filters: vps, Size: 1}),
	"search.save-to-list":   With((*search).SaveMatches, prospectkit.MatchSave{Filters: vps, ListName: "Deciders"}),
	"search.saved":          Plain((*search).Saved),
	"search.run-saved":      WithTwo((*search).RunSavedPage, SavedID, 2),
	"search.companies":      With((*search).Companies, prospectkit.CompanySearch{Filters: fields{"headquartersCity": []string{"Berlin"}}}),
	"search.filter-options": Plain((*search).FilterOptions),
	"contacts.resolve":      With((*contacts).Resolve, fields{"email": "ada@engines.example"}),
	"contacts.timeline": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Contacts.ActivitiesPage(ctx, ContactID, append([]option{prospectkit.WithQuery("limit", "1")}, opts...)...)
	},
	"imports.create":  With((*imports).FromUpload, ImportID),
	"imports.presign": With((*imports).Presign, fields{"size": 1000}),
	"account.me":      Plain((*account).Me),
	"account.credits": Plain((*account).Credits),
}

// Plain is a call of a method of a service without an argument.
func Plain[S, R any](method func(S, ctxt, ...option) (R, error)) AnyCall {
	return func(ctx ctxt, c *client, opts ...option) (any, error) { return method(Service[S](c), ctx, opts...) }
}

// With is such a call with one argument.
func With[S, A, R any](method func(S, ctxt, A, ...option) (R, error), a A) AnyCall {
	return func(ctx ctxt, c *client, opts ...option) (any, error) { return method(Service[S](c), ctx, a, opts...) }
}

// WithTwo is one with two.
func WithTwo[S, A, B, R any](method func(S, ctxt, A, B, ...option) (R, error), a A, b B) AnyCall {
	return func(ctx ctxt, c *client, opts ...option) (any, error) {
		return method(Service[S](c), ctx, a, b, opts...)
	}
}

// Service is the service of a type.
func Service[S any](c *client) (found S) {
	for _, s := range []any{c.Account, c.Lists, c.Agents, c.Campaigns, c.Facts, c.Search, c.Contacts, c.Imports} {
		if s, ok := s.(S); ok {
			found = s
		}
	}
	return found
}

// EverySandbox holds what EveryCall needs. All of it is older than begin.
func EverySandbox(t *testing.T, begin time.Time, opts ...sandbox.Option) *sandbox.Sandbox {
	t.Helper()
	return sandbox.New(t, append(everyOption(begin), opts...)...)
}

// everyOption configures EverySandbox.
func everyOption(begin time.Time) []sandbox.Option {
	return append(EveryRoute(), sandbox.Seed(EveryState(begin, begin.Add(time.Hour))))
}

// EveryRoute serves the operations with undocumented paths where EveryCall calls them.
func EveryRoute() (all []sandbox.Option) {
	for name, route := range undocumentedRoutes {
		all = append(all, sandbox.WithRoute(name, route))
	}
	return all
}

// EveryState is the state of EverySandbox, with a message that is due at a time.
func EveryState(begin, due time.Time) sandbox.State {
	before := func(d time.Duration) time.Time { return begin.Add(-d) }
	config := []byte(`{"listName":"Funding rounds","entityType":"person","prompt":"raised a round"}`)
	contacts := sandbox.Rows(
		sandbox.Row{"id": ContactID, "firstName": "Ada", "email": "ada@engines.example", "socialUrl": "https://social.example/ada", "company": sandbox.Row{"name": "Engines"}},
		sandbox.Row{"id": StepID, "firstName": "Bob", "email": "bob@zuse.example", "company": sandbox.Row{"name": "Zuse"}},
	)
	ws := sandbox.Workspace{
		Name: "main", Credits: 5000, Accounts: []string{"email"}, CRM: sandbox.CRM{Connected: []string{"crm-1"}},
		User:    sandbox.User{ID: ColumnID, Email: "ada@engines.example", Name: "Ada"},
		Folders: []sandbox.Folder{{ID: FolderID, Name: "Spring", Type: sandbox.ContactList}},
		Lists: []sandbox.List{
			{
				ID: ListID, Name: "Berlin", CreatedAt: before(3 * time.Hour), Rows: contacts,
				Columns: []sandbox.Column{{ID: ColumnID, Name: "Score", Type: "number"}},
			},
			{ID: SourceID, Name: "Source", CreatedAt: before(2 * time.Hour), Rows: contacts[1:]},
			{ID: ResultsID, Name: "Founders", CreatedAt: before(time.Hour)},
		},
		Agents: []sandbox.Agent{
			{ID: DraftID, Name: "Funding rounds", Type: sandbox.WebMonitor, Config: config},
			{ID: RunsID, Name: "Founders", Type: sandbox.WebMonitor, Status: "active", ListID: ResultsID},
		},
		Campaigns: []sandbox.Campaign{{
			ID: CampaignID, Name: "Spring", Channels: []string{"email"}, ListIDs: []string{ListID}, CreatedAt: before(time.Hour),
			Steps: []sandbox.Step{{ID: StepID, Type: "email", Subject: "Hello {{firstName}}", Body: "Do you have a minute?"}},
			Sends: []sandbox.Send{{ID: SendID, StepID: StepID, ContactID: ContactID, DueAt: due, State: "scheduled", Subject: "Hello Ada"}},
		}},
		Facts:         []sandbox.Fact{{ID: FactID, Claim: "Customers stay for the price.", Category: "pricing"}},
		Hubs:          []sandbox.Hub{{ID: HubID, Name: "Company", Pages: []sandbox.HubPage{{Title: "Pricing"}}}},
		FilterOptions: map[string][]string{"job_title_levels": {"vp"}},
		Prospects: sandbox.Rows(
			sandbox.Row{"firstName": "Ada", "lastName": "Byron", "jobTitle": "VP", "companyName": "Engines", "socialUrl": "https://social.example/ada", "job_title_levels": "vp"},
			sandbox.Row{"firstName": "Bob", "lastName": "Zuse", "jobTitle": "VP", "companyName": "Zuse", "socialUrl": "https://social.example/bob", "job_title_levels": "vp"},
		),
		Companies:     sandbox.Rows(sandbox.Row{"id": HubID, "name": "Engines", "domain": "engines.example", "address": sandbox.Row{"city": "Berlin"}}),
		SavedSearches: []sandbox.SavedSearch{{ID: SavedID, Name: "Deciders", Filters: []byte(`{"job_title_levels":[{"status":"include","value":"vp"}]}`)}},
		Activities: []sandbox.Activity{
			{ContactID: ContactID, Type: "email_opened", At: before(time.Hour)}, {ContactID: ContactID, Type: "email_sent", At: before(2 * time.Hour)},
		},
		Imports: []sandbox.Import{{ID: ImportID, Name: "people.csv", Format: "csv", Size: 9, Rows: 1, Reserved: true, Uploaded: true}},
	}
	return sandbox.State{Workspaces: []sandbox.Workspace{ws}}
}

// SandboxClient is a client that the sandbox paces like the service. It has a journal in memory, unless the options give it another one.
func SandboxClient(t *testing.T, sb *sandbox.Sandbox, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	own := []prospectkit.ClientOption{Routes(), prospectkit.WithTransport(sb.Transport())}
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), append(own, opts...)...)
	require.NoError(t, err)
	if journaled, err := client.With(Journaled()); err == nil {
		return journaled
	}
	return client
}

// EachOperation runs a test for each row of the table, with its call.
func EachOperation(t *testing.T, test func(t *testing.T, row *op.Op, call AnyCall)) {
	t.Helper()
	for _, row := range op.All() {
		require.NotNil(t, EveryCall[row.Name], "internal/tests/calls.go lacks a call of %s that succeeds", row.Name)
	}
	for name := range EveryCall {
		_, known := op.ByName(name)
		require.True(t, known, "internal/tests/calls.go calls %s, which is no operation", name)
	}
	require.NoError(t, EveryState(time.Now(), time.Now().Add(time.Hour)).Validate(), "EveryState of internal/tests/calls.go")
	for _, row := range op.All() {
		t.Run(row.Name, func(t *testing.T) { test(t, row, EveryCall[row.Name]) })
	}
}
