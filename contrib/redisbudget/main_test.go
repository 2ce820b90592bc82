package redisbudget

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/fleettest"
)

func TestMain(m *testing.M) {
	fleettest.Main(openStore)
	if _, err := exec.LookPath("redis-server"); err != nil {
		fmt.Fprintln(os.Stderr, "these tests need a redis-server in the path (Debian: apt-get install redis-server):", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// server is a Redis of the test's own, which keeps nothing on disk.
type server struct {
	socket string
	cmd    *exec.Cmd
}

func startRedis(t *testing.T) *server {
	t.Helper()
	r, err := newRedis()
	require.NoError(t, err)
	t.Cleanup(r.remove)
	return r
}

func newRedis() (*server, error) {
	dir, err := os.MkdirTemp("", "redis")
	if err != nil {
		return nil, err
	}
	r := &server{socket: filepath.Join(dir, "s")}
	return r, r.start()
}

func (r *server) start() error {
	r.cmd = exec.Command("redis-server", "--port", "0", "--unixsocket", r.socket, "--save", "", "--appendonly", "no",
		"--dir", filepath.Dir(r.socket))
	if err := r.cmd.Start(); err != nil {
		return err
	}
	client := r.client()
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for client.Ping(ctx).Err() != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("redis-server does not answer: %w", ctx.Err())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

func (r *server) remove() {
	r.kill()
	_ = os.RemoveAll(filepath.Dir(r.socket))
}

// kill ends it like a crash.
func (r *server) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

func (r *server) client() *redis.Client { return connect(r.socket) }

func connect(socket string) *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: socket, ContextTimeoutEnabled: true, DialTimeout: 200 * time.Millisecond})
}

func (r *server) store(t *testing.T, prefix string) *Store {
	t.Helper()
	client := r.client()
	t.Cleanup(func() { _ = client.Close() })
	store, err := New(client, prefix)
	require.NoError(t, err)
	return store
}
