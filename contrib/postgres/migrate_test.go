package prospectpg

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/ratelimit"
)

// database makes an empty one, and returns the options of a connection string that lead there.
func (p *server) database(t *testing.T, name string) string {
	t.Helper()
	pool := p.pool(t, "")
	_, err := pool.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	return "&dbname=" + name
}

// Processes that start at once migrate once. Later ones only read.
func TestMigrate(t *testing.T) {
	server, _ := workspace(t)
	here := server.database(t, "migrated")
	var all sync.WaitGroup
	failures := make([]error, 8)
	for i := range failures {
		pool := server.pool(t, here)
		all.Go(func() { failures[i] = Migrate(t.Context(), pool) })
	}
	all.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	pool := server.pool(t, here)
	for _, sql := range []string{
		"INSERT INTO prospectkit.migration (version) VALUES (99)", // of a later version of the package
		"CREATE ROLE worker LOGIN",
		"GRANT USAGE ON SCHEMA prospectkit TO worker",
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA prospectkit TO worker",
		"ALTER ROLE worker SET search_path = nowhere",
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	worker := server.pool(t, here+"&user=worker")
	require.NoError(t, Migrate(t.Context(), worker), "it creates nothing")
	store, err := New(worker, Config{Workspace: "acme"})
	require.NoError(t, err)
	usesAll(t, store)
}

// Tables of an earlier version work as before, except for what they have no column for. Migrate brings them up to date, with what
// they hold.
func TestMigrate_EarlierTables(t *testing.T) {
	server, _ := workspace(t)
	pool := server.pool(t, server.database(t, "earlier"))
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return step(t.Context(), tx, "migrations/001.sql", 1) }))
	store, err := New(pool, Config{Workspace: "acme"})
	require.NoError(t, err)
	require.NoError(t, store.Sending(t.Context(), ticket("a")))
	require.NoError(t, store.Ended(t.Context(), "a", journal.Unknown))
	require.Equal(t, []string{"a"}, inDoubt(t, store))
	found := journal.Settlement{Outcome: journal.Applied, By: "maria\x00", Because: "it is in the CRM"}
	require.ErrorContains(t, store.Settle(t.Context(), "a", found), "earlier version, call Migrate")

	require.NoError(t, Migrate(t.Context(), pool))
	require.NoError(t, store.Settle(t.Context(), "a", found))
	entries := entriesOf(t, store, "")
	require.Len(t, entries, 1)
	require.Equal(t, []any{journal.Applied, "maria\uFFFD", "it is in the CRM"}, []any{entries[0].Outcome, entries[0].By, entries[0].Because})
	usesAll(t, store)
}

// An administrator may have made the schema for a role that cannot.
func TestMigrate_SchemaIsThere(t *testing.T) {
	server, _ := workspace(t)
	here := server.database(t, "prepared")
	for _, sql := range []string{"CREATE ROLE owner LOGIN", "CREATE SCHEMA prospectkit AUTHORIZATION owner"} {
		_, err := server.pool(t, here).Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	require.NoError(t, Migrate(t.Context(), server.pool(t, here+"&user=owner")))
}

// Without the tables, every part names the mistake, and the budget goes on alone.
func TestMigrate_Forgotten(t *testing.T) {
	server, _ := workspace(t)
	pool := server.pool(t, server.database(t, "forgotten"))
	store, err := New(pool, Config{Workspace: "acme"})
	require.NoError(t, err)
	_, failed := store.Exchange(t.Context(), ratelimit.SurfaceLists, ratelimit.NewAsk(&budget.Ask{}))
	for _, err := range []error{
		failed,
		store.Sending(t.Context(), ticket("a")),
		store.Spend("cap").Update(t.Context(), func([]byte) ([]byte, error) { return nil, nil }),
		store.SaveCheckpoint(t.Context(), pool, "job", "x"),
	} {
		require.ErrorContains(t, err, "call Migrate")
	}
	_, err = pool.Exec(t.Context(), "CREATE SCHEMA prospectkit; CREATE TABLE prospectkit.budget (other int)")
	require.NoError(t, err)
	require.ErrorContains(t, Migrate(t.Context(), pool), "001.sql")
	var there bool
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT to_regclass('prospectkit.journal') IS NOT NULL").Scan(&there))
	require.False(t, there, "all or nothing")
}

// usesAll makes every kind of statement.
func usesAll(t *testing.T, store *Store) {
	t.Helper()
	before := len(entriesOf(t, store, ""))
	for i := range 3 {
		require.Equal(t, 1, exchange(t, store, &budget.Ask{}).Processes)
		id := fmt.Sprint("ticket ", i)
		require.NoError(t, store.Sending(t.Context(), ticket(id)))
		require.NoError(t, store.Ended(t.Context(), id, journal.Unknown))
		require.Equal(t, []string{id}, inDoubt(t, store))
		require.NoError(t, store.Ended(t.Context(), id, journal.Applied))
		require.Len(t, entriesOf(t, store, ""), before+i+1)
		require.ErrorIs(t, store.Settle(t.Context(), id, journal.Settlement{Outcome: journal.Applied, By: "maria", Because: "x"}), journal.ErrNotInDoubt)
		november := store.Spend("2026-11")
		require.NoError(t, november.Update(t.Context(), func(s []byte) ([]byte, error) { return append(s, 0, 'x'), nil }))
		require.Len(t, stateOf(t, november), 2*(i+1))
		require.NoError(t, store.SaveCheckpoint(t.Context(), store.pool, "job", id))
		saved, err := store.Checkpoint(t.Context(), "job")
		require.NoError(t, err)
		require.Equal(t, id, saved)
		require.NoError(t, store.SaveCheckpoint(t.Context(), store.pool, "job", ""))
		saved, err = store.Checkpoint(t.Context(), "job")
		require.NoError(t, err)
		require.Empty(t, saved)
	}
}
