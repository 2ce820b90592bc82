// Package prospectpg keeps in PostgreSQL what the processes of a fleet share: the journal of the writes of a workspace, the state of
// its spend guards, and checkpoints.
//
//	pool, err := pgxpool.New(ctx, "postgres://localhost/app")
//	err = prospectpg.Migrate(ctx, pool)
//	err = prospectpg.AddWorkspace(ctx, pool, "acme") // once, by a person
//	store, err := prospectpg.New(pool, prospectpg.Config{Workspace: "acme"})
//	client, err := prospectkit.New(baseURL, token,
//		prospectkit.WithJournal(store),
//		prospectkit.WithSpendGuard(spend.NewSharedGuard(500, prices, store.Spend("2026-11"))))
//
// All times are those of the database, so the clocks of the hosts do not matter.
package prospectpg

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/prospectkit/journal"
)

// DefaultLease is [Config.Lease] unless that is set.
const DefaultLease = 5 * time.Minute

// minLease is far above the time that an exchange with the database takes.
const minLease = time.Second

// Config configures a [Store].
type Config struct {
	// Workspace names the workspace, which [AddWorkspace] has added. Processes with the same database
	// and the same name share everything, and see nothing of other names. Never put a token here.
	Workspace string

	// Lease is for how long a ticket of the journal belongs to one worker: from each attempt of its
	// call, and from the end of a call whose outcome is unknown. [Store.InDoubt] renews it while its
	// loop works on the ticket. After a crash, other workers find the ticket once the lease is over.
	//
	// It must be longer than an attempt of a call and the wait for the next attempt: see
	// [prospectkit.WithAttemptTimeout] and [prospectkit.WithMaxWait]. Otherwise others may resolve a call
	// in progress, or a person settle it. Default [DefaultLease], at least a second: too short for uploads, whose attempts may take
	// 10 minutes, unless [prospectkit.WithAttemptTimeout] bounds them.
	Lease time.Duration
}

// Store is a [journal.Journal] in PostgreSQL. [Store.Spend] has the state of spend guards.
// It is safe for concurrent use. It starts no goroutine that outlives a call.
type Store struct {
	pool      *pgxpool.Pool
	workspace string
	lease     time.Duration
	owner     string // this process

	mu    sync.Mutex
	calls map[string]bool        // by the ID of the ticket: in progress, or else its outcome is being noted
	late  map[string]journal.End // of calls that ended while the database was away
}

// New keeps the state of a workspace in a database that [Migrate] has prepared. It does not use the
// database yet. Close the pool yourself, after the last call.
//
// Each write and each call that spends uses one connection at a time. A call that waits for a connection counts as one that waits for
// the database.
func New(pool *pgxpool.Pool, c Config) (*Store, error) {
	switch {
	case pool == nil:
		return nil, errors.New("prospectpg: the pool is nil")
	case journal.CheckWorkspace(c.Workspace) != nil:
		return nil, fmt.Errorf("prospectpg: %w", journal.CheckWorkspace(c.Workspace))
	case c.Lease != 0 && c.Lease < minLease:
		return nil, fmt.Errorf("prospectpg: the lease of %s is shorter than %s", c.Lease, minLease)
	case c.Lease == 0:
		c.Lease = DefaultLease
	}
	host, _ := os.Hostname()
	return &Store{
		pool: pool, workspace: c.Workspace, lease: c.Lease,
		owner: fmt.Sprintf("%s/%d/%s", strings.ToValidUTF8(host, ""), os.Getpid(), rand.Text()),
		calls: map[string]bool{}, late: map[string]journal.End{},
	}, nil
}

// Workspace returns the name of the workspace.
func (s *Store) Workspace() string { return s.workspace }

// storable reports whether the database takes a name.
func storable(name string) bool {
	return name != "" && utf8.ValidString(name) && !strings.ContainsRune(name, 0)
}

// A transaction sends its statements at once, with its begin and its commit, unless a decision stands between them. It asks for its
// isolation, whatever the default of the role is: it locks rows instead of being serialized.
const (
	begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
	// A process that stops between two statements would hold its lock for ever.
	bounded  = "SET LOCAL idle_in_transaction_session_timeout = "
	readable = "SET LOCAL bytea_output = hex" // the only form of text that pgx reads
	// Where the role gives durability away, this takes it back.
	raised = `set_config('synchronous_commit',
		CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, true)`
	durable = primary + "SELECT " + raised
	// A standby may be late, so each statement by whose rows something is decided begins with this: a standby refuses it, and a pooler that
	// balances reads takes it for a write. Pgpool-II sends a SELECT that follows BEGIN READ WRITE to a standby.
	primary  = "WITH on_primary AS (UPDATE prospectkit.ticket SET owner = owner WHERE false) "
	commit   = "COMMIT"
	rollback = "ROLLBACK"
)

// Tests are more patient: their machine may be slow.
var (
	idle   = "2000"      // for how long a transaction may be idle, in milliseconds
	moment = time.Second // for how long the journal waits for the database with what can be done later
)

const (
	patience = 5 * time.Second       // the same for all else, and the spend guards
	again    = 50 * time.Millisecond // the pause before another attempt
)

// run sends the statements of a batch as one transaction, which is durable when it returns.
func (s *Store) run(ctx context.Context, fill func(*pgx.Batch)) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which discards it if the transaction has not ended
	b := &pgx.Batch{}
	b.Queue(begin)
	b.Queue(durable)
	fill(b)
	b.Queue(commit)
	return conn.SendBatch(ctx, b).Close()
}

// lock begins a transaction that locks a row. Nothing has been written if it fails. Whoever releases the connection before the transaction
// has ended discards it.
func (s *Store) lock(ctx context.Context, fill func(*pgx.Batch)) (*pgxpool.Conn, error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	b.Queue(begin)
	b.Queue(bounded + idle)
	b.Queue(readable)
	fill(b)
	if err := conn.SendBatch(ctx, b).Close(); err != nil {
		conn.Release()
		return nil, err
	}
	return conn, nil
}

// try runs it once, and does not wait for long.
func (s *Store) try(ctx context.Context, fill func(*pgx.Batch)) error {
	ctx, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	return explain(s.run(ctx, fill))
}

// persist runs what changes nothing the second time, until it succeeds or cannot.
func (s *Store) persist(ctx context.Context, fill func(*pgx.Batch)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return persist(ctx, func() error { return s.run(ctx, fill) })
}

func persist(ctx context.Context, attempt func() error) error {
	var cause error // why the last attempt that had its time failed
	for {
		err := attempt()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil && cause != nil:
			return fmt.Errorf("%w; another attempt: %w", explain(cause), err)
		case ctx.Err() != nil || !passing(err):
			return explain(err)
		}
		cause = err
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return fmt.Errorf("%w; then %w", explain(cause), ctx.Err())
		}
	}
}

// passing reports whether the same may succeed in a moment: the database restarts, or the connection was cut.
func passing(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	// connection, standby, the same or lost transaction, conflict, too many, locked, shutdown, Pgpool-II without a server
	return !ok || slices.ContainsFunc([]string{"08", "0A", "25", "40", "53", "55", "57", "XX"}, func(class string) bool { return strings.HasPrefix(refused.Code, class) })
}

// mistakes are the usual ones, by the code that tells them.
var mistakes = map[string]string{
	"42P01": "the tables are not there, or of an earlier version, call Migrate: ",
	"3F000": "the tables are not there, or of an earlier version, call Migrate: ",
	"23503": "there is no such workspace, a person adds a new one with AddWorkspace, once: ",
	"25006": "the database is a standby, or takes no writes, connect to the primary: ",
	"0A000": "the database is a standby, connect to the primary: ", // it lets no transaction begin that may write
	"42P05": "a pooler that gives out connections knows no prepared statements, set default_query_exec_mode=exec: ",
	"26000": "a pooler that gives out connections knows no prepared statements, set default_query_exec_mode=exec: ",
}

// explain names the usual mistake.
func explain(err error) error {
	if err == nil {
		return nil
	}
	code := ""
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		code = refused.Code
	}
	return fmt.Errorf("prospectpg: %s%w", mistakes[code], err)
}
