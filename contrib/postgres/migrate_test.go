package prospectpg

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
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
	require.NoError(t, AddWorkspace(t.Context(), worker, "acme"))
	store, err := New(worker, Config{Workspace: "acme"})
	require.NoError(t, err)
	usesAll(t, store)
}

// A mistyped name is no empty journal: nothing is stored for it, so nothing is sent.
func TestAddWorkspace(t *testing.T) {
	server, name := workspace(t)
	pool := server.pool(t, "")
	mistyped := server.store(t, name+"e")
	refused := func() {
		for _, err := range []error{
			mistyped.Sending(t.Context(), ticket("a")),
			mistyped.Spend("cap").Update(t.Context(), func([]byte) ([]byte, error) { return []byte("x"), nil }),
			mistyped.SaveCheckpoint(t.Context(), pool, "job", "x"),
		} {
			require.ErrorContains(t, err, "there is no such workspace, a person adds a new one with AddWorkspace, once: ")
		}
	}
	refused()
	sb := sandbox.New(t)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(mistyped))
	require.NoError(t, err)
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"}, prospectkit.Once("job"))
	require.ErrorIs(t, err, prospectkit.RuleJournal)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.Empty(t, sb.Journal())
	require.Error(t, AddWorkspace(t.Context(), pool, ""))
	refused()
	for range 2 {
		require.NoError(t, AddWorkspace(t.Context(), pool, mistyped.Workspace()))
	}
	usesAll(t, mistyped)
}

// Tickets of an earlier version are never read as none, nor removed. Once they are settled and gone, what else the tables hold stays.
func TestMigrate_EarlierTables(t *testing.T) {
	server, _ := workspace(t)
	pool := server.pool(t, server.database(t, "earlier"))
	exec := func(sql string) {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	earlier, err := os.ReadFile("testdata/version2.sql")
	require.NoError(t, err)
	exec(preparation)
	exec(string(earlier))
	exec("INSERT INTO prospectkit.migration (version) VALUES (1), (2)")
	exec(`INSERT INTO prospectkit.journal (workspace, id, ticket, actor, first_sent, owner, leased_until) VALUES ('acme', 'a', '{"id":"a"}', '', now(), 'x', now())`)
	exec("INSERT INTO prospectkit.spend (workspace, name, state) VALUES ('acme', '2026-10', 'kept')")

	store, err := New(pool, Config{Workspace: "acme"})
	require.NoError(t, err)
	refused := []error{store.Sending(t.Context(), ticket("b"))}
	for _, err := range store.InDoubt(t.Context()) {
		refused = append(refused, err)
	}
	for _, err := range store.Calls(t.Context(), "lists.create") {
		refused = append(refused, err)
	}
	require.Len(t, refused, 3)
	for _, err := range refused {
		require.ErrorContains(t, err, "of an earlier version, call Migrate")
	}
	for range 2 {
		require.ErrorContains(t, Migrate(t.Context(), pool), "has tickets of an earlier version: settle those in doubt with that version, and keep a copy. Then delete its rows")
	}
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM prospectkit.journal").Scan(&left))
	require.Equal(t, 1, left)

	exec("DELETE FROM prospectkit.journal")
	require.NoError(t, Migrate(t.Context(), pool), "and the workspace of the cap is known")
	usesAll(t, store)
	var state string
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT convert_from(state, 'UTF8') FROM prospectkit.spend WHERE workspace = 'acme' AND name = '2026-10'").Scan(&state))
	require.Equal(t, "kept", state, "a cap still holds")
	_, err = pool.Exec(t.Context(), "SELECT FROM prospectkit.journal")
	require.ErrorContains(t, err, "does not exist", "a process of the earlier version writes nothing that this one does not see")
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

// Without the tables, every part names the mistake.
func TestMigrate_Forgotten(t *testing.T) {
	server, _ := workspace(t)
	pool := server.pool(t, server.database(t, "forgotten"))
	store, err := New(pool, Config{Workspace: "acme"})
	require.NoError(t, err)
	for _, err := range []error{
		store.Sending(t.Context(), ticket("a")),
		store.Spend("cap").Update(t.Context(), func([]byte) ([]byte, error) { return nil, nil }),
		store.SaveCheckpoint(t.Context(), pool, "job", "x"),
	} {
		require.ErrorContains(t, err, "call Migrate")
	}
	_, err = pool.Exec(t.Context(), "CREATE SCHEMA prospectkit; CREATE TABLE prospectkit.ticket (other int)")
	require.NoError(t, err)
	require.ErrorContains(t, Migrate(t.Context(), pool), "already exists")
	var there bool
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT to_regclass('prospectkit.spend') IS NOT NULL").Scan(&there))
	require.False(t, there, "all or nothing")
}

// usesAll makes every kind of statement.
func usesAll(t *testing.T, store *Store) {
	t.Helper()
	before := len(entriesOf(t, store, ""))
	for i := range 3 {
		id := fmt.Sprint("ticket ", i)
		require.NoError(t, store.Sending(t.Context(), ticket(id)))
		require.NoError(t, store.Ended(t.Context(), id, journal.End{Outcome: journal.Unknown}))
		require.Equal(t, []string{id}, inDoubt(t, store))
		require.NoError(t, store.Ended(t.Context(), id, journal.End{Outcome: journal.Applied}))
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
