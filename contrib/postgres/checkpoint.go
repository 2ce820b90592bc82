package prospectpg

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Querier is a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// SaveCheckpoint stores the checkpoint of an iterator under a name, such as that of the job. Pass the transaction in which you
// store the record: after a crash, both are there or neither is. An empty checkpoint removes the name.
//
// The transaction becomes durable when it commits, even if its role has set synchronous_commit to off.
func (s *Store) SaveCheckpoint(ctx context.Context, db Querier, name, checkpoint string) error {
	if !storable(name) {
		return errors.New("prospectpg: a checkpoint needs a name, in UTF-8 and without NUL")
	}
	const takesEffect = raised + " <> ''"
	var err error
	if checkpoint == "" {
		_, err = db.Exec(ctx, "DELETE FROM prospectkit.checkpoint WHERE workspace = $1 AND name = $2 AND "+takesEffect, s.workspace, name)
	} else {
		_, err = db.Exec(ctx, `INSERT INTO prospectkit.checkpoint (workspace, name, checkpoint) SELECT $1::text, $2::text, $3::text
			WHERE `+takesEffect+` ON CONFLICT (workspace, name) DO UPDATE SET checkpoint = excluded.checkpoint, saved = now()`,
			s.workspace, name, checkpoint)
	}
	return explain(err)
}

// Checkpoint returns the checkpoint that was saved last under a name, for ResumeFrom of a [prospectkit.Progress]. It is empty,
// which starts at the beginning, if there is none.
func (s *Store) Checkpoint(ctx context.Context, name string) (checkpoint string, err error) {
	err = s.run(ctx, func(b *pgx.Batch) {
		b.Queue(primary+"SELECT checkpoint FROM prospectkit.checkpoint WHERE workspace = $1 AND name = $2", s.workspace, name).
			Query(each(&checkpoint))
	})
	return checkpoint, explain(err)
}
