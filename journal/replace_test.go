package journal

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFile_CompactKeepsWhatIsUnknown(t *testing.T) {
	j, path := opened(t)
	sent(t, j, "applied", "not", "unknown", "progress", "late")
	between := time.Now().Add(time.Hour)
	require.NoError(t, j.Ended(t.Context(), "applied", End{Outcome: Applied}))
	require.NoError(t, j.Ended(t.Context(), "not", End{Outcome: NotApplied}))
	require.NoError(t, j.Ended(t.Context(), "unknown", End{Outcome: Unknown}))
	require.NoError(t, j.end(content{Ended: "late", Outcome: Applied, At: between}))

	before, err := os.Stat(path)
	require.NoError(t, err)
	archived := map[string]Outcome{}
	require.NoError(t, j.Compact(t.Context(), between, func(e Entry) error {
		archived[e.Ticket.ID] = e.Outcome
		return nil
	}))
	require.Equal(t, map[string]Outcome{"applied": Applied, "not": NotApplied}, archived)
	after, err := os.Stat(path)
	require.NoError(t, err)
	require.Less(t, after.Size(), before.Size())
	require.Equal(t, []string{"unknown"}, unknown(t, j))

	sent(t, j, "next")
	require.NoError(t, j.Close())
	var left []string
	for e, err := range Read(path) {
		require.NoError(t, err)
		left = append(left, e.Ticket.ID)
	}
	require.Equal(t, []string{"unknown", "progress", "late", "next"}, left)
	require.Equal(t, []string{"unknown", "progress", "next"}, unknown(t, open(t, path)))
}

func TestFile_CompactWithAFailingArchive(t *testing.T) {
	j, path := opened(t)
	done(t, j, Applied, "a")
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	full := errors.New("the archive is full")
	require.ErrorIs(t, j.Compact(t.Context(), time.Now().Add(time.Hour), func(Entry) error { return full }), full)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// What was durable and is gone, or damaged, is not compacted away in silence.
func TestFile_CompactRefusesADamagedFile(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"shorter":         func(b []byte) []byte { return b[:len(b)-10] },
		"shorter by much": func(b []byte) []byte { return b[:len(b)/2] },
		"damaged": func(b []byte) []byte {
			b[len(b)/2] ^= 1
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, path := opened(t)
			done(t, j, Applied, "a", "b", "c", "d")
			sent(t, j, "last")
			whole, err := os.ReadFile(path)
			require.NoError(t, err)
			hurt := damage(bytes.Clone(whole))
			require.NoError(t, os.WriteFile(path, hurt, 0o600))
			require.ErrorIs(t, j.Compact(t.Context(), time.Now().Add(time.Hour), nil), ErrCorrupt)
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, hurt, kept)
			require.NoError(t, os.WriteFile(path, whole, 0o600))
			require.NoError(t, j.Compact(t.Context(), time.Now().Add(time.Hour), nil), "it is what it was")
		})
	}
}

// A file that cannot be replaced is used as it is.
func TestFile_CompactFails(t *testing.T) {
	for _, step := range []string{"name create", "write ", "fsync ", "name rename"} {
		t.Run(step, func(t *testing.T) {
			on, j := emptyDisk(t)
			done(t, j, Applied, "a")
			old := on.inode(t)
			on.fails = step
			require.ErrorIs(t, j.Compact(t.Context(), time.Now().Add(time.Hour), nil), errFull)
			on.fails = ""
			_, left := on.Holds(onDisk + ".new")
			require.False(t, left)
			syncs := on.syncs
			sent(t, j, "b")
			require.Equal(t, syncs+1, on.syncs)
			require.Same(t, old, on.inode(t))
		})
	}
}
