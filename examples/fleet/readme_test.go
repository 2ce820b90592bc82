package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// byActor is a journal that tells what one actor did, as that of prospectpg does.
type byActor struct{ all func() []journal.Entry }

func (b byActor) Entries(_ context.Context, actor string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for _, e := range b.all() {
			if e.Ticket.Actor == actor && !yield(e, nil) {
				return
			}
		}
	}
}

// reviewed is a campaign that a person has reviewed, and its job.
type reviewed struct{ campaignID, digest string }

func (r *reviewed) job(ctx context.Context, client *prospectkit.Client, store byActor) (err error) {
	campaignID, digest := r.campaignID, r.digest
	for e, err := range store.Entries(ctx, "job 4711") {
		switch {
		case err != nil:
			return err
		case e.Outcome == journal.Applied:
			return nil // an earlier attempt did it
		case e.Outcome == journal.Unknown:
			return errors.New("not settled yet: run the job later")
		}
	}
	_, err = client.Campaigns.Approve(prospectkit.WithActor(ctx, "job 4711"), campaignID, digest)
	return err
}

// The README of prospectpg shows this job.
func TestReadme_ShowsTheJob(t *testing.T) {
	readme, err := os.ReadFile("../../contrib/postgres/README.md")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(readme), "```go\nfor e, err := range store.Entries(")
	require.True(t, ok)
	block, _, _ := strings.Cut("for e, err := range store.Entries("+rest, "\n```\n")
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	require.Contains(t, string(source), "\n\t"+strings.ReplaceAll(block, "\n", "\n\t")+"\n}\n")
}

// review makes a campaign, and reviews it.
func (r *reviewed) review(sb *sandbox.Sandbox, client *prospectkit.Client) error {
	sb.Do(func(tx *sandbox.Tx) {
		tx.ConnectAccount("email")
		r.campaignID = tx.CreateCampaign(sandbox.ReadyCampaign("Spring", tx.CreateList(contacts)))
	})
	found, err := client.Campaigns.Review(context.Background(), r.campaignID)
	if err == nil {
		r.digest = found.Digest()
	}
	return err
}

// A queue runs the job until it returns nil. Another process settles what a read can tell, and a person the rest. With and without a
// teammate who stops the campaign between two runs of the job, there is one approval, and nobody undoes the stop.
func TestReadme_EveryFailure(t *testing.T) {
	for _, stops := range []bool{false, true} {
		var r *reviewed
		var store *journal.MemoryJournal
		var wanted prospectkit.CampaignStatus
		stopped := 0
		sandbox.EveryFailure(t, func(run *sandbox.Run) error {
			client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()), prospectkit.WithJournal(store))
			require.NoError(run, err)
			for range 4 {
				if err = r.job(run.Context(), client, byActor{store.Entries}); err == nil {
					return nil
				}
				time.Sleep(time.Minute)
				if stops && run.Campaigns()[0].Status == string(prospectkit.CampaignActive) {
					run.Do(func(tx *sandbox.Tx) { tx.StopCampaign(r.campaignID) })
					stopped, wanted = stopped+1, prospectkit.CampaignStopped
				}
				if err := settle(run, client, store); err != nil {
					return err
				}
			}
			return err
		}, func(run *sandbox.Run) error {
			if n, status := processed(run.Sandbox, "campaigns.approve"), run.Campaigns()[0].Status; n != 1 || status != string(wanted) {
				return fmt.Errorf("approvals: %d; the campaign is %s, wanted %s", n, status, wanted)
			}
			return run.Err()
		}, sandbox.ActivatesFor(time.Second), sandbox.Setup(func(run *sandbox.Run) {
			r, store, wanted = new(reviewed), new(journal.MemoryJournal), prospectkit.CampaignActive
			client, err := prospectkit.New(run.BaseURL(), run.Token(), prospectkit.WithTransport(run.Transport()))
			require.NoError(run, err)
			require.NoError(run, r.review(run.Sandbox, client))
		}))
		require.Equal(t, stops, stopped > 0)
	}
}

// settle is what a worker does at its start, and a person.
func settle(run *sandbox.Run, client *prospectkit.Client, store journal.Journal) error {
	found, err := client.Recover(run.Context())
	if found == nil {
		return err
	}
	for _, d := range slices.Concat(found.Later, found.Person) {
		if d.Err != nil {
			continue
		}
		truth := journal.NotApplied
		if processed(run.Sandbox, "campaigns.approve") > 0 {
			truth = journal.Applied
		}
		if err := store.Ended(run.Context(), d.Ticket.ID, journal.End{Outcome: truth}); err != nil {
			return err
		}
	}
	return nil
}

// A queue that runs the job twice at once gets no second approval, which would undo the stop of a teammate.
func TestReadme_TwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.ActivatesFor(0))
		r, store := new(reviewed), &together{MemoryJournal: new(journal.MemoryJournal)}
		sb.Between("campaigns.approve", func(tx *sandbox.Tx) { tx.StopCampaign(r.campaignID) })
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), prospectkit.WithJournal(store))
		require.NoError(t, err)
		require.NoError(t, r.review(sb, client))

		store.twice(func() error { return r.job(t.Context(), client, byActor{store.Entries}) })
		require.NoError(t, r.job(t.Context(), client, byActor{store.Entries}))
		require.Equal(t, 1, processed(sb, "campaigns.approve"))
		require.Equal(t, string(prospectkit.CampaignActive), sb.Campaigns()[0].Status)
	})
}
