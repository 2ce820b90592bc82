package main

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// A name selects the lists that contain it, each row tells of which list it is, and no list is an empty file.
func TestTheNamedLists(t *testing.T) {
	t.Parallel()
	sb := sandbox.New(t)
	sb.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(sandbox.Row{"firstName": "Ada"})})
		tx.CreateList(sandbox.List{Name: "Berlin, old", Rows: sandbox.Rows(sandbox.Row{"firstName": "Alan"})})
		tx.CreateList(sandbox.List{Name: "Paris", Rows: sandbox.Rows(sandbox.Row{"firstName": "Kurt"})})
	})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "rows.csv")
	for name, want := range map[string]string{
		"Berlin": "\"Berlin, old\",Alan,,,\nBerlin,Ada,,,\n", "old": "\"Berlin, old\",Alan,,,\n", "Rome": "",
	} {
		require.NoError(t, run(t.Context(), client, name, file))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(text), name)
	}
}

// Whatever fails, and wherever the program is stopped, the file is whole, or that of an earlier run.
func TestEveryFailure(t *testing.T) {
	const older = "older"
	var whole string
	sandbox.EveryFailure(t, func(start *sandbox.Run) error {
		client, err := prospectkit.New(start.BaseURL(), start.Token(), prospectkit.WithTransport(start.Transport()))
		require.NoError(start, err)
		return run(start.Context(), client, "", filepath.Join(start.Dir(), "rows.csv"))
	}, func(start *sandbox.Run) error {
		text, err := os.ReadFile(filepath.Join(start.Dir(), "rows.csv"))
		require.NoError(start, err)
		whole = cmp.Or(whole, string(text)) // of the first run
		require.NotEqual(start, older, whole)
		if start.Err() == nil || string(text) != older {
			require.Equal(start, whole, string(text))
		}
		return nil
	}, sandbox.Seed(fixture.Small(1)), sandbox.Setup(func(start *sandbox.Run) {
		require.NoError(start, os.WriteFile(filepath.Join(start.Dir(), "rows.csv"), []byte(older), 0o600))
	}))
}
