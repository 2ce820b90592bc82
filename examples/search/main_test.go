package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, wherever the program is stopped, and however often it is run again, no more is paid for than the cap, and what was paid for
// is in the file, but for one page whose response was lost.
func TestEveryFailure(t *testing.T) {
	program := func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		return search(run.Context(), client, filepath.Join(run.Dir(), "profiles.jsonl"), io.Discard)
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		paid := int64(0)
		for _, entry := range run.Ledger() {
			paid -= entry.Amount
		}
		text, err := os.ReadFile(filepath.Join(run.Dir(), "profiles.jsonl"))
		stored := int64(bytes.Count(text, []byte("\n")))
		switch {
		case paid > maxPages*pageSize:
			return fmt.Errorf("%d credits were spent", paid)
		case stored > paid || paid-stored > pageSize:
			return fmt.Errorf("%d credits were spent for %d profiles: %w", paid, stored, err)
		case len(run.Failures()) == 0 && stored != maxPages*pageSize:
			return fmt.Errorf("%d profiles without a failure", stored)
		}
		return nil
	}, sandbox.Credits(500))
	docruns.Example(t, program, sandbox.Credits(500))
}

// A search that cost nothing leaves no file in the way of the next one.
func TestARefusedSearchLeavesNoFile(t *testing.T) {
	sb := sandbox.New(t, sandbox.Credits(500))
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "profiles.jsonl")
	sb.Fail("search.prospects", sandbox.Nth(1), sandbox.Status(402, "INSUFFICIENT_CREDITS"))
	require.ErrorIs(t, search(t.Context(), client, file, io.Discard), prospectkit.CodeInsufficientCredits)
	require.NoError(t, search(t.Context(), client, file, io.Discard))
	require.ErrorIs(t, search(t.Context(), client, file, io.Discard), os.ErrExist)
	require.Equal(t, 1+maxPages, sb.Calls("search.prospects"))
}
