package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first Open names the workspace. Another name is refused, also by a file that holds nothing yet, and changes nothing.
func TestOpen_OneWorkspace(t *testing.T) {
	for name, fill := range map[string]func(*FileJournal) error{
		"empty":    func(*FileJournal) error { return nil },
		"a ticket": func(j *FileJournal) error { return j.Sending(t.Context(), ticket("a", 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			j, path := opened(t)
			require.Equal(t, "acme", j.Workspace())
			require.NoError(t, fill(j))
			require.NoError(t, j.Close())
			before, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, other := range []string{"acm", "Acme", "acme "} {
				_, err := Open(path, other)
				require.ErrorIs(t, err, ErrForeign)
				require.ErrorContains(t, err, path+`: the file is not a journal of this package and workspace: it belongs to the workspace "acme", not to "`+other+`"`)
			}
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, before, after)
			require.Equal(t, "acme", open(t, path).Workspace())
		})
	}
}

// A file keeps its workspace when it is compacted, and when it is replaced after a failed fsync.
func TestOpen_WorkspaceStays(t *testing.T) {
	on, j := emptyDisk(t)
	sent(t, j, "a")
	on.fails = "fsync /"
	require.ErrorIs(t, j.Sending(t.Context(), ticket("b", 0)), errFull)
	on.fails = ""
	sent(t, j, "c")
	require.NoError(t, j.Close())
	_, err := openFile(on, onDisk, "other")
	require.ErrorContains(t, err, `belongs to the workspace "acme"`)
	require.Equal(t, []string{"a", "c"}, unknown(t, on.open(t)))
}

func TestOpen_RefusesNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	for _, name := range []string{"", "a\nb", "a\x7f", "a\u0085b", "caf\xe9", strings.Repeat("x", 256)} {
		_, err := Open(path, name)
		require.ErrorContains(t, err, "the workspace needs a name", "%q", name)
	}
	require.NoFileExists(t, path)
	for i, name := range []string{"Größe \"1\" <&>", strings.Repeat("x", 255)} {
		path := filepath.Join(t.TempDir(), "j")
		for range 2 {
			j, err := Open(path, name)
			require.NoError(t, err, i)
			require.Equal(t, name, j.Workspace())
			require.NoError(t, j.Close())
		}
	}
}

// A name that was mistyped for a journal that holds nothing is corrected by removing the file.
func TestOpen_AnotherNameForARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j, err := Open(path, "a much longer name, by mistake")
	require.NoError(t, err)
	require.NoError(t, j.Close())
	require.NoError(t, os.Remove(path))
	require.NoError(t, open(t, path).Sending(t.Context(), ticket("a", 0)))
}

// A file of an earlier version is neither read as an empty one nor changed. The error says what to do.
func TestOpen_OlderFormat(t *testing.T) {
	old, err := os.ReadFile("testdata/version1.journal")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "j")
	left := open(t, path) // the lock file tells of a journal that held something
	sent(t, left, "a")
	require.NoError(t, left.Close())
	require.NoError(t, os.WriteFile(path, old, 0o600))
	_, err = Open(path, "acme")
	refused := []error{err}
	for e, err := range Read(path) {
		require.Empty(t, e)
		refused = append(refused, err)
	}
	require.Len(t, refused, 2)
	for _, err := range refused {
		require.ErrorIs(t, err, ErrForeign)
		require.ErrorContains(t, err, "settle what is in doubt with that version, then begin a new file, and remove its .lock")
	}
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, old, kept)
	require.NoError(t, os.Remove(path))
	_, err = Open(path, "acme")
	require.ErrorIs(t, err, ErrCorrupt)
	require.NoError(t, os.Remove(path+".lock"))
	open(t, path)
}
