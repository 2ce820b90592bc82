package journal

import (
	"context"
	"path/filepath"
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
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, j.Sending(t.Context(), ticket(id, 0)))
		require.NoError(t, j.Ended(t.Context(), id, End{Outcome: Unknown}))
	}
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
	on := newDisk(nil)
	j := on.open(t)
	require.NoError(t, j.Sending(t.Context(), ticket("a", 0)))
	require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Unknown}))
	require.NoError(t, j.Settle(t.Context(), "a", found))
	on.afterPowerFailed(func(left *disk) { require.Equal(t, "maria", byWhom(t, left)) })
}

// A disk that fails leaves the ticket in doubt, or settled as it was said, but an error says so.
func TestSettle_FailingDisk(t *testing.T) {
	on := newDisk(nil)
	j := on.open(t)
	require.NoError(t, j.Sending(t.Context(), ticket("a", 0)))
	require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Unknown}))
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

func TestSettle_Refuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	file, memory := open(t, path), new(MemoryJournal)
	for _, j := range []Journal{file, memory} {
		require.NoError(t, j.Sending(t.Context(), ticket("a", 0)))
		require.ErrorIs(t, j.Settle(t.Context(), "a", found), ErrNotInDoubt, "it is in progress")
		require.ErrorIs(t, j.Settle(t.Context(), "b", found), ErrNotInDoubt)
		require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Unknown}))
		for _, s := range []Settlement{
			{Outcome: Unknown, By: "maria", Because: "x"},
			{Outcome: "perhaps", By: "maria", Because: "x"},
			{Outcome: Applied, Because: "x"},
			{Outcome: Applied, By: "maria"},
		} {
			require.Error(t, j.Settle(t.Context(), "a", s))
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, j.Settle(done, "a", found), context.Canceled)
		require.NoError(t, j.Settle(t.Context(), "a", found))
		require.ErrorIs(t, j.Settle(t.Context(), "a", found), ErrNotInDoubt, "it is settled")
	}
	require.NoError(t, file.Sending(t.Context(), ticket("long", 0)))
	require.NoError(t, file.Ended(t.Context(), "long", End{Outcome: Unknown}))
	long := found
	long.Because = strings.Repeat("x", maxRecord)
	require.ErrorContains(t, file.Settle(t.Context(), "long", long), "at most")
	require.NoError(t, file.Close())
	require.ErrorIs(t, file.Settle(t.Context(), "long", found), ErrClosed)
	require.Equal(t, Unknown, entriesOf(t, path)["long"].Outcome)
}
