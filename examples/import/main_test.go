package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, wherever it is stopped, and however often it is run, a file is imported once. If it says that it was, it was; if it says that it
// may have been, a person looks.
func TestEveryFailure(t *testing.T) {
	var said bytes.Buffer // by all starts of a run
	program := func(run *sandbox.Run) error {
		j, err := journal.Open(filepath.Join(run.Dir(), "writes.journal"), "acme")
		require.NoError(run, err)
		defer j.Close() // also if it is stopped: another start needs the file
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j))
		require.NoError(run, err)
		for range 2 {
			if err := importOnce(run.Context(), client, "contacts.csv", []byte(contacts), &said); err != nil {
				return err
			}
		}
		return nil
	}
	setup := sandbox.Setup(func(*sandbox.Run) { said.Reset() })
	for _, more := range [][]sandbox.SweepOption{nil, {sandbox.Twice(), sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost, sandbox.StopAfter)}} {
		sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
			done := len(run.Imports())
			sure := strings.Contains(said.String(), ": imported") // also "imported before"
			if done > 1 || sure && done == 0 || done == 0 && run.Err() == nil && !strings.Contains(said.String(), "perhaps") {
				return fmt.Errorf("%d imports: it said %q, and returned %w", done, said.String(), run.Err())
			}
			return nil
		}, append(more, sandbox.RestartAfter(time.Minute), setup)...)
	}
	docruns.Example(t, program, setup)
}

// What a person has settled as not applied is imported by the next run.
func TestAfterTheLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, j := sandbox.New(t), journal.NewMemory("acme")
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j))
		require.NoError(t, err)
		run := func() string {
			var said bytes.Buffer
			require.NoError(t, importOnce(t.Context(), client, "contacts.csv", []byte(contacts), &said))
			return said.String()
		}
		sb.Fail("imports.create", sandbox.Nth(1), sandbox.DropBefore())
		for range 2 {
			require.Contains(t, run(), "perhaps imported")
			require.Equal(t, 1, sb.Calls("imports.create"))
		}
		for ticket, err := range j.InDoubt(t.Context()) {
			require.NoError(t, err)
			require.NoError(t, j.Ended(t.Context(), ticket.ID, journal.End{Outcome: journal.NotApplied}))
		}
		require.Contains(t, run(), ": imported\n")
		require.Contains(t, run(), ": imported before\n")
		require.Equal(t, 2, sb.Calls("imports.create"))
	})
}

func TestDemo(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, demo(t.Context(), filepath.Join(t.TempDir(), "import.journal"), &out))
	require.Equal(t, "contacts.csv: imported\ncontacts.csv: imported before\n", out.String())
}
