// Package tested shows how to test your own code, here launch: what it does after a lost response, and that nothing that fails, and no moment at
// which it is stopped, sends anything twice. More is in docs/testing.md.
package tested

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// launch is your own code: it approves what a person has reviewed. After an error, it is run again.
func launch(ctx context.Context, client *prospectkit.Client, campaignID, digest string) error {
	if _, err := client.Recover(ctx); err != nil { // what an earlier run has left in doubt
		return err
	}
	_, err := client.Campaigns.Approve(ctx, campaignID, digest)
	return err
}

// spring makes a campaign that sends a message to each of two people.
func spring(tx *sandbox.Tx) {
	people := sandbox.Rows(sandbox.Row{"email": "grace@navy.example"}, sandbox.Row{"email": "alan@park.example"})
	tx.ConnectAccount("email")
	tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(sandbox.List{Name: "Berlin", Rows: people})))
}

// The response to the approval is lost. The next run finds out that it was applied.
func TestLostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		sb.Do(spring)
		j := prospectkit.WithJournal(journal.NewMemory("acme"))
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), j)
		require.NoError(t, err)
		seen, err := client.Campaigns.Review(t.Context(), sb.Campaigns()[0].ID)
		require.NoError(t, err)
		sb.Fail("campaigns.approve", sandbox.DropAfter())
		require.ErrorIs(t, launch(t.Context(), client, seen.Campaign.ID, seen.Digest()), prospectkit.ErrOutcomeUnknown)
		require.NoError(t, launch(t.Context(), client, seen.Campaign.ID, seen.Digest()))
		require.Equal(t, 1, sb.Calls("campaigns.approve"))
		time.Sleep(24 * time.Hour)     // takes no time
		require.Len(t, sb.Outbox(), 2) // nothing is really sent
	})
}

// Whatever fails, and wherever it is stopped and run again, each person gets one message at most.
func TestEveryFailure(t *testing.T) {
	sandbox.EveryFailure(t, func(run *sandbox.Run) error {
		j, err := journal.Open(filepath.Join(run.Dir(), "writes.journal"), "acme")
		require.NoError(run, err)
		defer j.Close()
		client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(j))
		require.NoError(run, err)
		digest, agreed := run.Load("yes")
		if !agreed {
			seen, err := client.Campaigns.Review(run.Context(), run.Campaigns()[0].ID)
			if err != nil {
				return err
			}
			digest = seen.Digest()
			run.Save("yes", digest) // of a person
		}
		return launch(run.Context(), client, run.Campaigns()[0].ID, digest)
	}, func(run *sandbox.Run) error {
		time.Sleep(time.Hour)
		if n := len(run.Outbox()); n > 2 || n < 2 && run.Err() == nil {
			return fmt.Errorf("%d messages", n)
		}
		return nil
	}, sandbox.Setup(func(run *sandbox.Run) { run.Do(spring) }))
}
