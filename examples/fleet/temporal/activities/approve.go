// Package activities has the activities of a worker.
package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/engine"
)

// Approve approves what a person has reviewed, once. The client has a journal that all workers share.
func Approve(ctx context.Context, client *prospectkit.Client, campaignID, digest string) error {
	info := activity.GetInfo(ctx)
	ctx = prospectkit.WithActor(ctx, fmt.Sprint(info.WorkflowExecution.ID, " ", info.ActivityID))
	_, err := client.Campaigns.Approve(ctx, campaignID, digest) // which asks the journal
	err = engine.Settle(ctx, err, time.Hour)                    // and tells it, if a read can tell; else a person has to
	v := engine.Judge(err)
	if v.Done {
		return nil // approved now, or before
	}
	return temporal.NewApplicationErrorWithOptions(err.Error(), string(prospectkit.CodeOf(err)), temporal.ApplicationErrorOptions{
		NonRetryable: v.Person, NextRetryDelay: v.After, Cause: err,
	})
}
