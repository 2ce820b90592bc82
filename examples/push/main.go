// Command push pushes the contacts of a list into a CRM, in batches, none twice. It stores who belongs to which batch before it sends any, so that
// the list may change, and the program may be killed at any moment and run again: it continues, and pushes who has joined. It prints the
// contacts that somebody has to look up. It runs on a sandbox in this process. With prospectkit.FromEnv, push does the same at the service.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

func main() {
	sb := sandbox.New(nil, sandbox.Seed(fixture.Small(1)))
	sb.Fail("lists.crm-push", sandbox.DropAfter()) // the response to a push is lost
	j, err := journal.Open("push.journal", "acme")
	if err != nil {
		log.Fatal(err)
	}
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j))
	if err == nil {
		err = push(context.Background(), client.Lists, sb.Lists()[1].ID, "batches.json", os.Stdout)
	}
	if err := errors.Join(err, j.Close()); err != nil {
		log.Fatal(err)
	}
}

// push pushes the batches of the file, and those of contacts that are in none yet. By their places in the file, the journal knows which were sent.
func push(ctx context.Context, lists *prospectkit.ListsService, listID, file string, out io.Writer) error {
	var batches [][]string
	known, joined := map[string]bool{}, []string(nil)
	text, err := os.ReadFile(file) //nolint:gosec // G304: the file that the caller names
	if err == nil {
		err = json.Unmarshal(text, &batches)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, id := range slices.Concat(batches...) {
		known[id] = true
	}
	for row, err := range lists.Rows(ctx, listID, prospectkit.RowsParams{}) {
		if err != nil {
			return err
		}
		if !known[row.ID()] {
			joined = append(joined, row.ID())
		}
	}
	batches = slices.AppendSeq(batches, slices.Chunk(joined, 500)) // contacts, at most, in a call
	text, _ = json.Marshal(batches)
	if err = os.WriteFile(file+".new", text, 0o600); err == nil {
		err = os.Rename(file+".new", file) // if a power cut brings the old file back, the journal refuses other contacts under a key that was used
	}
	if err != nil {
		return err
	}
	for n, ids := range batches {
		push := prospectkit.CRMPush{CRM: "crm-1", ContactIDs: ids} // the API description leaves the names of the CRMs out
		_, err := lists.PushToCRM(ctx, listID, push, prospectkit.Once(fmt.Sprint(listID, " batch ", n)))
		if prospectkit.OutcomeOf(err) == prospectkit.OutcomeUnknown { // of this run or an earlier one: settle its ticket after a look
			_, err = fmt.Fprintln(out, "look in the CRM for", ids)
		}
		if err != nil {
			return err // this batch was not sent
		}
	}
	return nil
}
