package pgpool

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/proofs/need"
)

// place is a directory of a server, and the account it runs under: PostgreSQL refuses root.
type place struct {
	dir     string
	account *syscall.Credential
}

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // the name of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := place{dir: dir}
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, _ := strconv.ParseUint(owner.Uid, 10, 32)
		gid, _ := strconv.ParseUint(owner.Gid, 10, 32)
		require.NoError(t, os.Chown(dir, int(uid), int(gid)))
		p.account = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return p
}

// command is a program that writes its log into the directory.
func (p place) command(t *testing.T, program, debian string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), need.Program(t, program, debian), args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: p.account}, p.dir
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

// start starts a program that a signal ends with the test.
func (p place) start(t *testing.T, stop os.Signal, program, debian string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := p.command(t, program, debian, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(stop) }
	cmd.WaitDelay = 10 * time.Second
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Signal(stop); _ = cmd.Wait() })
	return cmd
}

func (p place) log() string  { return filepath.Join(p.dir, "log") }
func (p place) data() string { return filepath.Join(p.dir, "data") }

// logged is what the server has logged, line by line.
func (p place) logged(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(p.log())
	require.NoError(t, err)
	return strings.Split(string(text), "\n")
}

func (p place) postgres(t *testing.T, settings ...string) *exec.Cmd {
	t.Helper()
	args := []string{"-D", p.data(), "-k", p.dir, "-F"}
	for _, setting := range append([]string{"listen_addresses=", "log_statement=all", "max_connections=200"}, settings...) {
		args = append(args, "-c", setting)
	}
	cmd := p.start(t, os.Interrupt, "postgres", "postgresql", args...)
	p.connected(t, p.url())
	return cmd
}

func (p place) url() string { return "postgres://fleet@/postgres?host=" + url.QueryEscape(p.dir) }

// startPrimary starts an empty server.
func startPrimary(t *testing.T) (place, *exec.Cmd) {
	t.Helper()
	p := newPlace(t)
	require.NoError(t, p.command(t, "initdb", "postgresql", "-D", p.data(), "-U", "fleet", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync").Run())
	return p, p.postgres(t)
}

// startStandby starts a copy of a server as it is now. It shows late what the primary does from now on.
func startStandby(t *testing.T, primary place, late time.Duration) place {
	t.Helper()
	p := newPlace(t)
	require.NoError(t, p.command(t, "pg_basebackup", "postgresql", "-h", primary.dir, "-U", "fleet", "-D", p.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync").Run())
	p.postgres(t, fmt.Sprintf("recovery_min_apply_delay=%d", late.Milliseconds()))
	return p
}

// startPgpool starts Pgpool-II before both, with settings in addition to those that it needs. By its weights, all that it balances goes
// to the standby. It returns where it listens.
func startPgpool(t *testing.T, primary, standby place, settings ...string) string {
	t.Helper()
	p := newPlace(t)
	port, pcp := need.Port(t), need.Port(t)
	config := filepath.Join(p.dir, "pgpool.conf")
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
`, primary.dir, standby.dir, p.dir, port, pcp, strings.Join(settings, "\n"))
	require.NoError(t, os.WriteFile(config, []byte(text), 0o644))
	p.start(t, os.Interrupt, "pgpool", "pgpool2", "-n", "-f", config)
	address := fmt.Sprintf("postgres://fleet@127.0.0.1:%s/postgres?sslmode=disable&default_query_exec_mode=exec", port)
	p.connected(t, address)
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

// connected waits until a server accepts.
func (p place) connected(t *testing.T, address string) {
	t.Helper()
	pool := connect(t, address)
	for until := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := pool.Ping(t.Context())
		if err == nil {
			return
		}
		require.True(t, time.Now().Before(until), "%s: %v", strings.Join(p.logged(t), "\n"), err)
	}
}
