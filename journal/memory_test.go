package journal_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/journal"
	"example.com/prospectkit/journal/journaltest"
)

func TestRun_File(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) func() journal.Journal {
		t.Helper()
		path := filepath.Join(t.TempDir(), "journal")
		var last *journal.FileJournal
		t.Cleanup(func() { require.NoError(t, last.Close()) })
		return func() journal.Journal {
			if last != nil {
				require.NoError(t, last.Close())
			}
			var err error
			last, err = journal.Open(path, "acme")
			require.NoError(t, err)
			return last
		}
	})
}

// The journal in memory has no restart: a new one gets what the old one knows.
func TestRun_Memory(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) func() journal.Journal {
		t.Helper()
		last := journal.NewMemory("acme")
		return func() journal.Journal {
			next := journal.NewMemory("acme")
			for _, e := range last.Entries() {
				require.NoError(t, next.Sending(t.Context(), e.Ticket))
				if e.By == "" {
					require.NoError(t, next.Ended(t.Context(), e.Ticket.ID, journal.End{Outcome: e.Outcome, ResultID: e.ResultID}))
					continue
				}
				require.NoError(t, next.Ended(t.Context(), e.Ticket.ID, journal.End{Outcome: journal.Unknown}))
				require.NoError(t, next.Settle(t.Context(), e.Ticket.ID, journal.Settlement{Outcome: e.Outcome, By: e.By, Because: e.Because}))
			}
			last = next
			return last
		}
	})
}
