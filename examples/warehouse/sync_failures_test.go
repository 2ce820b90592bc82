package main

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// Whatever fails, and wherever the program is stopped, the next run completes the copy.
func TestSyncUnderEveryFailure(t *testing.T) {
	opened := func(run *sandbox.Run) *store {
		s, err := open(run.Context(), filepath.Join(run.Dir(), "rows.db"), "")
		require.NoError(run, err)
		return s
	}
	rows := func(names ...string) (rows []sandbox.Row) {
		for _, name := range names {
			rows = append(rows, sandbox.Row{"firstName": name, "updatedAt": "2001-01-01T00:00:00.000Z"})
		}
		return rows
	}
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		s := opened(run)
		defer s.Close()
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.ReadOnly())
		require.NoError(run, err)
		noTime := func(int) time.Duration { return 0 }
		y := &syncer{lists: client.Lists, store: s, bar: &bar{out: io.Discard, forecast: noTime}, pageSize: 2, fullEvery: time.Hour}
		return y.sync(run.Context(), run.BaseURL())
	}, func(run *sandbox.Run) error {
		s := opened(run)
		defer s.Close()
		return isCopy(run.Context(), run.Sandbox, s)
	}, sandbox.UntilDone(1), sandbox.Setup(func(run *sandbox.Run) {
		run.Do(func(tx *sandbox.Tx) {
			tx.CreateList(sandbox.List{Name: "People", Rows: sandbox.Rows(rows("Ada", "Grace", "Edsger")...)})
			tx.CreateList(sandbox.List{Name: "Others", Rows: sandbox.Rows(rows("Alan")...)})
		})
	}))
}
