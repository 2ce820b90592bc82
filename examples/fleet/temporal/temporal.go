// Package temporal runs the same launch as a workflow of Temporal: each step is an activity, and a person's yes is a signal.
package temporal

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/examples/fleet/launch"
)

// Yes is the signal of the person who has seen the campaign.
const Yes = "yes"

// Launch is the workflow.
func Launch(ctx workflow.Context, workspace string) (launch.Made, error) {
	now := Progress{Next: launch.List}
	for now.Next != launch.Done {
		if now.Next == launch.Yes {
			workflow.GetSignalChannel(ctx, Yes).Receive(ctx, nil)
			now.Next = launch.Approve
		}
		step := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			ActivityID: string(now.Next), StartToCloseTimeout: time.Minute,
			RetryPolicy: &sdk.RetryPolicy{InitialInterval: time.Second, MaximumInterval: time.Minute},
		})
		if err := workflow.ExecuteActivity(step, (*Activities).Take, workspace, now).Get(ctx, &now); err != nil {
			return now.Made, err
		}
	}
	return now.Made, nil
}

// Progress is where a launch is, and what it has made.
type Progress struct {
	Next launch.Step
	Made launch.Made
}

// Activities are those of a worker.
type Activities struct {
	Workspaces map[string]launch.Workspace
}

// Take is the activity of every step. All its attempts have the same IDs, which name their tickets: a later attempt asks the journal what
// an earlier one did.
func (a *Activities) Take(ctx context.Context, workspace string, now Progress) (Progress, error) {
	w, ok := a.Workspaces[workspace]
	if !ok {
		return now, failure(engine.Person(fmt.Errorf("no such workspace: %s", workspace)))
	}
	info := activity.GetInfo(ctx)
	w.Job = fmt.Sprint(info.WorkflowExecution.ID, " ", info.WorkflowExecution.RunID, " ", info.ActivityID)
	next, err := w.Take(ctx, now.Next, &now.Made)
	if err != nil {
		return now, failure(err)
	}
	return Progress{Next: next, Made: now.Made}, nil
}

// failure tells Temporal what to do after an error: nothing until a person has helped, an attempt at a certain time, or one by its policy.
func failure(err error) error {
	v := engine.Judge(err)
	return sdk.NewApplicationErrorWithOptions(err.Error(), string(prospectkit.CodeOf(err)), sdk.ApplicationErrorOptions{
		NonRetryable: v.Person, NextRetryDelay: v.After, Cause: err,
	})
}
