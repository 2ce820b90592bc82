package prospectpg

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

var killsFlag = flag.Int("kills", 30, "how many workers TestFleetIsKilled kills")

// jobEnv is the environment of a process that writes, which is this test binary again.
const jobEnv = "PROSPECTPG_TEST_JOB"

// job is what such a process is told.
type job struct {
	DSN, Workspace, BaseURL, Token string
	Stop                           string // the file that ends the writing, once it is there
	Verdicts                       string // the file for them
}

// writing reports whether the test still kills.
func (j job) writing() bool {
	_, err := os.Stat(j.Stop)
	return err != nil
}

// process is one that has yet to start.
func process(t *testing.T, j job) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	require.NoError(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s", jobEnv, text))
	return cmd
}

// write creates lists until it is told to stop, and resolves what it finds in doubt until nothing is.
func write(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	pool, err := pgxpool.New(context.Background(), j.DSN)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := New(pool, Config{Workspace: j.Workspace, Lease: 2 * time.Second})
	if err != nil {
		return err
	}
	client, err := prospectkit.New(j.BaseURL, j.Token, prospectkit.WithJournal(store))
	if err != nil {
		return err
	}
	ctx := context.Background()
	for j.writing() { // a ticket that says nothing of the clock of the service needs a person
		if _, err := client.Account.Me(ctx); err == nil {
			break
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for j.writing() {
			_, _ = client.Lists.Create(ctx, prospectkit.NewList{Name: rand.Text()})
			time.Sleep(20 * time.Millisecond) // each verdict reads all lists
		}
	}()
	verdicts, err := os.OpenFile(j.Verdicts, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for {
		found, _ := client.Recover(ctx) // the database may be away
		for _, d := range found.Settled {
			if _, err := fmt.Fprintln(verdicts, d.Ticket.ID); err != nil {
				return err
			}
		}
		select {
		case <-done:
			if open, err := unsettled(ctx, store); err == nil && open == 0 {
				return verdicts.Close()
			}
		default:
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func unsettled(ctx context.Context, s *Store) (n int, err error) {
	for e, err := range s.Entries(ctx, "") {
		if err != nil {
			return 0, err
		}
		if e.Outcome == journal.Unknown {
			n++
		}
	}
	return n, nil
}

// Workers are killed at random, and the database three times. Every request has a ticket, every ticket is settled, with the truth, and
// no verdict is given twice.
func TestFleetIsKilled(t *testing.T) {
	t.Parallel()
	sb := sandbox.New(t, sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: 1 << 20, PerDay: 1 << 21}}))
	sb.Fail("lists.create", sandbox.Every(7), sandbox.DropAfter())
	sb.Fail("lists.create", sandbox.Every(97), sandbox.DropBefore())
	api := httptest.NewServer(sb.Handler())
	t.Cleanup(api.Close)
	database := startPostgres(t)
	database.prepare(t, "acme")
	dir := t.TempDir()
	j := job{
		DSN: database.DSN(""), Workspace: "acme", BaseURL: api.URL + "/api/v1", Token: sb.Token(),
		Stop: filepath.Join(dir, "stop"), Verdicts: filepath.Join(dir, "verdicts"),
	}
	workers := make([]*exec.Cmd, 4)
	for i := range workers {
		workers[i] = process(t, j)
		require.NoError(t, workers[i].Start())
	}
	for kill := range *killsFlag {
		time.Sleep(300 * time.Millisecond)
		if kill%10 == 5 {
			database.Kill()
			require.NoError(t, database.Start(t.Context()))
		}
		i := kill % len(workers)
		require.NoError(t, workers[i].Process.Kill())
		require.Error(t, workers[i].Wait())
		workers[i] = process(t, j)
		require.NoError(t, workers[i].Start())
	}
	require.NoError(t, os.WriteFile(j.Stop, nil, 0o600))
	for _, w := range workers {
		require.NoError(t, w.Wait())
	}
	judge(t, sb, database.store(t, "acme"), j.Verdicts)
}

// judge compares what the service did with what the journal says.
func judge(t *testing.T, sb *sandbox.Sandbox, store *Store, verdicts string) {
	t.Helper()
	lists := map[string]int{}
	for _, l := range sb.Snapshot().Workspaces[0].Lists {
		lists[l.Name]++
	}
	outcomes := map[journal.Outcome]int{}
	for _, e := range entriesOf(t, store, "") {
		outcomes[e.Outcome]++
		made := lists[e.Ticket.Lookup.Name]
		require.Equal(t, map[journal.Outcome]int{journal.Applied: 1}[e.Outcome], made, "%s: %s", e.Ticket.Lookup.Name, e.Outcome)
		delete(lists, e.Ticket.Lookup.Name)
	}
	require.Zero(t, outcomes[journal.Unknown])
	require.Empty(t, slices.Collect(maps.Keys(lists)), "a list without a ticket")
	text, err := os.ReadFile(verdicts)
	require.NoError(t, err)
	given := strings.Fields(string(text))
	once := slices.Compact(slices.Sorted(slices.Values(given)))
	require.Len(t, given, len(once), "a verdict was given twice")
	require.NotEmpty(t, given)
	t.Logf("tickets %v, verdicts %d", outcomes, len(given))
}
