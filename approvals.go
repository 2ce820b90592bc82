package prospectkit

import (
	"context"
	"iter"
	"slices"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
)

// approvals returns the calls that approved a campaign, or may have.
func (c *config) approvals(ctx context.Context, campaignID string) ([]journal.Entry, error) {
	return c.sent(ctx, op.CampaignsApprove, []string{campaignID})
}

// sent returns the calls of an operation about the same that were applied, or may have been, in the order of their first attempts, as far as
// the journal knows. See calls.
func (c *config) sent(ctx context.Context, o *op.Op, ids []string) (all []journal.Entry, err error) {
	for e, err := range c.calls(ctx, o.Name) {
		if err != nil {
			return nil, err
		}
		if e.Outcome != journal.NotApplied && slices.EqualFunc(e.Ticket.IDs, ids, sameID) {
			all = append(all, e)
		}
	}
	return all, nil
}

// calls yields what the journal knows of the calls of an operation, except those that are certainly of another service or workspace. It
// yields none if the journal is no [journal.History].
func (c *config) calls(ctx context.Context, operation string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		history, ok := c.journal.(journal.History)
		if !ok {
			return
		}
		for e, err := range history.Calls(ctx, operation) {
			if (err != nil || c.mayOwn(e.Ticket)) && !yield(e, err) {
				return
			}
		}
	}
}

// owns reports whether a ticket is of this service and workspace. One without a workspace, of before it was named, is that of its key. A
// key that a source has yet to give may be that one: ownLook tells.
func (c *config) owns(t journal.Ticket) bool {
	key := c.keys().Current()
	ours := t.Workspace == c.workspace || t.Workspace == "" && (key == nil || t.KeyMark == key.Mark())
	return ours && check.Service(t.Service) == c.base.String()
}

// mayOwn reports whether a ticket may be of this service and workspace: each is another one only if both are named and differ, whatever the
// key, which may have changed since. That counts here, as nothing is to be sent twice. [Client.InDoubt] demands more: nothing is to be looked for in
// another workspace.
func (c *config) mayOwn(t journal.Ticket) bool {
	return (t.Service == "" || check.Service(t.Service) == c.base.String()) &&
		(t.Workspace == "" || c.workspace == "" || t.Workspace == c.workspace)
}
