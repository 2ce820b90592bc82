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

// Whatever fails, each start pays for its pages at most once, and nobody pays twice for the list.
func TestEveryFailure(t *testing.T) {
	var said strings.Builder // by the last start
	program := func(run *sandbox.Run) error {
		said.Reset()
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		_, err = search(run.Context(), client, &said)
		return err
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		spent := map[string]int64{}
		for _, entry := range run.Ledger() {
			spent[entry.Operation] -= entry.Amount
		}
		if pages := spent["search.prospects"]; pages > int64(run.Starts()*maxPages*pageSize) {
			return fmt.Errorf("%d credits for pages, by %d starts", pages, run.Starts())
		}
		saved := 0
		for _, list := range run.Lists() {
			saved += len(run.Rows(list.ID))
		}
		if list := spent["search.save-to-list"]; list != int64(saved) || run.Err() == nil && saved == 0 && !strings.Contains(said.String(), "perhaps not") {
			return fmt.Errorf("%d credits for a list of %d", list, saved)
		}
		return nil
	}, sandbox.Credits(500))
	docruns.Example(t, program, sandbox.Credits(500))
}
