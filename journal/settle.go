package journal

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrNotInDoubt says that a ticket cannot be settled: it is not in the journal, is settled, or is of a call in progress. Match it
// with [errors.Is].
var ErrNotInDoubt = errors.New("no ticket with this ID is in doubt")

// A Settlement is what a person found out about a call.
type Settlement struct {
	Outcome Outcome // Applied or NotApplied
	By      string  // who says so
	Because string  // why
}

// A Settler is a journal that keeps who settled a ticket, and why. [FileJournal] and [MemoryJournal] do, and the store of the module
// postgres.
type Settler interface {
	// Settle notes the outcome of a call that is in doubt, durably. It fails with [ErrNotInDoubt] for any other. After another
	// error, the settlement may be noted or not. The entries of the journal then have its name and reason.
	Settle(ctx context.Context, id string, s Settlement) error
}

// Check returns what is missing.
func (s Settlement) Check() error {
	switch {
	case s.Outcome != Applied && s.Outcome != NotApplied:
		return fmt.Errorf("a ticket is settled as %q or %q, not as %q", Applied, NotApplied, s.Outcome)
	case s.By == "", s.Because == "":
		return errors.New("a settlement needs a name and a reason")
	}
	return nil
}

// Settle notes what a person found out. It returns when that is durable.
func (j *FileJournal) Settle(ctx context.Context, id string, s Settlement) error {
	return j.failed("settle a ticket of", j.settle(ctx, id, s))
}

func (j *FileJournal) settle(ctx context.Context, id string, s Settlement) error {
	now := time.Now()
	body, err := endedBody(id, s, now)
	if err = errors.Join(s.Check(), err); err != nil {
		return err
	}
	if err := j.takeTurn(ctx); err != nil {
		return err
	}
	defer j.release()
	j.mu.Lock()
	switch {
	case j.closed:
		err = ErrClosed
	case !j.calls.settle(id, s, now):
		err = ErrNotInDoubt
	default:
		j.ended = append(j.ended, outcome{id, body})
	}
	j.mu.Unlock()
	if err != nil {
		return err
	}
	j.take(false)
	return j.finish()
}

// Settle notes what a person found out.
func (m *MemoryJournal) Settle(ctx context.Context, id string, s Settlement) error {
	if err := errors.Join(s.Check(), ctx.Err()); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.calls.settle(id, s, time.Now()) {
		return fmt.Errorf("journal: %w", ErrNotInDoubt)
	}
	return nil
}

// settle notes a settlement, if the ticket is in doubt.
func (f *fold) settle(id string, s Settlement, at time.Time) bool {
	e := f.entries[id]
	return e != nil && !e.InProgress && f.ended(id, s, at)
}
