package journal

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead_WhileTheFileIsInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	a, b := ticket("a", 0), ticket("b", 0)
	a.Actor = "maria"
	require.NoError(t, j.Sending(t.Context(), a))
	require.NoError(t, j.Sending(t.Context(), b))
	a.LastSent = ticket("a", 1).LastSent
	require.NoError(t, j.Sending(t.Context(), a))
	require.NoError(t, j.Ended(t.Context(), "a", Unknown))
	require.NoError(t, j.Ended(t.Context(), "a", NotApplied))
	require.NoError(t, j.Ended(t.Context(), "a", Applied), "it is settled")

	var entries []Entry
	for e, err := range Read(path) {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	require.Len(t, entries, 2)
	require.False(t, entries[0].Ended.IsZero())
	require.Equal(t, Entry{Ticket: a, Outcome: NotApplied, Ended: entries[0].Ended}, entries[0])
	require.Equal(t, Entry{Ticket: b, Outcome: Unknown}, entries[1])
	for e, err := range Read(path) {
		require.NoError(t, err)
		require.Equal(t, "a", e.Ticket.ID)
		break
	}
}

func TestRead_AnErrorComesLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	for err := range each(path) {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	text := lines(sentA, endedA, sentA)
	text[len(lines(sentA))+30] ^= 1
	require.NoError(t, os.WriteFile(path, append(text, `{"crc":"torn`...), 0o600))
	var errs []error
	for err := range each(path) {
		errs = append(errs, err)
	}
	require.Len(t, errs, 2)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], ErrCorrupt)
}

// each yields the errors of Read.
func each(path string) func(func(error) bool) {
	return func(yield func(error) bool) {
		for _, err := range Read(path) {
			if !yield(err) {
				return
			}
		}
	}
}
