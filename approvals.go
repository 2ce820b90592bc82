package prospectkit

import (
	"context"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
)

// approvals returns the calls that approved a campaign, or may have, in the order of their first attempts, as far as the journal knows.
// It knows none if it is no [journal.History].
func (c *config) approvals(ctx context.Context, campaignID string) (all []journal.Entry, err error) {
	history, ok := c.journal.(journal.History)
	if !ok {
		return nil, nil
	}
	for e, err := range history.Calls(ctx, op.CampaignsApprove.Name) {
		if err != nil {
			return nil, err
		}
		if ids := e.Ticket.IDs; e.Outcome != journal.NotApplied && len(ids) > 0 && sameID(ids[0], campaignID) {
			all = append(all, e)
		}
	}
	return all, nil
}
