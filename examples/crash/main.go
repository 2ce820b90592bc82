// Command crash creates lists and pushes each to a CRM once, however often it is killed or loses a response. It stores a ticket of each write in a
// file before the write leaves, and reads at the start what an earlier process left behind. No read shows a push, so a person looks into the CRM
// after one that may have happened. It runs on a sandbox in this process. With prospectkit.FromEnv, work does the same at the service.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

const crm = "crm-1" // the API description leaves the names of the CRMs out

func main() {
	dir, err := os.MkdirTemp("", "crash")
	if err == nil {
		err = errors.Join(demo(context.Background(), filepath.Join(dir, "writes.journal"), os.Stdout), os.RemoveAll(dir))
	}
	if err != nil {
		log.Fatal(err)
	}
}

// demo starts the work twice, as two processes do. The response to the second push is lost.
func demo(ctx context.Context, path string, out io.Writer) error {
	sb := sandbox.New(nil)
	sb.Do(func(tx *sandbox.Tx) { tx.ConnectCRM(crm) })
	sb.Fail("lists.crm-push", sandbox.Nth(2), sandbox.DropAfter())
	for range 2 {
		j, err := journal.Open(path, "acme")
		if err != nil {
			return err
		}
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j))
		if err == nil {
			fmt.Fprintln(out, "work:", work(ctx, client))
		}
		found := journal.Settlement{Outcome: journal.Applied, By: "maria", Because: "the list is in the CRM"}
		for ticket, failed := range j.InDoubt(ctx) { // a person looks, and says so, as prospectkit settle does
			err = errors.Join(err, failed, j.Settle(ctx, ticket.ID, found))
		}
		if err := errors.Join(err, j.Close()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d lists were pushed, none twice\n", len(sb.Outbox()))
	return err
}

// work does what is missing. Run it again after any error.
func work(ctx context.Context, client *prospectkit.Client) error {
	if _, err := client.Recover(ctx); err != nil { // it reads, and tells the journal what it finds
		return err
	}
	for _, name := range []string{"Berlin", "Hamburg", "Munich"} {
		ensured, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: name}) // which finds what an earlier start has made
		if err != nil {
			return err
		}
		// This pushes the list, unless the journal knows of a push that has left, or may have.
		_, err = client.Lists.PushToCRM(ctx, ensured.List.ID, prospectkit.CRMPush{CRM: crm, All: true}, prospectkit.Once(crm))
		if err != nil {
			return err // if the outcome is unknown, a person looks into the CRM, and settles the ticket that it names
		}
	}
	return nil
}
