package prospectpg

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

var modes = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}

// Whichever way the pool sends its statements.
func TestModes(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			server, name := workspace(t)
			store, err := New(server.pool(t, "&default_query_exec_mode="+mode), Config{Workspace: name})
			require.NoError(t, err)
			usesAll(t, store)
		})
	}
}

// PgBouncer gives each transaction another connection. It knows no prepared statements of older versions, so the pool must not use them.
func TestModes_PgBouncer(t *testing.T) {
	server, name := workspace(t)
	dir := filepath.Join(server.dir, "bouncer")
	require.NoError(t, os.Mkdir(dir, 0o750))
	config := filepath.Join(dir, "bouncer.ini")
	text := fmt.Sprintf(`[databases]
postgres = host=%s user=fleet
[pgbouncer]
unix_socket_dir = %s
listen_addr =
listen_port = 6432
auth_type = any
pool_mode = transaction
default_pool_size = 3
server_round_robin = 1
logfile = %s
`, server.dir, dir, filepath.Join(dir, "log"))
	require.NoError(t, os.WriteFile(config, []byte(text), 0o644))
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	cmd := exec.Command(program, "-q", config)
	if server.account != nil {
		require.NoError(t, os.Chown(dir, int(server.account.Uid), int(server.account.Gid)))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: server.account}
	require.NoError(t, cmd.Start(), "this test needs PgBouncer (Debian: apt-get install pgbouncer)")
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, mode := range []string{"exec", "simple_protocol"} {
		pool, err := pgxpool.New(t.Context(), fmt.Sprintf("postgres://fleet@/postgres?host=%s&port=6432&default_query_exec_mode=%s", url.QueryEscape(dir), mode))
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		for pool.Ping(ctx) != nil { // until it listens
			require.NoError(t, ctx.Err())
		}
		store, err := New(pool, Config{Workspace: name + mode})
		require.NoError(t, err)
		usesAll(t, store)
	}
}
