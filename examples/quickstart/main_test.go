package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/event"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// nasty is a list with texts that could be commands or formulas.
func nasty(t *testing.T, opts ...prospectkit.ClientOption) (*prospectkit.Client, *prospectkit.List) {
	t.Helper()
	sb := sandbox.New(t)
	company := map[string]any{"name": "@SUM(A1)", "socialHeadCount": 1000}
	var id string
	sb.Do(func(tx *sandbox.Tx) {
		id = tx.CreateList(sandbox.List{Name: "\x1b[2J\x1b]0;owned\a\u202ename", Rows: sandbox.Rows(
			sandbox.Row{"firstName": "=cmd|' /C calc'!A0", "lastName": "\t=1+1", "jobTitle": "-2", "company": company},
			sandbox.Row{"firstName": "Ada", "lastName": "Lovelace", "company": company},
		)})
	})
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), append(opts, prospectkit.WithTransport(sb.Transport()))...)
	require.NoError(t, err)
	list, err := client.Lists.Get(t.Context(), id, prospectkit.GetListParams{})
	require.NoError(t, err)
	return client, list
}

func TestTheFileIsSafe(t *testing.T) {
	t.Parallel()
	client, list := nasty(t)
	file := filepath.Join(t.TempDir(), "new", "rows.csv")
	rows, err := export(t.Context(), client, list, file, io.Discard)
	require.NoError(t, err)
	require.Equal(t, 2, rows)
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

// The file of an earlier run survives an interrupted one.
func TestABrokenRunKeepsTheFile(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	client, list := nasty(t, prospectkit.WithObserver(func(_ context.Context, e prospectkit.Event) {
		if e.Op == "lists.rows" && e.Kind == event.KindAttempt {
			cancel()
		}
	}))
	dir := t.TempDir()
	file := filepath.Join(dir, "rows.csv")
	require.NoError(t, os.WriteFile(file, []byte("good"), 0o600))
	_, err := export(ctx, client, list, file, failing{})
	require.NoError(t, err, "one page was all there was")
	require.NoError(t, os.WriteFile(file, []byte("good"), 0o600))
	_, err = export(ctx, client, list, file, io.Discard)
	require.ErrorIs(t, err, context.Canceled)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "good", string(text))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing lies about")
}

func TestTheScreenIsSafe(t *testing.T) {
	t.Parallel()
	client, _ := nasty(t)
	var seen bytes.Buffer
	out := &screen{to: &seen}
	_, err := showLists(t.Context(), client, out)
	require.NoError(t, err)
	for _, c := range []string{"\x1b", "\a", "\r", "\u202e"} {
		require.NotContains(t, seen.String(), c)
	}
	require.Contains(t, seen.String(), "owned")
	require.NoError(t, out.err)
	out.to = failing{}
	_, err = showLists(t.Context(), client, out)
	require.NoError(t, err)
	require.ErrorIs(t, out.err, errFull)
}

var errFull = errors.New("no space left")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// Half an account is a mistake, and does not start a sandbox.
func TestHalfAnAccount(t *testing.T) {
	for _, set := range []string{prospectkit.EnvBaseURL, prospectkit.EnvToken} {
		t.Setenv(prospectkit.EnvBaseURL, "")
		t.Setenv(prospectkit.EnvToken, "")
		t.Setenv(set, "http://127.0.0.1:1/api/v1")
		var seen bytes.Buffer
		require.ErrorContains(t, run(t.Context(), filepath.Join(t.TempDir(), "x"), &seen), "is not set")
		require.NotContains(t, seen.String(), "sandbox")
	}
}

// Whatever fails, and wherever the program is stopped, the file is whole or not there, and there is one list.
func TestEveryFailure(t *testing.T) {
	var whole string
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		_, err = show(run.Context(), client, filepath.Join(run.Dir(), "rows.csv"), io.Discard, true)
		return err
	}, func(run *sandbox.Run) error {
		made := 0
		for _, list := range run.Lists() {
			if list.Name == "Quickstart" {
				made++
			}
		}
		require.LessOrEqual(run, made, 1)
		text, err := os.ReadFile(filepath.Join(run.Dir(), "rows.csv"))
		if errors.Is(err, os.ErrNotExist) {
			require.Error(run, run.Err())
			return nil
		}
		require.NoError(run, err)
		whole = cmp.Or(whole, string(text)) // of the first run
		require.Equal(run, whole, string(text))
		return nil
	}, sandbox.Seed(fixture.Small(1)))
}
