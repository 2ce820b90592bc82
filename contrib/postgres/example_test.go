package prospectpg_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"example.com/prospectkit"
	prospectpg "example.com/prospectkit/contrib/postgres"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// Two processes of a fleet share a journal, and a cap on credits.
func ExampleNew() {
	pool, stop := prospectpg.ServePostgres() // yours is somewhere already
	defer stop()
	ctx := context.Background()
	service := sandbox.New(nil, sandbox.WithPrices(sandbox.Prices{"contacts.resolve": 20}))
	if err := errors.Join(prospectpg.Migrate(ctx, pool), prospectpg.AddWorkspace(ctx, pool, "acme")); err != nil {
		panic(err)
	}
	process := func() *prospectkit.Client {
		store, err := prospectpg.New(pool, prospectpg.Config{Workspace: "acme"})
		if err != nil {
			panic(err)
		}
		prices := spend.Prices{"contacts.resolve": {PerCall: 20}}
		client, err := prospectkit.New(service.BaseURL(), service.Token(), prospectkit.WithTransport(service.Transport()),
			prospectkit.WithJournal(store),
			prospectkit.WithSpendGuard(spend.NewSharedGuard(30, prices, store.Spend("2026-11"))))
		if err != nil {
			panic(err)
		}
		return client
	}
	one, two := process(), process()
	service.Fail("contacts.resolve", sandbox.DropAfter()) // the response is lost: the credits may be spent
	_, err := one.Contacts.Resolve(ctx, prospectkit.Fields{"email": "ada@engines.example"})
	fmt.Println(prospectkit.OutcomeOf(err))
	_, err = two.Contacts.Resolve(ctx, prospectkit.Fields{"email": "ada@engines.example"})
	fmt.Println(prospectkit.OutcomeOf(err), errors.Is(err, prospectkit.ErrSpendCap))
	for entry, err := range two.Calls(ctx, "contacts.resolve") {
		if err != nil {
			panic(err)
		}
		fmt.Println("the journal says:", entry.Outcome)
	}
	// Output:
	// unknown
	// not applied true
	// the journal says: unknown
}

// A job that runs again asks what its earlier attempts did, before it makes the call.
func ExampleStore_Entries() {
	pool, stop := prospectpg.ServePostgres()
	defer stop()
	ctx, service := context.Background(), sandbox.New(nil)
	if err := errors.Join(prospectpg.Migrate(ctx, pool), prospectpg.AddWorkspace(ctx, pool, "acme")); err != nil {
		panic(err)
	}
	store, err := prospectpg.New(pool, prospectpg.Config{Workspace: "acme"})
	if err != nil {
		panic(err)
	}
	client, err := prospectkit.New(service.BaseURL(), service.Token(),
		prospectkit.WithTransport(service.Transport()), prospectkit.WithJournal(store))
	if err != nil {
		panic(err)
	}
	job := func(name string) error {
		for e, err := range store.Entries(ctx, name) {
			if err != nil {
				return err
			}
			if e.Outcome != journal.NotApplied { // unknown: it may have, so a person looks
				fmt.Println(name, "has called", e.Ticket.Op+":", e.Outcome)
				return nil
			}
		}
		_, err := client.Lists.Create(prospectkit.WithActor(ctx, name), prospectkit.NewList{Name: "Berlin"})
		return err
	}
	for range 2 {
		if err := job("job 7"); err != nil {
			fmt.Println(err)
		}
	}
	// Output: job 7 has called lists.create: applied
}

// A record and the checkpoint after it are stored together, so that a killed program goes on after the last record that it has.
func ExampleStore_SaveCheckpoint() {
	pool, stop := prospectpg.ServePostgres()
	defer stop()
	ctx := context.Background()
	service := sandbox.New(nil, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Lists: []sandbox.List{{Name: "Berlin"}, {Name: "Paris"}, {Name: "Rome"}},
	}}}))
	if err := errors.Join(prospectpg.Migrate(ctx, pool), prospectpg.AddWorkspace(ctx, pool, "acme")); err != nil {
		panic(err)
	}
	if _, err := pool.Exec(ctx, "CREATE TABLE list (name text)"); err != nil {
		panic(err)
	}
	store, err := prospectpg.New(pool, prospectpg.Config{Workspace: "acme"})
	if err != nil {
		panic(err)
	}
	client, err := prospectkit.New(service.BaseURL(), service.Token(), prospectkit.WithTransport(service.Transport()))
	if err != nil {
		panic(err)
	}
	sync := func(most int) error {
		from, err := store.Checkpoint(ctx, "lists")
		if err != nil {
			return err
		}
		progress := prospectkit.Progress{ResumeFrom: from}
		for list, err := range client.Lists.All(ctx, prospectkit.ListsParams{}, prospectkit.WithProgress(&progress)) {
			if err != nil {
				return err
			}
			err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
				if _, err := tx.Exec(ctx, "INSERT INTO list VALUES ($1)", list.Name); err != nil {
					return err
				}
				return store.SaveCheckpoint(ctx, tx, "lists", progress.Checkpoint())
			})
			if err != nil {
				return err
			}
			if most--; most == 0 {
				return nil // as if it was killed
			}
		}
		return store.SaveCheckpoint(ctx, pool, "lists", progress.Checkpoint()) // the walk has ended: the next one starts at the beginning
	}
	for range 2 {
		if err := sync(2); err != nil {
			fmt.Println(err)
		}
	}
	var records, lists int
	if err := pool.QueryRow(ctx, "SELECT count(*), count(DISTINCT name) FROM list").Scan(&records, &lists); err != nil {
		panic(err)
	}
	fmt.Println(records, "records of", lists, "lists")
	// Output: 3 records of 3 lists
}
