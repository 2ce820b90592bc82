package journal

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var found = Settlement{Outcome: Applied, By: "maria", Because: "it is in the CRM"}

// entriesOf are the entries of a file by their IDs.
func entriesOf(t *testing.T, path string) map[string]Entry {
	t.Helper()
	entries := map[string]Entry{}
	for e, err := range Read(path) {
		require.NoError(t, err)
		entries[e.Ticket.ID] = e
	}
	return entries
}

// A name and a reason stay with the ticket: in the file, after a restart, and in an archive.
func TestSettle_IsKept(t *testing.T) {
	j, path := opened(t)
	done(t, j, Unknown, "a", "b")
	require.NoError(t, j.Settle(t.Context(), "a", found))
	require.NoError(t, j.Ended(t.Context(), "b", End{Outcome: NotApplied}))
	require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: NotApplied}), "it is settled")
	require.NoError(t, j.Close())
	j = open(t, path)
	a := entriesOf(t, path)["a"]
	require.False(t, a.Ended.IsZero())
	require.Equal(t, Entry{Ticket: ticket("a", 0), Outcome: Applied, Ended: a.Ended, By: "maria", Because: "it is in the CRM"}, a)
	require.Empty(t, entriesOf(t, path)["b"].By)
	var archived []Entry
	require.NoError(t, j.Compact(t.Context(), time.Now().Add(time.Hour), func(e Entry) error { archived = append(archived, e); return nil }))
	require.Equal(t, a, archived[0])
}

// What a crash leaves of the disk right after Settle has the settlement.
func TestSettle_IsDurable(t *testing.T) {
	on, j := emptyDisk(t)
	done(t, j, Unknown, "a")
	require.NoError(t, j.Settle(t.Context(), "a", found))
	on.afterPowerFailed(func(left *disk) { require.Equal(t, "maria", byWhom(t, left)) })
}

// A disk that fails leaves the ticket in doubt, or settled as it was said, but an error says so.
func TestSettle_FailingDisk(t *testing.T) {
	on, j := emptyDisk(t)
	done(t, j, Unknown, "a")
	on.fails = "fsync /"
	require.ErrorIs(t, j.Settle(t.Context(), "a", found), errFull)
	on.fails = ""
	require.NoError(t, j.Close())
	require.Equal(t, "maria", byWhom(t, on), "Close has tried again")
}

// byWhom is who settled the only ticket of a disk.
func byWhom(t *testing.T, on *disk) (by string) {
	t.Helper()
	for e, err := range readEntries(context.Background(), on, onDisk, "", nil) {
		require.NoError(t, err)
		by = e.By
	}
	return by
}

// Besides what journaltest tests: an outcome that there is not, a context that has ended, a reason that is too long, a closed file.
func TestSettle_Refuses(t *testing.T) {
	file, path := opened(t)
	for _, j := range []Journal{file, new(MemoryJournal)} {
		done(t, j, Unknown, "a")
		require.Error(t, j.Settle(t.Context(), "a", Settlement{Outcome: "perhaps", By: "maria", Because: "x"}))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, j.Settle(ended, "a", found), context.Canceled)
		require.NoError(t, j.Settle(t.Context(), "a", found))
	}
	done(t, file, Unknown, "long")
	long := found
	long.Because = strings.Repeat("x", maxRecord)
	require.ErrorContains(t, file.Settle(t.Context(), "long", long), "at most")
	require.NoError(t, file.Close())
	require.ErrorIs(t, file.Settle(t.Context(), "long", found), ErrClosed)
	require.Equal(t, Unknown, entriesOf(t, path)["long"].Outcome)
}
