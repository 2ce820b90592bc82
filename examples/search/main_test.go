package main

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, each start pays for its pages at most once, and nobody pays twice for the list.
func TestEveryFailure(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		_, err = search(run.Context(), client, io.Discard)
		return err
	}, func(run *sandbox.Run) error {
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
		if list := spent["search.save-to-list"]; list != int64(saved) || run.Err() == nil && saved == 0 {
			return fmt.Errorf("%d credits for a list of %d", list, saved)
		}
		return nil
	}, sandbox.Credits(500))
}
