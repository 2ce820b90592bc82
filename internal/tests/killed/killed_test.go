//go:build !js && !wasip1

package killed_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

var killsFlag = flag.Int("kills", 12, "how often TestFile_Killed kills its program")

// TestFile_Killed is the simulation made real, once: processes that the system kills, files, sockets, and the sandbox command in another
// process, which says what the program did. Everything else about crashes is in internal/simulation.
func TestFile_Killed(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 7))
	server := startSandbox(t)
	path := filepath.Join(t.TempDir(), "journal")
	var all evidence
	for kill := range *killsFlag {
		o := orders{Path: path, BaseURL: server.BaseURL, Token: server.Token, Generation: kill, Seed: random.Uint64()}
		after := time.Duration(random.Int64N(int64(150 * time.Millisecond)))
		if kill%6 == 5 {
			after = 2 * time.Second // long enough for a call that is retried
		}
		runAndKill(t, o, after)
		all = evidence{entries: map[string]journal.Entry{}}
		for e, err := range journal.Read(path) {
			require.True(t, err == nil || errors.Is(err, fs.ErrNotExist), "kill %d: %v", kill, err)
			all.entries[e.Ticket.Actor] = e
		}
		getJSON(t, server.ControlURL+"journal", &all)
		require.Empty(t, all.wrong(), "kill %d", kill)
	}
	t.Log(*killsFlag, "kills,", len(all.Requests), "requests,", len(all.entries), "tickets")
	require.NotEmpty(t, all.Requests)
}

// evidence is what the sandbox did, and what the dead processes left.
type evidence struct {
	Requests []struct {
		Operation, Query string
		Status           int
		Processed        bool
	}
	entries map[string]journal.Entry // by mark
}

// wrong holds one against the other. A request that is on its way may be missing: the next kill shows it.
func (e *evidence) wrong() (wrong []string) {
	processed, sent := map[string]bool{}, map[string]int{}
	for _, r := range e.Requests {
		values, _ := url.ParseQuery(r.Query)
		o, _ := op.ByName(r.Operation)
		mark := values.Get("mark")
		if mark == "" || o == nil || o.FreeRead() {
			continue
		}
		if r.Status != http.StatusTooManyRequests {
			sent[mark]++
		}
		processed[mark] = processed[mark] || r.Processed
		if _, ticket := e.entries[mark]; !ticket {
			wrong = append(wrong, fmt.Sprintf("no ticket: %+v", r))
		}
		if sent[mark] > 1 {
			wrong = append(wrong, fmt.Sprintf("sent twice: %+v", r))
		}
	}
	for mark, entry := range e.entries {
		if entry.Outcome == journal.NotApplied && processed[mark] || entry.Outcome == journal.Applied && !processed[mark] {
			wrong = append(wrong, fmt.Sprintf("%s is noted as %s, processed: %v", mark, entry.Outcome, processed[mark]))
		}
	}
	return wrong
}

type server struct{ BaseURL, Token, ControlURL string }

// startSandbox starts the sandbox command.
func startSandbox(t *testing.T) (s server) {
	t.Helper()
	state, err := os.Create(filepath.Join(t.TempDir(), "state.json"))
	require.NoError(t, err)
	_, err = tests.EveryState(time.Now(), time.Now().AddDate(20, 0, 0)).WriteTo(state)
	require.NoError(t, errors.Join(err, state.Close()))
	args := []string{"sandbox", "-json", "-seed", state.Name(), "-limits", "off", "-credits", "1000000000"}
	for _, f := range []string{"every=5:status=429:retry-after=0", "every=4:status=502:applied", "every=7:drop-after", "every=11:drop-before"} {
		args = append(args, "-fault", "lists.create:"+f, "-fault", "lists.add-contacts:"+f)
	}
	cmd := exec.CommandContext(t.Context(), tests.Built(t, tests.Path("cmd", "prospectkit")), args...)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	require.NoError(t, json.NewDecoder(stdout).Decode(&s))
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return s
}

func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	resp, err := (&http.Client{}).Get(address)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.NoError(t, json.NewDecoder(resp.Body).Decode(into))
}

// orders are what the program is started with, in its environment.
type orders struct {
	Path, BaseURL, Token string

	Generation int
	Seed       uint64
}

// runAndKill starts the program, and kills it after a while.
func runAndKill(t *testing.T, o orders, after time.Duration) {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), ordersVar+"="+string(text))
	said, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	_, err = said.Read(make([]byte, 1)) // its journal is open
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	require.NoError(t, err, "%s", &stderr)
}

// ordersVar makes this test binary the program that TestFile_Killed kills.
const ordersVar = "KILLED_ORDERS"

func TestMain(m *testing.M) {
	if orders := os.Getenv(ordersVar); orders != "" {
		fmt.Fprintln(os.Stderr, program(orders))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// program writes from four goroutines until it is killed.
func program(text string) error {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	file, err := journal.File(o.Path)
	if err != nil {
		return err
	}
	client, err := prospectkit.New(o.BaseURL, o.Token, prospectkit.WithJournal(file), tests.Unpaced())
	if err != nil {
		return err
	}
	fmt.Print(".")
	var all sync.WaitGroup
	for id := range 4 {
		random := rand.New(rand.NewPCG(o.Seed, uint64(id)))
		all.Go(func() {
			for n := 0; ; n++ {
				mark := fmt.Sprintf("%d.%d.%d", o.Generation, id, n)
				ctx, with := prospectkit.WithActor(context.Background(), mark), prospectkit.WithQuery("mark", mark)
				if random.IntN(2) == 0 {
					_, _ = client.Lists.Create(ctx, prospectkit.NewList{Name: "L " + mark}, with)
				} else {
					_, _ = tests.EveryCall["lists.add-contacts"](ctx, client, with)
				}
			}
		})
	}
	all.Wait()
	return nil
}
