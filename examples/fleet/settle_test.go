package main

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// small is a service with one workspace, and its database.
func small(t *testing.T, name string) *supervisor {
	t.Helper()
	s := &supervisor{options: options{workspaces: 1, workers: 1, rows: 1}}
	s.sb, s.clock = service(s.options, newArrivals())
	s.sb.Clear()
	api := httptest.NewServer(s.sb.Handler())
	t.Cleanup(api.Close)
	var err error
	s.database, err = startDatabase(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.database.remove()) })
	s.fleet, err = newFleet(t.Context(), config{
		Name: "worker-0", DSN: s.database.dsn(), BaseURL: api.URL + "/api/v1", PageSize: 10,
		Tokens: map[string]string{name: s.sb.Workspace(name).Token()},
	})
	require.NoError(t, err)
	t.Cleanup(s.fleet.pool.Close)
	require.NoError(t, s.prepare(t.Context()))
	return s
}

// The response to an approval is lost, and a teammate stops the campaign. The job is cancelled. A person looks, and says what they found with
// the command of the package documentation. The job runs again, approves nothing a second time, and the campaign stays stopped.
func TestSettle(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	const name = "customer-01"
	s := small(t, name)
	w := s.fleet.workspaces[name]
	w.patience = time.Second
	var m made
	s.sb.Do(func(tx *sandbox.Tx) {
		m.CampaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", s.sb.Lists()[0].ID))
	})
	review, err := w.client.Campaigns.Review(ctx, m.CampaignID)
	require.NoError(t, err)
	m.Digest = review.Digest()
	s.sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())
	s.sb.Between("campaigns.list", func(tx *sandbox.Tx) {
		if c := s.sb.Campaigns()[0]; c.Status == "active" {
			tx.StopCampaign(c.ID)
		}
	})
	client, err := s.fleet.river()
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(ctx, s.fleet.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM river_job"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "UPDATE fleet.launch SET step = $1", stepReview); err != nil {
			return err
		}
		return moveOn(ctx, tx, client, name, stepReview, stepApprove, m)
	}))
	require.NoError(t, client.Start(ctx))
	defer func() { require.NoError(t, client.Stop(ctx)) }()
	look := func(query string) (found int64) {
		for ctx.Err() == nil && s.fleet.pool.QueryRow(ctx, query).Scan(&found) != nil {
			pause(ctx, 50*time.Millisecond)
		}
		require.NoError(t, ctx.Err())
		return found
	}
	job := look("SELECT id FROM river_job WHERE kind = 'launch' AND state = 'cancelled'")
	ticket := ""
	for e, err := range w.checkpoints.Calls(ctx, "campaigns.approve") {
		require.NoError(t, err)
		require.Equal(t, journal.Unknown, e.Outcome)
		ticket = e.Ticket.ID
	}
	found := journal.Settlement{Outcome: "perhaps", By: "ada", Because: "the outbox has the messages"}
	require.Error(t, s.fleet.settle(ctx, client, name, ticket, found, job))
	found.Outcome = journal.Applied
	require.Error(t, s.fleet.settle(ctx, client, name, ticket, found, job+1000), "a wrong number")
	require.ErrorIs(t, s.fleet.settle(ctx, client, name, ticket, found, job), journal.ErrNotInDoubt, "that settled it")
	require.Equal(t, int64(1), look("SELECT 1 FROM fleet.launch WHERE step = 'done'"))
	require.Equal(t, 1, s.sb.Calls("campaigns.approve"))
	require.Equal(t, "stopped", s.sb.Campaigns()[0].Status)
}
