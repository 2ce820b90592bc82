package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
)

var killsFlag = flag.Int("kills", 6, "how often TestFile_Killed kills its program")

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
		server.control(t, "journal", &all)
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

// startSandbox starts the sandbox command.
func startSandbox(t *testing.T) service {
	t.Helper()
	state, err := json.Marshal(tests.EveryState(time.Now(), time.Now().AddDate(20, 0, 0)))
	require.NoError(t, err)
	seed := filepath.Join(t.TempDir(), "seed.json")
	require.NoError(t, os.WriteFile(seed, state, 0o600))
	args := []string{"-seed", seed, "-limits", "off", "-credits", "1000000000"}
	for _, f := range []string{"every=5:code=RATE_LIMITED:retry-after=0", "every=4:status=502:applied", "every=7:drop-after", "every=11:drop-before"} {
		args = append(args, "-fault", "lists.create:"+f, "-fault", "lists.add-contacts:"+f)
	}
	s, _ := startService(t, args...)
	return s
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
	cmd, said := child(t, []string{asWriter + "=" + string(text)})
	_, err = said.Read(make([]byte, 1)) // its journal is open
	require.NoError(t, err)
	time.Sleep(after)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// write writes from four goroutines until it is killed.
func write(text string) error {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return err
	}
	file, err := journal.Open(o.Path, "acme")
	if err != nil {
		return err
	}
	client, err := prospectkit.New(o.BaseURL, o.Token, prospectkit.WithJournal(file))
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
