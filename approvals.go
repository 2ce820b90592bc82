package prospectkit

import (
	"context"
	"iter"
	"slices"

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

// calls yields what the journal knows of the calls of an operation, except those of another service. It yields none without a journal.
func (c *config) calls(ctx context.Context, operation string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if c.journal == nil {
			return
		}
		for e, err := range c.journal.Calls(ctx, operation) {
			if (err != nil || c.owns(e.Ticket)) && !yield(e, err) {
				return
			}
		}
	}
}

// workspace is that of the journal, or empty.
func (c *config) workspace() string {
	if c.journal == nil {
		return ""
	}
	return c.journal.Workspace()
}

// owns reports whether a ticket is of this service and workspace.
func (c *config) owns(t journal.Ticket) bool {
	return t.Workspace == c.workspace() && t.Service == c.base.String()
}
