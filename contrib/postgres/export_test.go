package prospectpg

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ServePostgres starts a PostgreSQL for an example.
func ServePostgres() (pool *pgxpool.Pool, stop func()) {
	p, err := newPostgres()
	if err != nil {
		panic(err)
	}
	pool, err = pgxpool.New(context.Background(), p.dsn(""))
	if err != nil {
		panic(err)
	}
	return pool, func() { pool.Close(); p.remove() }
}
