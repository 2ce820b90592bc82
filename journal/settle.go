package journal

import (
	"context"
	"errors"
	"fmt"
)

// ErrNotInDoubt says that a ticket cannot be settled: it is not in the journal, is settled, or is of a call in progress. Match it
// with [errors.Is].
var ErrNotInDoubt = errors.New("no ticket with this ID is in doubt")

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
	c := s.of(id)
	body, err := c.body(theEnd)
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
	case !j.calls.settle(c):
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
	if !m.calls.settle(s.of(id)) {
		return fmt.Errorf("journal: %w", ErrNotInDoubt)
	}
	return nil
}
