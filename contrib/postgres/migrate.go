package prospectpg

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/prospectkit/journal"
)

// tables makes the tables, with what is in them.
//
//go:embed migrations/001.sql
var tables string

// version is that of the tables.
const version = 3

// migrationLock is the advisory lock of [Migrate]; any number will do.
const migrationLock = 5_717_011_260_214_517

// Migrate creates the tables of this package in the schema "prospectkit", or brings them up to date, in one
// transaction. Call it when a program starts: processes that do so at once wait for each other.
//
// Where everything is up to date, it only reads, so the role needs no right to create anything. Tables of a later version of this
// package stay as they are, and work with this one. Tickets of an earlier version are an error, and stay as they are, too: the error says
// how to settle them.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	options := pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
	return explain(pgx.BeginTxFunc(ctx, pool, options, func(tx pgx.Tx) error {
		// Pgpool-II sends no DO to a standby.
		if _, err := tx.Exec(ctx, fmt.Sprintf("DO $$ BEGIN PERFORM pg_advisory_xact_lock(%d), %s; END $$", migrationLock, raised)); err != nil {
			return err
		}
		done, err := migrated(ctx, tx)
		if err != nil || done >= version {
			return err
		}
		for _, sql := range []string{preparation, tables, fmt.Sprintf("INSERT INTO prospectkit.migration (version) VALUES (%d)", version)} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		return nil
	}))
}

// AddWorkspace adds a workspace to the tables of [Migrate], or does nothing if it is there. A [Store] stores nothing for any other name, and
// what would be sent is refused: otherwise a mistyped name would be an empty journal, by which [prospectkit.Once] and Approve repeat what was
// done. So a person adds it, once; no program does with the name that it was configured with.
func AddWorkspace(ctx context.Context, pool *pgxpool.Pool, name string) error {
	if err := journal.CheckWorkspace(name); err != nil {
		return fmt.Errorf("prospectpg: %w", err)
	}
	return (&Store{pool: pool}).persist(ctx, func(b *pgx.Batch) {
		b.Queue("INSERT INTO prospectkit.workspace (name) VALUES ($1) ON CONFLICT DO NOTHING", name)
	})
}

// migrated is the version of the tables, as the primary has it.
func migrated(ctx context.Context, tx pgx.Tx) (done int, err error) {
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `WITH on_primary AS (UPDATE prospectkit.migration SET version = version WHERE false)
			SELECT coalesce(max(version), 0) FROM prospectkit.migration`).Scan(&done)
	})
	if missing, ok := errors.AsType[*pgconn.PgError](err); ok && (missing.Code == "42P01" || missing.Code == "3F000") {
		return 0, nil
	}
	return done, err
}

// preparation makes the schema, if no administrator has.
const preparation = `DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'prospectkit') THEN CREATE SCHEMA prospectkit; END IF;
END $$;
CREATE TABLE IF NOT EXISTS prospectkit.migration (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`
