package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// exampleSandbox is a sandbox with a list of three contacts, and a client for it.
func exampleSandbox() (*prospectkit.Client, *sandbox.Sandbox) {
	sb := sandbox.New(nil, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main",
		User: sandbox.User{Email: "ada@workspace.example", Name: "Ada"}, Credits: 5000,
		Lists: []sandbox.List{{
			ID: exampleList, Name: "Berlin", EntityType: sandbox.ContactList,
			Rows: sandbox.Rows(
				sandbox.Row{"id": "c00000000000000000000001", "firstName": "Grace", "jobTitle": "Engineer", "address": map[string]any{"city": "Berlin"}},
				sandbox.Row{"id": "c00000000000000000000002", "firstName": "Alan", "jobTitle": "Analyst", "address": map[string]any{"city": "Leeds"}},
				sandbox.Row{"id": "c00000000000000000000003", "firstName": "Edsger", "jobTitle": "Engineer"},
			),
		}},
	}}}))
	return exampleClient(sb), sb
}

func exampleClient(sb *sandbox.Sandbox, opts ...prospectkit.ClientOption) *prospectkit.Client {
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), append(opts, prospectkit.WithTransport(sb.Transport()))...)
	if err != nil {
		log.Fatal(err)
	}
	return client
}

const exampleList = "a00000000000000000000001"

func Example() {
	ctx := context.Background()
	sb := sandbox.New(nil) // for the service itself: prospectkit.New(baseURL, token), or FromEnv
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		log.Fatal(err)
	}

	for _, name := range []string{"Berlin", "Leeds", "Berlin"} {
		list, err := client.Lists.Create(ctx, prospectkit.NewList{Name: name})
		switch {
		case err == nil:
			fmt.Println("created", list.Name)
		case prospectkit.OutcomeOf(err) != prospectkit.OutcomeNotApplied:
			fmt.Println("look for it, before you create it again:", err) // or call Ensure, which does
		case errors.Is(err, prospectkit.CodeListNameTaken):
			fmt.Println(name, "is taken")
		default:
			log.Fatal(err)
		}
	}
	for list, err := range client.Lists.All(ctx, prospectkit.ListsParams{Search: "berlin"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("found", list.Name, list.Kind, list.ContactsCount)
	}
	// Output:
	// created Berlin
	// created Leeds
	// Berlin is taken
	// found Berlin contactList 0
}

// The environment says where the service is, and with which key.
func ExampleFromEnv() {
	sb := sandbox.New(nil)
	_ = os.Setenv("PROSPECTKIT_BASE_URL", sb.BaseURL()) // your shell does this
	_ = os.Setenv("PROSPECTKIT_TOKEN", sb.Token())
	defer os.Unsetenv("PROSPECTKIT_BASE_URL")
	defer os.Unsetenv("PROSPECTKIT_TOKEN")

	client, err := prospectkit.FromEnv(prospectkit.WithTransport(sb.Transport()))
	if err != nil {
		log.Fatal(err)
	}
	_, err = client.Account.Me(context.Background())
	fmt.Println(client.BaseURL(), err)
	// Output:
	// https://sandbox.invalid/api/v1 <nil>
}

// Whom the key belongs to, and what is left to spend. The shape of the balance is undocumented: what is absent must not read as 0.
func ExampleAccountService() {
	ctx := context.Background()
	client, _ := exampleSandbox()
	user, err := client.Account.Me(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(user.Name, user.Email)
	_, sent := user.Raw().Get("phone") // what the service sent, also what is undocumented
	fmt.Println("with a phone number:", sent)

	credits, err := client.Account.Credits(ctx)
	if err != nil {
		log.Fatal(err)
	}
	balance, ok := credits.IntOK("credits.balance")
	fmt.Println(balance, ok)
	// Output:
	// Ada ada@workspace.example
	// with a phone number: false
	// 5000 true
}

// Pages tell how many there are; All goes through the lists themselves.
func ExampleListsService_Pages() {
	client, sb := exampleSandbox()
	sb.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{Name: "Leeds"})
		tx.CreateList(sandbox.List{Name: "Suppliers", EntityType: sandbox.CompanyList})
	})
	for page, err := range client.Lists.Pages(context.Background(), prospectkit.ListsParams{Limit: 2}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("page %d of %d:", page.Number, page.TotalPages)
		for _, list := range page.Items {
			fmt.Print(" ", list.Name)
		}
		fmt.Println(",", page.Rate.Remaining, "requests left in the", page.Rate.Window)
	}
	// Output:
	// page 1 of 2: Suppliers Leeds, 119 requests left in the minute
	// page 2 of 2: Berlin, 118 requests left in the minute
}

// When a list is ready, only its raw text tells, and the words for it are not in the document: you bring the test.
func ExampleListsService_WaitFor() {
	client, _ := exampleSandbox()
	list, err := client.Lists.WaitFor(context.Background(), exampleList, func(l *prospectkit.List) bool {
		return l.Raw().Text("completionStatus") != "processing" // your word
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(list.Name, "is ready")
	// Output:
	// Berlin is ready
}

// Known names are read one by one, and all of a row into your own struct.
func ExampleRow() {
	client, _ := exampleSandbox()
	page, err := client.Lists.RowsPage(context.Background(), exampleList, prospectkit.RowsParams{Limit: 1})
	if err != nil || len(page.Items) == 0 {
		log.Fatal("no row: ", err)
	}
	row := page.Items[0]
	fmt.Println(row.ID(), row.Text("address.city"), row.Int("noSuchField"))

	var contact struct {
		FirstName, JobTitle string
	}
	if err := row.Decode(&contact); err != nil {
		log.Fatal(err)
	}
	fmt.Println(contact.FirstName, contact.JobTitle, "of", page.TotalRecords)
	// Output:
	// c00000000000000000000001 Berlin 0
	// Grace Engineer of 3
}

func ExampleListsService_Rows() {
	client, _ := exampleSandbox()
	rows := client.Lists.Rows(context.Background(), exampleList, prospectkit.RowsParams{
		Filter: filter.Contact{Title: filter.AnyOf("Engineer")},
		SortBy: "firstName",
	})
	for row, err := range rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %q\n", row.Text("firstName"), row.Text("address.city"))
	}
	// Output:
	// Edsger ""
	// Grace "Berlin"
}

func ExampleRowsOf() {
	client, _ := exampleSandbox()
	type contact struct {
		ID        string `json:"id"`
		FirstName string `json:"firstName"`
	}
	ctx := context.Background()
	for c, err := range prospectkit.RowsOf[contact](ctx, client.Lists, exampleList, prospectkit.RowsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.FirstName)
	}
	// Output:
	// Grace
	// Alan
	// Edsger
}

// A write whose response was lost is not retried. Its error can find out the outcome.
func ExampleOutcomeUnknownError_Resolve() {
	ctx := context.Background()
	client, sb := exampleSandbox()
	sb.Fail("lists.create", sandbox.Nth(1), sandbox.DropAfter())

	_, err := client.Lists.Create(ctx, prospectkit.NewList{Name: "Q1"})
	if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok {
		fmt.Println(unknown)
		resolution, err := unknown.Resolve(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if list, ok := resolution.Object.(*prospectkit.List); ok {
			fmt.Println(resolution.Outcome, list.Name)
		}
	}
	fmt.Println("sent", sb.Calls("lists.create"), "time")
	// Output:
	// prospectkit: lists.create: outcome unknown, it may have happened: EOF
	// applied Q1
	// sent 1 time
}

func ExampleListsService_Named() {
	ctx := context.Background()
	client, _ := exampleSandbox()
	list, err := client.Lists.Named(ctx, "Berlin", prospectkit.ContactList)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(list.Name, list.ContactsCount)
	_, err = client.Lists.Named(ctx, "berlin", prospectkit.ContactList)
	fmt.Println(errors.Is(err, prospectkit.ErrNotFound))
	// Output:
	// Berlin 3
	// true
}

// Ensure makes a name an idempotency key: it creates the list, or finds exactly that one.
func ExampleListsService_Ensure() {
	ctx := context.Background()
	client, _ := exampleSandbox()
	for range 2 {
		ensured, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: "Q1"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ensured.List.Name, "created:", ensured.Created)
	}
	// Output:
	// Q1 created: true
	// Q1 created: false
}

// A colleague removes a contact while a program reads, and those after it move up by one. None of them is missed.
func ExampleWithProgress() {
	client, sb := exampleSandbox()
	sb.Between("lists.rows", func(tx *sandbox.Tx) {
		if tx.Gap() == 1 {
			tx.RemoveRows(exampleList, "c00000000000000000000001")
		}
	})
	var progress prospectkit.Progress
	rows := client.Lists.Rows(context.Background(), exampleList,
		prospectkit.RowsParams{Limit: 1}, prospectkit.WithProgress(&progress))
	for row, err := range rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Text("firstName"))
	}
	report := progress.Report()
	fmt.Println(report.Delivered, "delivered,", report.Recovered, "of them would have slipped past a plain loop")
	// Output:
	// Grace
	// Alan
	// Edsger
	// 3 delivered, 1 of them would have slipped past a plain loop
}

// A walk over pages can be left and taken up again, by another process if need be.
func ExampleProgress_Checkpoint() {
	ctx := context.Background()
	client, _ := exampleSandbox()
	var progress prospectkit.Progress
	for row, err := range client.Lists.Rows(ctx, exampleList, prospectkit.RowsParams{}, prospectkit.WithProgress(&progress)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("first run:", row.Text("firstName"))
		break
	}
	saved := progress.Checkpoint() // store it with the row, in one transaction

	progress = prospectkit.Progress{ResumeFrom: saved}
	for row, err := range client.Lists.Rows(ctx, exampleList, prospectkit.RowsParams{}, prospectkit.WithProgress(&progress)) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("second run:", row.Text("firstName"))
	}
	// Output:
	// first run: Grace
	// second run: Alan
	// second run: Edsger
}

// Without the option, pages are read ahead of the loop: the rows are the same.
func ExampleSequential() {
	client, _ := exampleSandbox()
	rows := client.Lists.Rows(context.Background(), exampleList, prospectkit.RowsParams{Limit: 1}, prospectkit.Sequential())
	for row, err := range rows {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Text("firstName"))
	}
	// Output:
	// Grace
	// Alan
	// Edsger
}

func ExampleCodeOf() {
	client, _ := exampleSandbox()
	_, err := client.Lists.Get(context.Background(), "a00000000000000000000009")
	switch prospectkit.CodeOf(err) {
	case prospectkit.CodeListNotFound:
		fmt.Println("missing, or of another workspace")
	case prospectkit.CodeUnauthorized:
		fmt.Println("another key is needed")
	default:
		fmt.Println(err)
	}
	// Output:
	// missing, or of another workspace
}

// A conflict that passes in a moment says when to try again. A job that is run again later does not wait in between.
func ExampleRetryAfter() {
	sb := sandbox.New(nil)
	client := exampleClient(sb)
	sb.Fail("campaigns.create", sandbox.Nth(1), sandbox.Status(409, "LIST_PROCESSING"))
	_, err := client.Campaigns.Create(context.Background(), prospectkit.NewCampaign{ListIDs: []string{"65f0c0ffee65f0c0ffee65f0"}})
	if wait, ok := prospectkit.RetryAfter(err); ok {
		fmt.Println("again in", wait)
	} else if err != nil {
		fmt.Println("time does not help:", err)
	}
	// Output:
	// again in 5s
}

func ExampleCollect() {
	client, _ := exampleSandbox()
	lists, err := prospectkit.Collect(client.Lists.All(context.Background(), prospectkit.ListsParams{}), 100)
	fmt.Println(len(lists), err)
	// Output:
	// 1 <nil>
}

// Several accounts in one process: a client for each workspace, with a budget of its own, and one transport for all. What is used
// up in one workspace holds no other up.
func ExampleNew_workspaces() {
	ctx := context.Background()
	sb := sandbox.New(nil)
	transport := sb.Transport() // of the service: one *http.Transport
	tokens := []struct{ workspace, token string }{{"acme", sb.Token()}, {"globex", sb.Workspace("globex").Token()}}

	clients := make(map[string]*prospectkit.Client)
	for _, t := range tokens {
		client, err := prospectkit.New(sb.BaseURL(), t.token, prospectkit.WithTransport(transport))
		if err != nil {
			log.Fatal(err)
		}
		clients[t.workspace] = client
	}
	if _, err := clients["acme"].Lists.Create(ctx, prospectkit.NewList{Name: "Q1"}); err != nil {
		log.Fatal(err)
	}

	sb.Consume("lists", 200) // acme's minute is used up
	for _, t := range tokens {
		lists, err := prospectkit.Collect(clients[t.workspace].Lists.All(ctx, prospectkit.ListsParams{}, prospectkit.WithMaxWait(0)), 100)
		fmt.Printf("%s: %d lists, rate limited: %t\n", t.workspace, len(lists), errors.Is(err, prospectkit.ErrRateLimited))
	}
	// Output:
	// acme: 0 lists, rate limited: true
	// globex: 0 lists, rate limited: false
}

// batchSandbox is a sandbox with two agents, and a client for it.
func batchSandbox() (*prospectkit.Client, *sandbox.Sandbox) {
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewManualClock(time.Now())), sandbox.Seed(sandbox.State{
		Workspaces: []sandbox.Workspace{{
			Name: "main", Credits: 5000, Accounts: []string{"email"},
			Lists: []sandbox.List{{ID: fairListID, Name: "Fair", Rows: sandbox.Rows(sandbox.Row{"email": "ada@engines.example"})}}, CRM: sandbox.CRM{Connected: []string{"crm-1"}},
			Campaigns: []sandbox.Campaign{{
				ID: autumnID, Name: "Autumn", Channels: []string{"email"}, ListIDs: []string{fairListID},
				Steps: []sandbox.Step{{Type: "email", Subject: "Hello", Body: "Do you have a minute?"}},
			}},
			Agents: []sandbox.Agent{
				{ID: founderAgentID, Name: "Founders", Type: sandbox.WebMonitor, Status: "active"},
				{ID: draftAgentID, Name: "Investors", Type: sandbox.WebMonitor},
			},
		}},
	}))
	return exampleClient(sb, prospectkit.WithJournal(new(journal.MemoryJournal))), sb
}

// Ids in that sandbox.
const (
	founderAgentID = "a60000000000000000000001"
	draftAgentID   = "a60000000000000000000002"
	autumnID       = "ca0000000000000000000007"
	fairListID     = "a00000000000000000000007"
)

// One listing a poll serves all agents. The error of one does not end the wait for the others.
func ExampleAgentsService_WaitEach() {
	client, sb := batchSandbox()
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	for agent, err := range client.Agents.WaitEach(ctx, founderAgentID, draftAgentID) {
		switch {
		case errors.Is(err, prospectkit.ErrNotStarted):
			fmt.Println(agent.Name, "is a draft")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println(agent.Name, agent.Status)
		}
	}
	fmt.Println(sb.Calls("agents.list"), "request")
	// Output:
	// Founders active
	// Investors is a draft
	// 1 request
}

// A person reads the review and agrees to its digest. A change since then refuses the approval.
func ExampleCampaignsService_Approve() {
	ctx := context.Background()
	client, sb := batchSandbox()
	seen, err := client.Campaigns.Review(ctx, autumnID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(seen.Steps), "step,", seen.ContactsCount, "contact") // print seen for the person

	sb.Do(func(tx *sandbox.Tx) { tx.AddRows(fairListID, sandbox.Row{"email": "bob@zuse.example"}) })
	_, err = client.Campaigns.Approve(ctx, autumnID, seen.Digest())
	if refused, ok := errors.AsType[*prospectkit.RefusedError](err); ok {
		for _, changed := range refused.Violations[1:] { // the first is the list that they are in
			fmt.Println(changed.Param, changed.Problem)
		}
	}
	if seen, err = client.Campaigns.Review(ctx, autumnID); err != nil {
		log.Fatal(err)
	}
	approval, err := client.Campaigns.Approve(ctx, autumnID, seen.Digest())
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // it may have happened: look at its status, do not repeat it
		fmt.Println(err)
		return
	}
	fmt.Println(approval.Status, "after", sb.Calls("campaigns.approve"), "approval")
	// Output:
	// 1 step, 1 contact
	// contacts changed: 1 reviewed, 2 now
	// active after 1 approval
}

// A program that lists campaigns with their steps and sends, reviews and approves, names no documented field by a string.
func ExampleCampaignsService() {
	ctx := context.Background()
	client, sb := batchSandbox()
	for campaign, err := range client.Campaigns.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(campaign.Status, campaign.Initialized(), len(campaign.ListIDs), campaign.Channels)
		for step, err := range client.Campaigns.Steps(ctx, campaign.ID) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(step.SequenceNumber, step.Type, step.Subject)
		}
		seen, err := client.Campaigns.Review(ctx, campaign.ID)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(seen.Campaign.ID == campaign.ID, len(seen.Steps), len(seen.Lists), seen.ContactsCount) // print seen for the person
		approval, err := client.Campaigns.Approve(ctx, campaign.ID, seen.Digest())
		if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
			log.Fatal(err)
		} else if err != nil { // it may have happened: look at its status, do not repeat it
			fmt.Println(err)
			return
		}
		fmt.Println(approval.Status)
		sb.Advance(10 * time.Second)
		page, err := client.Campaigns.SendsPage(ctx, campaign.ID)
		if err != nil {
			log.Fatal(err)
		}
		for _, send := range page.Items {
			fmt.Println(send.State, send.State.Editable())
		}
	}
	// Output:
	// draft true 1 [email]
	// 1 email Hello
	// true 1 1 1
	// active
	// scheduled true
}
