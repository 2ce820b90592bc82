package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, and wherever the program is stopped, each start uploads the file at most once, and all of it.
func TestEveryFailure(t *testing.T) {
	const few = 10
	var said strings.Builder // by the last start
	program := func(run *sandbox.Run) error {
		said.Reset()
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		return upload(run.Context(), client, &said, io.Discard, few)
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		imports := run.Imports()
		if len(imports) > run.Starts() || run.Err() == nil && len(imports) == 0 && !strings.Contains(said.String(), "perhaps not") {
			return fmt.Errorf("%d imports by %d starts", len(imports), run.Starts())
		}
		for _, made := range imports {
			require.Equal(run, few, made.Rows)
		}
		return nil
	})
	docruns.Example(t, program)
}
