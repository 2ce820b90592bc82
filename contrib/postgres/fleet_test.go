package prospectpg

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/fleettest"
	"example.com/prospectkit/ratelimit"
)

// openStore opens the store of a process of the fleet, by the name of its workspace and its database.
func openStore(address string) (ratelimit.Store, func(), error) {
	name, dsn, _ := strings.Cut(address, " at ")
	pool, err := pgxpool.New(context.Background(), dsn)
	if err != nil {
		return nil, nil, err
	}
	store, err := New(pool, Config{Workspace: name})
	return store, pool.Close, err
}

func TestFleetUsesTheQuotaAndEarnsNoRefusal(t *testing.T) {
	t.Parallel()
	server, name := workspace(t)
	fleettest.UsesTheQuota(t, fleettest.Store{Address: name + " at " + server.dsn("")})
}

// The database is killed, and starts again, with an empty budget.
func TestFleetOutlivesTheDatabase(t *testing.T) {
	t.Parallel()
	outlives(t, (*server).start)
}

// The database is killed, and a new one takes its place.
func TestFleetOutlivesTheDatabase_Empty(t *testing.T) {
	t.Parallel()
	outlives(t, func(p *server) error {
		return errors.Join(p.init(), p.start(), Migrate(t.Context(), p.pool(t, "")))
	})
}

func outlives(t *testing.T, restart func(*server) error) {
	t.Helper()
	database := startPostgres(t)
	require.NoError(t, Migrate(t.Context(), database.pool(t, "")))
	fleettest.OutlivesTheStore(t, fleettest.Store{
		Address: "fleet at " + database.dsn(""), Kill: database.kill, Start: func() error { return restart(database) },
	})
}
