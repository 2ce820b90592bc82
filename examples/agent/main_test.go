package main

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, and wherever the program is stopped, nothing starts twice, and no run costs more than the cap.
func TestEveryFailure(t *testing.T) {
	program := func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		return start(run.Context(), client, io.Discard)
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		starts, spent := 0, int64(0)
		for _, entry := range run.Journal() {
			if entry.Op == "agents.activate" {
				starts += len(entry.Effects)
			}
		}
		for _, entry := range run.Ledger() {
			spent -= entry.Amount
		}
		if starts > 1 || spent > maxSpend || run.Err() == nil && starts != 1 {
			return fmt.Errorf("%d starts for %d credits", starts, spent)
		}
		return nil
	}, sandbox.WithPrices(prices))
	docruns.Example(t, program, sandbox.WithPrices(prices))
}
