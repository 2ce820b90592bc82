package prospectpg

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
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

// bouncer starts PgBouncer in front of the server.
func (p *server) bouncer(t *testing.T, mode string) string {
	t.Helper()
	dir, err := os.MkdirTemp(p.Dir, "bouncer") //nolint:usetesting // within the directory that its account may enter
	require.NoError(t, err)
	config := filepath.Join(dir, "bouncer.ini")
	text := fmt.Sprintf(`[databases]
postgres = host=%s user=fleet
[pgbouncer]
unix_socket_dir = %s
listen_addr =
listen_port = 6432
auth_type = any
pool_mode = %s
default_pool_size = 3
server_round_robin = 1
logfile = %s
`, p.Dir, dir, mode, filepath.Join(dir, "log"))
	require.NoError(t, os.WriteFile(config, []byte(text), 0o644))
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
	}
	cmd := p.Command(program, "-q", config)
	if p.Account != nil {
		require.NoError(t, os.Chown(dir, int(p.Account.Uid), int(p.Account.Gid)))
	}
	require.NoError(t, cmd.Start(), "this test needs PgBouncer (Debian: apt-get install pgbouncer)")
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return dir
}

// PgBouncer gives each session, each transaction or each statement another connection. It knows no prepared statements of older versions,
// so a pool whose connections change must not use them: the error says so.
func TestModes_PgBouncer(t *testing.T) {
	server, name := workspace(t)
	for _, c := range []struct{ pooling, mode, refused string }{
		{"session", "cache_statement", ""},
		{"transaction", "exec", ""},
		{"transaction", "simple_protocol", ""},
		{"transaction", "cache_statement", "set default_query_exec_mode=exec"},
		{"statement", "exec", "transaction blocks not allowed in statement pooling mode"},
	} {
		t.Run(c.pooling+" "+c.mode, func(t *testing.T) {
			dir := server.bouncer(t, c.pooling)
			pool, err := pgxpool.New(t.Context(), fmt.Sprintf("postgres://fleet@/postgres?host=%s&port=6432&default_query_exec_mode=%s", url.QueryEscape(dir), c.mode))
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			require.Eventually(t, func() bool { return pool.Ping(t.Context()) == nil }, 30*time.Second, 10*time.Millisecond)
			store, err := New(pool, Config{Workspace: name + c.pooling + c.mode})
			require.NoError(t, err)
			require.NoError(t, AddWorkspace(t.Context(), server.pool(t, ""), store.Workspace()))
			if c.refused == "" {
				usesAll(t, store)
				return
			}
			require.Eventually(t, func() bool { // until a connection meets what another one has prepared
				var all sync.WaitGroup
				failures := make([]error, 8)
				for i := range failures {
					all.Go(func() {
						failures[i] = store.Spend(strconv.Itoa(i)).Update(t.Context(), func([]byte) ([]byte, error) { return nil, nil })
					})
				}
				all.Wait()
				err = errors.Join(failures...)
				return err != nil
			}, 30*time.Second, time.Millisecond)
			require.ErrorContains(t, err, c.refused)
		})
	}
}
