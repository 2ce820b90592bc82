package prospectkit

import (
	"context"
	"iter"
	"maps"
	"slices"
	"sync"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
)

// approvals are the calls of this process that approved a review, or may have, by their tickets. A journal that is a
// [journal.History] knows more.
type approvals struct {
	mu    sync.Mutex
	calls map[string]journal.Entry
}

// note notes the outcome of a call.
func (a *approvals) note(t journal.Ticket, o journal.Outcome) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == nil {
		a.calls = map[string]journal.Entry{}
	}
	if t.Lookup.Digest != "" && o != journal.NotApplied {
		a.calls[t.ID] = journal.Entry{Ticket: t, Outcome: o}
	} else {
		delete(a.calls, t.ID)
	}
}

// of yields the calls that approved reviews, or may have, as far as a journal or this process knows.
func (a *approvals) of(ctx context.Context, j journal.Journal) iter.Seq2[journal.Entry, error] {
	known, ok := j.(journal.History)
	if !ok {
		known = a
	}
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range known.Calls(ctx, op.CampaignsApprove.Name) {
			if (err != nil || e.Ticket.Lookup.Digest != "" && e.Outcome != journal.NotApplied) && !yield(e, err) {
				return
			}
		}
	}
}

// Calls yields the approvals.
func (a *approvals) Calls(context.Context, string) iter.Seq2[journal.Entry, error] {
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := slices.Collect(maps.Values(a.calls))
	return func(yield func(journal.Entry, error) bool) {
		for _, e := range calls {
			if !yield(e, nil) {
				return
			}
		}
	}
}
