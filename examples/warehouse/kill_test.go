package main

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

const (
	kills     = 20
	killRows  = 4000
	killLists = 4
)

// killer serves a sandbox, and kills the process that talks to it.
type killer struct {
	sandbox http.Handler
	after   atomic.Int64 // requests; the process dies some time after so many
	delay   atomic.Int64
	process atomic.Pointer[os.Process]
}

func (k *killer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if k.after.Add(-1) == 0 {
		time.AfterFunc(time.Duration(k.delay.Load()), func() { _ = k.process.Load().Kill() })
	}
	k.sandbox.ServeHTTP(w, r)
}

// killing is a sandbox in which nothing is limited, its killer, and the program as a process.
type killing struct {
	*sandbox.Sandbox
	killer *killer
	server *httptest.Server
	random *rand.Rand
	args   []string
	env    []string
}

func newKilling(t *testing.T, args ...string) *killing {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	state := fixture.Build(fixture.Config{Seed: 1, ContactLists: killLists - 1, CompanyLists: 1, Rows: killRows})
	sb := sandbox.New(t, sandbox.Seed(state), sandbox.NoLimits())
	k := &killing{Sandbox: sb, killer: &killer{sandbox: sb.Handler()}, random: rand.New(rand.NewPCG(seed, 1))}
	k.server = httptest.NewServer(k.killer)
	t.Cleanup(k.server.Close)
	k.args = append(args, "-page", "20", "-trust-headers")
	k.env = append(os.Environ(), childVar+"=1", prospectkit.EnvBaseURL+"="+k.server.URL+"/api/v1", prospectkit.EnvToken+"="+sb.Token())
	return k
}

// start runs the program; with a number of requests it is killed some time after so many.
func (k *killing) start(t *testing.T, requests int) (output string, err error) {
	t.Helper()
	var out strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0], k.args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = k.env, &out, &out
	require.NoError(t, cmd.Start())
	k.killer.process.Store(cmd.Process)
	k.killer.delay.Store(k.random.Int64N(int64(6 * time.Millisecond)))
	k.killer.after.Store(int64(requests))
	err = cmd.Wait()
	return out.String(), err
}

// survives kills the program at random points of one run, then lets it end.
func (k *killing) survives(t *testing.T, s *store) {
	t.Helper()
	for range kills {
		out, err := k.start(t, 1+k.random.IntN(8))
		exit := new(exec.ExitError)
		require.ErrorAs(t, err, &exit, out)
		require.False(t, exit.Exited(), out)
	}
	out, err := k.start(t, 0)
	require.NoError(t, err, out)
	require.Contains(t, out, "It continued where an earlier process had stopped.")
	requireCopy(t, k.Sandbox, s)
	require.Equal(t, 1, number(t, s, `SELECT COUNT(*) FROM runs`))
	require.Equal(t, killRows, number(t, s, `SELECT COUNT(*) FROM list_rows WHERE first_run = 1 AND changed_run = 1`))
	require.Equal(t, killLists, number(t, s, `SELECT SUM(walk) FROM lists`), "each list was walked over once, in pieces")
}

func TestKilledAtRandomPoints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "warehouse.db")
	k := newKilling(t, "-db", file)
	s, err := open(t.Context(), file, "")
	require.NoError(t, err)
	defer s.Close()
	k.survives(t, s)
}

// A teammate changes something between any two pages, while the program is killed: rows that lived all the time are there after
// any run that ends, and once the lists stop changing, all of them.
func TestKilledWhileListsMove(t *testing.T) {
	file := filepath.Join(t.TempDir(), "warehouse.db")
	k := newKilling(t, "-db", file)
	s, err := open(t.Context(), file, "")
	require.NoError(t, err)
	defer s.Close()
	var mu sync.Mutex // requests of a killed process may still be in flight
	touched, moving, random := map[string]bool{}, true, rand.New(rand.NewPCG(k.random.Uint64(), 1))
	k.Between("lists.rows", func(tx *sandbox.Tx) {
		mu.Lock()
		defer mu.Unlock()
		if moving {
			touched[k.mutate(t, tx, random)] = true
		}
	})
	for range 8 {
		_, _ = k.start(t, 10+k.random.IntN(60)) // killed, or done
	}
	out, err := k.start(t, 0)
	require.NoError(t, err, out)

	mu.Lock()
	moving = false
	mu.Unlock()
	stored := map[string]bool{}
	require.NoError(t, s.records(t.Context(), func(r *record) error { stored[r.ListID+" "+r.ID] = true; return nil }))
	for _, l := range k.Lists() {
		for _, raw := range k.Rows(l.ID) {
			id := l.ID + " " + rowID(t, raw)
			require.True(t, l.System || touched[id] || stored[id], "a row that lived all the time is missing: %s", id)
		}
	}
	out, err = k.start(t, 0)
	require.NoError(t, err, out)
	requireCopy(t, k.Sandbox, s)
}

// mutate adds a row anywhere, removes one, changes one, or does nothing. It returns which.
func (k *killing) mutate(t *testing.T, tx *sandbox.Tx, random *rand.Rand) (touched string) {
	t.Helper()
	lists := k.Lists()
	l := lists[random.IntN(len(lists))]
	rows := k.Rows(l.ID)
	at := random.IntN(len(rows))
	id := rowID(t, rows[at])
	switch random.IntN(6) {
	case 0:
		id = tx.InsertRows(l.ID, at, sandbox.Row{"firstName": "New " + strconv.Itoa(tx.Gap()), "createdAt": now(), "updatedAt": now()})[0]
	case 1:
		tx.RemoveRows(l.ID, id)
	case 2:
		edit(t, k.Sandbox, l.ID, at, time.Now())
	default:
	}
	return l.ID + " " + id
}
