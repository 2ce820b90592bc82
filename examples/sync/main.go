// Command sync keeps a copy of a contact list in SQLite, by what has changed. It may be killed at any moment and run again. Empty feed in
// place, such as once a day, to read all rows: some removals hide (docs/guide.md). PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN name the service.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"log"

	_ "modernc.org/sqlite" // the driver

	"example.com/prospectkit"
	"example.com/prospectkit/changes"
)

// A full sync numbers the rows that it has seen. During one, page is where it is; feed is where the changes begin after it.
const schema = `CREATE TABLE IF NOT EXISTS contact (id TEXT PRIMARY KEY, body TEXT, full INT);
CREATE TABLE IF NOT EXISTS place (feed TEXT, page TEXT, full INT); INSERT INTO place SELECT '', 'none', 0 WHERE NOT EXISTS (SELECT * FROM place)`

func main() {
	id, file := flag.String("list", "", "the `id` of the list"), flag.String("db", "contacts.db", "the `file` of its copy")
	flag.Parse()
	client, err := prospectkit.FromEnv(prospectkit.ReadOnly())
	if err == nil {
		err = sync(context.Background(), client.Lists, *id, *file)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func sync(ctx context.Context, lists *prospectkit.ListsService, listID, file string) error {
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(1000)&_pragma=locking_mode(EXCLUSIVE)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // which has the file alone: a second run fails, as it would store what it has read before
	_, err = db.ExecContext(ctx, schema)
	for n, full := 0, (*changes.FullSyncRequiredError)(nil); err == nil && n < 9; n++ { // the list may change while it is read
		if err = proceed(ctx, lists, listID, db); !errors.As(err, &full) || n > 0 && full.After == "" {
			return err // in the second case, all rows were read just now, and the list cannot be followed: another run reads all again
		}
		err = store(ctx, db, nil, `UPDATE place SET feed = ?, page = '', full = full + 1`, full.After)
	}
	return errors.Join(errors.New("run it again"), err)
}

// proceed ends the full sync, if one is in progress, and follows the changes after it. If rows were missing in it, it drops none.
func proceed(ctx context.Context, lists *prospectkit.ListsService, listID string, db *sql.DB) error {
	var feed, page string
	if err := db.QueryRowContext(ctx, `SELECT feed, page FROM place`).Scan(&feed, &page); err != nil {
		return err
	}
	if page != "none" {
		var progress prospectkit.Progress
		for p, err := range lists.RowsPages(ctx, listID, prospectkit.RowsParams{}, prospectkit.ResumeFrom(page), prospectkit.WithProgress(&progress)) {
			if err == nil {
				err = store(ctx, db, p.Items, `UPDATE place SET page = ?`, progress.Checkpoint())
			}
			if err != nil {
				return err
			}
		}
		all := progress.Report().Missing == 0 && !progress.Report().Incomplete
		if err := store(ctx, db, nil, `UPDATE place SET page = 'none'; DELETE FROM contact WHERE ? AND full < (SELECT full FROM place)`, all); err != nil {
			return err
		}
	}
	for c, err := range lists.Changes(ctx, listID, feed, changes.Holding(func(ctx context.Context) (n int, err error) {
		err = db.QueryRowContext(ctx, `SELECT count(*) FROM contact`).Scan(&n)
		return n, err
	})) {
		if err == nil {
			err = store(ctx, db, []prospectkit.Row{*c.Row}, `UPDATE place SET feed = ?`, c.Checkpoint())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// store stores rows and the place after them, or neither.
func store(ctx context.Context, db *sql.DB, rows []prospectkit.Row, place string, value any) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, place, value)
	for i := 0; err == nil && i < len(rows); i++ {
		_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO contact SELECT ?, ?, full FROM place`, rows[i].ID(), string(rows[i].Raw()))
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
