package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// batchSandbox is a sandbox with two agents, and a client for it.
func batchSandbox() (*prospectkit.Client, *sandbox.Sandbox) {
	sb := sandbox.New(nil, sandbox.WithClock(sandbox.NewManualClock(time.Now())), sandbox.Seed(sandbox.State{
		Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
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
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(new(journal.MemoryJournal)))
	if err != nil {
		log.Fatal(err)
	}
	return client, sb
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
