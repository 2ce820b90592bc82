package prospectpg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/spend"
)

// Exchange decides on an ask in one transaction, which locks the row of the surface.
func (s *Store) Exchange(ctx context.Context, surface ratelimit.Surface, ask *ratelimit.Ask) (ratelimit.Reply, error) {
	var reply ratelimit.Reply
	conn, was, err := s.read(ctx, surface)
	if err != nil {
		return reply, explain(err)
	}
	defer conn.Release()
	next, decided := ask.Decide(was.state, time.UnixMicro(was.micros), was.processes)
	b := &pgx.Batch{}
	b.Queue("UPDATE prospectkit.budget SET state = $3 WHERE workspace = $1 AND surface = $2", s.workspace, string(surface), next)
	if !was.seen {
		b.Queue(`INSERT INTO prospectkit.process (workspace, process, seen) VALUES ($1, $2, clock_timestamp())
			ON CONFLICT (workspace, process) DO UPDATE SET seen = excluded.seen`, s.workspace, s.owner)
		// None that is back waits for this one: it may hold what this one would wait for.
		b.Queue(`DELETE FROM prospectkit.process WHERE (workspace, process) IN (SELECT workspace, process FROM prospectkit.process
			WHERE workspace = $1 AND seen < now() - interval '1 hour' FOR UPDATE SKIP LOCKED)`, s.workspace)
	}
	b.Queue(commit)
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return reply, explain(err)
	}
	return decided, nil
}

// budgetRow is what an exchange reads.
type budgetRow struct {
	state     []byte
	micros    int64 // the time of the database, after the wait for the lock
	processes int   // that asked within ten minutes, with this one
	seen      bool  // this process is noted, not long ago
}

// read locks the row.
func (s *Store) read(ctx context.Context, surface ratelimit.Surface) (conn *pgxpool.Conn, row budgetRow, err error) {
	conn, err = s.lock(ctx, func(b *pgx.Batch) {
		b.Queue("INSERT INTO prospectkit.budget (workspace, surface) VALUES ($1, $2) ON CONFLICT DO NOTHING", s.workspace, string(surface))
		b.Queue(`SELECT count(*) + CASE WHEN bool_or(process = $2) THEN 0 ELSE 1 END,
				coalesce(bool_or(process = $2 AND seen > now() - interval '1 minute'), false)
			FROM prospectkit.process WHERE workspace = $1 AND seen > now() - interval '10 minutes'`, s.workspace, s.owner).
			QueryRow(func(r pgx.Row) error { return r.Scan(&row.processes, &row.seen) })
		b.Queue(`WITH locked AS (SELECT state FROM prospectkit.budget WHERE workspace = $1 AND surface = $2 FOR UPDATE)
			SELECT state, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM locked`, s.workspace, string(surface)).
			QueryRow(func(r pgx.Row) error { return r.Scan(&row.state, &row.micros) })
	})
	return conn, row, err
}

// Spend returns the state of spend guards with this name: one for each cap, such as the month for a cap per month. All guards of one
// name count the same credits.
func (s *Store) Spend(name string) spend.Store { return &spendState{s, name} }

type spendState struct {
	store *Store
	name  string
}

// Update changes the state in a transaction that locks its row.
func (s *spendState) Update(ctx context.Context, change func([]byte) ([]byte, error)) error {
	if !storable(s.name) {
		return errors.New("prospectpg: the state of a spend guard needs a name, in UTF-8 and without NUL")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var conn *pgxpool.Conn
	var state []byte
	err := persist(ctx, func() (err error) {
		conn, err = s.store.lock(ctx, func(b *pgx.Batch) {
			b.Queue(durable)
			b.Queue("INSERT INTO prospectkit.spend (workspace, name) VALUES ($1, $2) ON CONFLICT DO NOTHING", s.store.workspace, s.name)
			b.Queue("SELECT state FROM prospectkit.spend WHERE workspace = $1 AND name = $2 FOR UPDATE", s.store.workspace, s.name).
				QueryRow(func(r pgx.Row) error { return r.Scan(&state) })
		})
		return err
	})
	if err != nil {
		return err
	}
	defer conn.Release()
	next, err := change(state)
	if err != nil {
		if _, failed := conn.Exec(ctx, rollback); failed != nil {
			_ = conn.Conn().Close(ctx)
		}
		return err
	}
	b := &pgx.Batch{}
	b.Queue("UPDATE prospectkit.spend SET state = $3 WHERE workspace = $1 AND name = $2", s.store.workspace, s.name, next)
	b.Queue(commit)
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("prospectpg: the state may be stored or not: %w", err)
	}
	return nil
}
