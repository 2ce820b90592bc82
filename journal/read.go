package journal

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"runtime"

	"example.com/prospectkit/internal/filesystem"
)

// Read yields the entries of the journal file at path, in the order of their first attempts: who made which call, when, and what its
// outcome is. It changes nothing and needs no lock, so it works while a process uses the file. An error comes last, after the entries that
// could be read.
//
// What was durable and is damaged or cut off is [ErrCorrupt], as with [Open], by the lock file. Without one, as of a copy, a cut goes
// unnoticed.
func Read(path string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		path, err := filesystem.Target(path)
		if err != nil {
			yield(Entry{}, fmt.Errorf("journal: %w", err))
			return
		}
		readEntries(context.Background(), osFiles{}, path, "", nil)(yield)
	}
}

// A claim says how much of a file was durable.
type claim struct {
	identity // of the file

	synced int64
}

// claimed returns the claim about a journal that another process may have open. What it claims is there by the time that
// the journal is read.
func claimed(on filesystem.FS, path string) (*claim, error) {
	lock, err := openRegular(on, path+".lock")
	const alone = runtime.GOOS == "windows" || runtime.GOOS == "plan9" // nobody opens what another process has locked
	if errors.Is(err, fs.ErrNotExist) || err != nil && alone {
		return new(claim), nil
	}
	if err != nil {
		return nil, fmt.Errorf("what was durable is in %s.lock: %w", path, err)
	}
	defer lock.Close()
	return claimOf(lock), nil
}

// claimOf reads a lock file. One that a crash has left says nothing.
func claimOf(lock io.Reader) *claim {
	line, _, err := readLine(bufio.NewReader(lock))
	r, ok := parseRecord(line, math.MaxInt64)
	if err != nil || !ok {
		return new(claim)
	}
	return &claim{identity{r.Name, r.Workspace}, r.Synced}
}

// check fails if the scanned file is the one of the claim, and does not have what was durable.
func (c *claim) check(s scanned) error {
	other := c.name != s.is.name && s.size > 0
	if other || s.size >= c.synced && (s.bad < 0 || s.bad >= c.synced) {
		return nil
	}
	return fmt.Errorf("%w: %d bytes were durable, and the file or its end is damaged or missing: restore it, or, to do without what is missing, "+
		"remove the file that ends in .lock", ErrCorrupt, c.synced)
}

// intact returns how much of the file is durable. It fails if another program has changed the file. After a failed fsync, it first replaces
// the file, which has tickets that were refused.
func (j *FileJournal) intact(ctx context.Context) (*claim, error) {
	if err := j.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer j.release()
	j.mu.Lock()
	closed := j.closed
	j.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	if err := j.ready(); err != nil {
		return nil, err
	}
	return &claim{identity{j.name, j.workspace}, j.synced}, nil
}

// Calls yields the tickets of an operation, with their outcomes. It reads the whole file, which takes seconds for each hundred thousand
// calls. A call that ends meanwhile may count as in progress.
func (j *FileJournal) Calls(ctx context.Context, op string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		c, err := j.intact(ctx)
		if err != nil {
			yield(Entry{}, j.failed("read", err))
			return
		}
		for e, err := range readEntries(ctx, j.files, j.path, op, c) {
			j.mu.Lock()
			doubt := j.calls.entries[e.Ticket.ID] // nil: its outcome is known by now
			e.InProgress = e.Outcome == Unknown && (doubt == nil || doubt.InProgress)
			j.mu.Unlock()
			if !yield(e, err) {
				return
			}
		}
	}
}

// readEntries yields the entries of an operation, or all if it is empty, of a file of which so much was durable: without a claim,
// that of the lock file is read first. The end of the context ends it, also within the file.
func readEntries(ctx context.Context, on filesystem.FS, path, op string, c *claim) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		var all fold
		err := readInto(ctx, &all, on, path, op, c)
		for _, e := range all.list() {
			if ctx.Err() != nil {
				err = ctx.Err()
				break
			}
			if !yield(e.Entry, nil) {
				return
			}
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("journal: read %s: %w", path, err))
		}
	}
}

func readInto(ctx context.Context, all *fold, on filesystem.FS, path, op string, c *claim) (err error) {
	if c == nil {
		if c, err = claimed(on, path); err != nil {
			return err
		}
	}
	f, err := openRegular(on, path)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := scan(ctx, f, func(r record) {
		if r.Sending == nil || op == "" || r.Sending.Op == op {
			all.add(r)
		}
	})
	return cmp.Or(err, c.check(s))
}

// openRegular opens a file to read it, unless it is one that may never end.
func openRegular(on filesystem.FS, path string) (file, error) {
	if _, err := regular(on, path); err != nil {
		return nil, err
	}
	return on.Open(path, os.O_RDONLY)
}

// regular returns what is known of a file, and an error of one that may never end, such as a pipe.
func regular(on filesystem.FS, path string) (fs.FileInfo, error) {
	info, err := on.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	return info, err
}
