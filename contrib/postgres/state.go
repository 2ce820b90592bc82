package prospectpg

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/prospectkit/spend"
)

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
