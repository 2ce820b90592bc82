package prospectkit

import (
	"context"
	"maps"
	"slices"
	"sync"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
)

// approvals are the calls of this process that approved a campaign, or may have, by their tickets. A journal that is a
// [journal.History] knows more, and decides about those that it knows: a person may have settled them.
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
	if t.Op == op.CampaignsApprove.Name && o != journal.NotApplied {
		a.calls[t.ID] = journal.Entry{Ticket: t, Outcome: o}
	} else {
		delete(a.calls, t.ID)
	}
}

// of returns the calls that approved a campaign, or may have, as far as a journal or this process knows, in the order of their first
// attempts.
func (a *approvals) of(ctx context.Context, j journal.Journal, campaignID string) (of []journal.Entry, err error) {
	a.mu.Lock()
	known := maps.Clone(a.calls)
	a.mu.Unlock()
	add := func(e journal.Entry) {
		if ids := e.Ticket.IDs; e.Outcome != journal.NotApplied && len(ids) > 0 && sameID(ids[0], campaignID) {
			of = append(of, e)
		}
	}
	if history, ok := j.(journal.History); ok {
		for e, err := range history.Calls(ctx, op.CampaignsApprove.Name) {
			if err != nil {
				return nil, err
			}
			delete(known, e.Ticket.ID)
			add(e)
		}
	}
	for _, e := range known {
		add(e)
	}
	slices.SortStableFunc(of, func(x, y journal.Entry) int { return x.Ticket.FirstSent.Compare(y.Ticket.FirstSent) })
	return of, nil
}
