package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"example.com/prospectkit"
)

//go:embed schema.sql
var schema string

// store is the warehouse. Each of its methods is one transaction: a killed process leaves all of it, or nothing.
type store struct{ db *sql.DB }

// list is a list with the state of its sync.
type list struct {
	id, name string
	kind     prospectkit.ListKind
	size     int
	fullAt   time.Time
	mark     string // the checkpoint of its changes; empty if they cannot be followed

	walk       int64 // over all rows: the one in progress, or the last
	walking    bool  // one is in progress
	checkpoint string
	nextMark   string
}

// open opens a SQLite file, or the PostgreSQL database that dsn names.
func open(ctx context.Context, file, dsn string) (*store, error) {
	driver := "pgx"
	if dsn == "" {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		const pragmas = "_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=busy_timeout(10000)&_txlock=immediate"
		dsn = (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: pragmas}).String()
		driver = "sqlite"
	}
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	s := &store{db}
	err = s.tx(ctx, func(tx *sql.Tx) error {
		for _, statement := range []string{schema, view(driver == "pgx")} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the warehouse: %w", err), db.Close())
	}
	return s, nil
}

func (s *store) Close() error { return s.db.Close() }

func (s *store) tx(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// begin continues the unfinished run, or starts one. A warehouse holds the lists of one service only.
func (s *store) begin(ctx context.Context, baseURL string) (run int64, continued bool, err error) {
	err = s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `INSERT INTO source SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM source)`, baseURL); err != nil {
			return err
		}
		var source string
		if err := tx.QueryRowContext(ctx, `SELECT base_url FROM source`).Scan(&source); err != nil {
			return err
		}
		if source != baseURL {
			return fmt.Errorf("the warehouse holds the lists of %s, not of %s: take another one", source, baseURL)
		}
		const insert = `INSERT INTO runs (id, started_at) SELECT COALESCE(MAX(id), 0) + 1, $1 FROM runs
			HAVING NOT EXISTS (SELECT 1 FROM runs WHERE finished_at = '')`
		started, err := tx.ExecContext(ctx, insert, stamp(time.Now()))
		if err != nil {
			return err
		}
		n, err := started.RowsAffected()
		continued = n == 0
		return errors.Join(err, tx.QueryRowContext(ctx, `SELECT MAX(id) FROM runs`).Scan(&run))
	})
	return run, continued, err
}

// finish ends a run.
func (s *store) finish(ctx context.Context, run int64) error {
	_, err := s.db.ExecContext(ctx, `UPDATE runs SET finished_at = $1 WHERE id = $2`, stamp(time.Now()), run)
	return err
}

const upsertList = `INSERT INTO lists (id, name, kind, folder_id, created_at, size) VALUES ($1, $2, $3, $4, $5, $6)
	ON CONFLICT (id) DO UPDATE SET name = excluded.name, kind = excluded.kind, folder_id = excluded.folder_id,
		created_at = excluded.created_at, size = excluded.size, gone_run = NULL`

// saveLists stores a listing. If it is complete, lists that are not in it are gone, and so are their rows.
func (s *store) saveLists(ctx context.Context, run int64, found []prospectkit.List, complete bool) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		if complete {
			if _, err := tx.ExecContext(ctx, `UPDATE lists SET gone_run = $1 WHERE gone_run IS NULL`, run); err != nil {
				return err
			}
		}
		for i := range found {
			l := &found[i]
			size := l.ContactsCount
			if l.Kind == prospectkit.CompanyList {
				size = l.CompaniesCount
			}
			_, err := tx.ExecContext(ctx, upsertList, storable(l.ID), storable(l.Name), storable(string(l.Kind)), storable(l.FolderID), stamp(l.CreatedAt), size)
			if err != nil {
				return err
			}
		}
		return dropRowsOfGone(ctx, tx, run)
	})
}

// loseList marks a list and its rows as gone.
func (s *store) loseList(ctx context.Context, run int64, l *list) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE lists SET gone_run = $1 WHERE id = $2`, run, l.id); err != nil {
			return err
		}
		return dropRowsOfGone(ctx, tx, run)
	})
}

func dropRowsOfGone(ctx context.Context, tx *sql.Tx, run int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE list_rows SET gone_run = $1
		WHERE gone_run IS NULL AND list_id IN (SELECT id FROM lists WHERE gone_run IS NOT NULL)`, run)
	return err
}

// pending returns the living lists whose rows a run has not finished yet, newest first.
func (s *store) pending(ctx context.Context, run int64) ([]*list, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id, name, kind, size, full_at, mark, walk, mode <> '', checkpoint, next_mark
		FROM lists WHERE gone_run IS NULL AND synced_run < $1 ORDER BY created_at DESC, id`, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var lists []*list
	for rows.Next() {
		l := new(list)
		var fullAt string
		err := rows.Scan(&l.id, &l.name, &l.kind, &l.size, &fullAt, &l.mark, &l.walk, &l.walking, &l.checkpoint, &l.nextMark)
		if err != nil {
			return nil, err
		}
		l.fullAt = instant(fullAt)
		lists = append(lists, l)
	}
	return lists, rows.Err()
}

// startWalk begins a walk over the rows of a list, in place of the current one.
func (s *store) startWalk(ctx context.Context, l *list) error {
	return s.db.QueryRowContext(ctx, `UPDATE lists SET walk = walk + 1, mode = 'all', checkpoint = '', next_mark = $1 WHERE id = $2
		RETURNING walk`, l.nextMark, l.id).Scan(&l.walk)
}

const upsertRow = `INSERT INTO list_rows (list_id, id, body, walk, first_run, changed_run) VALUES ($1, $2, $3, $4, $5, $5)
	ON CONFLICT (list_id, id) DO UPDATE SET body = excluded.body, walk = excluded.walk, gone_run = NULL,
		changed_run = CASE WHEN list_rows.body = excluded.body AND list_rows.gone_run IS NULL
			THEN list_rows.changed_run ELSE excluded.changed_run END`

var errOtherSync = errors.New("another process syncs the same list: wait for it to end")

// saveRows stores rows and, in the same transaction, the place after them: the checkpoint of the walk in progress, or the mark.
func (s *store) saveRows(ctx context.Context, run int64, l *list, found []prospectkit.Row, place string) error {
	before, move := &l.mark, `UPDATE lists SET mark = $1 WHERE id = $2 AND walk = $3 AND mode = '' AND mark = $4`
	if l.walking {
		before, move = &l.checkpoint, `UPDATE lists SET checkpoint = $1 WHERE id = $2 AND walk = $3 AND mode <> '' AND checkpoint = $4`
	}
	err := s.tx(ctx, func(tx *sql.Tx) error {
		moved, err := tx.ExecContext(ctx, move, place, l.id, l.walk, *before)
		if err != nil {
			return err
		}
		if n, err := moved.RowsAffected(); err != nil || n != 1 {
			return errors.Join(errOtherSync, err)
		}
		upsert, err := tx.PrepareContext(ctx, upsertRow)
		if err != nil {
			return err
		}
		defer upsert.Close()
		for i := range found {
			row := &found[i]
			if row.ID() == "" {
				return fmt.Errorf("list %s: a row has no id", l.id)
			}
			body := storableJSON(storable(string(row.Raw())))
			if _, err := upsert.ExecContext(ctx, l.id, storable(row.ID()), body, l.walk, run); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		*before = place
	}
	return err
}

// count returns how many rows of a list exist, and how many of them the current walk has seen.
func (s *store) count(ctx context.Context, l *list) (living, seen int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT COUNT(*), COUNT(CASE WHEN walk = $1 THEN 1 END)
		FROM list_rows WHERE list_id = $2 AND gone_run IS NULL`, l.walk, l.id).Scan(&living, &seen)
	return living, seen, err
}

// endSync finishes a list for this run.
func (s *store) endSync(ctx context.Context, run int64, l *list) error {
	_, err := s.db.ExecContext(ctx, `UPDATE lists SET synced_run = $1 WHERE id = $2`, run, l.id)
	return err
}

// endWalk finishes a list after a walk over all rows. Rows that a settled one did not see are gone. After one that did not settle, the
// next run reads all rows again.
func (s *store) endWalk(ctx context.Context, run int64, l *list, settled bool) error {
	l.fullAt = time.Now()
	if !settled {
		l.nextMark, l.fullAt = "", time.Time{}
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		if settled {
			_, err := tx.ExecContext(ctx, `UPDATE list_rows SET gone_run = $1 WHERE list_id = $2 AND gone_run IS NULL AND walk < $3`,
				run, l.id, l.walk)
			if err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `UPDATE lists SET mode = '', checkpoint = '', next_mark = '', mark = $1, full_at = $2, synced_run = $3
			WHERE id = $4`, l.nextMark, stamp(l.fullAt), run, l.id)
		return err
	})
}

const isoMillis = "2006-01-02T15:04:05.000Z"

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(isoMillis)
}

// instant reads a stamp; none is the zero time.
func instant(s string) time.Time {
	t, _ := time.Parse(isoMillis, s)
	return t
}
