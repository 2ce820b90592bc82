package main

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, and wherever the program is stopped: run until it is done, it leaves each list once.
func TestEveryFailure(t *testing.T) {
	const few = 2
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		return ensure(run.Context(), client, io.Discard, few)
	}, func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		require.Len(run, run.Lists(), few)
		return nil
	}, sandbox.UntilDone(2), sandbox.Twice())
}
