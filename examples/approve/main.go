// Command approve shows a campaign to a person, and approves what was shown if they type yes. It may be killed and run again: an approval
// that may have happened is never repeated. It runs on a sandbox in this process. With prospectkit.FromEnv, approve does the same at the
// service, and messages are sent.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"slices"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

func main() {
	path := flag.String("journal", "approvals.journal", "the `file` that remembers what was sent")
	flag.Parse()
	if err := demo(context.Background(), *path, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// demo approves a campaign of a sandbox.
func demo(ctx context.Context, path string, in io.Reader, out io.Writer) (err error) {
	sb := sandbox.New(nil)
	var campaignID string
	sb.Do(func(tx *sandbox.Tx) { campaignID = spring(tx) })
	j, err := journal.Open(path, "acme")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j),
		prospectkit.WithLogger(slog.Default())) // which tells of waits: an approval takes ten requests of 30 a minute
	if err != nil {
		return err
	}
	return approve(ctx, client, campaignID, in, out)
}

// spring makes a campaign that sends one message to each of two people.
func spring(tx *sandbox.Tx) (campaignID string) {
	tx.ConnectAccount("email")
	return tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(
		sandbox.Row{"firstName": "Grace", "email": "grace@navy.example"}, sandbox.Row{"firstName": "Alan", "email": "alan@park.example"},
	)})))
}

// approve needs a client with a journal.
func approve(ctx context.Context, client *prospectkit.Client, campaignID string, in io.Reader, out io.Writer) error {
	found, err := client.Recover(ctx) // what an earlier start left behind
	if open := slices.Concat(found.Later, found.Person); len(open) > 0 {
		t := open[0].Ticket
		return errors.Join(err, fmt.Errorf("%s of %s may have happened: look there, then settle ticket %s", t.Op, t.IDs, t.ID))
	}
	review, err := client.Campaigns.Review(ctx, campaignID)
	if err != nil {
		return err
	}
	if review.Campaign.Status == prospectkit.CampaignActive {
		_, err := fmt.Fprintln(out, "It was approved before.")
		return err
	}
	word, options := "yes", []prospectkit.CallOption(nil)
	if review.Resumes() { // a yes out of habit does not undo what a teammate has stopped
		word, options = "resume", append(options, prospectkit.AllowResume())
	}
	if _, err := fmt.Fprintf(out, "%s\n\nType %s to send this: ", review, word); err != nil {
		return err // nobody has seen it
	}
	if answer, _ := bufio.NewReader(in).ReadString('\n'); answer != word+"\n" {
		return errors.New("nothing was approved")
	}
	_, err = client.Campaigns.Approve(ctx, campaignID, review.Digest(), options...)
	if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok { // it looks, and never repeats it
		r, failed := unknown.Resolve(ctx)
		if failed != nil || r.Outcome != prospectkit.OutcomeApplied {
			return errors.Join(err, failed)
		}
	} else if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "Approved: the messages will be sent.")
	return err
}
