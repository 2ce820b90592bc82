// Package fleettest tests a store of budgets with a fleet of real processes, which are the test binary again.
package fleettest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
)

// The fleet of every test. Its sandbox serves so many requests a minute.
const (
	Processes  = 8
	Goroutines = 8
	PerMinute  = 600
	jobEnv     = "PROSPECTKIT_FLEET_JOB"
)

// Open opens the store of a process. The address is what the test said.
type Open func(address string) (store ratelimit.Store, stop func(), err error)

// Store is a store of a test.
type Store struct {
	Address string       // for [Open]
	Kill    func()       // like a crash
	Start   func() error // after a crash
}

// job is what a process of the fleet is told.
type job struct {
	Address, BaseURL, Token string
	Until                   time.Time
}

// Main works and exits if this process is one of a fleet. Call it first in TestMain.
func Main(open Open) {
	text := os.Getenv(jobEnv)
	if text == "" {
		return
	}
	if err := work(text, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// work reads lists from many goroutines, as fast as the budget lets them.
func work(text string, open Open) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	store, stop, err := open(j.Address)
	if err != nil {
		return err
	}
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	budget := prospectkit.NewBudget(prospectkit.BudgetConfig{Store: store, Processes: Processes, Logger: log})
	client, err := prospectkit.New(j.BaseURL, j.Token, prospectkit.WithBudget(budget))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background()) // no deadline, or calls would give up early
	time.AfterFunc(time.Until(j.Until), cancel)
	var all sync.WaitGroup
	failures := make([]error, Goroutines)
	for i := range failures {
		all.Go(func() {
			for failures[i] == nil {
				_, failures[i] = client.Lists.Page(ctx, prospectkit.ListsParams{}, prospectkit.WithMaxWait(time.Hour))
			}
			if errors.Is(failures[i], context.Canceled) {
				failures[i] = nil
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// shifted is real time that can be moved forward, so that a test sees a window end without sitting through it.
type shifted struct {
	sandbox.Clock
	by atomic.Int64
}

func (c *shifted) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.by.Load())) }

// service is a sandbox on a port, whose first minute has so much left.
func service(t *testing.T, left time.Duration) (*sandbox.Sandbox, string) {
	t.Helper()
	clock := &shifted{Clock: sandbox.RealClock()}
	sb := sandbox.New(t, sandbox.WithClock(clock), sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: PerMinute, PerDay: 100_000}}))
	server, err := sb.Listen(context.Background(), "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	client, err := prospectkit.New(server.BaseURL(), sb.Token())
	require.NoError(t, err)
	_, err = client.Lists.Page(t.Context(), prospectkit.ListsParams{})
	require.NoError(t, err)
	clock.by.Store(int64(time.Minute - left))
	return sb, server.BaseURL()
}

// launch starts the fleet for 45 seconds, and returns what waits for its end and returns what each process logged.
func launch(t *testing.T, address, url, token string) func() []string {
	t.Helper()
	text, err := json.Marshal(job{address, url, token, time.Now().Add(45 * time.Second)})
	require.NoError(t, err)
	commands, logs := make([]*exec.Cmd, Processes), make([]bytes.Buffer, Processes)
	for i := range commands {
		commands[i] = exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // it is this test
		commands[i].Env = append(os.Environ(), fmt.Sprintf("%s=%s", jobEnv, text))
		commands[i].Stderr = &logs[i]
		require.NoError(t, commands[i].Start())
	}
	return func() (lines []string) {
		for i, c := range commands {
			require.NoError(t, c.Wait(), logs[i].String())
			lines = append(lines, logs[i].String())
		}
		return lines
	}
}

// used counts the requests that the sandbox served, and those that it refused.
func used(t *testing.T, sb *sandbox.Sandbox, lines []string) (good, refused int) {
	t.Helper()
	for _, e := range sb.Journal() {
		switch e.Status {
		case http.StatusOK:
			good++
		case http.StatusTooManyRequests:
			refused++
		}
	}
	t.Logf("two windows of %d: %d served, %d refused; the store was away %d times", PerMinute, good, refused,
		strings.Count(strings.Join(lines, ""), "store is unavailable"))
	return good, refused
}

// UsesTheQuota demands that a fleet uses 1,080 of 1,200 requests, with no 429. A process that does not reach the store for a moment, as
// on a busy machine, changes neither.
func UsesTheQuota(t *testing.T, s Store) {
	t.Helper()
	sb, url := service(t, 10*time.Second)
	good, refused := used(t, sb, launch(t, s.Address, url, sb.Token())())
	require.Zero(t, refused)
	require.GreaterOrEqual(t, good, 2*PerMinute*90/100)
}

// OutlivesTheStore kills the store, and starts it 20 seconds later.
func OutlivesTheStore(t *testing.T, s Store) {
	t.Helper()
	sb, url := service(t, 20*time.Second)
	wait := launch(t, s.Address, url, sb.Token())
	time.Sleep(5 * time.Second)
	s.Kill()
	time.Sleep(20 * time.Second)
	require.NoError(t, s.Start())
	lines := wait()
	good, refused := used(t, sb, lines)
	require.LessOrEqual(t, refused, Processes*Goroutines, "one for each call in flight is what the documentation admits")
	require.GreaterOrEqual(t, good, 2*PerMinute*60/100)
	for _, log := range lines {
		require.Contains(t, log, "store is unavailable")
		require.Contains(t, log, "store is back")
	}
}
