// Command sync keeps a copy of a list in SQLite. Each run reads the whole list, a request per 1,000 rows, and may be killed: the next one goes on.
// It drops a row only if two facts say that it is gone: a complete walk has not shown it, and the list itself counts as many rows as the walk
// has shown. PROSPECTKIT_BASE_URL and PROSPECTKIT_TOKEN name the service.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"log"

	_ "modernc.org/sqlite" // the driver

	"example.com/prospectkit"
)

// Each row has the number of the walk that has shown it last. Place is where the walk in progress is.
const schema = `CREATE TABLE IF NOT EXISTS entry (id TEXT PRIMARY KEY, body TEXT, walk INT);
CREATE TABLE IF NOT EXISTS place (walk INT, page TEXT); INSERT INTO place SELECT 1, '' WHERE NOT EXISTS (SELECT * FROM place)`

func main() {
	id, file := flag.String("list", "", "the `id` of the list"), flag.String("db", "copy.db", "the `file` of its copy")
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
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return err
	}
	var page string
	if err := db.QueryRowContext(ctx, `SELECT page FROM place`).Scan(&page); err != nil {
		return err
	}
	var progress prospectkit.Progress
	for p, err := range lists.RowsPages(ctx, listID, prospectkit.RowsParams{}, prospectkit.ResumeFrom(page), prospectkit.WithProgress(&progress)) {
		if err == nil {
			err = store(ctx, db, p.Items, `UPDATE place SET page = ?`, progress.Checkpoint())
		}
		if err != nil {
			return err
		}
	}
	list, err := lists.Get(ctx, listID)
	if err != nil {
		return err
	}
	count, shown, walk := list.ContactsCount, 0, progress.Report()
	if list.Kind == prospectkit.CompanyList {
		count = list.CompaniesCount
	}
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM entry WHERE walk = (SELECT walk FROM place)`).Scan(&shown); err != nil {
		return err
	}
	gone := shown == count && walk.Missing == 0 && !walk.Incomplete
	if !gone {
		log.Printf("no row is dropped: the list counts %d, the walk has shown %d, and %d are missing by its totals", count, shown, walk.Missing)
	}
	return store(ctx, db, nil, `DELETE FROM entry WHERE ? AND walk < (SELECT walk FROM place); UPDATE place SET page = '', walk = walk + 1`, gone)
}

// store stores rows and the place after them, or neither.
func store(ctx context.Context, db *sql.DB, rows []prospectkit.Row, place string, value any) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, place, value)
	for i := 0; err == nil && i < len(rows); i++ {
		_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO entry SELECT ?, ?, walk FROM place`, rows[i].ID(), string(rows[i].Raw()))
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
