package main

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, and wherever the program is stopped, the fact says what was checked, or what it said before.
func TestEveryFailure(t *testing.T) {
	const before = "Customers stay for the price"
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		return edit(run.Context(), client, io.Discard, run.Facts()[0].ID)
	}, func(run *sandbox.Run) error {
		if now := run.Facts()[0].Claim; now != corrected && (run.Err() == nil || now != before) {
			return fmt.Errorf("the fact says %q", now)
		}
		return nil
	}, sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) { tx.CreateFact(sandbox.Fact{Claim: before, Category: "pricing"}) })
	}))
}
