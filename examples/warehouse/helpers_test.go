package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// childVar makes this test binary the program itself, which a test can kill.
const childVar = "WAREHOUSE_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		main()
		return
	}
	m.Run()
}

// testStore opens a new warehouse.
func testStore(t *testing.T) *store {
	t.Helper()
	s, err := open(t.Context(), filepath.Join(t.TempDir(), "a b#c%20.db"), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// testSyncer copies from a sandbox, in pages of a hundred rows.
func testSyncer(t *testing.T, sb *sandbox.Sandbox, s *store) *syncer {
	t.Helper()
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.ReadOnly(),
		prospectkit.WithBudget(prospectkit.NewBudget(prospectkit.BudgetConfig{TrustHeaders: true}))) // the sandboxes here have no limits
	require.NoError(t, err)
	noTime := func(int) time.Duration { return 0 }
	return &syncer{lists: client.Lists, store: s, bar: &bar{out: io.Discard, forecast: noTime}, pageSize: 100, fullEvery: time.Hour}
}

// synced syncs, and returns the syncer with its report.
func synced(t *testing.T, sb *sandbox.Sandbox, s *store) *syncer {
	t.Helper()
	y := testSyncer(t, sb, s)
	require.NoError(t, y.sync(t.Context(), sb.BaseURL()))
	return y
}

// requireCopy checks that the warehouse has each existing row exactly once, unchanged, and no other.
func requireCopy(t *testing.T, sb *sandbox.Sandbox, s *store) {
	t.Helper()
	require.NoError(t, isCopy(t.Context(), sb, s))
}

// isCopy says what the warehouse has too much, or lacks.
func isCopy(ctx context.Context, sb *sandbox.Sandbox, s *store) error {
	rows := map[string]string{}
	for _, l := range sb.Lists() {
		if l.System {
			continue
		}
		for _, raw := range sb.Rows(l.ID) {
			var row struct{ ID string }
			if err := json.Unmarshal(raw, &row); err != nil {
				return err
			}
			rows[l.ID+" "+row.ID] = string(raw)
		}
	}
	err := s.records(ctx, func(r *record) error {
		id := r.ListID + " " + r.ID
		if rows[id] != r.Body {
			return fmt.Errorf("row %s is there twice, or without need, or not as it should be: %q, not %q", id, r.Body, rows[id])
		}
		delete(rows, id)
		return nil
	})
	if err == nil && len(rows) > 0 {
		err = fmt.Errorf("%d rows are missing", len(rows))
	}
	return err
}

func rowID(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var row struct{ ID string }
	require.NoError(t, json.Unmarshal(raw, &row))
	return row.ID
}

// edit changes a row, and when it was changed.
func edit(t *testing.T, sb *sandbox.Sandbox, listID string, at int, updated time.Time) {
	t.Helper()
	raw := sb.Rows(listID)[at]
	row := sandbox.Row{}
	require.NoError(t, json.Unmarshal(raw, &row))
	row["jobTitle"] = "Changed"
	row["updatedAt"] = stamp(updated)
	sb.Do(func(tx *sandbox.Tx) {
		tx.RemoveRows(listID, rowID(t, raw))
		tx.InsertRows(listID, at, row)
	})
}

// listOf finds the first visible list of a kind.
func listOf(t *testing.T, sb *sandbox.Sandbox, kind string) sandbox.List {
	t.Helper()
	for _, l := range sb.Lists() {
		if !l.System && l.EntityType == kind {
			return l
		}
	}
	require.FailNow(t, "no such list")
	return sandbox.List{}
}

// number reads one number from the warehouse.
func number(t *testing.T, s *store, query string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, s.db.QueryRowContext(t.Context(), query, args...).Scan(&n))
	return n
}
