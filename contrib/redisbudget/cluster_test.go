package redisbudget

import (
	"net"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// startCluster starts a cluster of one, on a port whose companion for the cluster bus, 10,000 higher, is there too.
func startCluster(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := strconv.Itoa(10_000 + listener.Addr().(*net.TCPAddr).Port%40_000)
	require.NoError(t, listener.Close())
	cmd := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--save", "", "--dir", t.TempDir())
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	addr := "127.0.0.1:" + port
	node := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = node.Close() })
	within := func(err func() error) {
		require.Eventually(t, func() bool { return err() == nil }, 30*time.Second, 10*time.Millisecond)
	}
	within(func() error { return node.Ping(t.Context()).Err() })
	require.NoError(t, node.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	within(func() error { return node.Set(t.Context(), "up", "", 0).Err() })
	return addr
}

// The clients of clusters and rings find the keys, and the script when it was lost.
func TestClusterAndRing(t *testing.T) {
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{startCluster(t)}, ContextTimeoutEnabled: true})
	shards := map[string]string{"a": startRedis(t).socket, "b": startRedis(t).socket}
	ring := redis.NewRing(&redis.RingOptions{Addrs: shards, ContextTimeoutEnabled: true, NewClient: func(o *redis.Options) *redis.Client {
		o.Network = "unix"
		return redis.NewClient(o)
	}})
	for _, r := range []redis.UniversalClient{cluster, ring} {
		t.Cleanup(func() { _ = r.Close() })
		store, err := New(r, "one")
		require.NoError(t, err)
		sb := sandbox.New(t)
		require.Equal(t, 119, remaining(t, client(t, sb, store)))
		require.NoError(t, r.ScriptFlush(t.Context()).Err())
		require.Equal(t, 118, remaining(t, client(t, sb, store)))
		require.EqualValues(t, 2, r.Exists(t.Context(), store.key("lists"), store.key("processes")).Val())
	}
}
