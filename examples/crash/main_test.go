package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// TestMain makes this test binary the program that is killed.
func TestMain(m *testing.M) {
	if os.Getenv(workerVar) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// However it is killed, it ends with what was asked for: supervise fails otherwise.
func TestCrash(t *testing.T) {
	var out strings.Builder
	require.NoError(t, supervise(t.Context(), &out), "%s", &out)
	require.Equal(t, crashes, strings.Count(out.String(), "  killed: "), "%s", &out)
	require.Contains(t, out.String(), "Nothing is missing, and nothing was done twice.")
}

// Whatever fails, and wherever it is stopped, it pushes no list twice and starts no agent twice. If it says that it is done, it is.
func TestEveryFailure(t *testing.T) {
	path := ""
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		j, err := journal.File(path)
		require.NoError(run, err)
		defer j.Close() // also if it is stopped: another start needs the file
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j))
		require.NoError(run, err)
		if err := settle(run.Context(), client, io.Discard); err != nil {
			return err
		}
		return work(run.Context(), client, path)
	}, doneOnce, sandbox.RestartAfter(10*time.Minute), sandbox.Setup(func(run *sandbox.Run) {
		path = filepath.Join(t.TempDir(), "journal")
		run.Do(func(tx *sandbox.Tx) { tx.ConnectCRM(crm) })
	}))
}

func doneOnce(run *sandbox.Run) error {
	pushes, starts := map[string]int{}, 0
	for _, p := range run.CRMPushes() {
		if pushes[p.ListID]++; pushes[p.ListID] > 1 {
			return errors.New("a list was pushed twice")
		}
	}
	for _, entry := range run.Journal() {
		if entry.Op == "agents.activate" && entry.Processed {
			starts++
		}
	}
	done := len(pushes) == len(wanted) && starts == 1
	if starts > 1 || run.Err() == nil && !done {
		return fmt.Errorf("%d starts, %d pushes, error %w", starts, len(pushes), run.Err())
	}
	return nil
}

// A person looks after pushes only: the program finds out about the rest itself.
func TestPerson(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	j, err := journal.File(path)
	require.NoError(t, err)
	for _, ticket := range []journal.Ticket{{ID: "1", Op: "lists.create"}, {ID: "2", Op: "lists.crm-push", IDs: []string{"a"}}} {
		require.NoError(t, j.Sending(t.Context(), ticket))
	}
	require.NoError(t, j.Close())

	require.NoError(t, person(t.Context(), sandbox.New(nil), path, io.Discard))
	j, err = journal.File(path)
	require.NoError(t, err)
	defer j.Close()
	var left []string
	for ticket, err := range j.InDoubt(t.Context()) {
		require.NoError(t, err)
		left = append(left, ticket.ID)
	}
	require.Equal(t, []string{"1"}, left)
}
