package tests

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/sandbox"
)

// What the client promises, under every failure at every request.

// everySweep is a service with what EveryCall needs, an hour old.
func everySweep(more ...sandbox.SweepOption) []sandbox.SweepOption {
	opts := append([]sandbox.SweepOption{sandbox.Setup(func(*sandbox.Run) { time.Sleep(time.Hour) })}, more...)
	for _, o := range everyOption(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) {
		opts = append(opts, o)
	}
	return opts
}

// clientOf is the client of a program.
func clientOf(run *sandbox.Run, opts ...prospectkit.ClientOption) *prospectkit.Client {
	client, err := prospectkit.New(run.BaseURL(), run.Token(), append(opts, prospectkit.WithTransport(run.Transport()))...)
	require.NoError(run, err)
	return client
}

// effective counts the requests for an operation that may have been applied.
func effective(run *sandbox.Run, op string) (n int) {
	for _, e := range run.Journal() {
		if e.Op == op && e.Status != http.StatusTooManyRequests {
			n++
		}
	}
	return n
}

// TestEveryFailure_Ensure: one list, and the truth about who made it, after every pair of failures.
func TestEveryFailure_Ensure(t *testing.T) {
	var got *prospectkit.Ensured
	var began time.Time
	sandbox.EveryFailure(t, func(run *sandbox.Run) (err error) {
		got, began = nil, time.Now()
		got, err = clientOf(run).Lists.Ensure(run.Context(), prospectkit.NewList{Name: "Q1"})
		return err
	}, func(run *sandbox.Run) error {
		require.NoError(run, run.Err())
		lists := run.Lists()
		require.Len(run, lists, 1)
		require.Equal(run, lists[0].ID, got.List.ID)
		if got.Certain {
			require.Equal(run, !lists[0].CreatedAt.Before(began.Truncate(time.Millisecond)), got.Created, "created at %v", lists[0].CreatedAt)
		}
		return nil
	}, sandbox.Twice(), sandbox.UntilDone(2), sandbox.RestartAfter(10*time.Minute))
}

// oneAgent allows one agent and one start, whatever happens.
func oneAgent(run *sandbox.Run) error {
	starts := 0
	for _, e := range run.Journal() {
		if e.Op == "agents.activate" {
			starts += len(e.Effects)
		}
	}
	agents := run.Agents()
	if len(agents) > 1 || starts > 1 {
		return fmt.Errorf("%d agents, %d starts", len(agents), starts)
	}
	if run.Err() == nil && (len(agents) != 1 || agents[0].Status == "initializing") {
		return fmt.Errorf("the program is done, and the agents are %+v", agents)
	}
	return nil
}

var heads = prospectkit.PersonDiscovery{
	ListName: "Heads of sales", MaxCreditSpend: 1000, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
}

// Nothing is started twice, after every pair of failures.
func TestEveryFailure_CreateAndStart(t *testing.T) {
	ways := map[string]func(ctx context.Context, c *prospectkit.Client) error{
		"CreateAndStart": func(ctx context.Context, c *prospectkit.Client) error {
			_, err := c.Agents.CreateAndStart(ctx, heads)
			return err
		},
		"Ensure": func(ctx context.Context, c *prospectkit.Client) error {
			started := heads
			started.Start = true
			_, err := c.Agents.Ensure(ctx, started)
			return err
		},
	}
	for name, begin := range ways {
		t.Run(name, func(t *testing.T) {
			sandbox.EveryFailure(t, func(run *sandbox.Run) error { return begin(run.Context(), clientOf(run)) }, func(run *sandbox.Run) error {
				return cmp.Or(run.Err(), oneAgent(run))
			}, sandbox.RestartAfter(10*time.Minute), sandbox.UntilDone(3), sandbox.Twice())
		})
	}
}
