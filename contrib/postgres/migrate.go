package prospectpg

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Migrations are the SQL files of the tables, in order of their names.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the advisory lock of [Migrate]; any number will do.
const migrationLock = 5_717_011_260_214_517

// Migrate creates the tables of this package in the schema "prospectkit", or brings them up to date, in one
// transaction. Call it when a program starts: processes that do so at once wait for each other.
//
// Where everything is up to date, it only reads, so the role needs no right to create anything. Tables of a later version of this
// package stay as they are, and work with this one.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	done, err := migrated(ctx, pool)
	if err != nil || done >= len(steps) {
		return explain(err)
	}
	options := pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}
	return explain(pgx.BeginTxFunc(ctx, pool, options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d); %s", migrationLock, durable)); err != nil {
			return err
		}
		done, err := migrated(ctx, tx) // meanwhile
		if err != nil {
			return err
		}
		for i := done; i < len(steps); i++ {
			if err := step(ctx, tx, steps[i], i+1); err != nil {
				return fmt.Errorf("%s: %w", steps[i], err)
			}
		}
		return nil
	}))
}

// migrated is how many steps were taken. The catalogues are read as tables: functions such as to_regclass may not know yet what
// another session has just made.
func migrated(ctx context.Context, db Querier) (done int, err error) {
	var there bool
	if err := db.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'prospectkit' AND tablename = 'migration')").Scan(&there); err != nil || !there {
		return 0, err
	}
	return done, db.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM prospectkit.migration").Scan(&done)
}

// preparation makes the schema, if no administrator has.
const preparation = `DO $$ BEGIN
	IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'prospectkit') THEN CREATE SCHEMA prospectkit; END IF;
END $$;
CREATE TABLE IF NOT EXISTS prospectkit.migration (version int PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`

func step(ctx context.Context, tx pgx.Tx, file string, version int) error {
	text, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	for _, sql := range []string{preparation, string(text), fmt.Sprintf("INSERT INTO prospectkit.migration (version) VALUES (%d)", version)} {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
