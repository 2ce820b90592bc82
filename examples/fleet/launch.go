package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/journal"
)

// prepareArgs are those of a job that makes the campaign of a workspace, and reviews it for a person.
type prepareArgs struct {
	Workspace string `json:"workspace"`
}

func (prepareArgs) Kind() string { return "prepare" }

// approveArgs are those of a job that approves what a person has said yes to. To insert a job twice does no harm: the journal knows what was done.
type approveArgs struct {
	Workspace  string `json:"workspace"`
	CampaignID string `json:"campaign_id"`
	Digest     string `json:"digest"` // of the review that the person has seen
}

func (approveArgs) Kind() string { return "approve" }

// prepare stores what a person has to see, once. To have the campaign reviewed again, delete the row, and run the job again.
func (f *fleet) prepare(ctx context.Context, job *river.Job[prepareArgs]) error {
	return f.attempt(ctx, job.Args.Workspace, job.ID, func(ctx context.Context, w *workspace) error {
		campaignID, digest, err := w.prepare(ctx)
		if err != nil {
			return err
		}
		_, err = f.pool.Exec(ctx, `INSERT INTO fleet.review (workspace, campaign_id, digest) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			w.name, campaignID, digest)
		return err
	})
}

func (f *fleet) approve(ctx context.Context, job *river.Job[approveArgs]) error {
	return f.attempt(ctx, job.Args.Workspace, job.ID, func(ctx context.Context, w *workspace) error {
		return w.approve(ctx, job.Args.CampaignID, job.Args.Digest)
	})
}

// attempt makes one attempt of a job, and tells River what to do after its error. In the tickets of their calls, all attempts of a job have one name.
func (f *fleet) attempt(ctx context.Context, name string, job int64, do func(context.Context, *workspace) error) error {
	w := f.workspaces[name]
	if w == nil {
		return river.JobCancel(fmt.Errorf("there is no workspace %q", name))
	}
	err := do(prospectkit.WithActor(ctx, fmt.Sprint("job ", job)), w)
	switch v := engine.Judge(err); {
	case v.Done:
		return nil
	case ctx.Err() != nil: // the time of the job is over, which is no failure
		return river.JobSnooze(0)
	case v.Person:
		return river.JobCancel(err)
	case v.After > 0:
		return river.JobSnooze(v.After)
	}
	return err
}

// workspace is one customer's.
type workspace struct {
	name     string
	client   *prospectkit.Client
	store    journal.Journal
	patience time.Duration // then a read that does not show the effect of a call counts, or a person has to look
}

// prepare makes the campaign, waits for it, and reviews it. It looks once: a job that sleeps takes no slot of a worker.
func (w *workspace) prepare(ctx context.Context) (campaignID, digest string, err error) {
	c, err := w.campaign(ctx)
	if err != nil {
		return "", "", err
	}
	if !c.Initialized() {
		return "", "", engine.Later(time.Second)
	}
	review, err := w.client.Campaigns.Review(ctx, c.ID)
	if err != nil {
		return "", "", err
	}
	return c.ID, review.Digest(), nil
}

// campaign makes the campaign, once, and finds it. No read shows that a creation did not happen. So one whose outcome is unknown keeps back another
// one, until a listing that was asked for long after it does not show the campaign.
func (w *workspace) campaign(ctx context.Context) (*prospectkit.Campaign, error) {
	name := "Spring, " + w.name
	list, err := w.client.Lists.Named(ctx, "Conference", prospectkit.ContactList)
	if err != nil {
		return nil, err
	}
	_, err = w.client.Campaigns.Create(ctx, prospectkit.NewCampaign{
		ListIDs: []string{list.ID}, Extra: prospectkit.Fields{"name": name}, // a name of a field that is undocumented
	}, prospectkit.Once(name))
	unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err)
	if !ok && prospectkit.OutcomeOf(err) != prospectkit.OutcomeApplied {
		return nil, err
	}
	asked, end := time.Now(), journal.NotApplied
	var found *prospectkit.Campaign
	for c, err := range w.client.Campaigns.All(ctx) {
		if err != nil {
			return nil, err
		}
		if c.Raw().Text("name") == name { // assumed
			found, end = c, journal.Applied
			break
		}
	}
	if ok && (found != nil || asked.Sub(unknown.Ticket().LastSent) > w.patience) {
		if err := w.store.Ended(ctx, unknown.Ticket().ID, journal.End{Outcome: end}); err != nil {
			return nil, err
		}
	}
	if found == nil {
		return nil, engine.Later(time.Second) // and find it, or make it
	}
	return found, nil
}

// approve sends nothing if the journal says that this review was approved, or may have been.
func (w *workspace) approve(ctx context.Context, campaignID, digest string) error {
	_, err := w.client.Campaigns.Approve(ctx, campaignID, digest)
	return engine.Settle(ctx, err, w.patience)
}
