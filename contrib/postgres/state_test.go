package prospectpg

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/spend"
)

// client is one process of a workspace.
func client(t *testing.T, sb *sandbox.Sandbox, store ratelimit.Store) *prospectkit.Client {
	t.Helper()
	shared := prospectkit.NewBudget(prospectkit.BudgetConfig{Store: store, StoreTimeout: 10 * time.Second})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithBudget(shared))
	require.NoError(t, err)
	return client
}

func remaining(t *testing.T, c *prospectkit.Client) int {
	t.Helper()
	_, err := c.Lists.Page(t.Context(), prospectkit.ListsParams{})
	require.NoError(t, err)
	for _, s := range c.Budget().Snapshot() {
		if s.Surface == ratelimit.SurfaceLists {
			return s.Minute.Remaining
		}
	}
	return -1
}

// What one process learns, another knows; another workspace does not.
func TestBudget_ProcessesKnowTheSame(t *testing.T) {
	server, name := workspace(t)
	sb := sandbox.New(t)
	require.Equal(t, 119, remaining(t, client(t, sb, server.store(t, name))))
	require.Equal(t, 118, remaining(t, client(t, sb, server.store(t, name))))
	_, other := workspace(t)
	state := func(name string) (n int) {
		require.NoError(t, server.pool(t, "").QueryRow(t.Context(), "SELECT count(*) FROM prospectkit.budget WHERE workspace = $1", name).Scan(&n))
		return n
	}
	require.Equal(t, 1, state(name))
	require.Zero(t, state(other))
}

// The store counts processes as long as they ask at least every ten minutes.
func TestBudget_Processes(t *testing.T) {
	server, name := workspace(t)
	one, two := server.store(t, name), server.store(t, name)
	count := func(s *Store) int {
		reply := exchange(t, s, &budget.Ask{})
		return reply.Processes
	}
	require.Equal(t, 1, count(one))
	require.Equal(t, 1, count(one))
	require.Equal(t, 2, count(two))
	require.Equal(t, 2, count(one))
	seen := func() (at time.Time) {
		require.NoError(t, one.pool.QueryRow(t.Context(), "SELECT max(seen) FROM prospectkit.process WHERE workspace = $1", name).Scan(&at))
		return at
	}
	before := seen()
	require.Equal(t, 2, count(one))
	require.Equal(t, before, seen(), "once a minute is enough")
	age := func(by string) {
		_, err := one.pool.Exec(t.Context(), "UPDATE prospectkit.process SET seen = seen - $2::text::interval WHERE workspace = $1", name, by)
		require.NoError(t, err)
	}
	age("9 minutes")
	require.Equal(t, 2, count(one), "which notes it again")
	age("9 minutes")
	require.Equal(t, 2, count(two), "which is forgotten, and comes back")
	age("9 minutes")
	require.Equal(t, 2, count(one))
	age("2 hours")
	back, err := two.pool.Begin(t.Context()) // an exchange of another surface
	require.NoError(t, err)
	_, err = back.Exec(t.Context(), "UPDATE prospectkit.process SET seen = now() WHERE process = $1", two.owner)
	require.NoError(t, err)
	bounded, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, waited := tryExchange(bounded, one, &budget.Ask{})
	require.NoError(t, back.Rollback(t.Context()))
	require.NoError(t, waited, "it waits for no other process, which may wait for it")
	age("9 minutes")
	require.Equal(t, 1, count(one))
	var rows int
	require.NoError(t, one.pool.QueryRow(t.Context(), "SELECT count(*) FROM prospectkit.process WHERE workspace = $1", name).Scan(&rows))
	require.Equal(t, 1, rows, "those that are gone are removed")
}

// exchange asks what no client would.
func exchange(t *testing.T, s *Store, ask *budget.Ask) budget.Reply {
	t.Helper()
	reply, err := tryExchange(t.Context(), s, ask)
	require.NoError(t, err)
	return reply
}

func tryExchange(ctx context.Context, s *Store, ask *budget.Ask) (reply budget.Reply, err error) {
	answer, err := s.Exchange(ctx, ratelimit.SurfaceLists, ratelimit.NewAsk(ask))
	return answer.Internal(), err
}

// The time is that of the database, when the row is locked: not before the wait for it.
func TestBudget_Time(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	at := exchange(t, store, &budget.Ask{}).Now
	require.WithinDuration(t, time.Now(), time.UnixMicro(int64(at)), time.Minute)
	holder := server.pool(t, "")
	tx, err := holder.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM prospectkit.budget WHERE workspace = $1 FOR UPDATE", name)
	require.NoError(t, err)
	replies := make(chan budget.Reply, 1)
	go func() {
		if reply, err := tryExchange(t.Context(), store, &budget.Ask{}); err == nil {
			replies <- reply
		}
		close(replies)
	}()
	waiting := func() (n int) {
		require.NoError(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&n))
		return n
	}
	for waiting() == 0 {
		require.NoError(t, t.Context().Err())
	}
	var freed int64
	require.NoError(t, tx.QueryRow(t.Context(), "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint").Scan(&freed))
	require.NoError(t, tx.Rollback(t.Context()))
	require.GreaterOrEqual(t, int64((<-replies).Now), freed)
}

// Every grant of many goroutines and processes is of one history: none is made twice.
func TestBudget_OneHistory(t *testing.T) {
	server, name := workspace(t)
	var seen sync.Map
	var all sync.WaitGroup
	stores := []*Store{server.store(t, name), server.store(t, name), server.store(t, name), server.store(t, name)}
	for _, store := range stores {
		for range 4 {
			all.Go(func() {
				for range 10 {
					if reply, err := tryExchange(t.Context(), store, &budget.Ask{Elsewhere: 1}); err == nil {
						seen.Store(reply.State.Dispatched, true)
					}
				}
			})
		}
	}
	all.Wait()
	for n := range int64(160) {
		_, ok := seen.Load(n + 1)
		require.True(t, ok, n)
	}
}

// A budget takes one connection for a surface, however many calls wait.
func TestBudget_Connections(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	c := client(t, sandbox.New(t), store)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { _ = remaining(t, c) })
	}
	all.Wait()
	require.EqualValues(t, 1, store.pool.Stat().NewConnsCount())
}

// The store does what the package does: nothing is lost on the way to the database and back.
func TestBudget_AgreesWithThePackage(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	random := rand.New(rand.NewPCG(1, 7))
	var stored []byte
	var open []budget.Permit
	for range 200 {
		ask := &budget.Ask{Config: budget.Config{PerMinute: 20, PerDay: 1000, Share: budget.DefaultShare}}
		for range random.IntN(3) {
			ask.Wanted = append(ask.Wanted, budget.Priority(random.IntN(2)))
		}
		for len(open) > 0 && random.IntN(2) == 0 {
			left := random.IntN(20)
			ask.Reports = append(ask.Reports, budget.Report{Permit: open[0], Observation: budget.Observation{
				Limit: 20, Remaining: left, Reset: time.Minute, HasReset: true, Lost: random.IntN(9) == 0, RateLimited: random.IntN(30) == 0,
			}})
			open = open[1:]
		}
		got := exchange(t, store, ask)
		var want budget.Reply
		stored, want = budget.Decide(stored, got.Now, got.Processes, ask)
		require.Equal(t, want, got)
		for _, g := range got.Grants {
			open = append(open, g.Permit)
		}
	}
}

// A state that is not ours is ignored.
func TestBudget_StateOfAnotherVersion(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	life := exchange(t, store, &budget.Ask{}).State.Born
	_, err := store.pool.Exec(t.Context(), "UPDATE prospectkit.budget SET state = 'x' WHERE workspace = $1", name)
	require.NoError(t, err)
	require.Greater(t, exchange(t, store, &budget.Ask{}).State.Born, life)
}

// A process that stops while it holds a row blocks the others for a moment only, and changes nothing when it continues.
func TestState_StoppedHolder(t *testing.T) {
	server, name := workspace(t)
	idle = "100"
	defer func() { idle = "2000" }()
	stopped, other := server.store(t, name).Spend("cap"), server.store(t, name).Spend("cap")
	err := stopped.Update(t.Context(), func([]byte) ([]byte, error) {
		require.NoError(t, other.Update(t.Context(), func(state []byte) ([]byte, error) {
			require.Empty(t, state)
			return []byte("other"), nil
		}))
		return []byte("stopped"), nil
	})
	require.Error(t, err)
	require.Equal(t, "other", stateOf(t, other))
}

func stateOf(t *testing.T, s spend.Store) (text string) {
	t.Helper()
	none := errors.New("nothing to store")
	require.ErrorIs(t, s.Update(t.Context(), func(state []byte) ([]byte, error) { text = string(state); return nil, none }), none)
	return text
}

func TestSpend_Update(t *testing.T) {
	server, name := workspace(t)
	store := server.store(t, name)
	november := store.Spend("2026-11")
	require.Empty(t, stateOf(t, november))
	add := func(s spend.Store) error {
		return s.Update(t.Context(), func(state []byte) ([]byte, error) { return append(state, 'x'), nil })
	}
	require.NoError(t, add(november))
	require.NoError(t, add(store.Spend("2026-12")))
	require.EqualValues(t, 1, store.pool.Stat().NewConnsCount(), "a look costs no connection")
	var all sync.WaitGroup
	failures := make([]error, 8)
	for i := range failures {
		other := server.store(t, name).Spend("2026-11")
		all.Go(func() {
			for range 5 {
				failures[i] = errors.Join(failures[i], add(other))
			}
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(failures...))
	require.Len(t, stateOf(t, november), 41)
	require.Len(t, stateOf(t, store.Spend("2026-12")), 1)
	require.ErrorContains(t, add(store.Spend("")), "name")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, november.Update(ctx, func([]byte) ([]byte, error) { return nil, nil }))
	require.Len(t, stateOf(t, november), 41)
	require.Panics(t, func() {
		_ = november.Update(t.Context(), func([]byte) ([]byte, error) { panic("change") })
	})
	require.NoError(t, add(november), "no lock is left")
}

// One cap for a fleet.
func TestSpend_Guard(t *testing.T) {
	server, name := workspace(t)
	prices := spend.Prices{"search.prospects": {PerResult: 1}}
	one := spend.NewSharedGuard(10, prices, server.store(t, name).Spend("cap"))
	two := spend.NewSharedGuard(10, prices, server.store(t, name).Spend("cap"))
	call := func(id string, results int) spend.Call {
		return spend.Call{ID: id, Op: "search.prospects", Results: results}
	}
	require.NoError(t, one.Reserve(t.Context(), call("a", 6)))
	require.ErrorAs(t, two.Reserve(t.Context(), call("b", 6)), new(*spend.CapError))
	require.NoError(t, two.Settle(t.Context(), "a", "applied", 3))
	require.NoError(t, two.Reserve(t.Context(), call("b", 6)))
	books, err := one.Books(t.Context())
	require.NoError(t, err)
	require.Equal(t, spend.Book{Committed: 3, InDoubt: 6, Released: 3}, books.Total)
}

// BenchmarkCall is what a call costs where there is room: one exchange before it, and one after.
func BenchmarkCall(b *testing.B) {
	p, err := newPostgres()
	require.NoError(b, err)
	defer p.remove()
	pool, err := pgxpool.New(b.Context(), p.dsn(""))
	require.NoError(b, err)
	defer pool.Close()
	require.NoError(b, Migrate(b.Context(), pool))
	store, err := New(pool, Config{Workspace: "acme"})
	require.NoError(b, err)
	sb := sandbox.New(b, sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 1 << 20, PerDay: 1 << 21}}))
	shared := prospectkit.NewBudget(prospectkit.BudgetConfig{Store: store, StoreTimeout: 10 * time.Second})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithBudget(shared))
	require.NoError(b, err)
	for b.Loop() {
		_, err := client.Lists.Page(b.Context(), prospectkit.ListsParams{})
		require.NoError(b, err)
	}
}

// BenchmarkExchange is the most that many processes get from one row.
func BenchmarkExchange(b *testing.B) {
	p, err := newPostgres()
	require.NoError(b, err)
	defer p.remove()
	pool, err := pgxpool.New(b.Context(), p.dsn("&pool_max_conns=16"))
	require.NoError(b, err)
	defer pool.Close()
	require.NoError(b, Migrate(b.Context(), pool))
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(each *testing.PB) {
		store, err := New(pool, Config{Workspace: "acme"})
		require.NoError(b, err)
		for each.Next() {
			_, err := store.Exchange(b.Context(), ratelimit.SurfaceLists, ratelimit.NewAsk(&budget.Ask{}))
			require.NoError(b, err)
		}
	})
}
