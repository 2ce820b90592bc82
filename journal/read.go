package journal

import (
	"context"
	"fmt"
	"iter"
	"os"

	"example.com/prospectkit/internal/filesystem"
)

// Read yields the entries of the journal file at path, in the order of their first attempts: who made
// which call, when, and what its outcome is. It changes nothing and needs no lock, so it works while
// a process uses the file, and skips what that process has not written completely. An error comes
// last, after the entries that could be read. What is not a regular file is refused with [ErrForeign].
func Read(path string) iter.Seq2[Entry, error] { return readEntries(osFiles{}, path, "") }

// Calls yields the tickets of an operation, with their outcomes. It reads the whole file, which takes seconds for each hundred
// thousand calls. An outcome that another call is about to write may not be in it yet: its ticket is then Unknown.
func (j *FileJournal) Calls(ctx context.Context, op string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		j.mu.Lock()
		closed := j.closed
		j.mu.Unlock()
		if closed {
			yield(Entry{}, j.failed("read", ErrClosed))
			return
		}
		for e, err := range readEntries(j.files, j.path, op) {
			if err == nil && ctx.Err() != nil {
				e, err = Entry{}, j.failed("read", ctx.Err())
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// readEntries yields the entries of an operation, or all if it is empty.
func readEntries(on filesystem.FS, path, op string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var all fold
		err := readInto(&all, on, path, op)
		for _, e := range all.list() {
			if !yield(e.Entry, nil) {
				return
			}
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("journal: read %s: %w", path, err))
		}
	}
}

func readInto(all *fold, on filesystem.FS, path, op string) error {
	info, err := on.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errNotRegular
	}
	f, err := on.Open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = scan(f, func(r record) error {
		if r.Sending != nil && op != "" && r.Sending.Op != op {
			return nil
		}
		return all.add(r)
	})
	return err
}
