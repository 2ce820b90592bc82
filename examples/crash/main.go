// Command crash creates lists and pushes each to a CRM once, however often it is killed or loses a response. It stores a ticket of each
// write in a file before the write leaves, and reads at the start what an earlier process left behind. No read shows a push, so a person
// looks into the CRM after a push that may have happened.
//
// It runs on a sandbox in this process, which loses one response. With prospectkit.FromEnv, work does the same at the service.
package main

import (
	"bufio"
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

func main() {
	out := bufio.NewWriter(os.Stdout) // it keeps the first error
	if err := errors.Join(demo(context.Background(), out), out.Flush()); err != nil {
		log.Fatal(err)
	}
}

const crm = "crm-1" // the API description leaves the names of the CRMs out

func demo(ctx context.Context, out io.Writer) error {
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	sb := sandbox.New(nil)
	sb.Do(func(tx *sandbox.Tx) { tx.ConnectCRM(crm) })
	sb.Fail("lists.crm-push", sandbox.Nth(2), sandbox.DropAfter())
	for range 2 { // two starts, which open the journal as two processes do
		j, err := journal.Open(filepath.Join(dir, "writes.journal"), "acme")
		if err != nil {
			return err
		}
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "work: %v\n", work(ctx, client))
		for ticket, failed := range j.InDoubt(ctx) { // a person finds the list in the CRM: prospectkit settle TICKET applied
			err = errors.Join(err, failed, j.Ended(ctx, ticket.ID, journal.End{Outcome: journal.Applied}))
		}
		if err := errors.Join(err, j.Close()); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d lists were pushed, none twice\n", len(sb.CRMPushes()))
	return nil
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
		if err := push(ctx, client, ensured.List.ID); err != nil {
			return err
		}
	}
	return nil
}

// push pushes a list, unless the journal knows of a push that has left, or may have.
func push(ctx context.Context, client *prospectkit.Client, listID string) error {
	_, err := client.Lists.PushToCRM(ctx, listID, prospectkit.CRMPush{CRM: crm, All: true}, prospectkit.Once(crm))
	return err // if the outcome is unknown, a person looks into the CRM, and settles the ticket that it names
}
