//go:build !js && !wasip1

package journal

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"

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
	j, path := opened(t)
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
	j, path := opened(t)
	_, err := Open(path, "acme")
	require.ErrorIs(t, err, ErrLocked)
	sent(t, j, "a")

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
	sent(t, j, "a")
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

// A ticket that is there stays what it was if it cannot be stored again: unknown, or of a call in progress.
func TestFile_RefusesToStoreAgain(t *testing.T) {
	on, j := emptyDisk(t)
	sent(t, j, "before")
	require.NoError(t, j.Close())
	j = on.open(t)
	sent(t, j, "active")
	done(t, j, Unknown, "again")
	on.fails = "write "
	for _, id := range []string{"before", "active", "again", "new"} {
		require.ErrorIs(t, j.Sending(t.Context(), ticket(id, 1)), errFull)
	}
	on.fails = ""
	require.Equal(t, []string{"before", "again"}, unknown(t, j))
	require.NoError(t, j.Ended(t.Context(), "active", End{Outcome: Unknown}))
	require.NoError(t, j.Ended(t.Context(), "new", End{Outcome: Unknown}))
	require.Equal(t, []string{"before", "active", "again"}, unknown(t, j))
	require.NoError(t, j.Sending(t.Context(), ticket("again", 2)))
	require.NoError(t, j.Ended(t.Context(), "again", End{Outcome: Unknown}))
	for found, err := range j.InDoubt(t.Context()) {
		require.NoError(t, err)
		want := ticket(found.ID, map[string]int{"again": 2}[found.ID])
		require.Equal(t, want.LastSent, found.LastSent, "the ticket that was stored last")
	}
}

// A ticket that waits for its turn and is cancelled leaves the call that uses its ID now.
func TestFile_RefusesOnlyItsOwnCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, _, gate := gated(t)
		var all, refused errgroup
		all.Go(func() error { return j.Sending(t.Context(), ticket("a", 0)) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		refused.Go(func() error { return j.Sending(ctx, ticket("b", 0)) })
		synctest.Wait()
		require.NoError(t, j.Ended(t.Context(), "b", End{Outcome: NotApplied})) // which makes room for another call
		all.Go(func() error { return j.Sending(t.Context(), ticket("b", 1)) })
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(gate)
		all.wait(t)
		require.ErrorIs(t, refused.err(), context.Canceled)
		require.NoError(t, j.Ended(t.Context(), "b", End{Outcome: Unknown}))
		require.Equal(t, []string{"b"}, unknown(t, j))
	})
}

// The ticket that was given may be changed afterwards. A loop ends with its context, and nothing is stored after that.
func TestFile_InDoubt(t *testing.T) {
	_, j := emptyDisk(t)
	given := ticket("a", 0)
	given.IDs = []string{"x"}
	require.NoError(t, j.Sending(t.Context(), given))
	given.IDs[0] = "changed"
	require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Unknown}))
	done(t, j, Unknown, "b")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errs []error
	for stored, err := range j.InDoubt(ctx) {
		errs = append(errs, err)
		require.True(t, err != nil || stored.IDs[0] == "x")
		cancel()
	}
	require.Len(t, errs, 2)
	require.NoError(t, errs[0])
	require.ErrorIs(t, errs[1], context.Canceled)
	for range 20 {
		require.ErrorIs(t, j.Sending(ctx, ticket("cancelled", 0)), context.Canceled)
	}
	require.NotContains(t, j.calls.entries, "cancelled")
}

// marked reports whether the last record says that all before it is durable.
func marked(t *testing.T, on *disk) bool {
	t.Helper()
	text := on.text()
	records, s, err := scanAll(text)
	require.NoError(t, err)
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	return s.synced == int64(last) && len(records[len(records)-1].body) == 0
}

// The file says how much of it was durable: after several tickets at once, and after Close. So no damage looks like a torn end.
func TestFile_MarksWhatIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, on, gate := gated(t)
		var all errgroup
		all.Go(func() error { return j.Sending(t.Context(), ticket("a", 0)) })
		synctest.Wait()
		all.Go(func() error { return j.Sending(t.Context(), ticket("b", 0)) })
		all.Go(func() error { return j.Sending(t.Context(), ticket("c", 0)) })
		synctest.Wait()
		close(gate)
		all.wait(t)
		require.True(t, marked(t, on))
		on.gate = nil
		sent(t, j, "d")
		require.False(t, marked(t, on))
		require.NoError(t, j.Close())
		require.True(t, marked(t, on))
	})
}

// A call that is cancelled while its ticket is being stored by another one waits: the ticket is there.
func TestFile_CancelledWhileItIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, on, gate := gated(t)
		turns := make(chan struct{})
		on.gate = func() { <-turns }
		var all errgroup
		all.Go(func() error { return j.Sending(t.Context(), ticket("a", 0)) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		for _, id := range []string{"b", "c"} {
			all.Go(func() error { return j.Sending(ctx, ticket(id, 0)) })
		}
		synctest.Wait()
		turns <- struct{}{}
		synctest.Wait() // one of the two is storing both
		cancel()
		synctest.Wait()
		close(turns)
		all.wait(t)
		close(gate)
		require.NoError(t, j.Close())
		j = on.open(t)
		require.ElementsMatch(t, []string{"a", "b", "c"}, unknown(t, j))
	})
}

// Close waits for its turn. What came meanwhile is not lost: an outcome is written, a ticket is refused.
func TestFile_CloseWhileItIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, on, gate := gated(t, "a")
		var all, refused errgroup
		all.Go(func() error { return j.Sending(t.Context(), ticket("b", 0)) })
		synctest.Wait()
		require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Applied}))
		all.Go(j.Close)
		synctest.Wait()
		refused.Go(func() error { return j.Sending(t.Context(), ticket("c", 0)) })
		synctest.Wait()
		close(gate)
		all.wait(t)
		require.ErrorIs(t, refused.err(), ErrClosed)
		on.gate = nil
		j = on.open(t)
		require.Equal(t, []string{"b"}, unknown(t, j))
	})
}

// After a failed fsync, Close replaces the file: a second fsync would report what the first one lost as durable.
func TestFile_CloseAfterAFailedSync(t *testing.T) {
	on, j := emptyDisk(t)
	sent(t, j, "a")
	old := on.inode(t)
	on.fails = "fsync /"
	require.ErrorIs(t, j.Sending(t.Context(), ticket("b", 0)), errFull)
	on.fails = ""
	require.NoError(t, j.Close())
	require.NotSame(t, old, on.inode(t))
	on.afterPowerFailed(func(left *disk) { require.Equal(t, []string{"a"}, unknown(t, left.open(t))) })
}
