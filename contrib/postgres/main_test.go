package prospectpg

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(jobEnv); job != "" {
		if err := write(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if programs() == "" {
		fmt.Fprintln(os.Stderr, "these tests need initdb and postgres (Debian: apt-get install postgresql)")
		os.Exit(1)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil { // tests of fleets mostly wait
		panic(err)
	}
	status := m.Run()
	if everyone.server != nil {
		everyone.server.remove()
	}
	os.Exit(status)
}

// programs is the directory of PostgreSQL's programs, which Debian keeps off the path.
func programs() string {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	dirs = append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
	i := slices.IndexFunc(dirs, func(dir string) bool {
		_, noServer := os.Stat(filepath.Join(dir, "postgres"))
		_, noInit := os.Stat(filepath.Join(dir, "initdb"))
		return noServer == nil && noInit == nil
	})
	if i < 0 {
		return ""
	}
	return dirs[i]
}

// server is a PostgreSQL of the test's own, on a socket in its own directory.
type server struct {
	dir     string
	account *syscall.Credential // it refuses to run as root
	more    []string            // settings that others do not have
	cmd     *exec.Cmd
	exited  chan struct{}
}

func startPostgres(t *testing.T) *server {
	t.Helper()
	p, err := newPostgres()
	require.NoError(t, err)
	t.Cleanup(p.remove)
	return p
}

// everyone is the server of all tests that do not stop it. Each has a workspace of its own.
var everyone struct {
	sync.Mutex

	server *server
	count  int
}

// workspace is a name that no other test has, in a database that they share.
func workspace(t *testing.T) (*server, string) {
	t.Helper()
	everyone.Lock()
	defer everyone.Unlock()
	if everyone.server == nil {
		p, err := newPostgres()
		require.NoError(t, err)
		everyone.server = p
		p.prepare(t)
	}
	everyone.count++
	name := fmt.Sprint("workspace ", everyone.count)
	require.NoError(t, AddWorkspace(t.Context(), everyone.server.pool(t, ""), name))
	return everyone.server, name
}

func newPostgres() (*server, error) {
	p, err := newServer()
	if err != nil {
		return nil, err
	}
	return p, errors.Join(p.init(), p.start())
}

// newServer is one without data.
func newServer() (*server, error) {
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	p := &server{dir: dir}
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.ParseUint(owner.Uid, 10, 32)
		gid, _ := strconv.ParseUint(owner.Gid, 10, 32)
		if err := os.Chown(dir, int(uid), int(gid)); err != nil {
			return nil, err
		}
		p.account = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return p, nil
}

// init makes an empty cluster.
func (p *server) init() error {
	if err := os.RemoveAll(p.data()); err != nil {
		return err
	}
	return p.run("initdb", "-D", p.data(), "-U", "fleet", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync")
}

// run runs a program of PostgreSQL to its end.
func (p *server) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(programs(), program), args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: p.account}, p.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// start runs the server with what is hard for a client: little durability, odd dates, a strict isolation.
func (p *server) start() error {
	args := []string{"-D", p.data(), "-k", p.dir, "-F"}
	for _, setting := range append([]string{
		"listen_addresses=", "synchronous_commit=off", "wal_writer_delay=10s", "default_transaction_isolation=serializable",
		"TimeZone=Asia/Kathmandu", "DateStyle=SQL, DMY", "IntervalStyle=sql_standard", "bytea_output=escape", "max_connections=300",
	}, p.more...) {
		args = append(args, "-c", setting)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		if err := p.launch(args); err != nil {
			return err
		}
		if p.accepts(ctx) {
			return nil
		}
		if ctx.Err() != nil {
			text, _ := os.ReadFile(filepath.Join(p.dir, "log"))
			return fmt.Errorf("postgres does not start: %w: %s", ctx.Err(), text)
		}
		time.Sleep(50 * time.Millisecond) // processes of the killed one still end
	}
}

func (p *server) launch(args []string) error {
	cmd := exec.Command(filepath.Join(programs(), "postgres"), args...)
	cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Credential: p.account}, p.dir
	log, err := os.OpenFile(filepath.Join(p.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	exited := make(chan struct{})
	p.cmd, p.exited = cmd, exited
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait(); close(exited) }()
	return nil
}

// accepts waits until it takes connections, or has ended.
func (p *server) accepts(ctx context.Context) bool {
	for ctx.Err() == nil {
		if conn, err := pgx.Connect(ctx, p.dsn("")); err == nil {
			return conn.Close(ctx) == nil
		}
		select {
		case <-p.exited:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

func (p *server) data() string { return filepath.Join(p.dir, "data") }

// kill ends all of its processes at once, as a crash does. Each is in a group of its own.
func (p *server) kill() {
	pid := p.cmd.Process.Pid
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)) // elsewhere they see that the server is gone
	_ = p.cmd.Process.Kill()
	for child := range strings.FieldsSeq(string(children)) {
		if pid, err := strconv.Atoi(child); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	<-p.exited
}

func (p *server) remove() {
	p.kill()
	if err := os.RemoveAll(p.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(os.Stderr, err)
	}
}

func (p *server) dsn(options string) string {
	return "postgres://fleet@/postgres?host=" + url.QueryEscape(p.dir) + options
}

// pool is one process's. Options are those of the connection string, such as "&pool_max_conns=1".
func (p *server) pool(t *testing.T, options string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), p.dsn(options))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// prepare makes the tables, and adds workspaces.
func (p *server) prepare(t *testing.T, workspaces ...string) {
	t.Helper()
	pool := p.pool(t, "")
	require.NoError(t, Migrate(t.Context(), pool))
	for _, name := range workspaces {
		require.NoError(t, AddWorkspace(t.Context(), pool, name))
	}
}

// store is one process of a workspace.
func (p *server) store(t *testing.T, workspace string) *Store {
	t.Helper()
	store, err := New(p.pool(t, ""), Config{Workspace: workspace})
	require.NoError(t, err)
	return store
}
