package call_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
)

// memoryStore is the smallest store there is: a lock for a transaction.
type memoryStore struct {
	processes int
	latency   time.Duration

	mu     sync.Mutex
	states map[ratelimit.Surface][]byte
	down   error
	asks   int
}

func newStore(processes int) *memoryStore {
	return &memoryStore{processes: processes, latency: time.Millisecond, states: map[ratelimit.Surface][]byte{}}
}

func (m *memoryStore) Exchange(ctx context.Context, s ratelimit.Surface, ask *ratelimit.Ask) (reply ratelimit.Reply, err error) {
	select {
	case <-time.After(m.latency):
	case <-ctx.Done():
		return reply, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asks++; m.down != nil {
		return reply, m.down
	}
	m.states[s], reply = ask.Decide(m.states[s], time.Now(), m.processes)
	return reply, nil
}

func (m *memoryStore) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.down = err
}

func (m *memoryStore) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.states)
}

// fleet makes the clients of as many processes as the store expects.
func fleet(t *testing.T, sb *sandbox.Sandbox, store *memoryStore, config prospectkit.BudgetConfig) []*prospectkit.Client {
	t.Helper()
	config.Store = store
	clients := make([]*prospectkit.Client, store.processes)
	for i := range clients {
		clients[i] = tests.SandboxClient(t, sb, prospectkit.WithBudget(prospectkit.NewBudget(config)))
	}
	return clients
}

// pullAll lists as fast as the budget allows, with so many goroutines for each client, until the time is over.
func pullAll(t *testing.T, clients []*prospectkit.Client, goroutines int, d time.Duration) *sync.WaitGroup {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	var group sync.WaitGroup
	for _, client := range clients {
		for range goroutines {
			group.Go(func() {
				for ctx.Err() == nil {
					_, err := client.Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.WithMaxWait(time.Hour))
					if err != nil {
						require.ErrorIs(t, err, context.DeadlineExceeded)
						return
					}
				}
			})
		}
	}
	return &group
}

func TestStore_ProcessesShareTheQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		store := newStore(8)
		clients := fleet(t, sb, store, prospectkit.BudgetConfig{})
		pullAll(t, clients, 8, 10*time.Minute).Wait()
		require.Zero(t, tooMany(sb))
		require.GreaterOrEqual(t, sb.Calls("lists.list"), 10*120*98/100)
		require.InDelta(t, sb.Calls("lists.list"), snapshotOf(t, clients[0], ratelimit.SurfaceLists).Day.Used, 8*8)
		require.Less(t, store.asks, 10*60*8*25, "processes that wait do not storm the store")
	})
}

// While the store is away, each process has its part.
func TestStore_FailsAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		store := newStore(4)
		var log strings.Builder
		clients := fleet(t, sb, store, prospectkit.BudgetConfig{Logger: slog.New(slog.NewTextHandler(&log, nil))})[:1]
		clients = append(clients, fleet(t, sb, store, prospectkit.BudgetConfig{})[1:]...)
		group := pullAll(t, clients, 20, 10*time.Minute)
		time.AfterFunc(150*time.Second, func() { store.fail(errors.New("connection refused")) })
		time.AfterFunc(400*time.Second, func() { store.fail(nil) })
		group.Wait()
		require.LessOrEqual(t, tooMany(sb), 4*20, "one for each call in flight")
		require.GreaterOrEqual(t, sb.Calls("lists.list")-tooMany(sb), 10*120*80/100)
		require.Equal(t, 2, strings.Count(log.String(), "\n"), log.String())
		require.Contains(t, log.String(), "connection refused")
	})
}

// Processes that do not reach the store for a moment and come back cost the fleet nothing: all that they sent meanwhile is known to be
// theirs, and what the store let them send before is known to have ended.
func TestStore_ProcessesAreAwayForAMoment(t *testing.T) {
	for _, after := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		for _, latency := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond} {
			for _, away := range []int{1, 4, 8} {
				synctest.Test(t, func(t *testing.T) { awayForAMoment(t, after, latency, away) })
			}
		}
	}
}

func awayForAMoment(t *testing.T, after, latency time.Duration, away int) {
	t.Helper()
	sb := sandbox.New(t, sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 600, PerDay: 100_000}}))
	_, err := tests.SandboxClient(t, sb).Lists.Page(t.Context(), prospectkit.ListsParams{})
	require.NoError(t, err)
	time.Sleep(50 * time.Second) // ten more of the minute
	sb.Fail("lists.list", sandbox.Latency(latency), sandbox.Always())
	store, clients := newStore(8), make([]*prospectkit.Client, 8)
	from := time.Now().Add(after)
	until := from.Add(250 * time.Millisecond)
	for i := range clients {
		clients[i] = tests.SandboxClient(t, sb, prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{Processes: 8, Store: storeFunc(
			func(ctx context.Context, s ratelimit.Surface, ask *ratelimit.Ask) (ratelimit.Reply, error) {
				if now := time.Now(); i < away && !now.Before(from) && now.Before(until) {
					time.Sleep(time.Until(until))
					return ratelimit.Reply{}, errors.New("away")
				}
				return store.Exchange(ctx, s, ask)
			})})))
	}
	ctx, cancel := context.WithCancel(t.Context()) // no deadline, or calls would give up early
	time.AfterFunc(45*time.Second, cancel)
	var group sync.WaitGroup
	for _, client := range clients {
		for range 8 {
			group.Go(func() {
				for ctx.Err() == nil {
					_, err := client.Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.WithMaxWait(time.Hour))
					require.True(t, err == nil || ctx.Err() != nil, err)
				}
			})
		}
	}
	group.Wait()
	good := sb.Calls("lists.list") - tooMany(sb)
	require.GreaterOrEqual(t, good, 1140, "%d away after %s, latency %s: %d 429s", away, after, latency, tooMany(sb))
	require.LessOrEqual(t, tooMany(sb), 8*away, "one for each call in flight: %d away after %s, latency %s", away, after, latency)
}

// One probe fills an empty store.
func TestStore_Forgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		store := newStore(4)
		clients := fleet(t, sb, store, prospectkit.BudgetConfig{})
		group := pullAll(t, clients, 20, 5*time.Minute)
		for i := range 10 {
			time.AfterFunc(time.Duration(i)*29*time.Second, store.forget)
		}
		group.Wait()
		require.LessOrEqual(t, tooMany(sb), 4*20, "one for each call in flight")
		require.GreaterOrEqual(t, sb.Calls("lists.list"), 5*120*95/100)
	})
}

// A store that hangs holds a call up for as long as the sharing allows, and only one call a second.
func TestStore_Hangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		store := newStore(2)
		store.latency = time.Hour
		client := fleet(t, sb, store, prospectkit.BudgetConfig{StoreTimeout: 100 * time.Millisecond})[0]
		began := time.Now()
		for range 60 {
			_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
			require.NoError(t, err)
		}
		require.Equal(t, 100*time.Millisecond, time.Since(began))
		require.Zero(t, store.asks)
		_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0))
		require.True(t, tests.FitsAt(t, err).After(time.Now()), "half of the minute is the part of this process")
	})
}

// One process gets a 429, and all pause.
func TestStore_RefusalPausesAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		clients := fleet(t, sb, newStore(2), prospectkit.BudgetConfig{})
		sb.Fail("lists.list", sandbox.Nth(1), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(30))
		_, err := clients[0].Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithRetry(prospectkit.NoRetry))
		require.ErrorIs(t, err, prospectkit.CodeRateLimited)
		_, err = clients[1].Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0))
		require.InDelta(t, 31, time.Until(tests.FitsAt(t, err)).Seconds(), 1)
		_, err = clients[1].Lists.Page(t.Context(), prospectkit.ListsParams{})
		require.NoError(t, err)
		require.Len(t, sb.Journal(), 2)
	})
}

// Time that the store takes for its response is no wait for a rate limit: not even for the first call of a process.
func TestStore_FirstCallNeedNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var observed []prospectkit.EventKind
		observer := tests.Watch(func(e prospectkit.Event) { observed = append(observed, e.Kind) })
		for _, client := range fleet(t, sandbox.New(t), newStore(2), prospectkit.BudgetConfig{}) {
			client, err := client.With(observer)
			require.NoError(t, err)
			_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0))
			require.NoError(t, err)
		}
		require.NotContains(t, observed, prospectkit.EventWait)
	})
}

// Calls that give up while they wait, or at the very moment they are admitted, leave nothing in the store.
func TestStore_PermitsAreReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		store := newStore(2)
		clients := fleet(t, sb, store, prospectkit.BudgetConfig{})
		var group sync.WaitGroup
		for i := range 300 {
			group.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(time.Duration(i)*100*time.Microsecond, cancel)
				if _, err := clients[i%2].Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.WithMaxWait(time.Hour), prospectkit.WithPriority(
					[]ratelimit.Priority{ratelimit.PriorityBatch, ratelimit.PriorityInteractive}[i/2%2])); err != nil {
					require.ErrorIs(t, err, context.Canceled)
				}
			})
		}
		group.Wait()
		time.Sleep(time.Minute) // a request that was cut counts when it can arrive no more
		_, err := clients[0].Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(time.Hour))
		require.NoError(t, err)
		surface := snapshotOf(t, clients[0], ratelimit.SurfaceLists)
		require.Zero(t, surface.InFlight+surface.Waiting)
		require.GreaterOrEqual(t, surface.Day.Used, sb.Calls("lists.list"))
		require.Less(t, surface.Day.Used, 200)
	})
}

type storeFunc func(context.Context, ratelimit.Surface, *ratelimit.Ask) (ratelimit.Reply, error)

func (f storeFunc) Exchange(ctx context.Context, s ratelimit.Surface, ask *ratelimit.Ask) (ratelimit.Reply, error) {
	return f(ctx, s, ask)
}

// A store that panics while it asks for all who wait leaves a line that goes on.
func TestStore_Panics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		store := newStore(1)
		broken := true
		client := tests.SandboxClient(t, sb, prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{Processes: 1, Store: storeFunc(
			func(ctx context.Context, s ratelimit.Surface, ask *ratelimit.Ask) (ratelimit.Reply, error) {
				if broken {
					broken = false
					time.Sleep(10 * time.Millisecond)
					panic("store")
				}
				return store.Exchange(ctx, s, ask)
			})})))
		var group sync.WaitGroup
		began := time.Now()
		group.Go(func() {
			require.PanicsWithValue(t, "store", func() { _, _ = client.Lists.Page(t.Context(), prospectkit.ListsParams{}) })
		})
		synctest.Wait()
		for range 3 {
			group.Go(func() {
				_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
				require.NoError(t, err)
			})
		}
		group.Wait()
		require.Less(t, time.Since(began), 3*time.Second)
	})
}

// Calls that do not wait and come together are all let go while there is room.
func TestStore_NoneWaitsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		store := newStore(1)
		client := tests.SandboxClient(t, sb, prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{Processes: 1, Store: storeFunc(
			func(ctx context.Context, s ratelimit.Surface, ask *ratelimit.Ask) (ratelimit.Reply, error) {
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
				reply, err := store.Exchange(ctx, s, ask)
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
				return reply, err
			})})))
		_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
		require.NoError(t, err)
		var group sync.WaitGroup
		for i := range 40 {
			group.Go(func() {
				time.Sleep(time.Duration(i) * 5 * time.Millisecond)
				_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{}, prospectkit.WithMaxWait(0))
				require.NoError(t, err)
			})
		}
		group.Wait()
	})
}

func TestStore_BudgetConfigOfAStore(t *testing.T) {
	for want, config := range map[string]prospectkit.BudgetConfig{
		"BudgetConfig.Store is missing":               {Processes: 2},
		"BudgetConfig.StoreTimeout is -1ns, must not": {Store: newStore(1), StoreTimeout: -1},
		"BudgetConfig.Processes is -1, must not be":   {Store: newStore(1), Processes: -1},
	} {
		_, err := prospectkit.New("https://api.example.com/api/v1", tests.Token, prospectkit.WithBudget(prospectkit.NewBudget(config)))
		require.ErrorContains(t, err, want)
	}
}
