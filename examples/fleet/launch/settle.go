package launch

import (
	"context"
	"errors"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
)

// settle settles the open tickets of this job, and returns the outcome of its calls of an operation: Applied if one had its effect,
// Unknown if one may have. A ticket that another worker still works on stays open.
//
// Where no read can tell, found decides: whether what the call makes is there, under a name that only this job uses.
func (w *Workspace) settle(ctx context.Context, op string, found bool) (journal.Outcome, error) {
	before, err := w.earlier(ctx, op)
	if err != nil || before == journal.NotApplied {
		return before, err
	}
	for ticket, err := range w.Client.InDoubt(ctx) {
		if err != nil {
			return "", err
		}
		if ticket.Actor != w.Job || ticket.Op != op { // another job's
			continue
		}
		if err := w.settleOne(ctx, ticket, found); err != nil {
			return "", err
		}
	}
	return w.earlier(ctx, op)
}

func (w *Workspace) settleOne(ctx context.Context, t journal.Ticket, found bool) error {
	before, err := w.earlier(ctx, t.Op)
	if err != nil {
		return err
	}
	if before == journal.Applied { // by another call of this job, and there is only one
		return w.Store.Ended(ctx, t.ID, journal.NotApplied)
	}
	r, err := w.Client.Resolve(ctx, t)
	switch {
	case err != nil || r.Verdict != prospectkit.VerdictUnknowable:
		return err
	case found:
		return w.Store.Ended(ctx, t.ID, journal.Applied)
	case time.Since(t.LastSent) > w.Lease: // by then it would be in the listing (assumed)
		return w.Store.Ended(ctx, t.ID, journal.NotApplied)
	}
	return nil
}

// earlier is the outcome of the calls of this job so far.
func (w *Workspace) earlier(ctx context.Context, op string) (journal.Outcome, error) {
	outcome := journal.NotApplied
	for e, err := range w.Store.Entries(ctx, w.Job) {
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
func (w *Workspace) finish(ctx context.Context) (open bool, err error) {
	ops := map[string]bool{}
	for e, err := range w.Store.Entries(ctx, w.Job) {
		if err != nil {
			return false, err
		}
		if e.Outcome == journal.Unknown {
			ops[e.Ticket.Op] = true
		}
	}
	for op := range ops {
		if _, err := w.settle(ctx, op, true); err != nil {
			return false, err
		}
	}
	for e, err := range w.Store.Entries(ctx, w.Job) {
		if err != nil {
			return false, err
		}
		open = open || e.Outcome == journal.Unknown
	}
	return open, nil
}

// Once is a journal that refuses a write which the same job may have made before, even if an engine runs the job twice at once: each
// stores its ticket, and then looks for that of the other.
func Once(s Store) journal.Journal { return oncePerJob{s} }

type oncePerJob struct{ Store }

// errSecond says that the journal has another ticket of the job.
var errSecond = errors.New("this job may have made the call before")

// Sending stores a ticket, unless there is another one.
func (o oncePerJob) Sending(ctx context.Context, t journal.Ticket) error {
	if err := o.Store.Sending(ctx, t); err != nil || !once[t.Op] {
		return err
	}
	for e, err := range o.Entries(ctx, t.Actor) {
		switch {
		case err != nil:
			return err
		case e.Ticket.ID != t.ID && e.Ticket.Op == t.Op && e.Outcome != journal.NotApplied:
			return errSecond
		}
	}
	return nil
}

// once has the writes that neither their method nor a name makes safe to repeat.
var once = map[string]bool{"campaigns.create": true}
