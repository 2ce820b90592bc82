package main

import (
	"context"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
)

// settle settles the open tickets of this job, and returns the outcome of its calls of an operation: Applied if one had its effect,
// Unknown if one may have. A ticket that another worker still works on stays open.
//
// Where no read can tell, found decides: whether what the call makes is there, under a name that only this job uses. Without it, such a
// ticket stays open.
func (w *workspace) settle(ctx context.Context, op string, found *bool) (journal.Outcome, error) {
	before, err := w.earlier(ctx, op)
	if err != nil || before == journal.NotApplied {
		return before, err
	}
	for ticket, err := range w.client.InDoubt(ctx) {
		if err != nil {
			return "", err
		}
		if ticket.Actor != w.who || ticket.Op != op { // another job's
			continue
		}
		if err := w.settleOne(ctx, ticket, found); err != nil {
			return "", err
		}
	}
	return w.earlier(ctx, op)
}

func (w *workspace) settleOne(ctx context.Context, t journal.Ticket, found *bool) error {
	before, err := w.earlier(ctx, t.Op)
	if err != nil {
		return err
	}
	if before == journal.Applied { // by another call of this job, and there is only one
		return w.store.Ended(ctx, t.ID, journal.NotApplied)
	}
	r, err := w.client.Resolve(ctx, t)
	switch {
	case err != nil || r.Verdict != prospectkit.VerdictUnknowable || found == nil:
		return err
	case *found:
		return w.store.Ended(ctx, t.ID, journal.Applied)
	case time.Since(t.LastSent) > lease: // by then it would be in the listing (assumed)
		return w.store.Ended(ctx, t.ID, journal.NotApplied)
	}
	return nil
}

// earlier is the outcome of the calls of this job so far.
func (w *workspace) earlier(ctx context.Context, op string) (journal.Outcome, error) {
	outcome := journal.NotApplied
	for e, err := range w.store.Entries(ctx, w.who) {
		switch {
		case err != nil:
			return "", err
		case e.Ticket.Op != op || e.Outcome == journal.NotApplied:
		case e.Outcome == journal.Applied:
			outcome = journal.Applied
		case outcome != journal.Applied:
			outcome = journal.Unknown
		}
	}
	return outcome, nil
}

// finish settles what is left of a step that has reached its end: calls whose worker was killed, and that a later attempt found done.
func (w *workspace) finish(ctx context.Context) (open bool, err error) {
	ops := map[string]bool{}
	for e, err := range w.store.Entries(ctx, w.who) {
		if err != nil {
			return false, err
		}
		if e.Outcome == journal.Unknown {
			ops[e.Ticket.Op] = true
		}
	}
	for op := range ops {
		if _, err := w.settle(ctx, op, new(true)); err != nil {
			return false, err
		}
	}
	for e, err := range w.store.Entries(ctx, w.who) {
		if err != nil {
			return false, err
		}
		open = open || e.Outcome == journal.Unknown
	}
	return open, nil
}
