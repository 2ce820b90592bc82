// Command copy keeps a copy of a list in SQLite. Each run reads the whole list, a request per 1,000 rows, and stores all of it or, if it fails or is
// killed, nothing. PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN name the service.
package main

import (
	"context"
	"database/sql"
	"flag"
	"log"

	_ "modernc.org/sqlite" // the driver

	"example.com/prospectkit"
)

// This SQL also runs on PostgreSQL. It changes no row that is the same.
const (
	tables = `CREATE TABLE IF NOT EXISTS entry (id TEXT PRIMARY KEY, body TEXT NOT NULL);
		CREATE TEMPORARY TABLE walk (id TEXT PRIMARY KEY, body TEXT NOT NULL)`
	add   = `INSERT INTO walk VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = excluded.body`
	merge = `INSERT INTO entry SELECT id, body FROM walk WHERE true
		ON CONFLICT (id) DO UPDATE SET body = excluded.body WHERE entry.body <> excluded.body;`
	drop = `DELETE FROM entry WHERE id NOT IN (SELECT id FROM walk);`
)

func main() {
	id, file := flag.String("list", "", "the `id` of the list"), flag.String("db", "copy.db", "the `file` of its copy")
	flag.Parse()
	client, err := prospectkit.FromEnv(prospectkit.ReadOnly())
	if err == nil {
		err = copyList(context.Background(), client.Lists, *id, *file)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func copyList(ctx context.Context, lists *prospectkit.ListsService, listID, file string) error {
	db, err := sql.Open("sqlite", file+"?_txlock=immediate") // a second run at the same time fails
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // there is nothing to roll back after Commit
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return err
	}
	var progress prospectkit.Progress
	for row, err := range lists.Rows(ctx, listID, prospectkit.RowsParams{}, prospectkit.WithProgress(&progress)) {
		if err == nil {
			_, err = tx.ExecContext(ctx, add, row.ID(), string(row.Raw()))
		}
		if err != nil {
			return err
		}
	}
	list, err := lists.Get(ctx, listID)
	if err != nil {
		return err
	}
	count, walk, change := list.ContactsCount, progress.Report(), merge
	if list.Kind == prospectkit.CompanyList {
		count = list.CompaniesCount
	}
	if walk.Delivered == count && walk.Missing == 0 && !walk.Incomplete { // two facts: what the walk has not shown is gone
		change += drop
	} else {
		log.Printf("no row is dropped: the list counts %d, the walk has shown %d, and %d are missing", count, walk.Delivered, walk.Missing)
	}
	if _, err := tx.ExecContext(ctx, change); err != nil {
		return err
	}
	return tx.Commit()
}
