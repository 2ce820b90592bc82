package temporal_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/temporal/activities"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// environment is Temporal in a test: it skips the time of the workflow, from timer to timer.
func environment() *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(24 * time.Hour)
	env.SetStartTime(time.Now())
	return env
}

// following is a transport that lets the time of the test follow that of the workflow.
type following struct {
	http.RoundTripper

	env *testsuite.TestWorkflowEnvironment
}

func follow(env *testsuite.TestWorkflowEnvironment) { time.Sleep(time.Until(env.Now())) } // of the bubble

func (f following) RoundTrip(req *http.Request) (*http.Response, error) {
	follow(f.env)
	return f.RoundTripper.RoundTrip(req)
}

func service(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	return sandbox.New(t, sandbox.ActivatesFor(time.Second), sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "acme", Accounts: []string{"email"},
		Lists: []sandbox.List{{Name: "Berlin", Rows: sandbox.Rows(sandbox.Row{"email": "ada@example.org"})}},
	}}}))
}

func processed(sb *sandbox.Sandbox, op string) (n int) {
	for _, e := range sb.Journal() {
		if e.Op == op && e.Processed {
			n++
		}
	}
	return n
}

// What no repetition helps ends the workflow at once.
func TestApprove_NeedsAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env, sb := environment(), service(t)
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(following{sb.Transport(), env}),
			prospectkit.WithJournal(new(journal.MemoryJournal)))
		require.NoError(t, err)
		var campaignID string
		sb.Do(func(tx *sandbox.Tx) {
			campaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", sb.Lists()[0].ID))
		})
		review, err := client.Campaigns.Review(t.Context(), campaignID)
		require.NoError(t, err)
		sb.Fail("campaigns.approve", sandbox.Always(), sandbox.Status(http.StatusForbidden, "INSUFFICIENT_SCOPE"))
		approve := func(ctx context.Context) error { return activities.Approve(ctx, client, campaignID, review.Digest()) }
		env.RegisterActivity(approve)
		env.ExecuteWorkflow(func(ctx workflow.Context) error {
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
			return workflow.ExecuteActivity(ctx, approve).Get(ctx, nil)
		})
		var refused *sdk.ApplicationError
		require.ErrorAs(t, env.GetWorkflowError(), &refused)
		require.True(t, refused.NonRetryable())
		require.Equal(t, string(prospectkit.CodeInsufficientScope), refused.Type())
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
	})
}

// stop is a teammate who stops the campaign as soon as it is active.
func stop(sb *sandbox.Sandbox) func(*sandbox.Tx) {
	return func(tx *sandbox.Tx) {
		for _, c := range sb.Campaigns() {
			if c.Status == string(prospectkit.CampaignActive) {
				tx.StopCampaign(c.ID)
			}
		}
	}
}

// A raw client in the same place: the retry of the engine undoes what the teammate did, and the messages go out.
func TestARawClientApprovesTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := environment()
		sb := service(t)
		var campaignID string
		sb.Do(func(tx *sandbox.Tx) {
			campaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", sb.Lists()[0].ID))
		})
		sb.Fail("campaigns.approve", sandbox.First(1), sandbox.DropAfter())
		sb.Between("campaigns.approve", stop(sb))
		approve := func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, sb.BaseURL()+"/business/campaigns/"+campaignID+"/approve", http.NoBody)
			if err != nil {
				return err
			}
			req.SetBasicAuth(sb.Token(), "")
			resp, err := (&http.Client{Transport: following{sb.Transport(), env}}).Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusAccepted {
				return fmt.Errorf("status %d", resp.StatusCode)
			}
			return nil
		}
		env.RegisterActivity(approve)
		env.ExecuteWorkflow(func(ctx workflow.Context) error {
			ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
			return workflow.ExecuteActivity(ctx, approve).Get(ctx, nil)
		})
		require.NoError(t, env.GetWorkflowError())
		require.Equal(t, 2, processed(sb, "campaigns.approve"))
		require.Equal(t, string(prospectkit.CampaignActive), sb.Campaigns()[0].Status)
	})
}
