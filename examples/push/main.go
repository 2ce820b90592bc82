// Command push pushes the contacts of a list into a CRM, in batches, none twice. It stores who belongs to which batch before it sends any, and
// the id of a batch is its Once key. So the list may change, and the program may be killed at any moment and run again: it continues, and
// pushes who has joined. It prints the contacts that somebody has to look up.
//
// It runs on a sandbox in this process. With prospectkit.FromEnv and journal.Open, push does the same at the service.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

const crm = "crm-1" // the API description leaves the names of the CRMs out

func main() {
	sb, listID := sandbox.New(nil), ""
	sb.Do(func(tx *sandbox.Tx) {
		tx.ConnectCRM(crm)
		listID = tx.CreateList(sandbox.List{Name: "Leads", Rows: sandbox.Rows(sandbox.Row{"email": "ada@engines.example"})})
	})
	sb.Fail("lists.crm-push", sandbox.DropAfter()) // its response is lost
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(journal.NewMemory("acme")))
	if err == nil {
		err = push(context.Background(), client.Lists, listID, "batches.json", os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// push goes through all batches in the file, and those of contacts that are in none yet. The journal knows which were sent.
func push(ctx context.Context, lists *prospectkit.ListsService, listID, file string, out io.Writer) error {
	batches, err := load(file)
	if err != nil {
		return err
	}
	known, joined := map[string]bool{}, []string(nil)
	for _, b := range batches {
		for _, id := range b.ContactIDs {
			known[id] = true
		}
	}
	for row, err := range lists.Rows(ctx, listID, prospectkit.RowsParams{}) {
		if err != nil {
			return err
		}
		if id := row.ID(); !known[id] {
			joined = append(joined, id)
		}
	}
	for ids := range slices.Chunk(joined, 500) {
		batches = append(batches, batch{rand.Text(), ids})
	}
	if err := store(file, batches); err != nil {
		return err
	}
	for _, b := range batches {
		_, err := lists.PushToCRM(ctx, listID, prospectkit.CRMPush{CRM: crm, ContactIDs: b.ContactIDs}, prospectkit.Once(b.ID))
		if prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown { // of this run or an earlier one: settle its ticket after a look
			_, err = fmt.Fprintln(out, "look in the CRM for", b.ContactIDs)
		}
		if err != nil {
			return err // this batch was not sent
		}
	}
	return nil
}
