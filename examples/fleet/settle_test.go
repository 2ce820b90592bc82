package main

import (
	"context"
	"net/http/httptest"
	"strconv"
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
	s := &supervisor{options: options{workspaces: 1, workers: 1, contacts: 1}}
	s.sb, s.clock = service(s.options, make(chan int, 1))
	s.sb.Clear()
	api := httptest.NewServer(s.sb.Handler())
	t.Cleanup(api.Close)
	var err error
	s.database, err = startDatabase(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.database.Remove()) })
	s.fleet, err = newFleet(t.Context(), config{
		Name: "worker-0", DSN: s.database.DSN(""), BaseURL: api.URL + "/api/v1",
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
	args := approveArgs{Workspace: name}
	s.sb.Do(func(tx *sandbox.Tx) {
		args.CampaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", s.sb.Lists()[0].ID))
	})
	review, err := w.client.Campaigns.Review(ctx, args.CampaignID)
	require.NoError(t, err)
	args.Digest = review.Digest()
	s.sb.Fail("campaigns.approve", sandbox.Nth(1), sandbox.DropAfter())
	s.sb.Between("campaigns.list", func(tx *sandbox.Tx) {
		if c := s.sb.Campaigns()[0]; c.Status == "active" {
			tx.StopCampaign(c.ID)
		}
	})
	require.NoError(t, pgx.BeginFunc(ctx, s.fleet.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "DELETE FROM river_job"); err != nil {
			return err
		}
		_, err := s.fleet.river.InsertTx(ctx, tx, args, nil)
		return err
	}))
	require.NoError(t, s.fleet.river.Start(ctx))
	defer func() { require.NoError(t, s.fleet.river.Stop(ctx)) }()
	look := func(query string) (found int64) {
		for ctx.Err() == nil && s.fleet.pool.QueryRow(ctx, query).Scan(&found) != nil {
			pause(ctx, 50*time.Millisecond)
		}
		require.NoError(t, ctx.Err())
		return found
	}
	job := look("SELECT id FROM river_job WHERE kind = 'approve' AND state = 'cancelled'")
	ticket := ""
	for e, err := range w.store.Calls(ctx, "campaigns.approve") {
		require.NoError(t, err)
		require.Equal(t, journal.Unknown, e.Outcome)
		ticket = e.Ticket.ID
	}
	settle := func(found, job string) error {
		return s.fleet.settle(ctx, []string{name, ticket, found, job, "ada", "the outbox has the messages"})
	}
	require.Error(t, settle("perhaps", strconv.FormatInt(job, 10)))
	require.Error(t, settle("applied", "no number"))
	require.Error(t, s.fleet.settle(ctx, []string{"nobody", ticket, "applied", strconv.FormatInt(job, 10), "ada", "a wrong workspace"}))
	require.Error(t, s.fleet.settle(ctx, []string{name}))
	require.Error(t, settle("applied", strconv.FormatInt(job+1000, 10)), "a wrong number")
	require.ErrorIs(t, settle("applied", strconv.FormatInt(job, 10)), journal.ErrNotInDoubt, "that settled it")
	require.Equal(t, int64(1), look("SELECT 1 FROM river_job WHERE state = 'completed'"))
	require.Equal(t, 1, s.sb.Calls("campaigns.approve"))
	require.Equal(t, "stopped", s.sb.Campaigns()[0].Status)
}
