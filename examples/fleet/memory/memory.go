// Package memory has a journal for tests. It survives nothing.
package memory

import (
	"context"
	"iter"
	"slices"
	"sync"

	"example.com/prospectkit/journal"
)

// Journal is a journal in memory. The zero value is ready to use.
type Journal struct {
	mu      sync.Mutex
	entries []journal.Entry
}

// Sending stores a ticket.
func (j *Journal) Sending(_ context.Context, t journal.Ticket) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = slices.DeleteFunc(j.entries, func(e journal.Entry) bool { return e.Ticket.ID == t.ID })
	j.entries = append(j.entries, journal.Entry{Ticket: t, Outcome: journal.Unknown})
	return nil
}

// Ended notes an outcome.
func (j *Journal) Ended(_ context.Context, id string, o journal.Outcome) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.entries {
		if j.entries[i].Ticket.ID == id {
			j.entries[i].Outcome = o
		}
	}
	return nil
}

// InDoubt yields the tickets without an outcome, also of calls in progress: the jobs of a test have one at a time.
func (j *Journal) InDoubt(ctx context.Context) iter.Seq2[journal.Ticket, error] {
	return func(yield func(journal.Ticket, error) bool) {
		for e, err := range j.Entries(ctx, "") {
			if (err != nil || e.Outcome == journal.Unknown) && !yield(e.Ticket, err) {
				return
			}
		}
	}
}

// Entries yields the tickets of one actor, or of everybody if it is empty.
func (j *Journal) Entries(_ context.Context, actor string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		j.mu.Lock()
		all := slices.Clone(j.entries)
		j.mu.Unlock()
		for _, e := range all {
			if (actor == "" || e.Ticket.Actor == actor) && !yield(e, nil) {
				return
			}
		}
	}
}

// Calls yields the tickets of an operation.
func (j *Journal) Calls(ctx context.Context, op string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range j.Entries(ctx, "") {
			if (err != nil || e.Ticket.Op == op) && !yield(e, err) {
				return
			}
		}
	}
}
