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
	"example.com/prospectkit/examples/fleet/launch"
	"example.com/prospectkit/examples/fleet/memory"
	"example.com/prospectkit/examples/fleet/temporal"
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

const contacts = 3

func service(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	return sandbox.New(t, sandbox.NoLimits(), sandbox.ActivatesFor(time.Second),
		sandbox.InitializesFor(5*time.Second), sandbox.Agents(sandbox.AgentPlan{Every: time.Second, Results: contacts}),
		sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
			Name: "acme", Credits: 10_000, Accounts: []string{"email"},
			Lists: []sandbox.List{{Name: launch.ListName, Rows: sandbox.Rows(sandbox.Row{"email": "ada@example.org"})}},
		}}}))
}

// run runs the workflow.
func run(t *testing.T, env *testsuite.TestWorkflowEnvironment, sb *sandbox.Sandbox) error {
	t.Helper()
	store := new(memory.Journal)
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(following{sb.Transport(), env}),
		prospectkit.WithJournal(launch.Once(store)))
	require.NoError(t, err)
	env.RegisterActivity(&temporal.Activities{Workspaces: map[string]launch.Workspace{
		"acme": {Name: "acme", Client: client, Store: store, Lease: time.Second, Patience: time.Minute},
	}})
	env.RegisterDelayedCallback(func() {
		follow(env) // before an activity has a timeout
		env.SignalWorkflow(temporal.Yes, nil)
	}, time.Hour)
	env.ExecuteWorkflow(temporal.Launch, "acme")
	require.True(t, env.IsWorkflowCompleted())
	return env.GetWorkflowError()
}

func processed(sb *sandbox.Sandbox, op string) (n int) {
	for _, e := range sb.Journal() {
		if e.Op == op && e.Processed {
			n++
		}
	}
	return n
}

// The response to each write is lost, and reads fail. Temporal runs the activities again, and each write is made once.
func TestLaunch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := environment()
		sb := service(t)
		for _, op := range []string{"agents.activate", "campaigns.create", "campaigns.approve"} {
			sb.Fail(op, sandbox.First(1), sandbox.DropAfter())
		}
		sb.Fail("campaigns.steps", sandbox.First(5), sandbox.Status(http.StatusInternalServerError, "UNEXPECTED_ERROR"))
		require.NoError(t, run(t, env, sb))
		for _, op := range []string{"agents.create-person-discovery", "agents.activate", "campaigns.create", "campaigns.approve"} {
			require.Equal(t, 1, processed(sb, op), op)
		}
		time.Sleep(24 * time.Hour) // until the messages are due
		require.Len(t, sb.Sends(sb.Campaigns()[0].ID), 1+contacts)
	})
}

// What no repetition helps ends the workflow at once.
func TestLaunch_NeedsAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := environment()
		sb := service(t)
		sb.Fail("agents.activate", sandbox.Always(), sandbox.Status(http.StatusPaymentRequired, "INSUFFICIENT_CREDITS"))
		err := run(t, env, sb)
		var refused *sdk.ApplicationError
		require.ErrorAs(t, err, &refused)
		require.True(t, refused.NonRetryable())
		require.Equal(t, string(prospectkit.CodeInsufficientCredits), refused.Type())
		require.Equal(t, 1, sb.Calls("agents.activate"))
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

// The response to the approval is lost, and a teammate stops the campaign before Temporal runs the activity again: it stays stopped.
func TestLaunch_StoppedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := environment()
		sb := service(t)
		sb.Fail("campaigns.approve", sandbox.First(1), sandbox.DropAfter())
		sb.Between("campaigns.list", stop(sb))
		require.ErrorContains(t, run(t, env, sb), "the campaign is stopped: a teammate may have stopped it since")
		require.Equal(t, 1, processed(sb, "campaigns.approve"))
		require.Equal(t, string(prospectkit.CampaignStopped), sb.Campaigns()[0].Status)
	})
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
