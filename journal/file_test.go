package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/filesystem"
	"example.com/prospectkit/internal/sim"
)

func open(t *testing.T, path string) *FileJournal {
	t.Helper()
	j, err := Open(path, "acme")
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// opened is a new journal, and its file.
func opened(t *testing.T) (j *FileJournal, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "j")
	return open(t, path), path
}

// emptyDisk is a disk with a new journal.
func emptyDisk(t *testing.T) (on *disk, j *FileJournal) {
	t.Helper()
	on = newDisk(nil)
	return on, on.open(t)
}

// sent stores tickets with these IDs.
func sent(t *testing.T, j Journal, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, j.Sending(t.Context(), ticket(id, 0)))
	}
}

// done stores tickets with these IDs, and how their calls ended.
func done(t *testing.T, j Journal, o Outcome, ids ...string) {
	t.Helper()
	for _, id := range ids {
		sent(t, j, id)
		require.NoError(t, j.Ended(t.Context(), id, End{Outcome: o}))
	}
}

// unknown returns the IDs that InDoubt yields.
func unknown(t *testing.T, j Journal) []string {
	t.Helper()
	ids := []string{}
	for ticket, err := range j.InDoubt(t.Context()) {
		require.NoError(t, err)
		ids = append(ids, ticket.ID)
	}
	return ids
}

// An outcome is noted once, however often it is told.
func TestFile_NotesAnOutcomeOnce(t *testing.T) {
	j, path := opened(t)
	done(t, j, Applied, "a")
	done(t, j, Unknown, "b")
	require.NoError(t, j.Ended(t.Context(), "b", End{Outcome: Unknown}))
	require.NoError(t, j.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 2, bytes.Count(text, []byte(`"ended":`)))
}

func TestFile_Mode(t *testing.T) {
	j, path := opened(t)
	done(t, j, Applied, "a")
	require.NoError(t, j.Compact(t.Context(), time.Now().Add(time.Hour), nil))
	for _, name := range []string{path, path + ".lock"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), name)
		}
	}
}

func TestFile_ReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	require.NoError(t, open(t, path).Close())
	require.NoError(t, os.Chmod(path, 0o400))
	_, err := Open(path, "acme")
	require.ErrorIs(t, err, fs.ErrPermission)
	require.ErrorContains(t, err, path)
	require.NoError(t, os.Chmod(path, 0o600))
}

func TestFile_NotThere(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "missing", "j"), "acme")
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Open(dir, "acme")
	require.ErrorIs(t, err, ErrForeign)
}

// A file that is not usable stays as it is.
func TestFile_Refuses(t *testing.T) {
	good := lines(sentA, endedA, sentA, endedA)
	middle := bytes.Clone(good)
	middle[len(middle)/2] ^= 1
	for name, c := range map[string]struct {
		text []byte
		want error
	}{
		"foreign":       {[]byte("a,b\n1,2\n"), ErrForeign},
		"other version": {appendRecord(nil, 0, []byte(`"prospectkitJournal":7`)), ErrForeign},
		"damaged":       {middle, ErrCorrupt},
		"cut":           {good[:10], ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "j")
			require.NoError(t, os.WriteFile(path, c.text, 0o600))
			for range 2 { // the lock is free again
				_, err := Open(path, "acme")
				require.ErrorIs(t, err, c.want)
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, c.text, text)
		})
	}
}

func TestFile_TornAtEachByte(t *testing.T) {
	text := lines(sentA, strings.ReplaceAll(sentA, `"a"`, `"b"`))
	header, first := bytes.IndexByte(text, '\n'), bytes.LastIndexByte(text[:len(text)-1], '\n')
	for end := header + 1; end <= len(text); end++ {
		on := newDisk(text[:end])
		j := on.open(t)
		want := []string{"a", "b"}[:min(1, end/first)+min(1, end/(len(text)-1))]
		require.Equal(t, want, unknown(t, j), "%d", end)
		sent(t, j, "c")
		require.NoError(t, j.Close())
		require.Equal(t, append(slices.Clone(want), "c"), unknown(t, on.open(t)))
	}
}

// A damaged record is found even if the end of the file is torn, and after the file was replaced.
func TestFile_DamageAndATornEnd(t *testing.T) {
	on, j := emptyDisk(t)
	sent(t, j, "a", "b", "c", "d")
	for _, replace := range []bool{false, true} {
		if replace {
			require.NoError(t, j.replace(nil))
		}
		text := on.text()
		for at := bytes.IndexByte(text, '\n') + 1; at < bytes.LastIndex(text, []byte(`"id":"b"`)); at++ {
			damaged := bytes.Clone(text[:len(text)-10])
			damaged[at] ^= 1
			_, err := openFile(newDisk(damaged), onDisk, "acme")
			require.ErrorIs(t, err, ErrCorrupt, "%d", at)
		}
	}
}

// The last durable ticket may have been sent: damage to it, and a file that is cut, are never taken for what a crash left. A crash
// that loses what the lock file says leaves a file that opens.
func TestFile_TheLastTicketHasAWitness(t *testing.T) {
	on, j := emptyDisk(t)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, j.Sending(t.Context(), ticket(id, 0)))
		require.NoError(t, j.Ended(t.Context(), id, End{Outcome: Unknown})) // which is not durable, and may be torn
	}
	text, durable := on.text(), int(j.synced)
	witness, _ := on.Holds(onDisk + ".lock")
	with := func(text []byte) *disk {
		after := newDisk(text)
		after.Put(onDisk+".lock", []byte(witness))
		return after
	}
	reopen := func(text []byte) error {
		after := with(text)
		_, err := openFile(after, onDisk, "acme")
		require.Equal(t, string(text), string(after.text()), "it stays as it is")
		return err
	}
	for end := range text {
		if end >= durable-1 { // the line feed may be missing
			break
		}
		require.ErrorIs(t, reopen(text[:end]), ErrCorrupt, "cut to %d", end)
	}
	for at := bytes.LastIndex(text[:durable-1], []byte("\n")) + 1; at < durable-1; at++ {
		damaged := bytes.Clone(text)
		damaged[at] ^= 1
		require.ErrorIs(t, reopen(damaged), ErrCorrupt, "damaged at %d", at)
	}
	require.Equal(t, []string{"a", "b"}, unknown(t, with(text[:len(text)-5]).open(t)), "the torn end was not durable")
}

// What the lock file says of a file that was replaced says nothing of the one in its place.
func TestFile_TheWitnessIsOfOneFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "j")
	j := open(t, path)
	for i := range 9 {
		require.NoError(t, j.Sending(t.Context(), ticket(strconv.Itoa(i), 0)))
		require.NoError(t, j.Ended(t.Context(), strconv.Itoa(i), End{Outcome: Applied}))
	}
	sent(t, j, "a")
	old, err := os.ReadFile(path + ".lock")
	require.NoError(t, err)
	require.NoError(t, j.Compact(t.Context(), time.Now().Add(time.Hour), nil))
	require.NoError(t, j.Close())
	for _, lock := range [][]byte{old, old[:len(old)/2], nil, []byte("x"), bytes.Repeat([]byte("x"), 2*maxRecord)} {
		require.NoError(t, os.WriteFile(path+".lock", lock, 0o600))
		j := open(t, path)
		require.Equal(t, []string{"a"}, unknown(t, j))
		require.NoError(t, j.Close())
	}
	copied := filepath.Join(dir, "copied") // without its lock file
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(copied, text, 0o600))
	require.Equal(t, []string{"a"}, unknown(t, open(t, copied)))
}

func TestFile_EmptyFileIsNew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	j := open(t, path)
	sent(t, j, "a")
	require.NoError(t, j.Close())
	require.Equal(t, []string{"a"}, unknown(t, open(t, path)))
}

// On a system whose rename removes the target first, a crash leaves only the new file.
func TestFile_OnlyTheNewFileIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	require.NoError(t, os.WriteFile(path+".new", lines(sentA), 0o600))
	_, err := Open(path, "acme")
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, path+".new")
	require.NoError(t, os.Rename(path+".new", path))
	require.Equal(t, []string{"a"}, unknown(t, open(t, path)))
}

func TestFile_ChangedWhileOpen(t *testing.T) {
	changes := map[string]func(path string) error{
		"cut":      func(path string) error { return os.Truncate(path, 10) },
		"appended": func(path string) error { return os.WriteFile(path, append(lines(sentA), "more\n"...), 0o600) },
	}
	if runtime.GOOS != "windows" { // which keeps an open file in its place
		changes["removed"] = os.Remove
		changes["replaced"] = func(path string) error {
			text, err := os.ReadFile(path)
			return errors.Join(err, os.Remove(path), os.WriteFile(path, text, 0o600))
		}
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			j, path := opened(t)
			done(t, j, Unknown, "a")
			require.NoError(t, change(path))
			err := j.Sending(t.Context(), ticket("b", 0))
			if !errors.Is(err, fs.ErrNotExist) {
				require.ErrorIs(t, err, ErrCorrupt)
			}
			require.ErrorContains(t, err, path)
			var inDoubt []error
			for _, err := range j.InDoubt(t.Context()) {
				inDoubt = append(inDoubt, err)
			}
			var calls error
			for _, calls = range j.Calls(t.Context(), "lists.create") {
				require.Error(t, calls)
			}
			for of, got := range map[string]error{
				"InDoubt": errors.Join(inDoubt...), "Calls": calls, "Compact": j.Compact(t.Context(), time.Now(), nil),
				"Settle": j.Settle(t.Context(), "a", Settlement{Applied, "maria", "seen"}), "Close": j.Close(),
			} {
				require.ErrorContains(t, got, errors.Unwrap(err).Error(), of)
			}
		})
	}
}

func TestFile_BadArguments(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "j"))
	require.ErrorContains(t, j.Sending(t.Context(), Ticket{}), "ID")
	require.ErrorContains(t, j.Sending(t.Context(), Ticket{ID: strings.Repeat("x", maxRecord)}), "bytes")
	require.ErrorContains(t, j.Ended(t.Context(), "a", End{Outcome: "perhaps"}), "perhaps")
	require.NoError(t, j.Ended(t.Context(), "nobody", End{Outcome: Applied}))
	require.NoError(t, j.Close())
	require.Empty(t, unknown(t, open(t, j.path)))
}

func TestFile_Closed(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "j"))
	sent(t, j, "a")
	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
	require.ErrorIs(t, j.Sending(t.Context(), ticket("b", 0)), ErrClosed)
	require.ErrorIs(t, j.Ended(t.Context(), "a", End{Outcome: Applied}), ErrClosed)
	require.ErrorIs(t, j.Compact(t.Context(), time.Now(), nil), ErrClosed)
	for range 2 {
		var errs []error
		for _, err := range j.InDoubt(t.Context()) {
			errs = append(errs, err)
		}
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], ErrClosed)
	}
	require.Equal(t, []string{"a"}, unknown(t, open(t, j.path)))
}

// A write that failed is cut back. If the file cannot be cut back either, it is replaced.
func TestFile_ShortWriteIsCutBack(t *testing.T) {
	for _, fails := range []string{"write /d/journal at", "write "} {
		on, j := emptyDisk(t)
		sent(t, j, "a")
		size := len(on.text())
		on.fails = fails
		require.ErrorIs(t, j.Sending(t.Context(), ticket("b", 0)), errFull)
		require.Equal(t, fails != "write ", len(on.text()) == size)
		require.Len(t, j.calls.entries, 1, "b is not in progress")
		want := []string{"a", "c"}
		if fails == "write " {
			require.ErrorIs(t, j.Ended(t.Context(), "a", End{Outcome: Applied}), errFull)
			want = []string{"c"}
		}
		on.fails = ""
		sent(t, j, "c")
		require.NoError(t, j.Close())
		require.Equal(t, 2-len(want), bytes.Count(on.text(), []byte(`"ended":"a"`)))
		require.Equal(t, want, unknown(t, on.open(t)))
	}
}

// What a failed fsync did not write, a second one does not write either, and reports success. So the
// file is replaced, and if that fails, it is tried again before anything else is stored.
func TestFile_FailedSyncIsNotTriedAgain(t *testing.T) {
	for _, then := range []string{"", "name create", "write ", "fsync /", "name rename", "fsync of the directory"} {
		t.Run(then, func(t *testing.T) {
			on, j := emptyDisk(t)
			done(t, j, Applied, "a")
			old := on.inode(t)
			on.fails = "fsync /"
			require.ErrorIs(t, j.Sending(t.Context(), ticket("b", 0)), errFull)
			if on.fails = then; then != "" {
				require.ErrorIs(t, j.Sending(t.Context(), ticket("c", 0)), errFull)
			}
			on.fails = ""
			sent(t, j, "d", "e")
			require.NotSame(t, old, on.inode(t))
			on.afterPowerFailed(func(left *disk) {
				require.Equal(t, []string{"d", "e"}, unknown(t, left.open(t)), "and the outcome of a is not lost")
			})
		})
	}
}

// An errgroup keeps the errors of goroutines.
type errgroup struct {
	sync.WaitGroup

	mu   sync.Mutex
	errs []error
}

// Go runs f in a goroutine.
func (g *errgroup) Go(f func() error) {
	g.WaitGroup.Go(func() {
		err := f()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.errs = append(g.errs, err)
	})
}

func (g *errgroup) err() error {
	g.Wait()
	return errors.Join(g.errs...)
}

func (g *errgroup) wait(t *testing.T) {
	t.Helper()
	require.NoError(t, g.err())
}

// gated opens a journal with these tickets, whose fsyncs wait until the gate is closed.
func gated(t *testing.T, ids ...string) (*FileJournal, *disk, chan struct{}) {
	t.Helper()
	on, gate := newDisk(nil), make(chan struct{})
	j := on.open(t)
	for _, id := range ids {
		require.NoError(t, j.Sending(t.Context(), ticket(id, 0)))
	}
	on.gate = func() { <-gate }
	return j, on, gate
}

func TestFile_OneSyncForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, on, gate := gated(t)
		before := on.syncs
		var all errgroup
		for i := range 64 {
			all.Go(func() error { return j.Sending(t.Context(), ticket(strconv.Itoa(i), 0)) })
			if i == 0 {
				synctest.Wait() // the others come during its fsync
			}
		}
		synctest.Wait()
		close(gate)
		all.wait(t)
		require.Equal(t, before+2, on.syncs)
		on.gate = nil
		require.NoError(t, j.Close())
		j = on.open(t)
		require.Len(t, unknown(t, j), 64)
	})
}

func TestFile_EndedWaitsForNoSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, on, gate := gated(t, "a")
		var all errgroup
		all.Go(func() error { return j.Sending(t.Context(), ticket("b", 0)) })
		synctest.Wait()
		require.NoError(t, j.Ended(t.Context(), "a", End{Outcome: Applied}))
		syncs := on.syncs
		close(gate)
		all.wait(t)
		require.Equal(t, syncs+1, on.syncs)
		require.Contains(t, string(on.text()), `"ended":"a","outcome":"applied"`)
	})
}

func TestFile_CancelledWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, on, gate := gated(t)
		var all, cancelled errgroup
		all.Go(func() error { return j.Sending(t.Context(), ticket("a", 0)) })
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancelled.Go(func() error { return j.Sending(ctx, ticket("b", 0)) })
		all.Go(func() error { return j.Sending(t.Context(), ticket("c", 0)) })
		synctest.Wait()
		cancel()
		require.ErrorIs(t, cancelled.err(), context.Canceled)
		close(gate)
		all.wait(t)
		require.ErrorIs(t, j.Sending(ctx, ticket("d", 0)), context.Canceled)
		on.gate = nil
		require.NoError(t, j.Close())
		j = on.open(t)
		require.Equal(t, []string{"a", "c"}, unknown(t, j))
	})
}

func TestFile_ManyAtOnce(t *testing.T) {
	j, path := opened(t)
	var all errgroup
	for i := range 32 {
		all.Go(func() error {
			for call := range 4 {
				id := fmt.Sprintf("%d-%d", i, call)
				if err := errors.Join(j.Sending(t.Context(), ticket(id, 0)), j.Sending(t.Context(), ticket(id, 1))); err != nil {
					return err
				}
				if call == 3 {
					break // in progress
				}
				if err := j.Ended(t.Context(), id, End{Outcome: Applied}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	all.Go(func() error {
		for range 4 {
			if err := j.Compact(t.Context(), time.Now(), nil); err != nil {
				return err
			}
			for _, err := range Read(path) {
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	all.wait(t)
	require.Empty(t, unknown(t, j))
	require.NoError(t, j.Close())
	require.Len(t, unknown(t, open(t, path)), 32)
}

func BenchmarkFile_Sending(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			j, err := Open(filepath.Join(b.TempDir(), "j"), "acme")
			require.NoError(b, err)
			b.SetParallelism((callers + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
			var calls atomic.Int64
			send := func() error {
				t := ticket(strconv.FormatInt(calls.Add(1), 10), 0)
				return errors.Join(j.Sending(b.Context(), t), j.Ended(b.Context(), t.ID, End{Outcome: Applied}))
			}
			b.ResetTimer()
			if callers == 1 {
				for b.Loop() {
					require.NoError(b, send())
				}
			} else {
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						require.NoError(b, send())
					}
				})
			}
			b.StopTimer()
			require.NoError(b, j.Close())
		})
	}
}

// A crash before the first file has its name leaves nothing that anybody relies on.
func TestFile_OnlyAnEmptyNewFileIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	require.NoError(t, os.WriteFile(path+".new", emptyFile(identity{"any", "acme"}), 0o600))
	require.Empty(t, unknown(t, open(t, path)))
}

var began = time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)

func ticket(id string, attempt int) Ticket {
	return Ticket{
		Version: Version, ID: id, Op: "lists.create", Lookup: Lookup{Name: "list " + id}, Service: "https://service.test/api/v1",
		FirstSent: began, LastSent: began.Add(time.Duration(attempt) * time.Second),
	}
}

const onDisk = "/d/journal"

var errFull = errors.New("the disk is full")

// A disk is that of the simulation, with the faults that a test wants.
type disk struct {
	*sim.Disk
	filesystem.FS

	fails string // steps that begin so do not happen, or half
	gate  func() // called at the start of each fsync of a file
	syncs int    // of files
}

// newDisk returns a disk with a journal of this text, unless it is nil.
func newDisk(text []byte) *disk {
	d := &disk{Disk: sim.NewDisk()}
	if text != nil {
		d.Put(onDisk, text)
	}
	return d.mount()
}

func (d *disk) mount() *disk {
	d.FS = d.Files(func(class, what string, happens func(sim.Fault)) error {
		step := class + " " + what
		if strings.HasPrefix(step, "fsync /") {
			if d.gate != nil {
				d.gate()
			}
			d.syncs++
		}
		if d.fails != "" && strings.HasPrefix(step, d.fails) {
			happens(sim.DiskFull)
			return errFull
		}
		happens("")
		return nil
	})
	return d
}

func (d *disk) open(t *testing.T) *FileJournal {
	t.Helper()
	j, err := openFile(d, onDisk, "acme")
	require.NoError(t, err)
	return j
}

func (d *disk) text() []byte {
	text, _ := d.Holds(onDisk)
	return []byte(text)
}

// inode is the file that has the name.
func (d *disk) inode(t *testing.T) any {
	t.Helper()
	info, err := d.Stat(onDisk)
	require.NoError(t, err)
	return info.Sys()
}

// afterPowerFailed passes what a crash may leave.
func (d *disk) afterPowerFailed(f func(*disk)) {
	for seed := range uint64(100) {
		f((&disk{Disk: d.PowerFailed(rand.New(rand.NewPCG(seed, 1)))}).mount())
	}
}
