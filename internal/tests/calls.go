package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// What every call below takes, in short.
type (
	ctxt   = context.Context
	client = prospectkit.Client
	option = prospectkit.CallOption
)

// AnyCall is one call of an operation's method, with everything it needs.
type AnyCall func(ctx ctxt, c *client, opts ...option) (any, error)

// Ids of the exchanges.
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

// Undocumented routes, as the sandbox has them.
var (
	TimelineRoute = prospectkit.WithRoute("GET /business/contacts/{contactId}/activities")
	PreviewRoute  = prospectkit.WithRoute("POST /business/campaigns/{campaignId}/steps/{stepId}/preview")
	pauseRoute    = prospectkit.WithRoute("POST /business/agents/{agentId}/pause")
	vps           = filter.Search{"job_title_levels": filter.Including("vp")}
)

// EveryCall has one call of each operation, which succeeds against EverySandbox. Fields with undocumented
// names are those that the sandbox assumes.
var EveryCall = map[string]AnyCall{
	"lists.list": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.Page(ctx, prospectkit.ListsParams{Limit: 2, Kind: prospectkit.ContactList, Search: "ber"}, opts...)
	},
	"lists.create": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}, opts...)
	},
	"lists.get": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.Get(ctx, ListID, prospectkit.GetListParams{Include: "columns"}, opts...)
	},
	"lists.move": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.Move(ctx, ListID, FolderID, opts...)
	},
	"lists.rows": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.RowsPage(ctx, ListID, prospectkit.RowsParams{
			Limit: 1, Sort: prospectkit.Descending("firstName"),
			Filter: filter.Contact{CompanyName: filter.AnyOf("Engines")},
		}, opts...)
	},
	"lists.crm-push": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.PushToCRM(ctx, ListID, prospectkit.CRMPush{CRM: "crm-1", ContactIDs: []string{ContactID}}, opts...)
	},
	"lists.add-members": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.AddMembers(ctx, SourceID, prospectkit.Fields{"contactIds": []string{ContactID}}, opts...)
	},
	"lists.add-contacts": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.AddContacts(ctx, ListID, prospectkit.Fields{"contacts": []prospectkit.Fields{{"firstName": "Eve"}}}, opts...)
	},
	"lists.save-to-list": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.SaveContacts(ctx, prospectkit.ContactSave{ListID: ListID, All: true, Extra: prospectkit.Fields{"sourceListId": SourceID}}, opts...)
	},
	"folders.list": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Lists.Folders(ctx, prospectkit.ContactListFolder, opts...)
	},

	"agents.create-person-discovery": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Agents.Create(ctx, Discovery(), opts...)
	},
	"agents.create-people-watcher": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Agents.Create(ctx, Watcher(), opts...)
	},
	"agents.create-web-monitor": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Agents.Create(ctx, Monitor(), opts...)
	},
	"agents.list": func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Agents.Page(ctx, opts...) },
	"agents.get":  func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Agents.Get(ctx, RunsID, opts...) },
	"agents.adjust": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Agents.Adjust(ctx, DraftID, prospectkit.Fields{"maxCreditSpend": 2000}, opts...)
	},
	"agents.activate": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Agents.Activate(ctx, DraftID, opts...)
	},
	"agents.pause": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Agents.Pause(ctx, RunsID, append(opts, pauseRoute)...)
	},
	"agents.autocomplete": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Agents.Autocomplete(ctx, prospectkit.AutocompleteTitle, opts...)
	},

	"campaigns.list": func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Campaigns.Page(ctx, opts...) },
	"campaigns.create": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Campaigns.Create(ctx, prospectkit.NewCampaign{ListIDs: []string{ListID}, Extra: prospectkit.Fields{"name": "Summer"}}, opts...)
	},
	"campaigns.adjust": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Campaigns.Adjust(ctx, CampaignID, prospectkit.CampaignChanges{Extra: prospectkit.Fields{"name": "Autumn"}}, opts...)
	},
	"campaigns.approve": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Campaigns.Approve(ctx, CampaignID, opts...)
	},
	"campaigns.steps": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Campaigns.StepsPage(ctx, CampaignID, opts...)
	},
	"campaigns.scheduled-sends": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Campaigns.SendsPage(ctx, CampaignID, opts...)
	},
	"campaigns.edit-send": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Campaigns.EditSend(ctx, SendID, prospectkit.Fields{"body": "Hello"}, opts...)
	},
	"campaigns.preview-step": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Campaigns.PreviewStep(ctx, CampaignID, StepID, nil, append(opts, PreviewRoute)...)
	},
	"facts.edit": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Facts.Edit(ctx, FactID, prospectkit.FactEdit{Claim: "Teams save a day a week.", Category: prospectkit.FactUseCases}, opts...)
	},
	"hubs.list": func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Facts.Hubs(ctx, opts...) },
	"hubs.get":  func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Facts.Hub(ctx, HubID, opts...) },
	"hubs.pages": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Facts.KnowledgePages(ctx, HubID, opts...)
	},
	"hubs.set-default": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Facts.SetDefaultHub(ctx, prospectkit.Fields{"knowledgeHubId": HubID}, opts...)
	},

	"search.prospects": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Search.ProspectsPage(ctx, prospectkit.SearchParams{Filters: vps, Size: 1}, opts...)
	},
	"search.save-to-list": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Search.SaveMatches(ctx, prospectkit.MatchSave{Filters: vps, ListName: "Deciders"}, opts...)
	},
	"search.saved": func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Search.Saved(ctx, opts...) },
	"search.run-saved": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Search.RunSavedPage(ctx, SavedID, prospectkit.RunParams{Size: 2}, opts...)
	},
	"search.companies": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Search.Companies(ctx, prospectkit.CompanySearch{Filters: prospectkit.Fields{"headquartersCity": []string{"Berlin"}}}, opts...)
	},
	"search.filter-options": func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Search.FilterOptions(ctx, opts...) },
	"contacts.resolve": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Contacts.Resolve(ctx, prospectkit.Fields{"email": "ada@engines.example"}, opts...)
	},
	"contacts.timeline": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Contacts.ActivitiesPage(ctx, ContactID, prospectkit.ActivityParams{Limit: 1}, append(opts, TimelineRoute)...)
	},
	"imports.create": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Imports.FromUpload(ctx, ImportID, opts...)
	},
	"imports.presign": func(ctx ctxt, c *client, opts ...option) (any, error) {
		return c.Imports.Presign(ctx, prospectkit.Fields{"size": 1000}, opts...)
	},
	"account.me":      func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Account.Me(ctx, opts...) },
	"account.credits": func(ctx ctxt, c *client, opts ...option) (any, error) { return c.Account.Credits(ctx, opts...) },
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
func EveryRoute() []sandbox.Option {
	return []sandbox.Option{
		sandbox.WithRoute("agents.pause", "POST /business/agents/{agentId}/pause"),
		sandbox.WithRoute("campaigns.preview-step", "POST /business/campaigns/{campaignId}/steps/{stepId}/preview"),
		sandbox.WithRoute("contacts.timeline", "GET /business/contacts/{contactId}/activities"),
	}
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
	return sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{ws}}
}

// SandboxClient is a client that the sandbox paces like the service.
func SandboxClient(t *testing.T, sb *sandbox.Sandbox, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	own := []prospectkit.ClientOption{prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(new(journal.MemoryJournal))}
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), append(own, opts...)...)
	require.NoError(t, err)
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
	for _, row := range op.All() {
		t.Run(row.Name, func(t *testing.T) { test(t, row, EveryCall[row.Name]) })
	}
}
