package redisbudget

import (
	"context"
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/budget"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
)

// client is one process of a workspace.
func client(t *testing.T, sb *sandbox.Sandbox, store *Store) *prospectkit.Client {
	t.Helper()
	budget := prospectkit.NewBudget(prospectkit.BudgetConfig{Store: store, StoreTimeout: 10 * time.Second})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithBudget(budget))
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
func TestProcessesKnowTheSame(t *testing.T) {
	server, sb := startRedis(t), sandbox.New(t)
	require.Equal(t, 119, remaining(t, client(t, sb, server.store(t, "one"))))
	require.NoError(t, server.client().ScriptFlush(t.Context()).Err())
	require.Equal(t, 118, remaining(t, client(t, sb, server.store(t, "one"))))
	r := server.client()
	defer func() { _ = r.Close() }()
	keys, err := r.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"{one}:lists", "{one}:processes"}, keys)
	for _, key := range keys {
		require.InDelta(t, 48, r.TTL(t.Context(), key).Val().Hours(), 0.1)
	}
	require.EqualValues(t, 2, r.ZCard(t.Context(), "{one}:processes").Val())
	_ = client(t, sb, server.store(t, "two"))
	require.Zero(t, r.Exists(t.Context(), "{two}:lists").Val())
}

// A key that holds something else, or a script that fails, makes the store count as away; calls go on.
func TestRedisThatRefuses(t *testing.T) {
	server, sb := startRedis(t), sandbox.New(t)
	store := server.store(t, "one")
	require.NoError(t, store.client.SAdd(t.Context(), "{one}:lists", "x").Err())
	require.Equal(t, 119, remaining(t, client(t, sb, store)))
	_, err := store.Exchange(t.Context(), ratelimit.SurfaceLists, ratelimit.NewAsk(&budget.Ask{}))
	require.ErrorContains(t, err, "WRONGTYPE")
}

// A state that is not ours is ignored, as for the package in Go.
func TestStateOfAnotherVersion(t *testing.T) {
	server, sb := startRedis(t), sandbox.New(t)
	store := server.store(t, "one")
	reply, err := store.Exchange(t.Context(), ratelimit.SurfaceLists, ratelimit.NewAsk(&budget.Ask{}))
	require.NoError(t, err)
	life := born(reply)
	ours, err := store.client.Get(t.Context(), "{one}:lists").Result()
	require.NoError(t, err)
	slots := len(ours) - 19*8 // the number of the day's, before what is known of the windows
	long := ours[:slots] + string(binary.LittleEndian.AppendUint64(nil, 1e15)) + ours[slots+8:]
	for _, garbage := range []string{
		"", "x", "12345678", "123456781234567812345678", ours[:8], ours[:len(ours)-8], ours + "x", ours + "12345678", ours + strings.Repeat("12345678", 10_000), long,
	} {
		require.NoError(t, store.client.Set(t.Context(), "{one}:lists", garbage, 0).Err())
		reply, err := store.Exchange(t.Context(), ratelimit.SurfaceLists, ratelimit.NewAsk(&budget.Ask{}))
		require.NoError(t, err, "%d bytes", len(garbage))
		require.Greater(t, born(reply), life, "%d bytes", len(garbage))
		now, err := store.client.StrLen(t.Context(), "{one}:lists").Result()
		require.NoError(t, err)
		require.EqualValues(t, len(ours), now)
	}
	require.Equal(t, 119, remaining(t, client(t, sb, store)))
}

// born is when the state began.
func born(reply ratelimit.Reply) int64 { return reply.Internal().State.Born }

// A Redis that accepts connections and says nothing.
func TestRedisThatHangs(t *testing.T) {
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	r := connect(listener.Addr().String())
	defer func() { _ = r.Close() }()
	store, err := New(r, "one")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = store.Exchange(ctx, ratelimit.SurfaceLists, ratelimit.NewAsk(&budget.Ask{}))
	require.Error(t, err)
	require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
}

func TestNewChecks(t *testing.T) {
	r := redis.NewClient(&redis.Options{ContextTimeoutEnabled: true})
	defer func() { _ = r.Close() }()
	hasty := redis.NewClient(&redis.Options{})
	defer func() { _ = hasty.Close() }()
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}, ContextTimeoutEnabled: true})
	defer func() { _ = cluster.Close() }()
	ring := redis.NewRing(&redis.RingOptions{ContextTimeoutEnabled: true})
	defer func() { _ = ring.Close() }()
	for _, good := range []redis.UniversalClient{r, cluster, ring} {
		_, err := New(good, "one")
		require.NoError(t, err)
	}
	_, err := New(hasty, "one")
	require.ErrorContains(t, err, "ContextTimeoutEnabled")
	_, err = New(nil, "one")
	require.ErrorContains(t, err, "ContextTimeoutEnabled")
	for _, prefix := range []string{"", "a{b"} {
		_, err = New(r, prefix)
		require.ErrorContains(t, err, "prefix")
	}
}

// BenchmarkCall is what a call costs where there is room: one exchange before it, and one after.
func BenchmarkCall(b *testing.B) {
	server, err := newRedis()
	require.NoError(b, err)
	defer server.remove()
	r := server.client()
	defer func() { _ = r.Close() }()
	store, err := New(r, "one")
	require.NoError(b, err)
	sb := sandbox.New(b, sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 1 << 20, PerDay: 1 << 21}}))
	budget := prospectkit.NewBudget(prospectkit.BudgetConfig{Store: store, StoreTimeout: 10 * time.Second})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithBudget(budget))
	require.NoError(b, err)
	for b.Loop() {
		_, err := client.Lists.Page(b.Context(), prospectkit.ListsParams{})
		require.NoError(b, err)
	}
}

// Where only what FIPS 140 approves may run, the store works, too: this binary runs a test of it there.
func TestFIPS(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^(TestProcessesKnowTheSame|TestNewChecks)$")
	cmd.Env = append(os.Environ(), "GODEBUG=fips140=only")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, 2, strings.Count(string(out), "--- PASS: Test"), "%s", out)
}
