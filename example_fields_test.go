package prospectkit_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// fieldsSandbox is a sandbox with two lists, a knowledge hub, a company and a saved search, and a client for it. Where the service's
// document shows no fields, the examples name those that the sandbox takes: the service's may differ.
func fieldsSandbox(opts ...sandbox.Option) (*prospectkit.Client, *sandbox.Sandbox) {
	people := sandbox.Rows(
		sandbox.Row{"id": adaID, "firstName": "Ada", "email": "ada@engines.example"},
		sandbox.Row{"firstName": "Bob", "email": "bob@zuse.example"},
	)
	sb := sandbox.New(nil, append([]sandbox.Option{
		sandbox.WithClock(sandbox.NewManualClock(time.Now())), sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
			Name: "main", Credits: 5000, Accounts: []string{"email"},
			Lists:     []sandbox.List{{ID: sourceListID, Name: "Source", Rows: people}, {ID: targetListID, Name: "Target"}},
			Hubs:      []sandbox.Hub{{ID: secondHubID, Name: "Second"}},
			Companies: sandbox.Rows(sandbox.Row{"name": "Engines", "domain": "engines.example", "address": sandbox.Row{"city": "Berlin"}}),
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

// A struct that does not fit is an error, not a list of nothing.
func ExampleObject_DecodeStrict() {
	client, _ := fieldsSandbox()
	response, err := client.Facts.Hubs(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	var guess struct {
		Hubs []struct{ Name string } `json:"hubs"`
	}
	fmt.Println(response.Decode(&guess), len(guess.Hubs))
	fmt.Println(response.DecodeStrict(&guess))
	// Output:
	// <nil> 0
	// prospectkit: "hubs" is not there: the value is an object with knowledgeHubs
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

// An empty selection is refused: it is not taken for everybody.
func ExampleListsService_AddMembers() {
	ctx := context.Background()
	client, _ := fieldsSandbox()
	added, err := client.Lists.AddMembers(ctx, targetListID, prospectkit.Fields{"contactIds": []string{adaID}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(added.Int("addedCount"))
	_, err = client.Lists.AddMembers(ctx, targetListID, prospectkit.Fields{"contactIds": []string{}})
	fmt.Println(errors.Is(err, prospectkit.ErrRefusedLocally))
	// Output:
	// 1
	// true
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

func ExampleCampaignsService_Adjust() {
	ctx := context.Background()
	client, sb := fieldsSandbox()
	made, err := client.Campaigns.Create(ctx, prospectkit.NewCampaign{Extra: prospectkit.Fields{"name": "Spring"}})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // there is one, or may be: look at All, do not repeat it
		fmt.Println(err)
		return
	}
	id, lists := made.ID, prospectkit.CampaignChanges{ListIDs: []string{sourceListID}}
	_, err = client.Campaigns.Adjust(ctx, id, lists)
	fmt.Println("too early:", errors.Is(err, prospectkit.CodeCampaignInitializing))
	sb.Advance(time.Minute)
	adjusted, err := client.Campaigns.Adjust(ctx, id, lists)
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // it may have happened: a teammate may have changed the campaign since
		fmt.Println(err)
		return
	}
	fmt.Println(slices.Contains(adjusted.ListIDs, sourceListID))
	// Output:
	// too early: true
	// true
}

func ExampleCampaignsService_All() {
	ctx := context.Background()
	client, _ := fieldsSandbox()
	_, err := client.Campaigns.Create(ctx, prospectkit.NewCampaign{Extra: prospectkit.Fields{"name": "Spring"}})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // there is one, or may be: do not repeat it
		fmt.Println("look for it below:", err)
	}
	for campaign, err := range client.Campaigns.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(campaign.Raw().Text("name"), campaign.Status)
	}
	// Output:
	// Spring draft
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

func ExampleFactsService_SetDefaultHub() {
	client, _ := fieldsSandbox()
	hub, err := client.Facts.SetDefaultHub(context.Background(), prospectkit.Fields{"knowledgeHubId": secondHubID})
	if prospectkit.OutcomeOf(err) == prospectkit.OutcomeNotApplied {
		log.Fatal(err)
	} else if err != nil { // it happened, or may have: a teammate may have chosen another since
		fmt.Println(err)
		return
	}
	fmt.Println(hub.Bool("knowledgeHub.isDefault"))
	// Output:
	// true
}

func ExampleSearchService_Companies() {
	client, _ := fieldsSandbox()
	found, err := client.Search.Companies(context.Background(), prospectkit.CompanySearch{
		Filters: prospectkit.Fields{"headquartersCity": []string{"Berlin"}}, Extra: prospectkit.Fields{"size": 10},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Text("companies.0.domain"))
	// Output:
	// engines.example
}
