package journal

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync"
)

// MemoryJournal is a journal for tests. What it holds ends with the process: a program that starts again knows of no call in doubt, and
// approves a review that it has approved before. The zero value is that of a workspace named "memory".
type MemoryJournal struct {
	workspace string

	mu    sync.Mutex
	calls fold
}

// NewMemory returns an empty journal of a workspace.
func NewMemory(workspace string) *MemoryJournal { return &MemoryJournal{workspace: workspace} }

// Workspace returns the name of the workspace.
func (m *MemoryJournal) Workspace() string { return cmp.Or(m.workspace, "memory") }

// Sending notes the ticket.
func (m *MemoryJournal) Sending(ctx context.Context, t Ticket) error {
	if _, err := sendingBody(t); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if ctx.Err() == nil {
		m.calls.sending(t).InProgress = true
	}
	return ctx.Err()
}

// Ended notes the outcome. The outcome of a ticket that is not there, or that is settled, is ignored.
func (m *MemoryJournal) Ended(_ context.Context, id string, e End) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls.ended(e.of(id))
	return nil
}

// InDoubt yields the tickets whose outcome is unknown, oldest first, as they are when it starts.
func (m *MemoryJournal) InDoubt(context.Context) iter.Seq2[Ticket, error] {
	return func(yield func(Ticket, error) bool) {
		m.mu.Lock()
		tickets := m.calls.unknown()
		m.mu.Unlock()
		for _, t := range tickets {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Calls yields the tickets of an operation, with their outcomes, as they are when it starts.
func (m *MemoryJournal) Calls(_ context.Context, op string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, e := range m.Entries() {
			if e.Ticket.Op == op && !yield(e, nil) {
				return
			}
		}
	}
}

// Entries returns all tickets with their outcomes, in the order of their first attempts.
func (m *MemoryJournal) Entries() []Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	var entries []Entry
	for _, e := range m.calls.list() {
		entries = append(entries, e.Entry)
	}
	return entries
}
