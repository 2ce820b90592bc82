package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"example.com/prospectkit/internal/filesystem"
)

// What can be wrong with a file, beside the errors of the system such as a full disk. Match them with [errors.Is].
var (
	ErrLocked  = filesystem.ErrLocked
	ErrCorrupt = errors.New("the journal is damaged")
	ErrForeign = errors.New("the file is not a journal of this package and workspace")
	ErrClosed  = errors.New("the journal is closed")
)

var errNotRegular = fmt.Errorf("%w: it is not a regular file", ErrForeign)

// FileJournal is a journal in a file. It is made by [Open].
type FileJournal struct {
	files     filesystem.FS
	path      string
	workspace string
	lock      file          // says how much of the file is durable
	turn      chan struct{} // held while the file is written

	mu     sync.Mutex // guards what follows
	closed bool
	calls  fold   // the tickets whose outcome is unknown
	next   *batch // what the next holder of the turn stores
	ended  []outcome

	// Only the holder of the turn uses what follows.
	file    file      // nil after it could not be opened again
	name    string    // in the first record of the file
	size    int64     // of the file, up to the last whole record
	synced  int64     // how much of it is durable
	pending []outcome // outcomes that are not durable
	written int       // how many of them are in the file
	broken  bool      // the file must be replaced before it is used
	torn    bool      // the file ends as a crash left it
}

// A batch is what one fsync makes durable.
type batch struct {
	sendings []*sending
	done     chan struct{}
	err      error
}

type sending struct {
	Ticket

	body   []byte
	call   *folded
	active bool // before
}

type outcome struct {
	id   string
	body []byte
}

// Open opens the journal of a workspace in the file at path, or creates it with mode 0600, in a directory on a local file system. The name
// of the workspace is yours: the first Open writes it into the file.
//
// One process at a time has it open, and once: another Open returns [ErrLocked]. The lock is a file beside it, with .lock after its name,
// which stays, and tells how much was durable: copy both. On js/wasm and wasip1, nothing keeps out other processes.
//
// If what was durable is damaged, cut off or missing, Open returns [ErrCorrupt], for another workspace, kind or version of file
// [ErrForeign], and changes nothing. The file grows by about 500 bytes a call, until [FileJournal.Compact].
func Open(path, workspace string) (*FileJournal, error) {
	path, err := filesystem.Target(path)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return openFile(osFiles{}, path, workspace)
}

func openFile(on filesystem.FS, path, workspace string) (*FileJournal, error) {
	j := &FileJournal{
		files: on, path: path, workspace: workspace, turn: make(chan struct{}, 1), calls: fold{forget: true}, next: newBatch(),
	}
	if err := CheckWorkspace(workspace); err != nil {
		return nil, j.failed("open", err)
	}
	_, err := regular(on, path+".lock")
	if errors.Is(err, ErrForeign) {
		return nil, j.failed("open", fmt.Errorf("its lock file: %w", err))
	}
	if j.lock, err = on.Lock(path + ".lock"); err != nil {
		return nil, j.failed("open", err)
	}
	if err := j.open(); err != nil {
		if j.file != nil {
			_ = j.file.Close()
		}
		_ = j.lock.Close()
		return nil, j.failed("open", err)
	}
	return j, nil
}

func newBatch() *batch { return &batch{done: make(chan struct{})} }

// Workspace returns the name of the workspace.
func (j *FileJournal) Workspace() string { return j.workspace }

// failed says of an error what failed; of none, nothing did.
func (j *FileJournal) failed(to string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal: %s %s: %w", to, j.path, err)
}

// open reads the file and puts it in order.
func (j *FileJournal) open() error {
	info, err := regular(j.files, j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return j.create()
	}
	switch {
	case err != nil:
		return err
	case info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("it is read-only: %w", fs.ErrPermission) // which stops nobody who is root
	}
	if j.file, err = j.files.Open(j.path, os.O_RDWR); err != nil {
		return err
	}
	s, err := scan(context.Background(), j.file, j.calls.add)
	if err != nil {
		return err
	}
	if err := claimOf(j.lock).check(s); err != nil {
		return err
	}
	if s.size > 0 && s.is.workspace != j.workspace {
		return fmt.Errorf("%w: it belongs to the workspace %q, not to %q", ErrForeign, s.is.workspace, j.workspace)
	}
	j.size, j.synced, j.torn = s.size, s.size, s.bad >= 0
	return j.replace(nil) // how much of it is durable is unknown: the process before may have died of a failed fsync
}

// create makes an empty journal, unless a crash left the journal under its other name, or there was one that held something.
func (j *FileJournal) create() error {
	if info, err := j.files.Stat(j.temporary()); err == nil && info.Size() > int64(len(emptyFile(identity{j.files.Text(), j.workspace}))) {
		return fmt.Errorf("%w: it is missing, and %s may be its last version: rename that one, or remove it", ErrCorrupt, j.temporary())
	}
	if c := claimOf(j.lock); c.synced > int64(len(emptyFile(c.identity))) {
		return c.check(scanned{bad: -1})
	}
	return j.replace(nil)
}

// witness notes how much of the file is durable. It needs no fsync: an older note asks for less, and one about a file that was
// replaced for nothing.
func (j *FileJournal) witness() {
	_, _ = j.lock.WriteAt(appendRecord(nil, j.synced, identity{j.name, j.workspace}.body(0)), 0)
}

func emptyFile(i identity) []byte {
	text := appendRecord(nil, 0, i.body(format))
	return appendRecord(text, int64(len(text)), nil)
}

// Sending stores the ticket and returns when it is durable. Calls at the same time share one fsync. After an error the call must not be
// sent. Its ticket is then absent, except that after a failed fsync and a crash it may be there, as one whose outcome is unknown.
func (j *FileJournal) Sending(ctx context.Context, t Ticket) error {
	body, err := sendingBody(t)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return j.failed("store a ticket in", err)
	}
	t.IDs = slices.Clone(t.IDs)
	s := &sending{Ticket: t, body: body}
	b := j.join(s)
	select {
	case j.turn <- struct{}{}:
		j.commit()
		j.release()
	case <-b.done:
	case <-ctx.Done():
		if j.leave(b, s) {
			return j.failed("store a ticket in", ctx.Err())
		}
	}
	<-b.done // the holder of the turn stores it
	return j.failed("store a ticket in", b.err)
}

// join adds a ticket to the next batch. From now on its call is in progress.
func (j *FileJournal) join(s *sending) *batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	if s.call = j.calls.entries[s.ID]; s.call == nil {
		s.call = j.calls.sending(s.Ticket)
	}
	s.active = s.call.InProgress
	s.call.InProgress, s.call.Ended = true, time.Time{}
	j.next.sendings = append(j.next.sendings, s)
	return j.next
}

// leave takes a ticket out of a batch, unless it is being stored.
func (j *FileJournal) leave(b *batch, s *sending) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if b != j.next {
		return false
	}
	b.sendings = slices.DeleteFunc(b.sendings, func(other *sending) bool { return other == s })
	j.refuse(s)
	return true
}

// refuse puts a call back to what it was before its ticket was to be stored.
func (j *FileJournal) refuse(s *sending) {
	s.call.InProgress = s.call.InProgress && s.active
	if !s.call.stored && j.calls.entries[s.ID] == s.call {
		delete(j.calls.entries, s.ID)
	}
}

// takeTurn waits for the turn, unless the context has ended.
func (j *FileJournal) takeTurn(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case j.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tryTurn takes the turn if nobody has it.
func (j *FileJournal) tryTurn() bool {
	select {
	case j.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// release gives up the turn. Outcomes that came while it was held wait for nobody, so they are written.
func (j *FileJournal) release() {
	for {
		<-j.turn
		j.mu.Lock()
		more := len(j.ended) > 0
		j.mu.Unlock()
		if !more || !j.tryTurn() {
			return
		}
		_ = j.note() // if it fails, the next Sending tries again
	}
}

// note writes the outcomes that are known.
func (j *FileJournal) note() error {
	if _, closed := j.take(false); closed {
		return ErrClosed
	}
	return j.store(nil)
}

// commit stores the next batch.
func (j *FileJournal) commit() {
	b, closed := j.take(true)
	err := ErrClosed
	if !closed {
		err = j.store(b.sendings)
	}
	j.mu.Lock()
	for _, s := range b.sendings {
		if err == nil {
			s.call.Ticket, s.call.stored = s.Ticket, true
		} else {
			j.refuse(s)
		}
	}
	j.mu.Unlock()
	b.err = err
	close(b.done)
}

// take hands what waits to the holder of the turn: the outcomes, and the next batch if it is wanted.
func (j *FileJournal) take(tickets bool) (b *batch, closed bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending, j.ended = append(j.pending, j.ended...), nil
	if tickets {
		b, j.next = j.next, newBatch()
	}
	return b, j.closed
}

// store writes outcomes and tickets, and makes the tickets durable.
func (j *FileJournal) store(sendings []*sending) error {
	if len(sendings) == 0 && j.written == len(j.pending) {
		return nil
	}
	if err := j.ready(); err != nil {
		return err
	}
	var text []byte
	for _, o := range j.pending[j.written:] {
		text = appendRecord(text, j.synced, o.body)
	}
	for _, s := range sendings {
		text = appendRecord(text, j.synced, s.body)
	}
	if err := j.append(text); err != nil {
		return err
	}
	j.written = len(j.pending)
	if len(sendings) == 0 {
		return nil
	}
	return j.sync(len(sendings) > 1)
}

// ready sees to it that the file is the one that was opened, as it was left.
func (j *FileJournal) ready() error {
	if j.broken {
		return j.replace(nil)
	}
	return j.unchanged()
}

// unchanged fails if another program has put its hands on the file.
func (j *FileJournal) unchanged() error {
	ours, err := j.file.Stat()
	if err != nil {
		return err
	}
	named, err := j.files.Stat(j.path)
	if err != nil {
		return err
	}
	if !j.files.Same(ours, named) || ours.Size() != j.size {
		return fmt.Errorf("%w: another program changed it while it was open: stop this program, and restore the file", ErrCorrupt)
	}
	return nil
}

// append writes records at the end of the file, all or none.
func (j *FileJournal) append(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if _, err := j.file.WriteAt(text, j.size); err != nil {
		j.broken = j.file.Truncate(j.size) != nil
		return err
	}
	j.size += int64(len(text))
	return nil
}

// sync makes the file durable. A mark says so in the file: without one, it would look as if a crash
// could have left only some of the records.
func (j *FileJournal) sync(mark bool) error {
	if err := j.file.Sync(); err != nil {
		j.broken = true // a second fsync would succeed without what the first one lost
		return err
	}
	j.synced, j.pending, j.written = j.size, nil, 0
	j.witness()
	if mark {
		_ = j.append(appendRecord(nil, j.synced, nil)) // nothing depends on it
	}
	return nil
}

// Ended notes an outcome. It is durable after the next Sending, or after Close. The outcome of a ticket that is not there, or that is
// settled, is ignored.
func (j *FileJournal) Ended(_ context.Context, id string, e End) error {
	return j.failed("note an outcome in", j.end(e.of(id)))
}

func (j *FileJournal) end(c content) error {
	if !c.Outcome.known() {
		return fmt.Errorf("there is no outcome %q", c.Outcome)
	}
	body, err := c.body(theEnd)
	if err != nil {
		return err
	}
	j.mu.Lock()
	closed := j.closed
	news := !closed && j.calls.ended(c)
	if news {
		j.ended = append(j.ended, outcome{c.Ended, body})
	}
	j.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case !news || !j.tryTurn():
		return nil
	}
	defer j.release()
	return j.note()
}

// InDoubt yields the tickets whose outcome is unknown, oldest first, as they are when it starts. The loop may call the other methods.
func (j *FileJournal) InDoubt(ctx context.Context) iter.Seq2[Ticket, error] {
	return func(yield func(Ticket, error) bool) {
		_, damage := j.intact(ctx)
		j.mu.Lock()
		closed, tickets := j.closed, j.calls.unknown()
		j.mu.Unlock()
		if closed {
			yield(Ticket{}, j.failed("read", ErrClosed))
			return
		}
		for _, t := range tickets {
			if err := ctx.Err(); err != nil {
				yield(Ticket{}, j.failed("read", err))
				return
			}
			if !yield(t, nil) {
				return
			}
		}
		if damage != nil {
			yield(Ticket{}, j.failed("read", damage))
		}
	}
}

// Close makes all outcomes durable and releases the file. Later calls of Sending fail. A second Close does nothing.
func (j *FileJournal) Close() error {
	j.mu.Lock()
	closed := j.closed
	j.closed = true
	j.mu.Unlock()
	if closed {
		return nil
	}
	j.turn <- struct{}{}
	defer j.release()
	j.take(false)
	err := j.finish()
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
	}
	return j.failed("close", errors.Join(err, j.lock.Close()))
}

// finish makes the file durable, and marks it so.
func (j *FileJournal) finish() error {
	if j.broken {
		return j.replace(nil) // which ends with a mark
	}
	if err := j.unchanged(); err != nil {
		return err
	}
	if err := j.store(nil); err != nil {
		return err
	}
	return j.sync(true)
}
