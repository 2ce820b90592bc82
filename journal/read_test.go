package journal

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/filesystem"
)

func TestRead_WhileTheFileIsInUse(t *testing.T) {
	j, path := opened(t)
	a, b := ticket("a", 0), ticket("b", 0)
	a.Actor = "maria"
	require.NoError(t, j.Sending(t.Context(), a))
	require.NoError(t, j.Sending(t.Context(), b))
	a.LastSent = ticket("a", 1).LastSent
	require.NoError(t, j.Sending(t.Context(), a))
	require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Unknown}))
	require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: NotApplied}))
	require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Applied}), "it is settled")

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

// A cut file reads as whole only if nothing of what was durable is missing.
func TestRead_EachCut(t *testing.T) {
	on, j := emptyDisk(t)
	done(t, j, Applied, "a", "b", "c")
	require.NoError(t, j.Close())
	text := on.text()
	for cut := range len(text) + 1 {
		on.Put(onDisk, text[:cut])
		settled := 0
		var err error
		for e, failed := range readEntries(context.Background(), on, onDisk, "", nil) {
			if err = failed; e.Outcome == Applied {
				settled++
			}
		}
		if err == nil {
			require.Equal(t, 3, settled, "%d of %d bytes", cut, len(text))
		} else {
			require.ErrorIs(t, err, ErrCorrupt)
			require.Less(t, cut, len(text))
		}
	}
}

// How much was durable is in the lock file, which belongs to the file and not to a link to it. Without it, a cut goes unnoticed.
func TestRead_TheLockFile(t *testing.T) {
	j, path := opened(t)
	sent(t, j, "a", "b")
	require.NoError(t, j.Close())
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	read := func(path string) (last error) {
		for last = range each(path) {
		}
		return last
	}
	require.ErrorIs(t, read(path), ErrCorrupt)
	require.ErrorContains(t, read(path), "remove the file that ends in .lock")
	if runtime.GOOS != "windows" { // where a link takes a privilege
		link := filepath.Join(t.TempDir(), "link")
		require.NoError(t, os.Symlink(path, link))
		require.ErrorIs(t, read(link), ErrCorrupt)
	}
	require.NoError(t, os.Remove(path)) // as a disk that has lost it
	_, err := Open(path, "acme")
	require.ErrorIs(t, err, ErrCorrupt, "no new one begins in its place")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Remove(path+".lock"))
	require.NoError(t, read(path))
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, open(t, empty).Close())
	require.NoError(t, os.Remove(empty))
	require.NoError(t, open(t, empty).Close(), "nothing is lost with it")
	require.NoError(t, os.Mkdir(path+".lock", 0o700))
	if runtime.GOOS != "windows" {
		require.ErrorContains(t, read(path), "what was durable is in", "and cannot be known")
	}
}

// A reader beside a program meets no damage where there is none, whatever the program does to the file meanwhile.
func TestRead_WhileTheFileChanges(t *testing.T) {
	for name, change := range map[string]func(*FileJournal) error{
		"grows": func(j *FileJournal) error { return j.Sending(t.Context(), ticket("c", 0)) },
		"is replaced by a shorter one": func(j *FileJournal) error {
			return j.Compact(t.Context(), time.Now().Add(time.Hour), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			on, j := emptyDisk(t)
			done(t, j, Applied, "a", "b")
			changes := 0
			for _, err := range readEntries(context.Background(), &meanwhile{disk: on, change: func() error { changes++; return change(j) }}, onDisk, "", nil) {
				require.NoError(t, err)
			}
			require.Equal(t, 2, changes)
			for _, err := range readEntries(context.Background(), on, onDisk, "", nil) {
				require.NoError(t, err)
			}
		})
	}
}

// meanwhile is a disk on which something happens before each file is opened.
type meanwhile struct {
	*disk

	change func() error
}

func (m *meanwhile) Open(name string, flag int) (file, error) {
	if err := m.change(); err != nil {
		return nil, err
	}
	return m.disk.Open(name, flag)
}

// What is not a regular file, such as a pipe, may never end, and is not read.
func TestRead_NoRegularFile(t *testing.T) {
	for _, err := range readEntries(context.Background(), unopened{}, os.DevNull, "", nil) {
		require.ErrorIs(t, err, ErrForeign)
		require.ErrorContains(t, err, "regular file")
	}
	for err := range each(t.TempDir()) {
		require.ErrorIs(t, err, ErrForeign)
	}
}

// Nor is one that is to be the lock file of a journal that is opened.
func TestFile_NoRegularLockFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	require.NoError(t, open(t, path).Close())
	require.NoError(t, os.Remove(path+".lock"))
	if err := os.Symlink("/dev/zero", path+".lock"); err != nil || runtime.GOOS != "linux" {
		t.Skip("only Linux is known to have a device that never ends")
	}
	_, err := Open(path, "acme")
	require.ErrorIs(t, err, ErrForeign)
	require.ErrorContains(t, err, "its lock file")
	require.NoError(t, os.Remove(path+".lock"))
	require.NoError(t, open(t, path).Close())
}

// unopened is a file system on which nothing may be opened.
type unopened struct{ osFiles }

func (unopened) Open(string, int) (file, error) { panic("opened") }

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

// The history ends with its context and with the journal, and is there until it is compacted: what an approval has used up stays. The rest
// is in journaltest.
func TestCalls(t *testing.T) {
	file, path := opened(t)
	for id, outcome := range map[string]Outcome{"a": Applied, "b": NotApplied, "c": NotApplied} {
		require.NoError(t, file.Sending(t.Context(), approval(id)))
		require.NoError(t, file.Ended(t.Context(), id, End{Outcome: outcome}))
	}
	require.NoError(t, file.Sending(t.Context(), approval("d")))
	for _, j := range []Journal{file, new(MemoryJournal)} {
		sent(t, j, "other", "another")
		for e, err := range j.Calls(t.Context(), "lists.create") {
			require.NoError(t, err)
			require.Equal(t, "other", e.Ticket.ID)
			break
		}
	}
	require.NoError(t, file.Close())
	for _, err := range file.Calls(t.Context(), "campaigns.approve") {
		require.ErrorIs(t, err, ErrClosed)
	}
	file = open(t, path)
	require.ElementsMatch(t, []string{"a applied", "b not applied", "c not applied", "d unknown"}, history(t, file))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range file.Calls(ctx, "campaigns.approve") {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, file.Compact(t.Context(), time.Now().Add(time.Hour), func(e Entry) error {
		require.NotEqual(t, "a", e.Ticket.ID, "it stays")
		return nil
	}))
	require.Equal(t, []string{"a applied", "d unknown"}, history(t, file), "a digest stays used up, and a campaign approved")
	for e, err := range file.Calls(t.Context(), "lists.create") {
		require.NoError(t, err)
		require.Equal(t, Unknown, e.Outcome)
	}
}

func approval(id string) Ticket {
	tick := ticket(id, 0)
	tick.Op = "campaigns.approve"
	return tick
}

func history(t *testing.T, j Journal) (calls []string) {
	t.Helper()
	for e, err := range j.Calls(t.Context(), "campaigns.approve") {
		require.NoError(t, err)
		calls = append(calls, e.Ticket.ID+" "+string(e.Outcome))
	}
	return calls
}

// A ticket whose fsync failed was refused, and its call was not sent: the history does not have it, and what it has is durable.
func TestCalls_AfterAFailedSync(t *testing.T) {
	on, j := emptyDisk(t)
	require.NoError(t, j.Sending(t.Context(), approval("a")))
	on.fails = "fsync /"
	require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Applied}))
	require.ErrorIs(t, j.Sending(t.Context(), approval("b")), errFull)
	for _, err := range j.Calls(t.Context(), "campaigns.approve") {
		require.ErrorIs(t, err, errFull)
	}
	on.fails = ""
	require.Equal(t, []string{"a applied"}, history(t, j))
}

// A context that ends while a long file is read ends that.
func TestCalls_ContextEndsWithinTheFile(t *testing.T) {
	on, j := emptyDisk(t)
	for i := range 200 {
		require.NoError(t, j.Sending(t.Context(), ticket(strconv.Itoa(i), 0)))
	}
	for name, read := range map[string]func(context.Context) error{
		"Calls": func(ctx context.Context) error {
			for _, err := range j.Calls(ctx, "lists.create") {
				return err
			}
			return nil
		},
		"Compact": func(ctx context.Context) error { return j.Compact(ctx, began, nil) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		reader := &cancelled{FS: on, cancel: cancel}
		j.files = reader
		require.ErrorIs(t, read(ctx), context.Canceled, name)
		require.Equal(t, 1, reader.reads, name)
		j.files = on
	}
}

// cancelled is a file system on which the first read of a file ends a context.
type cancelled struct {
	filesystem.FS

	cancel func()
	reads  int
}

func (c *cancelled) Open(name string, flag int) (file, error) {
	f, err := c.FS.Open(name, flag)
	return cancelledFile{f, c}, err
}

type cancelledFile struct {
	file

	of *cancelled
}

func (f cancelledFile) Read(p []byte) (int, error) {
	f.of.reads++
	f.of.cancel()
	return f.file.Read(p)
}

// A call that ends while the journal is read is not one in doubt.
func TestCalls_EndedMeanwhile(t *testing.T) {
	j := newDisk(nil).open(t)
	sent(t, j, "a", "b", "c")
	require.NoError(t, j.Ended(t.Context(), "c", End{Outcome: Unknown}))
	var seen []string
	for e, err := range j.Calls(t.Context(), "lists.create") {
		require.NoError(t, err)
		require.Equal(t, Unknown, e.Outcome)
		seen = append(seen, fmt.Sprint(e.Ticket.ID, " ", e.InProgress))
		require.NoError(t, j.Ended(t.Context(), "b", End{Outcome: Applied}))
	}
	require.Equal(t, []string{"a true", "b true", "c false"}, seen)
}
