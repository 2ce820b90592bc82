package prospectpg

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/journal"
)

// A cutter cuts a connection at one of the messages to the database: before it, or before its response.
type cutter struct {
	at      int64
	arrives bool
	during  func()             // is called while the message waits, if there is one
	cancel  context.CancelFunc // the same at the cut
	sent    atomic.Int64
}

type cutConn struct {
	net.Conn

	c    *cutter
	read chan struct{} // holds a value if something was read, or the end
}

func (w cutConn) Read(data []byte) (int, error) {
	n, err := w.Conn.Read(data)
	select {
	case w.read <- struct{}{}:
	default:
	}
	return n, err
}

func (w cutConn) Write(data []byte) (int, error) {
	if w.c.sent.Add(1) != w.c.at {
		return w.Conn.Write(data)
	}
	if w.c.during != nil {
		w.c.during()
	}
	if w.c.arrives {
		select {
		case <-w.read:
		default:
		}
		_, _ = w.Conn.Write(data)
		go func() { _, _ = w.Read(make([]byte, 1)) }()
		<-w.read // it has responded, so nothing of it happens later, after what the test does next
	}
	if w.c.cancel != nil {
		w.c.cancel()
	}
	_ = w.Close()
	return 0, net.ErrClosed
}

// cutting is a store that has a connection, which is cut at a message after this.
func (p *server) cutting(t *testing.T, workspace string, c *cutter) *Store {
	t.Helper()
	config, err := pgxpool.ParseConfig(p.DSN("&pool_max_conns=2"))
	require.NoError(t, err)
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		return cutConn{conn, c, make(chan struct{}, 1)}, err
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	store, err := New(pool, Config{Workspace: workspace})
	require.NoError(t, err)
	c.sent.Store(math.MinInt64)
	require.NoError(t, pool.Ping(t.Context()))
	c.sent.Store(0)
	return store
}

// everyCut runs a test with a cut at each message, until there is no such message.
func everyCut(t *testing.T, test func(t *testing.T, p *server, name string, c *cutter)) {
	t.Helper()
	for _, arrives := range []bool{false, true} {
		for at, more := int64(1), true; more; at++ {
			more = false
			t.Run(fmt.Sprint(at, arrives), func(t *testing.T) {
				server, name := workspace(t)
				c := &cutter{at: at, arrives: arrives}
				test(t, server, name, c)
				c.during = nil // the pool says goodbye
				more = c.sent.Load() >= at
			})
		}
	}
}

// A ticket is stored when Sending says so, wherever the connection was cut, also while it committed. Then nothing of it is left to do
// by hand: the call goes on.
func TestCut_Sending(t *testing.T) {
	everyCut(t, func(t *testing.T, p *server, name string, c *cutter) {
		require.NoError(t, p.cutting(t, name, c).Sending(t.Context(), ticket("a")))
		p.expire(t, name)
		require.Equal(t, []string{"a"}, inDoubt(t, p.store(t, name)))
	})
}

// A call that was cancelled while its ticket was stored is refused. The ticket that may be there is settled.
func TestCut_SendingIsCancelled(t *testing.T) {
	everyCut(t, func(t *testing.T, p *server, name string, c *cutter) {
		store := p.cutting(t, name, c)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c.cancel = cancel
		if err := store.Sending(ctx, ticket("a")); c.sent.Load() >= c.at {
			require.Error(t, err)
		}
		if store.Ended(t.Context(), "a", journal.End{Outcome: journal.NotApplied}) != nil {
			require.Empty(t, inDoubt(t, store), "it was kept for the next change")
		}
		p.expire(t, name)
		require.Empty(t, inDoubt(t, p.store(t, name)))
	})
}

// A verdict is noted once, or the resolver knows that it may not be.
func TestCut_Ended(t *testing.T) {
	everyCut(t, func(t *testing.T, p *server, name string, c *cutter) {
		require.NoError(t, p.store(t, name).Sending(t.Context(), ticket("a")))
		p.expire(t, name)
		require.NoError(t, p.cutting(t, name, c).Ended(t.Context(), "a", journal.End{Outcome: journal.Applied}))
		require.Equal(t, journal.Applied, entriesOf(t, p.store(t, name), "")[0].Outcome)
	})
}

// A loop goes on, and yields each ticket once. It takes none of a call that has begun meanwhile.
func TestCut_InDoubt(t *testing.T) {
	everyCut(t, func(t *testing.T, p *server, name string, c *cutter) {
		p.leave(t, name, "a", "b")
		store, err := p.cutting(t, name, c), error(nil)
		c.during = func() { err = store.Sending(t.Context(), ticket("c")) }
		require.Equal(t, []string{"a", "b"}, inDoubt(t, store))
		require.NoError(t, err)
		c.during = nil
		require.NoError(t, store.Sending(t.Context(), ticket("c")), "it still is its call's")
	})
}

// Nobody of this process takes a call while its outcome is noted, not even after its lease.
func TestCut_EndedCall(t *testing.T) {
	everyCut(t, func(t *testing.T, p *server, name string, c *cutter) {
		store, found, settled := p.cutting(t, name, c), []string(nil), journal.ErrNotInDoubt
		require.NoError(t, store.Sending(t.Context(), ticket("a")))
		p.expire(t, name)
		c.sent.Store(0)
		c.during = func() {
			found = inDoubt(t, store)
			settled = store.Settle(t.Context(), "a", journal.Settlement{Outcome: journal.NotApplied, By: "maria", Because: "it is not there"})
		}
		_ = store.Ended(t.Context(), "a", journal.End{Outcome: journal.Applied})
		require.Empty(t, append(found, inDoubt(t, store)...))
		require.ErrorIs(t, settled, journal.ErrNotInDoubt)
		require.Equal(t, journal.Applied, entriesOf(t, p.store(t, name), "")[0].Outcome)
	})
}

// A change is made once, or at most once if the store does not know.
func TestCut_Spend(t *testing.T) {
	everyCut(t, func(t *testing.T, p *server, name string, c *cutter) {
		err := p.cutting(t, name, c).Spend("cap").Update(t.Context(), func(s []byte) ([]byte, error) { return append(s, 'x'), nil })
		state := stateOf(t, p.store(t, name).Spend("cap"))
		if err != nil {
			require.ErrorContains(t, err, "stored or not")
			require.LessOrEqual(t, len(state), 1)
		} else {
			require.Equal(t, "x", state)
		}
	})
}

// The record and its checkpoint are there, or neither is.
func TestCut_Checkpoint(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	_, err := store.pool.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS record (name text, id text)")
	require.NoError(t, err)
	for _, id := range []string{"a", "b", "c"} {
		tx, err := store.pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "INSERT INTO record VALUES ($1, $2)", name, id)
		require.NoError(t, err)
		require.NoError(t, store.SaveCheckpoint(t.Context(), tx, "job", id))
		if id == "c" {
			require.NoError(t, tx.Rollback(t.Context()))
			continue
		}
		require.NoError(t, tx.Commit(t.Context()))
	}
	rows, err := store.pool.Query(t.Context(), "SELECT id FROM record WHERE name = $1 ORDER BY id", name)
	require.NoError(t, err)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	checkpoint, err := store.Checkpoint(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, "a b", strings.Join(ids, " "))
	require.Equal(t, "b", checkpoint)
	require.ErrorContains(t, store.SaveCheckpoint(t.Context(), store.pool, "", "x"), "name")
	other := server.store(t, name+" other")
	none, err := other.Checkpoint(t.Context(), "job")
	require.NoError(t, err)
	require.Empty(t, none)
	require.NoError(t, other.SaveCheckpoint(t.Context(), other.pool, "job", ""))
	checkpoint, err = store.Checkpoint(t.Context(), "job")
	require.NoError(t, err)
	require.Equal(t, "b", checkpoint)
}

// After a failover, a host may be a standby for a moment more. A ticket waits for its promotion.
func TestStandby(t *testing.T) {
	server := startPostgres(t)
	server.prepare(t, "serializable", "read%20committed")
	require.NoError(t, server.Signal(os.Interrupt))
	require.NoError(t, os.WriteFile(filepath.Join(server.Data(), "standby.signal"), nil, 0o600))
	require.NoError(t, server.Start(t.Context()))
	var stores []*Store
	for _, isolation := range []string{"serializable", "read%20committed"} {
		store, err := New(server.pool(t, "&default_transaction_isolation="+isolation), Config{Workspace: isolation})
		require.NoError(t, err)
		err = store.run(t.Context(), func(*pgx.Batch) {})
		require.Error(t, err)
		require.True(t, passing(err), err)
		stores = append(stores, store)
	}
	_, err := stores[1].pool.Exec(t.Context(), "SELECT pg_promote()")
	require.NoError(t, err)
	for _, store := range stores {
		require.NoError(t, store.Sending(t.Context(), ticket("a")))
	}
}

// What must survive the machine does, although the server commits without waiting for its log.
func TestDurable(t *testing.T) {
	server := startPostgres(t)
	pool := server.pool(t, "")
	server.prepare(t, "acme")
	_, err := pool.Exec(t.Context(), "CHECKPOINT")
	require.NoError(t, err)
	for round := range 5 {
		store := server.store(t, "acme")
		id := fmt.Sprint("ticket ", round)
		save := func(what int) {
			switch what {
			case 0:
				require.NoError(t, store.Sending(t.Context(), ticket(id)))
			case 1:
				require.NoError(t, store.Spend("cap").Update(t.Context(), func([]byte) ([]byte, error) { return []byte(id), nil }))
			case 2:
				require.NoError(t, store.SaveCheckpoint(t.Context(), store.pool, "job", id))
			case 3:
				require.NoError(t, store.Ended(t.Context(), "ticket 0", journal.End{Outcome: journal.Applied}))
			case 4:
				require.NoError(t, store.SaveCheckpoint(t.Context(), store.pool, "job", ""))
			}
		}
		save(round)
		server.Kill()
		require.NoError(t, server.Start(t.Context()))
		store = server.store(t, "acme")
		switch round {
		case 0:
			require.Len(t, entriesOf(t, store, ""), 1)
		case 1:
			require.Equal(t, id, stateOf(t, store.Spend("cap")))
		case 2, 4:
			checkpoint, err := store.Checkpoint(t.Context(), "job")
			require.NoError(t, err)
			require.Equal(t, map[int]string{2: id, 4: ""}[round], checkpoint)
		case 3:
			require.Equal(t, journal.Applied, entriesOf(t, store, "")[0].Outcome)
		}
	}
}
