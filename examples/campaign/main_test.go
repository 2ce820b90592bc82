package main

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests/docruns"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, and wherever the program is stopped, nobody gets a message twice, and after a success everybody has one.
func TestEveryFailure(t *testing.T) {
	program := func(run *sandbox.Run) error {
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
		require.NoError(run, err)
		campaign, err := prepare(run.Context(), client, io.Discard)
		if err != nil {
			return err
		}
		return approve(run.Context(), client, io.Discard, campaign)
	}
	sandbox.EveryFailure(t, program, func(run *sandbox.Run) error {
		time.Sleep(time.Hour)
		heard := map[string]int{}
		for _, message := range run.Outbox() {
			heard[message.To]++
		}
		for to, n := range heard {
			if n > 1 {
				return fmt.Errorf("%s got %d messages", to, n)
			}
		}
		if run.Err() == nil && len(heard) != 2 {
			return fmt.Errorf("%d people got a message", len(heard))
		}
		return nil
	}, sandbox.Seed(audience), sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) { tx.ConnectAccount("email") })
	}))
	docruns.Example(t, program, sandbox.Seed(audience), sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) { tx.ConnectAccount("email") })
	}))
}
