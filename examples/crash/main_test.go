package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// start is one start of the program.
func start(run *sandbox.Run) error {
	j, err := journal.Open(filepath.Join(run.Dir(), "journal"), "acme")
	require.NoError(run, err)
	defer j.Close() // also if it is stopped: another start needs the file
	client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j))
	require.NoError(run, err)
	return work(run.Context(), client)
}

// Whatever fails, wherever it is stopped, and however often a queue repeats it, it makes no list twice and pushes none twice. If it says that it is done, it is.
func TestEveryFailure(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) (err error) {
		for range 3 {
			if err = start(run); err == nil {
				return nil
			}
			time.Sleep(10 * time.Minute)
		}
		return err
	}, func(run *sandbox.Run) error {
		pushes := map[string]int{}
		for _, p := range run.Outbox() {
			if pushes[p.ListID]++; pushes[p.ListID] > 1 {
				return errors.New("a list was pushed twice")
			}
		}
		if lists := len(run.Lists()); lists > 3 || run.Err() == nil && (lists != 3 || len(pushes) != 3) {
			return fmt.Errorf("%d lists, %d pushes, error %w", lists, len(pushes), run.Err())
		}
		return nil
	}, sandbox.RestartAfter(10*time.Minute), sandbox.Setup(func(run *sandbox.Run) { run.Do(func(tx *sandbox.Tx) { tx.ConnectCRM(crm) }) }))
}

func TestDemo(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, demo(t.Context(), filepath.Join(t.TempDir(), "writes.journal"), &out))
	require.Contains(t, out.String(), "outcome unknown")
	require.Contains(t, out.String(), "work: <nil>\n3 lists were pushed, none twice\n")
}
