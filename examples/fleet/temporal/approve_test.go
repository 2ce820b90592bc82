package temporal_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/temporal/activities"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// approval is a workflow of one activity, whose client has a journal in a file, and a person who settles what no read can tell.
type approval struct {
	campaignID, digest string
	stopAt             int // at which look at an active campaign a teammate stops it; 0 for never
	stopped            bool
}

// teammate stops the active campaign before the request that is told.
func (a *approval) teammate(sb *sandbox.Sandbox) {
	looks := 0
	sb.Between("campaigns.list", func(tx *sandbox.Tx) {
		if sb.Campaigns()[0].Status != string(prospectkit.CampaignActive) {
			return
		}
		if looks++; looks == a.stopAt {
			tx.StopCampaign(a.campaignID)
			a.stopped = true
		}
	})
}

// work is the program: a worker, and the workflow that it runs, from its beginning again after the worker was killed.
func (a *approval) work(run *sandbox.Run) error {
	j, err := journal.Open(filepath.Join(run.Dir(), "journal"), "acme")
	if err != nil {
		return err
	}
	defer j.Close()
	for {
		err := a.workflow(run, j)
		if refused, ok := errors.AsType[*sdk.ApplicationError](err); !ok || !refused.NonRetryable() {
			return err
		}
		if settled, err := a.person(run, j); err != nil || !settled {
			return fmt.Errorf("a person has nothing to settle: %w", err)
		}
	}
}

func (a *approval) workflow(run *sandbox.Run, j journal.Journal) error {
	env := environment()
	client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(following{run.Transport(), env}), prospectkit.WithJournal(j))
	if err != nil {
		return err
	}
	approve := func(ctx context.Context) error {
		follow(env)
		return activities.Approve(ctx, client, a.campaignID, a.digest)
	}
	env.RegisterActivity(approve)
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			ActivityID:          "approve",
			StartToCloseTimeout: 24 * time.Hour,                           // here, of all attempts together
			RetryPolicy:         &sdk.RetryPolicy{MaximumAttempts: 1_000}, // 10 here by default, and unlimited at the service
		})
		return workflow.ExecuteActivity(ctx, approve).Get(ctx, nil)
	})
	return env.GetWorkflowError()
}

// person settles the open tickets with the truth.
func (a *approval) person(run *sandbox.Run, j *journal.FileJournal) (settled bool, err error) {
	truth := journal.NotApplied
	if processed(run.Sandbox, "campaigns.approve") > 0 {
		truth = journal.Applied
	}
	if status := run.Campaigns()[0].Status; status == string(prospectkit.CampaignActive) {
		return false, errors.New("asked, although a read tells that the campaign is active")
	}
	for ticket, err := range j.InDoubt(run.Context()) {
		if err = errors.Join(err, j.Ended(run.Context(), ticket.ID, journal.End{Outcome: truth})); err != nil {
			return false, err
		}
		settled = true
	}
	return settled, nil
}

// once is the invariant: one approval, and a campaign that a teammate stopped stays stopped.
func (a *approval) once(run *sandbox.Run) error {
	wanted := prospectkit.CampaignActive
	if a.stopped {
		wanted = prospectkit.CampaignStopped
	}
	n, status := processed(run.Sandbox, "campaigns.approve"), run.Campaigns()[0].Status
	if n != 1 || status != string(wanted) {
		return fmt.Errorf("approvals: %d; the campaign is %s, wanted %s", n, status, wanted)
	}
	if open, err := a.open(run); err != nil || open > 0 && !a.stopped {
		return fmt.Errorf("tickets that no read settles: %d: %w", open, err)
	}
	return run.Err()
}

// open counts the tickets that are left after the Recover of a worker. All name the activity.
func (a *approval) open(run *sandbox.Run) (open int, err error) {
	path := filepath.Join(run.Dir(), "journal")
	for e, err := range journal.Read(path) {
		require.NoError(run, err)
		require.Equal(run, "default-test-workflow-id approve", e.Ticket.Actor)
	}
	j, err := journal.Open(path, "acme")
	if err != nil {
		return 0, err
	}
	defer j.Close()
	client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j))
	if err != nil {
		return 0, err
	}
	if _, err := client.Recover(run.Context()); err != nil {
		return 0, err
	}
	for _, err := range j.InDoubt(run.Context()) {
		require.NoError(run, err)
		open++
	}
	return open, nil
}

// The activity that docs/fleet.md says to copy approves once, whatever fails, wherever its worker is killed, and whenever a teammate stops the campaign.
func TestApprove_EveryFailure(t *testing.T) {
	for _, c := range []struct {
		lost   bool // the response to the approval, before whatever else fails
		stopAt int
	}{{}, {stopAt: 1}, {lost: true}, {lost: true, stopAt: 1}, {lost: true, stopAt: 2}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			var a *approval
			stops := 0
			sandbox.EveryFailure(t, func(run *sandbox.Run) error { return a.work(run) }, func(run *sandbox.Run) error {
				if a.stopped {
					stops++
				}
				return a.once(run)
			}, sandbox.ActivatesFor(time.Second), sandbox.RestartAfter(time.Minute), sandbox.Setup(func(run *sandbox.Run) {
				a = prepared(run)
				a.stopAt = c.stopAt
				if c.lost {
					run.Fail("campaigns.approve", sandbox.First(1), sandbox.DropAfter())
				}
			}))
			require.Equal(t, c.stopAt > 0, stops > 0)
			t.Log("stopped by the teammate:", stops)
		})
	}
}

// prepared is the approval of a campaign that a person has reviewed.
func prepared(run *sandbox.Run) *approval {
	a := new(approval)
	run.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		list := tx.CreateList(sandbox.List{Name: "Berlin", Rows: sandbox.Rows(sandbox.Row{"email": "ada@example.org"})})
		a.campaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", list))
	})
	client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
	require.NoError(run, err)
	r, err := client.Campaigns.Review(run.Context(), a.campaignID)
	require.NoError(run, err)
	a.digest = r.Digest()
	a.teammate(run.Sandbox)
	return a
}
