package prospectpg

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/tests/pgserver"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(jobEnv); job != "" {
		if err := write(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if _, err := pgserver.Programs(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil { // tests of fleets mostly wait
		panic(err)
	}
	idle, moment = "20000", 10*time.Second
	status := m.Run()
	if everyone.server != nil {
		everyone.server.remove()
	}
	os.Exit(status)
}

// server is a PostgreSQL of the test's own.
type server struct{ *pgserver.Server }

// hard is what is hard for a client: little durability, odd dates, a strict isolation.
var hard = []string{
	"synchronous_commit=off", "wal_writer_delay=10s", "default_transaction_isolation=serializable",
	"TimeZone=Asia/Kathmandu", "DateStyle=SQL, DMY", "IntervalStyle=sql_standard", "bytea_output=escape", "max_connections=300",
}

func startPostgres(t *testing.T) *server {
	t.Helper()
	p, err := pgserver.Start(t.Context(), hard...)
	require.NoError(t, err)
	s := &server{p}
	t.Cleanup(s.remove)
	return s
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
		p, err := pgserver.Start(t.Context(), hard...)
		require.NoError(t, err)
		everyone.server = &server{p}
		everyone.server.prepare(t)
	}
	everyone.count++
	name := fmt.Sprint("workspace ", everyone.count)
	require.NoError(t, AddWorkspace(t.Context(), everyone.server.pool(t, ""), name))
	return everyone.server, name
}

func (p *server) remove() {
	if err := p.Remove(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// pool is one process's. Options are those of the connection string, such as "&pool_max_conns=1".
func (p *server) pool(t *testing.T, options string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), p.DSN(options))
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
