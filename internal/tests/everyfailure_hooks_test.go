package tests

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/event"
	"example.com/prospectkit/sandbox"
)

var errNobodyAgreed = errors.New("nobody agreed")

// guardedClient has a token source, a gate that writes down what it lets through and refuses what sends
// messages, and a route. It counts how often the service rejected the key of one call.
func guardedClient(run *sandbox.Run, source func(context.Context) (string, error), most *int) *prospectkit.Client {
	gate := func(_ context.Context, o catalogue.Operation, in prospectkit.Intent) error {
		if in.Sends {
			return errNobodyAgreed
		}
		if in.Writes {
			run.Save("let through "+o.Name, "yes")
		}
		return nil
	}
	count := func(ctx context.Context, _ prospectkit.Event) (context.Context, prospectkit.Observer) {
		n := 0
		return ctx, func(_ context.Context, e prospectkit.Event) {
			if e.Kind == event.KindAttempt && e.Code == prospectkit.CodeUnauthorized {
				n++
			}
			*most = max(*most, n)
		}
	}
	client, err := prospectkit.New(run.BaseURL(), "", prospectkit.WithTransport(run.Transport()), prospectkit.WithTokenSource(source),
		prospectkit.WithGate(gate), prospectkit.WithRoutes(map[string]string{"agents.pause": "POST /business/agents/{agentId}/pause"}),
		prospectkit.WithCallHook(count))
	require.NoError(run, err)
	return client
}

// A key that is revoked in the middle, a gate and a route, after every pair of failures: the work is done once,
// nothing passes the gate that it has not let through, and no call is rejected twice.
func TestEveryFailure_KeysGatesAndRoutes(t *testing.T) {
	first, rejected := "", 0
	program := func(run *sandbox.Run) error {
		ctx := run.Context()
		client := guardedClient(run, func(context.Context) (string, error) {
			if key, changed := run.Load("key"); changed {
				return key, nil
			}
			return first, nil
		}, &rejected)
		if _, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: "before"}); err != nil {
			return err
		}
		if _, changed := run.Load("key"); !changed {
			run.Save("key", run.Key())
		}
		run.Revoke(first)
		if _, err := client.Agents.Pause(ctx, RunsID); err != nil && !errors.Is(err, prospectkit.CodeAgentNotRunning) {
			return err
		}
		if _, err := client.Campaigns.Approve(ctx, CampaignID); !errors.Is(err, errNobodyAgreed) {
			return fmt.Errorf("the gate let an approval through: %w", err)
		}
		_, err := client.Lists.Ensure(ctx, prospectkit.NewList{Name: "after"})
		return err
	}
	invariant := func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		require.LessOrEqual(run, rejected, 1)
		applied := map[string]int{}
		for _, e := range run.Journal() {
			if e.Method == http.MethodGet {
				continue
			}
			_, passed := run.Load("let through " + e.Op)
			require.True(run, passed, "%s passed the gate", e.Op)
			applied[e.Op] += min(1, len(e.Effects))
		}
		require.Equal(run, map[string]int{"lists.create": 2, "agents.pause": 1}, applied)
		require.Empty(run, run.Outbox())
		var names []string
		for _, l := range run.Lists() {
			names = append(names, l.Name)
		}
		require.Subset(run, names, []string{"before", "after"})
		require.Len(run, slices.Compact(slices.Sorted(slices.Values(names))), len(names))
		return nil
	}
	sandbox.EveryFailure(t, program, invariant, everySweep(sandbox.Twice(), sandbox.UntilDone(4), sandbox.RestartAfter(10*time.Minute),
		sandbox.Setup(func(run *sandbox.Run) { time.Sleep(time.Hour); first, rejected = run.Key(), 0 }))...)
}
