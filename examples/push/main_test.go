package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

func leads(sb *sandbox.Sandbox, contacts int) (listID string) {
	sb.Do(func(tx *sandbox.Tx) {
		tx.ConnectCRM("crm-1")
		var rows []sandbox.Row
		for n := range contacts {
			rows = append(rows, sandbox.Row{"email": fmt.Sprint(n, "@engines.example")})
		}
		listID = tx.CreateList(sandbox.List{Name: "Leads", Rows: sandbox.Rows(rows...)})
	})
	return listID
}

func ids(sb *sandbox.Sandbox, listID string) (ids []string) {
	for _, raw := range sb.Rows(listID) {
		var row struct{ ID string }
		_ = json.Unmarshal(raw, &row)
		ids = append(ids, row.ID)
	}
	return ids
}

// change is what a teammate does: the pages of the list shift.
func change(sb *sandbox.Sandbox, listID string) {
	sb.Do(func(tx *sandbox.Tx) {
		tx.RemoveRows(listID, ids(sb, listID)[0])
		tx.AddRows(listID, sandbox.Row{"email": "new@engines.example"})
	})
}

// Whatever fails, wherever it is stopped, and although the list changes between two pushes, it pushes nobody twice, and everybody but those whom
// it names.
func TestEveryFailure(t *testing.T) {
	pairs := []sandbox.SweepOption{sandbox.Twice(), sandbox.Only(sandbox.RequestLost, sandbox.ResponseLost, sandbox.StopAfter)}
	var said bytes.Buffer // by all starts of a run
	for _, more := range [][]sandbox.SweepOption{nil, pairs} {
		sandbox.EveryFailure(t, func(run *sandbox.Run) error {
			j, err := journal.Open(filepath.Join(run.Dir(), "writes.journal"), "acme")
			require.NoError(run, err)
			defer j.Close() // also if it is stopped: another start needs the file
			client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j))
			require.NoError(run, err)
			listID, file := run.Lists()[0].ID, filepath.Join(run.Dir(), "batches.json")
			if run.Starts() > 1 {
				change(run.Sandbox, listID)
			}
			if err := push(run.Context(), client.Lists, listID, file, &said); err != nil {
				return err
			}
			run.MayStop("between two pushes")
			change(run.Sandbox, listID)
			return push(run.Context(), client.Lists, listID, file, &said)
		}, func(run *sandbox.Run) error {
			pushed := map[string]int{}
			for _, p := range run.Outbox() {
				for _, id := range p.ContactIDs {
					if pushed[id]++; pushed[id] > 1 {
						return fmt.Errorf("%s was pushed twice", id)
					}
				}
			}
			for _, id := range ids(run.Sandbox, run.Lists()[0].ID) {
				if pushed[id] == 0 && !strings.Contains(said.String(), id) {
					return fmt.Errorf("%s was neither pushed nor named", id)
				}
			}
			return run.Err()
		}, append(more, sandbox.UntilDone(3), sandbox.Setup(func(run *sandbox.Run) {
			said.Reset()
			leads(run.Sandbox, 600)
		}))...)
	}
}

// What a person has settled as not applied is pushed by the next run, and what was pushed is named no more.
func TestAfterTheLook(t *testing.T) {
	sb := sandbox.New(t)
	listID, file, j := leads(sb, 1600), filepath.Join(t.TempDir(), "batches.json"), journal.NewMemory("acme")
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(j))
	require.NoError(t, err)
	run := func() string {
		var said bytes.Buffer
		require.NoError(t, push(t.Context(), client.Lists, listID, file, &said))
		return said.String()
	}
	sb.Fail("lists.crm-push", sandbox.Nth(1), sandbox.DropBefore())
	sb.Fail("lists.crm-push", sandbox.Nth(3), sandbox.DropAfter())
	all := ids(sb, listID)
	for range 2 {
		said := run()
		require.Equal(t, 2, strings.Count(said, "look in the CRM for"))
		require.Contains(t, said, all[0])
		require.Contains(t, said, all[1499])
		require.NotContains(t, said, all[500])
		require.Equal(t, 4, sb.Calls("lists.crm-push"))
	}
	outcome := journal.NotApplied
	for ticket, err := range j.InDoubt(t.Context()) {
		require.NoError(t, err)
		require.NoError(t, j.Ended(t.Context(), ticket.ID, journal.End{Outcome: outcome}))
		outcome = journal.Applied
	}
	require.Empty(t, run())
	require.Empty(t, run())
	pushed := []string{}
	for _, p := range sb.Outbox() {
		pushed = append(pushed, p.ContactIDs...)
	}
	require.ElementsMatch(t, all, pushed)
}

// A power cut may bring back the file before the last batches. Nobody is pushed twice, although the list has changed: the journal knows the keys.
func TestTheOldFile(t *testing.T) {
	sb := sandbox.New(t)
	listID, file := leads(sb, 600), filepath.Join(t.TempDir(), "batches.json")
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(journal.NewMemory("acme")))
	require.NoError(t, err)
	require.NoError(t, push(t.Context(), client.Lists, listID, file, io.Discard))
	require.NoError(t, os.Remove(file))
	require.NoError(t, push(t.Context(), client.Lists, listID, file, io.Discard), "the same contacts have the same keys")
	require.NoError(t, os.Remove(file))
	change(sb, listID)
	require.ErrorIs(t, push(t.Context(), client.Lists, listID, file, io.Discard), prospectkit.RuleOtherBody)
	require.Equal(t, 2, sb.Calls("lists.crm-push"))
}
