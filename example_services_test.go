package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/sandbox"
)

// surfaceSandbox is a sandbox with credits, a clock of its own, a list of two contacts and an account to send from, and a client for it.
func surfaceSandbox(opts ...sandbox.Option) (*prospectkit.Client, *sandbox.Sandbox) {
	start := time.Now()
	sb := sandbox.New(nil, append([]sandbox.Option{
		sandbox.WithClock(sandbox.NewManualClock(start)), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
			Name: "main", Credits: 5000, Accounts: []string{"email"},
			Lists: []sandbox.List{{ID: berlinID, Name: "Berlin", Rows: sandbox.Rows(
				sandbox.Row{"id": graceID, "firstName": "Grace", "email": "grace@navy.example"},
				sandbox.Row{"firstName": "Alan", "email": "alan@park.example"},
			)}},
			Campaigns: []sandbox.Campaign{{
				ID: springID, Name: "Spring", Channels: []string{"email"}, ListIDs: []string{berlinID},
				Steps: []sandbox.Step{{Type: "email", Subject: "Hello {{firstName}}", Body: "Do you have a minute?"}},
			}},
			Facts:         []sandbox.Fact{{ID: priceFactID, Claim: "Customers stay for the price", Category: "pricing"}},
			Hubs:          []sandbox.Hub{{ID: companyHubID, Name: "Company", Pages: []sandbox.HubPage{{Title: "Pricing"}}}},
			SavedSearches: []sandbox.SavedSearch{{ID: decidersID, Name: "Decision makers", Filters: []byte(`{"job_title_levels":[{"status":"include","value":"vp"}]}`)}},
			Activities: []sandbox.Activity{
				{ContactID: graceID, Type: "email_opened", At: start.Add(-time.Hour)},
				{ContactID: graceID, Type: "email_sent", At: start.Add(-2 * time.Hour)},
			},
		}}}),
	}, opts...)...)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		log.Fatal(err)
	}
	return client, sb
}

// Ids in that sandbox.
const (
	berlinID     = "a00000000000000000000001"
	graceID      = "c00000000000000000000001"
	springID     = "ca0000000000000000000001"
	priceFactID  = "fa0000000000000000000001"
	companyHubID = "b00000000000000000000001"
	decidersID   = "5a0000000000000000000001"
)

var headsOfSales = prospectkit.PersonDiscovery{
	ListName:       "Heads of sales",
	MaxCreditSpend: 1000,
	Filters:        prospectkit.Fields{"jobTitles": []string{"Head of Sales"}}, // the name is the caller's
}

// The service accepts a value that it does not know. An agent with an unknown title finds nobody; one with an unknown industry finds, and
// is billed for, people of every industry. So look before money is spent.
func ExampleAgentsService_CheckValues() {
	client, _ := surfaceSandbox()
	values, err := client.Agents.CheckValues(context.Background(), prospectkit.ValueCheck{
		Field:     prospectkit.AutocompleteTitle,
		Values:    []string{"Head of Sales", "Data engineer", "Wizard"},
		TextParam: "text", // an undocumented name
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range values {
		fmt.Println(v.Value, v.Known, v.Near)
	}
	// Output:
	// Head of Sales true []
	// Data engineer false [Data Engineer]
	// Wizard false []
}

// The response of the activation is lost: its outcome is read from the agent, and nothing is paid twice.
func ExampleAgentsService_CreateAndStart() {
	ctx := context.Background()
	client, sb := surfaceSandbox()
	sb.Fail("agents.activate", sandbox.Nth(1), sandbox.DropAfter())

	agent, err := client.Agents.CreateAndStart(ctx, headsOfSales)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(agent.Name, agent.Status)
	sb.Advance(time.Hour) // the run takes minutes
	if agent, err = client.Agents.WaitSettled(ctx, agent.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(agent.Status, agent.ContactsFound)
	fmt.Println("activated", sb.Calls("agents.activate"), "time")
	// Output:
	// Heads of sales processing
	// active 5
	// activated 1 time
}

// A draft never moves without a call, so nobody waits for one.
func ExampleAgentsService_WaitSettled() {
	ctx := context.Background()
	client, sb := surfaceSandbox()
	draft, err := client.Agents.Create(ctx, headsOfSales)
	if err != nil {
		log.Fatal(err)
	}
	agent, err := client.Agents.WaitSettled(ctx, draft.ID)
	if errors.Is(err, prospectkit.ErrNotStarted) {
		fmt.Println(agent.Name, agent.Status)
	}
	fmt.Println(len(sb.Ledger()), "credits moved")
	// Output:
	// Heads of sales initializing
	// 0 credits moved
}

func ExampleAgentsService_Rows() {
	ctx := context.Background()
	client, sb := surfaceSandbox(sandbox.Agents(sandbox.AgentPlan{Results: 2}))
	agent, err := client.Agents.CreateAndStart(ctx, headsOfSales)
	if err != nil {
		log.Fatal(err)
	}
	sb.Advance(time.Hour)
	for row, err := range client.Agents.Rows(ctx, agent.ID, prospectkit.RowsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Text("jobTitle"))
	}
	// Output:
	// Head of Sales
	// Head of Sales
}

// A pause exists, but its route is undocumented: you supply it, from the service's own reference.
func ExampleAgentsService_Pause() {
	ctx := context.Background()
	const route = "POST /business/agents/{agentId}/pause"
	client, sb := surfaceSandbox(sandbox.WithRoute("agents.pause", route))
	client, err := client.With(prospectkit.WithRoutes(map[string]string{"agents.pause": route}))
	if err != nil {
		log.Fatal(err)
	}
	agent, err := client.Agents.CreateAndStart(ctx, headsOfSales)
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Agents.Pause(ctx, agent.ID)
	fmt.Println("in a run:", prospectkit.CodeOf(err))

	sb.Advance(time.Hour)
	if _, err = client.Agents.Pause(ctx, agent.ID); err != nil {
		log.Fatal(err)
	}
	if agent, err = client.Agents.Get(ctx, agent.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println("afterwards:", agent.Status)
	// Output:
	// in a run: AGENT_PROCESSING
	// afterwards: paused
}

// A push goes into a system outside and cannot be taken back. With ids, records that are there already are overwritten.
func ExampleListsService_PushToCRM() {
	ctx := context.Background()
	client, sb := surfaceSandbox()
	// The API description masks the names of CRMs: this one is the sandbox's.
	push := prospectkit.CRMPush{CRM: "crm-1", ContactIDs: []string{graceID}}
	_, err := client.Lists.PushToCRM(ctx, berlinID, push)
	fmt.Println("not connected:", errors.Is(err, prospectkit.CodeCRMNotConnected))

	sb.Do(func(tx *sandbox.Tx) { tx.ConnectCRM("crm-1") })
	_, err = client.Lists.PushToCRM(ctx, berlinID, push)
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // it may have happened: look in the CRM, do not repeat it
		fmt.Println(err)
		return
	}
	sent := sb.Outbox()[0]
	fmt.Println(sent.To, len(sent.ContactIDs), "contact, overwriting:", sent.Overwrite)
	// Output:
	// not connected: true
	// crm-1 1 contact, overwriting: true
}

// Nothing approves a second time. After a lost response, the state of the campaign tells.
func ExampleCampaignsService_ApproveUnreviewed() {
	ctx := context.Background()
	client, sb := surfaceSandbox()
	sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())

	_, err := client.Campaigns.ApproveUnreviewed(ctx, springID)
	if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok {
		resolution, err := unknown.Resolve(ctx) // reads only
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(resolution.Outcome)
	}
	_, err = client.Campaigns.ApproveUnreviewed(ctx, springID)
	fmt.Println(errors.Is(err, prospectkit.CodeCampaignBusy), prospectkit.OutcomeOf(err))

	sb.Advance(time.Hour)
	fmt.Println(len(sb.Outbox()), "messages to 2 people")
	// Output:
	// applied
	// true not applied
	// 2 messages to 2 people
}

// A send can be edited until it goes out. What it says is undocumented: the names of those fields are those of the sandbox.
func ExampleCampaignsService_EditSend() {
	ctx := context.Background()
	client, sb := surfaceSandbox()
	if _, err := client.Campaigns.ApproveUnreviewed(ctx, springID); err != nil {
		log.Fatal(err)
	}
	sb.Advance(10 * time.Second) // the activation is over
	sends, err := prospectkit.Collect(client.Campaigns.Sends(ctx, springID), 1)
	if err != nil {
		log.Fatal(err)
	}
	first := sends[0].ID
	fmt.Println(sends[0].Raw().Text("subject"), sends[0].State)

	edited, err := client.Campaigns.EditSend(ctx, first, prospectkit.Fields{"subject": "Good morning"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(edited.Raw().Text("subject"))
	sb.Advance(time.Hour)
	_, err = client.Campaigns.EditSend(ctx, first, prospectkit.Fields{"subject": "Good evening"})
	fmt.Println(errors.Is(err, prospectkit.CodeScheduledSendNotEditable))
	// Output:
	// Hello Grace scheduled
	// Good morning
	// true
}

// The check is advice; the service decides.
func ExampleFactsService_Edit() {
	ctx := context.Background()
	client, _ := surfaceSandbox()
	fact, err := client.Facts.Edit(ctx, priceFactID, prospectkit.FactEdit{Category: prospectkit.FactObjection, KeepClaim: true})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // it happened, or may have: a teammate may have edited the fact since
		fmt.Println(err)
		return
	}
	fmt.Println(fact.Category, "-", fact.Claim)

	_, err = client.Facts.Edit(ctx, priceFactID, prospectkit.FactEdit{Claim: "They agreed to a discount of 500 EUR"})
	fmt.Println(errors.Is(err, prospectkit.CodeLearnedFactNotAnonymized))
	// Output:
	// objection - Customers stay for the price
	// true
}

// Pages are paid for, so an iterator demands a cap and stops at it.
func ExampleSearchService_Prospects() {
	client, sb := surfaceSandbox()
	search := prospectkit.SearchParams{
		Filters: filter.Search{"job_title_levels": filter.Including("vp")},
		Size:    2,
	}
	var progress prospectkit.Progress
	profiles := client.Search.Prospects(context.Background(), search, prospectkit.MaxPaidPages(2), prospectkit.WithProgress(&progress))
	for profile, err := range profiles {
		if errors.Is(err, prospectkit.RulePaidPages) {
			report := progress.Report()
			fmt.Println("stopped after", report.Requests, "pages and", report.Delivered, "profiles")
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(profile.JobTitle)
	}
	fmt.Println(5000-sb.Balance(), "credits")
	// Output:
	// Vice President of Sales
	// Vice President of Sales
	// Vice President of Sales
	// Vice President of Sales
	// stopped after 2 pages and 4 profiles
	// 4 credits
}

// A page at a time, where you decide before each whether it is worth its price.
func ExampleScrollPage_Next() {
	ctx := context.Background()
	client, sb := surfaceSandbox()
	page, err := client.Search.ProspectsPage(ctx, prospectkit.SearchParams{Size: 100})
	for err == nil {
		fmt.Println(len(page.Items), page.More())
		if !page.More() {
			break
		}
		page, err = page.Next(ctx)
	}
	fmt.Println(5000-sb.Balance(), "credits", err)
	// Output:
	// 100 true
	// 100 true
	// 50 false
	// 250 credits <nil>
}

func ExampleSearchService_RunSaved() {
	client, _ := surfaceSandbox()
	found, err := prospectkit.Collect(
		client.Search.RunSaved(context.Background(), decidersID, 0, prospectkit.MaxPaidPages(1)), 3)
	for _, profile := range found {
		fmt.Println(profile.JobTitle)
	}
	fmt.Println(err != nil)
	// Output:
	// Vice President of Sales
	// Vice President of Sales
	// Vice President of Sales
	// false
}

func ExampleContactsService_Resolve() {
	client, _ := surfaceSandbox()
	contact, err := client.Contacts.Resolve(context.Background(), prospectkit.Fields{"email": "grace@navy.example"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(contact.ContactID)
	// Output:
	// c00000000000000000000001
}

// The path of a timeline is not in the document: you give it, from the service's own reference.
func ExampleContactsService_Activities() {
	const path = "/business/contacts/{contactId}/timeline"
	client, _ := surfaceSandbox(sandbox.WithRoute("contacts.timeline", "GET "+path))
	client, err := client.With(prospectkit.WithRoutes(map[string]string{"contacts.timeline": "GET " + path}))
	if err != nil {
		log.Fatal(err)
	}
	activities := client.Contacts.Activities(context.Background(), graceID)
	for activity, err := range activities {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(activity.Text("type"))
	}
	// Output:
	// email_opened
	// email_sent
}

// The name and the size of a file are checked before it is sent. It is read while it is sent.
func ExampleImportsService_Upload() {
	ctx := context.Background()
	client, sb := surfaceSandbox()
	file := "firstName,email\nGrace,grace@navy.example\nAlan,alan@park.example\n"
	in := prospectkit.UploadFrom("contacts.csv", int64(len(file)), strings.NewReader(file))
	response, err := client.Imports.Upload(ctx, in)
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // it was imported, or may have been: look at the list, do not repeat it
		fmt.Println(err)
		return
	}
	fmt.Println(response.Int("import.rowsCount"), "rows")

	in.Name = "contacts.pdf"
	_, err = client.Imports.Upload(ctx, in)
	fmt.Println(err)
	fmt.Println("sent", sb.Calls("imports.create"), "time")
	// Output:
	// 2 rows
	// prospectkit: imports.create: refused locally: name must end in .csv, .xls or .xlsx
	// sent 1 time
}

// A file of up to 50 MB goes to a place that the service reserves.
func ExampleImportsService_FromUpload() {
	ctx := context.Background()
	client, sb := surfaceSandbox()
	reserved, err := client.Imports.Presign(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	importID := reserved.ImportID
	_, err = client.Imports.FromUpload(ctx, importID)
	fmt.Println("too early:", errors.Is(err, prospectkit.CodeImportFileMissing))

	sb.Do(func(tx *sandbox.Tx) { tx.Upload(importID, "contacts.csv", []byte("firstName\nGrace\n")) })
	response, err := client.Imports.FromUpload(ctx, importID)
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // it was imported, or may have been: look at the list, do not repeat it
		fmt.Println(err)
		return
	}
	fmt.Println(response.Int("import.rowsCount"), "row")
	// Output:
	// too early: true
	// 1 row
}

// fieldsSandbox is a sandbox with two lists and a knowledge hub, and a client for it. Where the service's
// document shows no fields, the examples name those that the sandbox takes: the service's may differ.
func fieldsSandbox(opts ...sandbox.Option) (*prospectkit.Client, *sandbox.Sandbox) {
	people := sandbox.Rows(
		sandbox.Row{"id": adaID, "firstName": "Ada", "email": "ada@engines.example"},
		sandbox.Row{"firstName": "Bob", "email": "bob@zuse.example"},
	)
	sb := sandbox.New(nil, append([]sandbox.Option{
		sandbox.WithClock(sandbox.NewManualClock(time.Now())), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
			Name: "main", Credits: 5000, Accounts: []string{"email"},
			Lists: []sandbox.List{{ID: sourceListID, Name: "Source", Rows: people}, {ID: targetListID, Name: "Target"}},
			Hubs:  []sandbox.Hub{{ID: secondHubID, Name: "Second"}},
		}}}),
	}, opts...)...)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		log.Fatal(err)
	}
	return client, sb
}

// Ids in that sandbox.
const (
	sourceListID = "a10000000000000000000001"
	targetListID = "a10000000000000000000002"
	adaID        = "c10000000000000000000001"
	secondHubID  = "b10000000000000000000002"
)

// A wrong guess is not taken for a balance of 0, and the error names what is there.
func ExampleAccountService_Credits() {
	client, _ := fieldsSandbox()
	response, err := client.Account.Credits(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	balance, ok := response.IntOK("credits.balance")
	fmt.Println(balance, ok)
	guess, ok := response.IntOK("balance")
	fmt.Println(guess, ok)
	_, err = response.Find("credits.remaining")
	fmt.Println(err)
	// Output:
	// 5000 true
	// 0 false
	// prospectkit: "credits.remaining" is not there: credits is an object with balance
}

func ExampleObject_All() {
	client, _ := fieldsSandbox()
	response, err := client.Facts.Hubs(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for hub := range response.All("knowledgeHubs") {
		fmt.Println(hub.Text("name"))
	}
	fmt.Println(response.Text("knowledgeHubs.0.status"))
	// Output:
	// Second
	// ready
}

func ExampleListsService_AddContacts() {
	client, sb := fieldsSandbox()
	added, err := client.Lists.AddContacts(context.Background(), targetListID, prospectkit.Fields{
		"contacts": []prospectkit.Fields{{"firstName": "Eve", "email": "eve@engines.example"}},
	})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // they are in the list, or may be: look at its rows, do not repeat it
		fmt.Println(err)
		return
	}
	_, ok := added.TextOK("contactIds.0")
	fmt.Println(ok, len(sb.Rows(targetListID)), "row")
	// Output:
	// true 1 row
}

func ExampleListsService_SaveContacts() {
	client, sb := fieldsSandbox()
	saved, err := client.Lists.SaveContacts(context.Background(), prospectkit.ContactSave{
		ListName: "Copy", All: true, Extra: prospectkit.Fields{"sourceListId": sourceListID},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(saved.Text("list.name"), len(sb.Rows(saved.Text("list.id"))))
	// Output:
	// Copy 2
}

func ExampleAgentsService_Adjust() {
	ctx := context.Background()
	client, _ := fieldsSandbox()
	draft, err := client.Agents.Create(ctx, prospectkit.WebMonitor{
		ListName: "Funding", EntityType: prospectkit.MonitorCompanies, Prompt: "raised a round in 2026",
	})
	if err != nil {
		log.Fatal(err)
	}
	adjusted, err := client.Agents.Adjust(ctx, draft.ID, prospectkit.Fields{"prompt": "raised a round this year", "expirationDate": prospectkit.NeverExpires})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(adjusted.Text("agent.name"), adjusted.Text("agent.status"))
	// Output:
	// Funding initializing
}

// A campaign from nothing to approved.
func ExampleCampaignsService_Create() {
	ctx := context.Background()
	client, sb := fieldsSandbox()
	made, err := client.Campaigns.Create(ctx, prospectkit.NewCampaign{
		ListIDs: []string{sourceListID}, Channels: []string{"email"},
		Extra: prospectkit.Fields{
			"name":  "Spring",
			"steps": []prospectkit.Fields{{"type": "email", "subject": "Hello {{firstName}}", "body": "Do you have a minute?"}},
		},
	})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // there is one, or may be: look at All, do not repeat it
		fmt.Println(err)
		return
	}
	id := made.ID
	sb.Advance(time.Minute)
	if _, err = client.Campaigns.WaitInitialized(ctx, id); err != nil {
		log.Fatal(err)
	}
	_, err = client.Campaigns.ApproveUnreviewed(ctx, id) // from here on, messages go out
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // it may have happened: look at its status, do not repeat it
		fmt.Println(err)
		return
	}
	sb.Advance(10 * time.Second)
	for send, err := range client.Campaigns.Sends(ctx, id) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(send.Raw().Text("subject"), send.State)
	}
	// Output:
	// Hello Ada scheduled
	// Hello Bob scheduled
}

// A step as a sample lead would get it. The path is undocumented: you give it.
func ExampleCampaignsService_PreviewStep() {
	const path = "/business/campaigns/{campaignId}/steps/{stepId}/preview"
	ctx := context.Background()
	client, sb := fieldsSandbox(sandbox.WithRoute("campaigns.preview-step", "POST "+path))
	client, err := client.With(prospectkit.WithRoutes(map[string]string{"campaigns.preview-step": "POST " + path}))
	if err != nil {
		log.Fatal(err)
	}
	sb.Do(func(tx *sandbox.Tx) { tx.CreateCampaign(sandbox.ReadyCampaign("Spring", sourceListID)) })
	id := sb.Campaigns()[0].ID
	for step, err := range client.Campaigns.Steps(ctx, id) {
		if err != nil {
			log.Fatal(err)
		}
		preview, err := client.Campaigns.PreviewStep(ctx, id, step.ID, nil)
		if err != nil {
			log.Fatal(err)
		}
		_, ok := preview.Preview.TextOK("body")
		fmt.Println(step.SequenceNumber, ok)
	}
	// Output:
	// 1 true
}
