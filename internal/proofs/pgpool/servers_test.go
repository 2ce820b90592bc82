package pgpool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/proofs/need"
	"example.com/prospectkit/internal/tests/pgserver"
)

// settings are those of every server here.
var settings = []string{"log_statement=all", "max_connections=200"}

// startPrimary starts an empty server.
func startPrimary(t *testing.T) *pgserver.Server {
	t.Helper()
	need.Program(t, "postgres", "postgresql")
	p, err := pgserver.Start(t.Context(), settings...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Remove() })
	return p
}

// startStandby starts a copy of a server as it is now. It shows late what the primary does from now on.
func startStandby(t *testing.T, primary *pgserver.Server, late time.Duration) *pgserver.Server {
	t.Helper()
	p, err := pgserver.New(append(settings, fmt.Sprintf("recovery_min_apply_delay=%d", late.Milliseconds()))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Remove() })
	require.NoError(t, p.Run("pg_basebackup", "-h", primary.Dir, "-U", "fleet", "-D", p.Data(), "-R", "-X", "stream", "-c", "fast", "--no-sync"))
	require.NoError(t, p.Start(t.Context()))
	return p
}

// startPgpool starts Pgpool-II before both, with settings in addition to those that it needs. By its weights, all that it balances goes
// to the standby. It returns where it listens.
func startPgpool(t *testing.T, primary, standby *pgserver.Server, settings ...string) string {
	t.Helper()
	program := need.Program(t, "pgpool", "pgpool2")
	p, err := pgserver.New() // a directory, and an account
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Remove() })
	port, pcp := need.Port(t), need.Port(t)
	config := filepath.Join(p.Dir, "pgpool.conf")
	text := fmt.Sprintf(`backend_clustering_mode = 'streaming_replication'
backend_hostname0 = '%[1]s'
backend_port0 = 5432
backend_weight0 = 0
backend_hostname1 = '%[2]s'
backend_port1 = 5432
backend_weight1 = 1
listen_addresses = '127.0.0.1'
port = %[4]s
pcp_listen_addresses = ''
pcp_port = %[5]s
socket_dir = '%[3]s'
pcp_socket_dir = '%[3]s'
logdir = '%[3]s'
memqcache_oiddir = '%[3]s/cache'
pid_file_name = '%[3]s/pid'
enable_pool_hba = off
pool_passwd = ''
num_init_children = 40
sr_check_user = 'fleet'
sr_check_database = 'postgres'
sr_check_period = 1
%[6]s
`, primary.Dir, standby.Dir, p.Dir, port, pcp, strings.Join(settings, "\n"))
	require.NoError(t, os.WriteFile(config, []byte(text), 0o644))
	need.Start(t, p.Command(program, "-n", "-f", config), "127.0.0.1:"+port)
	address := fmt.Sprintf("postgres://fleet@127.0.0.1:%s/postgres?sslmode=disable&default_query_exec_mode=exec", port)
	pool := connect(t, address)
	require.Eventually(t, func() bool { return pool.Ping(t.Context()) == nil }, 30*time.Second, 50*time.Millisecond)
	return address
}

// connect is a pool of one process.
func connect(t *testing.T, address string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}
