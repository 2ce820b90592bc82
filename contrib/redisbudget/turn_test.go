package redisbudget

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/ratelimit"
)

const lists = ratelimit.SurfaceLists

// soon is the time that a budget gives its store, unless it is configured.
func soon(t *testing.T, timeout time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	return ctx
}

func want(n int) *ratelimit.Ask {
	return ratelimit.NewAsk(&budget.Ask{Config: budget.Config{PerMinute: 120}, Elsewhere: n})
}

// dispatched is how many requests the state in Redis knows of.
func dispatched(t *testing.T, s *Store) int64 {
	t.Helper()
	reply, err := s.Exchange(soon(t, 10*time.Second), lists, want(0))
	require.NoError(t, err)
	return reply.Internal().State.Dispatched
}

// A process that stops during its turn loses it when its lease is over, and then changes nothing: neither what others wrote since, nor the
// turn that it has got again.
func TestTurn_Stopped(t *testing.T) {
	server := startRedis(t)
	slow, other := server.store(t, "one"), server.store(t, "one")
	old, err := slow.take(soon(t, 50*time.Millisecond), lists)
	require.NoError(t, err)
	_, err = other.Exchange(soon(t, 10*time.Second), lists, want(3))
	require.NoError(t, err, "the lease is over")
	written, err := slow.write(t.Context(), lists, old.joined, []byte("stale"))
	require.NoError(t, err)
	require.False(t, written)
	again, err := slow.take(soon(t, 10*time.Second), lists)
	require.NoError(t, err)
	written, err = slow.write(t.Context(), lists, old.joined, []byte("stale"))
	require.NoError(t, err)
	require.False(t, written, "it is another turn")
	written, err = slow.write(t.Context(), lists, again.joined, again.state)
	require.NoError(t, err)
	require.True(t, written)
	written, err = slow.write(t.Context(), lists, again.joined, []byte("twice"))
	require.NoError(t, err)
	require.False(t, written, "the turn has ended")
	require.EqualValues(t, 3, dispatched(t, other))
}

// A process that dies during its turn, and others that die in the queue, cost a lease in all: less than a budget waits for its store.
func TestTurn_Killed(t *testing.T) {
	server := startRedis(t)
	_, err := server.store(t, "one").take(soon(t, budget.DefaultTimeout), lists)
	require.NoError(t, err)
	var dying sync.WaitGroup
	for range 20 {
		dying.Go(func() {
			_, _ = server.store(t, "one").Exchange(soon(t, budget.DefaultTimeout/2), lists, want(1))
		})
	}
	dying.Wait()
	r := server.client()
	defer func() { _ = r.Close() }()
	for i := range 20 { // they had time left when they were last heard of
		require.NoError(t, r.ZAdd(t.Context(), "{one}:lists:queue", redis.Z{Score: float64(i), Member: i}).Err())
		until := time.Now().Add(budget.DefaultTimeout / 2).UnixMicro()
		require.NoError(t, r.ZAdd(t.Context(), "{one}:lists:alive", redis.Z{Score: float64(until), Member: i}).Err())
	}
	_, err = server.store(t, "one").Exchange(soon(t, 10*time.Second), lists, want(1))
	require.NoError(t, err)
	require.Zero(t, r.Exists(t.Context(), "{one}:lists:queue", "{one}:lists:alive").Val())
}

// A process that died in the queue holds nobody up even if Redis, short of memory, has evicted what it knew of the living.
func TestTurn_Evicted(t *testing.T) {
	server := startRedis(t)
	store := server.store(t, "one")
	for i := range 3 {
		require.NoError(t, store.client.ZAdd(t.Context(), "{one}:lists:queue", redis.Z{Score: float64(i), Member: i}).Err())
	}
	_, err := store.Exchange(soon(t, 10*time.Second), lists, want(1))
	require.NoError(t, err)
	require.EqualValues(t, 1, dispatched(t, store))
}

// First come, first served: also a process whose call gave up, as long as another call of it follows within its lease.
func TestTurn_Order(t *testing.T) {
	server := startRedis(t)
	stores := []*Store{server.store(t, "one"), server.store(t, "one"), server.store(t, "one")}
	join := func(s *Store) []any {
		values, err := s.run(soon(t, time.Minute), lists).Slice()
		require.NoError(t, err)
		return values
	}
	for range 3 {
		for i, s := range stores {
			require.EqualValues(t, i, join(s)[0])
		}
	}
	for i, s := range stores {
		for ahead, waits := range stores[i+1:] {
			require.EqualValues(t, ahead+1, join(waits)[0])
		}
		written, err := s.write(t.Context(), lists, join(s)[1].(string), nil)
		require.NoError(t, err)
		require.True(t, written)
	}
}

// Exchanges of one store that come together, as those of two budgets may, are decided on once each, also where the turn is lost.
func TestTurn_Together(t *testing.T) {
	server := startRedis(t)
	store, other := server.store(t, "one"), server.store(t, "one")
	_, err := other.take(soon(t, 500*time.Millisecond), lists) // and stops
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := store.Exchange(soon(t, 10*time.Second), lists, want(1))
			require.NoError(t, err)
		})
	}
	all.Wait()
	require.EqualValues(t, 20, dispatched(t, store))
}

// A call that gives up in the queue holds no other one up.
func TestTurn_GivesUp(t *testing.T) {
	server := startRedis(t)
	store, other := server.store(t, "one"), server.store(t, "one")
	_, err := other.take(soon(t, 10*time.Second), lists)
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			timeout := 10 * time.Second
			if i%2 == 0 {
				timeout = 50 * time.Millisecond
			}
			_, err := store.Exchange(soon(t, timeout), lists, want(1))
			if i%2 == 0 {
				require.Error(t, err)
			} else {
				require.NoError(t, err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 5, dispatched(t, store))
}

func TestLease(t *testing.T) {
	require.Equal(t, time.Second, lease(t.Context()))
	require.Equal(t, time.Second, lease(soon(t, time.Minute)))
	require.LessOrEqual(t, lease(soon(t, 200*time.Millisecond)), 100*time.Millisecond)
	require.Equal(t, time.Millisecond, lease(soon(t, 0)))
}
