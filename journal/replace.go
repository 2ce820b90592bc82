package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/prospectkit/internal/op"
)

// Compact removes what is known about calls that ended before a time with a known outcome. It passes each entry to archive first, if
// archive is not nil: an error stops Compact, and the file stays as it is. Tickets without a known outcome always stay, and so do
// approvals that were applied. What is removed is forgotten by Once, too: do not remove the imports, pushes or campaigns that a program
// has to make once.
//
// A crash loses nothing: a smaller file replaces the other as a whole. archive may then get an entry again. Sending waits while the file
// is replaced.
func (j *FileJournal) Compact(ctx context.Context, before time.Time, archive func(Entry) error) error {
	leaving, err := j.leaving(ctx, before, archive)
	if err != nil {
		return j.failed("compact", err)
	}
	if len(leaving) == 0 {
		return nil
	}
	if err := j.takeTurn(ctx); err != nil {
		return j.failed("compact", err)
	}
	defer j.release()
	if _, closed := j.take(false); closed {
		return j.failed("compact", ErrClosed)
	}
	j.mu.Lock()
	for id := range j.calls.entries {
		delete(leaving, id) // the ID is used again
	}
	j.mu.Unlock()
	return j.failed("compact", j.replace(leaving))
}

// leaving archives the entries that may leave the file and returns their IDs.
func (j *FileJournal) leaving(ctx context.Context, before time.Time, archive func(Entry) error) (map[string]bool, error) {
	c, err := j.intact(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for e, err := range readEntries(ctx, j.files, j.path, "", c) {
		if err != nil {
			return nil, err
		}
		approval := e.Ticket.Op == op.CampaignsApprove.Name && e.Outcome == Applied
		if e.Outcome == Unknown || approval || !e.Ended.Before(before) {
			continue
		}
		if archive != nil {
			if err := archive(e); err != nil {
				return nil, err
			}
		}
		ids[e.Ticket.ID] = true
	}
	return ids, nil
}

func (j *FileJournal) temporary() string { return j.path + ".new" }

// replace writes what is durable, and the pending outcomes, into a new file, which takes the place of
// the old one. Records of the tickets to drop are left out. Until the new name is durable, the file is
// not used: after a crash the old one could be back.
func (j *FileJournal) replace(drop map[string]bool) error {
	if err := j.files.Remove(j.temporary()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	name := j.files.Text()
	size, err := j.copyTo(j.temporary(), name, drop)
	if err != nil {
		_ = j.files.Remove(j.temporary())
		return err
	}
	if j.file != nil {
		_ = j.file.Close() // Windows replaces no open file
		j.file = nil
	}
	good := !j.broken
	j.broken = true
	if err := j.files.Rename(j.temporary(), j.path); err != nil {
		_ = j.files.Remove(j.temporary())
		if old, oldErr := j.files.Open(j.path, os.O_RDWR); oldErr == nil {
			j.file, j.broken = old, !good
		}
		return err
	}
	j.name, j.size, j.synced, j.torn = name, size, size, false
	j.pending, j.written = nil, 0
	if j.file, err = j.files.Open(j.path, os.O_RDWR); err != nil {
		return err
	}
	if err := j.files.SyncDir(filepath.Dir(j.path)); err != nil {
		return err
	}
	j.broken = false
	j.witness()
	return nil
}

// copyTo writes the new file at path, durable, and returns its size.
func (j *FileJournal) copyTo(path, name string, drop map[string]bool) (size int64, err error) {
	f, err := j.files.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriter(io.NewOffsetWriter(f, 0))
	var line []byte
	// The file takes its name only after its fsync. So each record may say that all before it is durable.
	write := func(body []byte) {
		line = appendRecord(line[:0], size, body)
		size += int64(len(line))
		_, _ = out.Write(line) // Flush returns its error
	}
	write(identity{name, j.workspace}.body(format))
	if err := j.copyOld(write, drop); err != nil {
		return 0, err
	}
	for _, o := range j.pending {
		if !drop[o.id] {
			write(o.body)
		}
	}
	write(nil)
	if err := out.Flush(); err != nil {
		return 0, err
	}
	return size, f.Sync()
}

// copyOld passes on the tickets and outcomes of the file. At the first time that is all of it; later
// it is what is durable.
func (j *FileJournal) copyOld(write func(body []byte), drop map[string]bool) error {
	if j.synced == 0 {
		return nil
	}
	old, err := j.files.Open(j.path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer old.Close()
	s, err := scan(context.Background(), io.LimitReader(old, j.synced), func(r record) {
		if r.Sending != nil && !drop[r.Sending.ID] || r.Ended != "" && !drop[r.Ended] {
			write(r.body)
		}
	})
	switch {
	case err != nil:
		return err
	case s.size != j.synced:
		return fmt.Errorf("%w: it is shorter than it was", ErrCorrupt)
	case s.bad >= 0 && !j.torn:
		return fmt.Errorf("%w: the record at byte %d is damaged", ErrCorrupt, s.bad)
	}
	return nil
}
