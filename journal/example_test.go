package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.com/prospectkit/journal"
)

// A program stops before it knows the outcome of a call. The next one finds the ticket.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "writes.journal")

	j, err := journal.Open(path, "acme")
	if err != nil {
		panic(err)
	}
	now := time.Now() // a client makes the tickets; here they are made by hand
	for _, name := range []string{"Berlin", "Paris"} {
		t := journal.Ticket{
			Version: journal.Version, ID: name, Op: "lists.create", Lookup: journal.Lookup{Name: name},
			Service: "https://service.test/api/v1", Actor: "nightly import", FirstSent: now, LastSent: now,
		}
		if err := j.Sending(ctx, t); err != nil {
			panic(err)
		}
	}
	if err := j.Ended(ctx, "Berlin", journal.End{Outcome: journal.Applied}); err != nil {
		panic(err)
	}
	if err := j.Close(); err != nil {
		panic(err)
	}

	if j, err = journal.Open(path, "acme"); err != nil {
		panic(err)
	}
	defer j.Close()
	for t, err := range j.InDoubt(ctx) {
		fmt.Println("look for:", t.Op, t.Lookup.Name, err)
	}
	for e, err := range journal.Read(path) {
		fmt.Println(e.Ticket.Actor+":", e.Ticket.Op, e.Ticket.Lookup.Name, e.Outcome, err)
	}
	// Output:
	// look for: lists.create Paris <nil>
	// nightly import: lists.create Berlin applied <nil>
	// nightly import: lists.create Paris unknown <nil>
}
