// Command campaign approves a campaign, which is the only call after which messages are sent to people. It does so once, although the
// service rejects the first call and the response to the second is lost. It waits until the campaign is ready, resolves the unknown
// outcome by reading, and shows what is scheduled. The sandbox's outbox proves that nobody got a message twice.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

const usage = `Usage: campaign

Approves a campaign once, although the service refuses it first and an answer is lost later, and shows what was sent.
It runs on a sandbox in this process, needs no account, and reads nothing from the environment.
`

func main() {
	out := begin(usage)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out.end(run(ctx, out))
}

const listID = "a00000000000000000000001"

var audience = sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
	Name: "main",
	Lists: []sandbox.List{{ID: listID, Name: "Berlin conference", Rows: sandbox.Rows(
		sandbox.Row{"firstName": "Grace", "email": "grace@navy.example"},
		sandbox.Row{"firstName": "Alan", "email": "alan@park.example"},
		sandbox.Row{"firstName": "Edsger"}, // without an address
	)}},
}}}

func run(ctx context.Context, out io.Writer) error {
	clock := sandbox.NewManualClock(time.Now())
	sb := sandbox.New(nil, sandbox.Seed(audience), sandbox.WithClock(clock))
	sb.Fail("campaigns.approve", sandbox.Nth(2), sandbox.DropAfter())
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithObserver(quickly(clock)))
	if err != nil {
		return err
	}

	campaign, err := prepare(ctx, client, out)
	if err != nil {
		return err
	}
	campaignID := campaign.ID
	switch _, err := client.Campaigns.Approve(ctx, campaignID); {
	case errors.Is(err, prospectkit.CodeCampaignNotReady):
		fmt.Fprintf(out, "Not ready: %v\n", err)
	default:
		return errors.Join(errors.New("a campaign without an account to send from was expected to be refused"), err)
	}
	sb.Do(func(tx *sandbox.Tx) { tx.ConnectAccount("email") }) // by somebody in the app
	if err := approve(ctx, client, out, campaign); err != nil {
		return err
	}

	sb.Advance(10 * time.Second) // the activation runs in the background
	if err := showSends(ctx, client, out, campaignID); err != nil {
		return err
	}
	sb.Advance(time.Hour)
	if err := showSends(ctx, client, out, campaignID); err != nil {
		return err
	}
	return prove(sb, out, campaignID)
}

// quickly advances the sandbox's clock while the client waits, so that minutes take seconds.
func quickly(clock *sandbox.ManualClock) func(context.Context, prospectkit.Event) {
	return func(_ context.Context, e prospectkit.Event) {
		if e.Kind == prospectkit.EventWait {
			clock.Advance(time.Minute)
		}
	}
}

const name = "Spring"

// prepare makes a campaign, unless an earlier run did, waits until its texts have been generated, and shows its steps. The name of a
// campaign is undocumented: that of the sandbox is assumed.
func prepare(ctx context.Context, client *prospectkit.Client, out io.Writer) (*prospectkit.Campaign, error) {
	var campaignID string
	for campaign, err := range client.Campaigns.All(ctx) {
		switch {
		case err != nil:
			return nil, err
		case campaign.Raw().Text("name") == name:
			campaignID = campaign.ID
		}
	}
	if campaignID == "" {
		made, err := client.Campaigns.Create(ctx, prospectkit.Fields{"name": name, "listIds": []string{listID}})
		if err != nil {
			return nil, err
		}
		campaignID = made.ID
	}
	campaign, err := client.Campaigns.WaitInitialized(ctx, campaignID)
	if err != nil {
		return nil, err
	}
	if campaign.InitializationStatus != prospectkit.InitializationCompleted {
		return nil, fmt.Errorf("the campaign could not be initialized: %s", campaign.InitializationStatus)
	}
	fmt.Fprintf(out, "Campaign %q is initialized. Its steps:\n", name)
	return campaign, showSteps(ctx, client, out, campaignID)
}

// showSteps reads what will be sent.
func showSteps(ctx context.Context, client *prospectkit.Client, out io.Writer, campaignID string) error {
	page, err := client.Campaigns.StepsPage(ctx, campaignID)
	if err != nil {
		return err
	}
	for _, step := range page.Items {
		fmt.Fprintf(out, "  %d. %s: %q\n     %q\n", step.SequenceNumber, step.Type, step.Subject, step.Body)
	}
	return nil
}

// approve approves the campaign. Whatever happens to the response, nothing resends the approval, not even another run.
func approve(ctx context.Context, client *prospectkit.Client, out io.Writer, campaign *prospectkit.Campaign) error {
	if status := campaign.Status; status.Known() { // active or stopped, so it was approved before
		fmt.Fprintf(out, "Not approved again: the campaign is %s\n", status)
		return nil
	}
	_, err := client.Campaigns.Approve(ctx, campaign.ID)
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	if !ok {
		return err
	}
	fmt.Fprintf(out, "Outcome unknown: %v\n", unknown)
	resolution, err := unknown.Resolve(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Resolved: %s (%s)\n", resolution.Verdict, resolution.Note)
	if resolution.Verdict != prospectkit.VerdictHappened {
		return errors.New("look at the campaign before you approve it again")
	}
	return nil
}

// showSends reads what has been sent and what will be. The name of the subject is that of the sandbox.
func showSends(ctx context.Context, client *prospectkit.Client, out io.Writer, campaignID string) error {
	page, err := client.Campaigns.SendsPage(ctx, campaignID)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nSends:\n")
	for _, send := range page.Items {
		fmt.Fprintf(out, "  %-20s %-10s can be edited: %t\n", send.Raw().Text("subject"), send.State, send.State.Editable())
	}
	return nil
}

// prove counts approvals and messages on the sandbox's side.
func prove(sb *sandbox.Sandbox, out io.Writer, campaignID string) error {
	approved := 0
	for _, entry := range sb.Journal() {
		if entry.Op == "campaigns.approve" && len(entry.Effects) > 0 {
			approved++
		}
	}
	heard := map[string]int{}
	fmt.Fprintf(out, "\nThe outbox:\n")
	for _, message := range sb.Outbox() {
		heard[message.To]++
		fmt.Fprintf(out, "  to %s, approved by request %s\n", message.To, message.RequestID)
	}
	for to, n := range heard {
		if n != 1 {
			return fmt.Errorf("%s got %d messages", to, n)
		}
	}
	calls, sends := sb.Calls("campaigns.approve"), len(sb.Sends(campaignID))
	if approved != 1 || calls != 2 || len(heard) != 2 || sends != 2 {
		return fmt.Errorf("%d approvals of %d calls, %d people of %d sends: wanted 1 of 2, and 2 of 2", approved, calls, len(heard), sends)
	}
	fmt.Fprintf(out, "%d approvals were sent: 1 was rejected, 1 was applied though its response was lost. %d people got one message each.\n", calls, len(heard))
	return nil
}
