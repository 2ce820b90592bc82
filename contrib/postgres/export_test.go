package prospectpg

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/prospectkit/internal/tests/pgserver"
)

// ServePostgres starts a PostgreSQL for an example.
func ServePostgres() (pool *pgxpool.Pool, stop func()) {
	p, err := pgserver.Start(context.Background(), hard...)
	if err != nil {
		panic(err)
	}
	pool, err = pgxpool.New(context.Background(), p.DSN(""))
	if err != nil {
		panic(err)
	}
	return pool, func() { pool.Close(); _ = p.Remove() }
}
