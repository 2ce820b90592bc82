package redisbudget

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
	"example.com/prospectkit/sandbox"
)

// The fleet of every test: real processes, which are this test binary again.
const (
	processes  = 8
	goroutines = 8
	perMinute  = 600
	jobEnv     = "REDISBUDGET_TEST_JOB"
)

// job is what a process of the fleet is told.
type job struct {
	Socket, Prefix, BaseURL, Token string
	Until                          time.Time
}

// work is the life of such a process: its goroutines read lists as fast as the budget lets them.
func work(text string) error {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	redis := connect(j.Socket)
	defer func() { _ = redis.Close() }()
	store, err := New(redis, j.Prefix)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	budget := prospectkit.NewBudget(prospectkit.BudgetConfig{
		Store: store, StoreTimeout: 10 * time.Second, Processes: processes, Logger: log, // a busy machine is no slow Redis
	})
	client, err := prospectkit.New(j.BaseURL, j.Token, prospectkit.WithBudget(budget))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background()) // no deadline, or calls would give up early
	time.AfterFunc(time.Until(j.Until), cancel)
	var all sync.WaitGroup
	failures := make([]error, goroutines)
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
	sb := sandbox.New(t, sandbox.WithClock(clock), sandbox.Limits(map[string]sandbox.Limit{"lists": {PerMinute: perMinute, PerDay: 100_000}}))
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

// launch starts the fleet, and returns what waits for its end and returns what each process logged.
func launch(t *testing.T, j job) func() []string {
	t.Helper()
	text, err := json.Marshal(j)
	require.NoError(t, err)
	commands, logs := make([]*exec.Cmd, processes), make([]bytes.Buffer, processes)
	for i := range commands {
		commands[i] = exec.Command(os.Args[0])
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

// served counts the answers of the sandbox.
func served(sb *sandbox.Sandbox) (good, refused int) {
	for _, e := range sb.Journal() {
		switch e.Status {
		case http.StatusOK:
			good++
		case http.StatusTooManyRequests:
			refused++
		}
	}
	return good, refused
}

func TestFleetUsesTheQuotaAndEarnsNoRefusal(t *testing.T) {
	t.Parallel()
	sb, url := service(t, 10*time.Second)
	lines := launch(t, job{startRedis(t).socket, "fleet", url, sb.Token(), time.Now().Add(45 * time.Second)})()
	good, refused := served(sb)
	t.Logf("two windows of %d: %d answered, %d refused", perMinute, good, refused)
	require.Zero(t, refused)
	require.GreaterOrEqual(t, good, 2*perMinute*90/100)
	require.Empty(t, strings.Join(lines, ""))
}

// Redis dies and comes back empty.
func TestFleetOutlivesRedis(t *testing.T) {
	t.Parallel()
	sb, url := service(t, 20*time.Second)
	redis := startRedis(t)
	wait := launch(t, job{redis.socket, "fleet", url, sb.Token(), time.Now().Add(45 * time.Second)})
	time.Sleep(5 * time.Second)
	redis.kill()
	time.Sleep(20 * time.Second)
	require.NoError(t, redis.start())
	lines := wait()
	good, refused := served(sb)
	t.Logf("two windows of %d: %d answered, %d refused", perMinute, good, refused)
	require.LessOrEqual(t, refused, processes*goroutines, "one for each call in flight is what the documentation admits")
	require.GreaterOrEqual(t, good, 2*perMinute*60/100)
	for _, log := range lines {
		require.Equal(t, 1, strings.Count(log, "store is unavailable"), log)
		require.Equal(t, 1, strings.Count(log, "store is back"), log)
		require.Equal(t, 2, strings.Count(log, "rate budget:"), log) // go-redis has a log of its own
	}
}
