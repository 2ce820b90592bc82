package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, and wherever the program is stopped, the fact says what was checked, or what it said before.
func TestEveryFailure(t *testing.T) {
	const before = "Customers stay for the price"
	var said strings.Builder // by the last start
	program := func(run *sandbox.Run) error {
		said.Reset()
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		return edit(run.Context(), client, &said, run.Facts()[0].ID)
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		if now := run.Facts()[0].Claim; now != corrected && (now != before || run.Err() == nil && !strings.Contains(said.String(), "perhaps not")) {
			return fmt.Errorf("the fact says %q", now)
		}
		return nil
	}, sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) { tx.CreateFact(sandbox.Fact{Claim: before, Category: "pricing"}) })
	}))
	docruns.Example(t, program, sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) { tx.CreateFact(sandbox.Fact{Claim: before, Category: "pricing"}) })
	}))
}
