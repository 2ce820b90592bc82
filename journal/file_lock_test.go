//go:build !js && !wasip1

package journal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// childPath names the journal that a child process opens. It is empty in the parent.
const childPath = "JOURNAL_TEST_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		j, err := Open(path, "acme")
		if err == nil {
			err = j.Sending(context.Background(), ticket("child", 0))
		}
		fmt.Println(err)
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent kills it
	}
	os.Exit(m.Run())
}

// child starts a process that opens the journal and sends. It returns what that process says, and a
// function that kills it.
func child(t *testing.T, path string) (says string, kill func()) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	cmd.Env = append(os.Environ(), childPath+"="+path)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	says, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return says, func() {
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		_ = in.Close()
	}
}

func TestFile_OneProcessAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	says, kill := child(t, path)
	require.Contains(t, says, ErrLocked.Error())
	kill()

	require.NoError(t, j.Close())
	says, kill = child(t, path)
	require.Equal(t, "<nil>\n", says)
	_, err := Open(path, "acme")
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, path)
	kill()
	require.Equal(t, []string{"child"}, unknown(t, open(t, path)))
}

func TestFile_OneJournalAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := open(t, path)
	_, err := Open(path, "acme")
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, j.Sending(t.Context(), ticket("a", 0)))

	if runtime.GOOS != "windows" { // where a link takes a privilege
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(path, link))
		_, err = Open(link, "acme")
		require.ErrorIs(t, err, ErrLocked)
		directory := filepath.Join(t.TempDir(), "directory")
		require.NoError(t, os.Symlink(filepath.Dir(path), directory))
		_, err = Open(filepath.Join(directory, filepath.Base(path)), "acme")
		require.ErrorIs(t, err, ErrLocked)
		other, err := Open(filepath.Join(directory, "other"), "acme") // which is not there yet
		require.NoError(t, err)
		_, err = Open(filepath.Join(filepath.Dir(path), "other"), "acme")
		require.ErrorIs(t, err, ErrLocked)
		require.NoError(t, other.Close())
	}
	require.NoError(t, j.Close())
	open(t, path)
}

// A link whose target is not there yet leads to it, as for every other program, and stays a link: the journal is where the link says, also
// when the disk of the target was away for a start.
func TestFile_ThroughALinkToNothing(t *testing.T) {
	if runtime.GOOS == "windows" { // where a link takes a privilege
		t.Skip()
	}
	dir := t.TempDir()
	disk, link, relative := filepath.Join(dir, "disk"), filepath.Join(dir, "link"), filepath.Join(dir, "relative")
	require.NoError(t, os.Mkdir(disk, 0o700))
	require.NoError(t, os.Symlink(filepath.Join(disk, "j"), link))
	require.NoError(t, os.Symlink("link", relative))
	j := open(t, relative)
	require.NoError(t, j.Sending(t.Context(), ticket("a", 0)))
	_, err := Open(filepath.Join(disk, "j"), "acme")
	require.ErrorIs(t, err, ErrLocked)
	require.NoError(t, j.Close())

	require.NoError(t, os.Rename(disk, disk+".away"))
	for _, path := range []string{link, relative} {
		_, err = Open(path, "acme")
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	require.NoError(t, os.Rename(disk+".away", disk))
	require.Equal(t, []string{"a"}, unknown(t, open(t, link)))
	require.NoError(t, os.Symlink("circle", filepath.Join(dir, "circle")))
	_, err = Open(filepath.Join(dir, "circle"), "acme")
	require.Error(t, err)
}
