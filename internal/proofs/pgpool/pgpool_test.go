// Package pgpool proves that what contrib/postgres decides by is what the primary says, behind Pgpool-II with a standby that is late.
package pgpool

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	prospectpg "example.com/prospectkit/contrib/postgres"
	"example.com/prospectkit/internal/tests/pgserver"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// configurations are those that change where Pgpool-II sends a read.
var configurations = map[string][]string{
	"default": nil,
	// It then takes no other function for one that writes, however volatile.
	"write_function_list":          {"write_function_list = 'nextval,setval'"},
	"read_only_function_list":      {"read_only_function_list = '.*'"},
	"dml_adaptive":                 {"disable_load_balance_on_write = 'dml_adaptive'"},
	"statement_level_load_balance": {"statement_level_load_balance = on"},
	"memory_cache_enabled":         {"memory_cache_enabled = on", "memqcache_method = 'shmem'"},
}

// Three workers look for what another one did. No statement but those of a transaction's frame reaches the standby, which shows nothing
// for an hour. A plain SELECT does.
func TestPgpool(t *testing.T) {
	for name, settings := range configurations {
		t.Run(name, func(t *testing.T) {
			primary := startPrimary(t)
			require.NoError(t, prospectpg.Migrate(t.Context(), connect(t, primary.DSN(""))))
			standby := startStandby(t, primary, time.Hour)
			address := startPgpool(t, primary, standby, settings...)
			fleet(t, address)
			require.Empty(t, asked(t, standby))
			var late int
			require.NoError(t, connect(t, address).QueryRow(t.Context(), "SELECT count(*) FROM prospectkit.ticket").Scan(&late))
			require.Zero(t, late, "this SELECT is balanced")
		})
	}
}

// asked are the lines of the log of a server that tell of a statement which reads or writes something of ours.
func asked(t *testing.T, p *pgserver.Server) (found []string) {
	t.Helper()
	ours := regexp.MustCompile(`(statement|execute).*(prospectkit\.|set_config|advisory)`)
	text, err := os.ReadFile(p.Log())
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if ours.MatchString(line) {
			found = append(found, line)
		}
	}
	return found
}

func fleet(t *testing.T, address string) {
	t.Helper()
	require.NoError(t, prospectpg.AddWorkspace(t.Context(), connect(t, address), "acme"))
	sb := sandbox.New(nil, sandbox.AllowRemote(), sandbox.NoLimits())
	var creations atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			creations.Add(1)
		}
		sb.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(service.Close)
	worker := func() (*prospectkit.Client, *prospectpg.Store) {
		store, err := prospectpg.New(connect(t, address), prospectpg.Config{Workspace: "acme"})
		require.NoError(t, err)
		client, err := prospectkit.New(service.URL+"/api/v1", sb.Token(), prospectkit.WithJournal(store))
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		return client, store
	}
	first, store := worker()
	_, err := first.Lists.Create(t.Context(), prospectkit.NewList{Name: "Monday"}, prospectkit.Once("monday"))
	require.NoError(t, err)
	require.NoError(t, store.SaveCheckpoint(t.Context(), connect(t, address), "job", "row 7"))
	require.NoError(t, store.Sending(t.Context(), journal.Ticket{ID: "doubtful", Op: "lists.create", FirstSent: time.Now()}))
	require.NoError(t, store.Ended(t.Context(), "doubtful", journal.End{Outcome: journal.Unknown}))
	require.NoError(t, store.Settle(t.Context(), "doubtful", journal.Settlement{Outcome: journal.NotApplied, By: "maria", Because: "it is not there"}))
	prices := spend.Prices{"search.prospects": {PerResult: 1}}
	require.NoError(t, spend.NewSharedGuard(10, prices, store.Spend("cap")).Reserve(t.Context(), spend.Call{ID: "a", Op: "search.prospects", Results: 6}))

	for range 3 {
		client, store := worker()
		_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Monday"}, prospectkit.Once("monday"))
		require.ErrorIs(t, err, prospectkit.ErrAlreadyDone)
		saved, err := store.Checkpoint(t.Context(), "job")
		require.NoError(t, err)
		require.Equal(t, "row 7", saved)
		require.ErrorIs(t, store.Ended(t.Context(), "doubtful", journal.End{Outcome: journal.Applied}), prospectpg.ErrSettled)
		for ticket, err := range store.InDoubt(t.Context()) {
			require.Fail(t, "all is settled", "%v %v", ticket, err)
		}
		require.ErrorIs(t, spend.NewSharedGuard(10, prices, store.Spend("cap")).Reserve(t.Context(), spend.Call{ID: "b", Op: "search.prospects", Results: 6}), spend.ErrCap)
	}
	require.EqualValues(t, 1, creations.Load(), "of four workers, one sends")
}

// Processes that start at once migrate once, though the standby shows no table.
func TestPgpool_Migrate(t *testing.T) {
	for name, settings := range configurations {
		t.Run(name, func(t *testing.T) {
			primary := startPrimary(t)
			address := startPgpool(t, primary, startStandby(t, primary, time.Hour), settings...)
			for range 2 {
				var all sync.WaitGroup
				failures := make([]error, 8)
				for i := range failures {
					pool := connect(t, address)
					all.Go(func() { failures[i] = prospectpg.Migrate(t.Context(), pool) })
				}
				all.Wait()
				for _, err := range failures {
					require.NoError(t, err)
				}
			}
			fleet(t, address)
		})
	}
}

// What Pgpool-II says when the primary is gone is in the error, not the clock alone.
func TestPgpool_PrimaryIsGone(t *testing.T) {
	primary := startPrimary(t)
	require.NoError(t, prospectpg.Migrate(t.Context(), connect(t, primary.DSN(""))))
	require.NoError(t, prospectpg.AddWorkspace(t.Context(), connect(t, primary.DSN("")), "acme"))
	address := startPgpool(t, primary, startStandby(t, primary, time.Hour), "search_primary_node_timeout = 1") // else it holds connections back for five minutes
	store, err := prospectpg.New(connect(t, address), prospectpg.Config{Workspace: "acme"})
	require.NoError(t, err)
	require.NoError(t, store.Sending(t.Context(), journal.Ticket{ID: "a", Op: "lists.create"}))
	require.NoError(t, primary.Signal(syscall.SIGQUIT))
	var refused *pgconn.PgError
	require.ErrorAs(t, store.Sending(t.Context(), journal.Ticket{ID: "b", Op: "lists.create"}), &refused)
	require.True(t, refused.Severity == "FATAL" || refused.Code == "25006", "%s: %s", refused.Code, refused.Message) // of Pgpool-II, or of the standby, which refuses
	_, err = store.Checkpoint(t.Context(), "job")
	require.ErrorAs(t, err, &refused)
}
