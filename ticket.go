package prospectkit

import (
	"cmp"
	"context"
	"crypto/rand"
	"iter"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
)

// InDoubt yields the tickets of the journal whose outcome is unknown, oldest first: calls that ended
// with an unknown outcome, and calls that an earlier process left unfinished. Tickets of another
// service or workspace are left out. Pass each to [Client.Resolve].
//
// A ticket whose outcome cannot be read stays in doubt. Once you have found out, settle it with
// the journal's Ended. Without [WithJournal], the only element is a [RefusedError].
func (c *Client) InDoubt(ctx context.Context) iter.Seq2[journal.Ticket, error] {
	return func(yield func(journal.Ticket, error) bool) {
		if c.conf.journal == nil {
			yield(journal.Ticket{}, refusal(&op.Op{Name: "client.in-doubt"}, check.One("WithJournal", "is required")))
			return
		}
		for t, err := range c.conf.journal.InDoubt(ctx) {
			if (err != nil || c.owns(t)) && !yield(t, err) {
				return
			}
		}
	}
}

// owns reports whether a ticket is of this client's service and workspace.
func (c *Client) owns(t journal.Ticket) bool {
	return t.Service == c.BaseURL() && t.Workspace == c.conf.workspace
}

// ticket returns the ticket of the call, which gets its id the first time. Its time of sending is that of the first attempt whose
// outcome is unknown so far.
func (c *call) ticket() journal.Ticket {
	if c.ticketID == "" {
		c.ticketID = rand.Text()
	}
	return journal.Ticket{
		Version: journal.Version, ID: c.ticketID, Op: c.op.Name, IDs: c.in.ids, Lookup: c.in.lookup,
		Service: c.client.BaseURL(), Workspace: c.client.conf.workspace, Actor: actorOf(c.ctx),
		FirstSent: c.firstSent, LastSent: c.lastSent, ServiceAhead: c.client.conf.clock.Ahead(),
	}
}

// journaled reports whether the call needs a ticket before it is sent.
func (c *call) journaled() bool {
	return c.client.conf.journal != nil && !c.op.FreeRead()
}

// reserve reserves the credits of the call before its first attempt.
func (c *call) reserve() error {
	if spends, _ := consequences(c.op, c.in); c.client.conf.guard == nil || c.reserved || !spends {
		return nil
	}
	cost := c.in.cost
	cost.Agent = cmp.Or(cost.Agent, c.opts.starts)
	cost.ID, cost.Op, cost.IDs, cost.Body, cost.Repeats = c.ticket().ID, c.op.Name, c.in.ids, c.body, c.op.FreeRead()
	err := c.client.conf.guard.Reserve(c.ctx, cost)
	c.reserved = err == nil
	return c.refuse(RuleSpendGuard, err)
}

// reserveAndJournal reserves the credits of the call and stores its ticket before an attempt.
func (c *call) reserveAndJournal(now time.Time) error {
	if c.unknown == nil { // no earlier attempt can have had an effect
		c.firstSent = now
	}
	c.lastSent = now
	if err := c.reserve(); err != nil || !c.journaled() {
		return err
	}
	return c.refuse(RuleJournal, c.client.conf.journal.Sending(c.ctx, c.ticket()))
}

// noteEnd notes the outcome of the call. A guard or a journal that fails to do so keeps it in doubt. The
// guard is first: a crash in between leaves the ticket.
func (c *call) noteEnd(err error) {
	outcome := journal.Outcome(OutcomeOf(err))
	if c.reserved && c.client.conf.guard.Settle(c.ctx, c.ticketID, string(outcome), c.response.results()) != nil {
		outcome = journal.Unknown
	}
	if c.ticketID == "" || !c.journaled() {
		return
	}
	_ = c.client.conf.journal.Ended(context.WithoutCancel(c.ctx), c.ticketID, outcome)
}
