package prospectpg

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/tests/pgserver"
	"example.com/prospectkit/journal"
)

// standby is a copy of a server as it is now. It shows an hour late what the primary does from now on.
func (p *server) standby(t *testing.T) *server {
	t.Helper()
	copied, err := pgserver.New(append(hard, "recovery_min_apply_delay=1h", "default_transaction_isolation=read committed")...)
	require.NoError(t, err)
	s := &server{copied}
	t.Cleanup(s.remove)
	require.NoError(t, s.Run("pg_basebackup", "-h", p.Dir, "-U", "fleet", "-D", s.Data(), "-R", "-X", "stream", "-c", "fast", "--no-sync"))
	require.NoError(t, s.Start(t.Context()))
	return s
}

// What a standby shows is late, and decides nothing: each part refuses, and the text and the error tell why.
func TestStandby_IsLate(t *testing.T) {
	t.Parallel()
	primary := startPostgres(t)
	primary.prepare(t, "acme")
	late := primary.standby(t)
	first := primary.store(t, "acme")
	require.NoError(t, first.Sending(t.Context(), ticket("a")))
	require.NoError(t, first.SaveCheckpoint(t.Context(), first.pool, "job", "x"))

	store := late.store(t, "acme")
	for name, do := range map[string]func() error{
		"checkpoint":      func() error { _, err := store.Checkpoint(t.Context(), "job"); return err },
		"save checkpoint": func() error { return store.SaveCheckpoint(t.Context(), store.pool, "job", "y") },
		"calls":           func() error { return last(store.Calls(t.Context(), "lists.create")) },
		"entries":         func() error { return last(store.Entries(t.Context(), "")) },
		"in doubt":        func() error { return last(store.InDoubt(t.Context())) },
		"migrate":         func() error { return Migrate(t.Context(), store.pool) },
		"add workspace":   func() error { return AddWorkspace(t.Context(), store.pool, "other") },
		"sending":         func() error { return store.Sending(t.Context(), ticket("b")) },
		"ended":           func() error { return store.Ended(t.Context(), "a", journal.End{Outcome: journal.Applied}) },
		"settle": func() error {
			return store.Settle(t.Context(), "a", journal.Settlement{Outcome: journal.Applied, By: "maria", Because: "x"})
		},
		"spend": func() error {
			return store.Spend("cap").Update(t.Context(), func([]byte) ([]byte, error) { panic("it reads") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for a promotion
			requireRefused(t, do())
		})
	}
}

// last is the error at the end of a loop, all of which it reads.
func last[T any](seq iter.Seq2[T, error]) (err error) {
	for _, err = range seq {
	}
	return err
}

func requireRefused(t *testing.T, err error) {
	t.Helper()
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, []string{"25006", "0A000"}, refused.Code, err)
	require.ErrorContains(t, err, "connect to the primary")
}

// A list of hosts connects to the first that accepts, which may be the standby.
func TestStandby_ListOfHosts(t *testing.T) {
	primary := startPostgres(t)
	primary.prepare(t, "acme")
	late := primary.standby(t)
	require.NoError(t, primary.store(t, "acme").SaveCheckpoint(t.Context(), primary.pool(t, ""), "job", "x"))
	for attrs, refuses := range map[string]bool{"any": true, "prefer-standby": true, "primary": false, "read-write": false} {
		pool, err := pgxpool.New(t.Context(), fmt.Sprintf("postgres://fleet@/postgres?host=%s,%s&target_session_attrs=%s", url.QueryEscape(late.Dir), url.QueryEscape(primary.Dir), attrs))
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		store, err := New(pool, Config{Workspace: "acme"})
		require.NoError(t, err)
		checkpoint, err := store.Checkpoint(t.Context(), "job")
		if refuses {
			requireRefused(t, err)
			continue
		}
		require.NoError(t, err, attrs)
		require.Equal(t, "x", checkpoint)
	}
}

// Where a role is read-only by default, each transaction says that it is not.
func TestReadOnlyByDefault(t *testing.T) {
	server, name := workspace(t)
	store, err := New(server.pool(t, "&default_transaction_read_only=on"), Config{Workspace: name})
	require.NoError(t, err)
	require.NoError(t, store.Sending(t.Context(), ticket("a")))
	require.Len(t, entriesOf(t, store, ""), 1)
	checkpoint, err := store.Checkpoint(t.Context(), "job")
	require.NoError(t, err)
	require.Empty(t, checkpoint)
}

// No statement decides by rows that another server than that of the writes may have sent.
func TestPrimary_EveryRead(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	var statements []string
	config := store.pool.Config()
	config.ConnConfig.Tracer = &tracer{&statements}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	store.pool = pool
	usesAll(t, store)
	require.NotEmpty(t, statements)
	for _, sql := range statements {
		if strings.HasPrefix(sql, "SELECT") {
			require.Contains(t, sql, "FOR UPDATE")
		}
	}
}

type tracer struct{ statements *[]string }

func (r *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	*r.statements = append(*r.statements, q.SQL)
	return ctx
}

func (r *tracer) TraceBatchQuery(_ context.Context, _ *pgx.Conn, q pgx.TraceBatchQueryData) {
	*r.statements = append(*r.statements, q.SQL)
}

func (r *tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (r *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (r *tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// The reason of the database is told, though what ended the wait was the clock.
func TestPersist_TellsTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		attempts := 0
		err := persist(ctx, func() error {
			if attempts++; attempts < 3 {
				return &pgconn.PgError{Severity: "FATAL", Code: "57P03", Message: "the database system is starting up"}
			}
			<-ctx.Done()
			return ctx.Err()
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var cause *pgconn.PgError
		require.ErrorAs(t, err, &cause)
		require.Equal(t, "57P03", cause.Code)
		require.ErrorContains(t, err, "starting up")
	})
}
