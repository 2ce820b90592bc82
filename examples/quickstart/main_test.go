package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// Texts that could be commands of a terminal or formulas of a spreadsheet are neither, and only the owner may read the file.
func TestTheOutputIsSafe(t *testing.T) {
	t.Parallel()
	sb := sandbox.New(t)
	company := map[string]any{"name": "@SUM(A1)", "socialHeadCount": 1000}
	sb.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{Name: "\x1b[2J\x1b]0;owned\a\u202ename", Rows: sandbox.Rows(
			sandbox.Row{"firstName": "=cmd|' /C calc'!A0", "lastName": "\t=1+1", "jobTitle": "-2", "company": company},
			sandbox.Row{"firstName": "Ada", "lastName": "Lovelace", "company": company},
		)})
	})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "rows.csv")
	var seen bytes.Buffer
	require.NoError(t, run(t.Context(), client, "", file, &seen))
	for _, c := range []string{"\x1b", "\a", "\r", "\u202e"} {
		require.NotContains(t, seen.String(), c)
	}
	require.Contains(t, seen.String(), "owned")

	info, err := os.Stat(file)
	require.NoError(t, err)
	if runtime.GOOS != "windows" { // which has no such bits
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "it tells of people")
	}
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 3)
	for _, record := range records[1:] {
		for _, value := range record {
			require.NotContains(t, "=+-@\t\r", (value + " ")[:1])
		}
	}
	require.Contains(t, records[1], "'\t=1+1")
}

// The list is the one of that name, not the largest and not one whose name contains it.
func TestTheNamedList(t *testing.T) {
	t.Parallel()
	sb := sandbox.New(t)
	sb.Do(func(tx *sandbox.Tx) {
		tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(sandbox.Row{"firstName": "Ada"})})
		tx.CreateList(sandbox.List{Name: "Berlin, old", Rows: sandbox.Rows(sandbox.Row{"firstName": "Alan"}, sandbox.Row{"firstName": "Kurt"})})
	})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, run(t.Context(), client, "Berlin", file, io.Discard))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "Ada")
	require.NotContains(t, string(text), "Alan")
	require.ErrorContains(t, run(t.Context(), client, "Ber", file, io.Discard), `there is no list "Ber"`)
}

// Half an account is a mistake, and does not start a sandbox.
func TestHalfAnAccount(t *testing.T) {
	for _, set := range []string{"PROSPECTKIT_BASE_URL", "PROSPECTKIT_TOKEN"} {
		t.Setenv("PROSPECTKIT_BASE_URL", "")
		t.Setenv("PROSPECTKIT_TOKEN", "")
		t.Setenv(set, "http://127.0.0.1:1/api/v1")
		_, err := connect()
		require.ErrorContains(t, err, "is not set")
	}
}

// A list that ends early, whose pages fail for good, leaves the file of an earlier run.
func TestABrokenRunKeepsTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Do(func(tx *sandbox.Tx) {
			tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(slices.Repeat([]sandbox.Row{{"firstName": "Ada"}}, 1001)...)})
		})
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "rows.csv")
		require.NoError(t, os.WriteFile(file, []byte("older"), 0o600))
		pages := 0
		sb.Fail("lists.rows", sandbox.When(func(*http.Request) bool { pages++; return pages > 1 }), sandbox.Status(500, "UNEXPECTED_ERROR"))
		require.ErrorIs(t, run(t.Context(), client, "", file, io.Discard), prospectkit.CodeUnexpectedError)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "older", string(text))
	})
}

// Whatever fails, and wherever the program is stopped, the file is whole, or that of an earlier run.
func TestEveryFailure(t *testing.T) {
	const older = "older"
	var whole string
	sandbox.EveryFailure(t, func(start *sandbox.Run) error {
		client, err := prospectkit.New(start.BaseURL(), start.Token(), prospectkit.WithTransport(start.Transport()))
		require.NoError(start, err)
		return run(start.Context(), client, "", filepath.Join(start.Dir(), "rows.csv"), io.Discard)
	}, func(start *sandbox.Run) error {
		text, err := os.ReadFile(filepath.Join(start.Dir(), "rows.csv"))
		require.NoError(start, err)
		whole = cmp.Or(whole, string(text)) // of the first run
		require.NotEqual(start, older, whole)
		if start.Err() == nil || string(text) != older {
			require.Equal(start, whole, string(text))
		}
		left, err := os.ReadDir(start.Dir())
		require.NoError(start, err)
		require.LessOrEqual(start, len(left), start.Starts(), "only what was stopped leaves its temporary file")
		return nil
	}, sandbox.Seed(fixture.Small(1)), sandbox.Setup(func(start *sandbox.Run) {
		require.NoError(start, os.WriteFile(filepath.Join(start.Dir(), "rows.csv"), []byte(older), 0o600))
	}))
}
