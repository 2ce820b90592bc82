package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/journal"
)

// The steps of a launch, in order. Each may be taken any number of times, and has its effect once. A person says yes at stepYes:
// no job does.
const (
	stepList     = "list"
	stepAgent    = "agent"
	stepWait     = "wait"
	stepCampaign = "campaign"
	stepReview   = "review"
	stepYes      = "yes"
	stepApprove  = "approve"
	stepDone     = "done"
)

// made is what the steps have made so far.
type made struct {
	ListID, AgentID, ResultsID, CampaignID string
	Digest                                 string // of what the person has seen
}

// launchArgs is one step of the launch of a workspace. Each step is a job, and exists once.
type launchArgs struct {
	Workspace string `json:"workspace"`
	Step      string `json:"step"`
}

func (launchArgs) Kind() string { return "launch" }

func (launchArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

type launcher struct {
	river.WorkerDefaults[launchArgs]

	fleet *fleet
}

// Work takes one step, and stores its result together with the job of the next one and the end of this one.
func (l *launcher) Work(ctx context.Context, job *river.Job[launchArgs]) error {
	return outcome(ctx, l.run(ctx, job))
}

func (l *launcher) run(ctx context.Context, job *river.Job[launchArgs]) error {
	w, err := l.fleet.of(job.Args.Workspace, job.JobRow)
	if err != nil {
		return err
	}
	var at string
	var m made
	err = l.fleet.pool.QueryRow(ctx, "SELECT step, made FROM fleet.launch WHERE workspace = $1", w.name).Scan(&at, &m)
	if err != nil || at != job.Args.Step { // an earlier attempt took this step, and was killed before River knew
		return err
	}
	next, err := w.step(ctx, at, &m)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, l.fleet.pool, func(tx pgx.Tx) error {
		if err := moveOn(ctx, tx, river.ClientFromContext[pgx.Tx](ctx), w.name, at, next, m); err != nil {
			return err
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}

// moveOn stores the result of a step, and enqueues the next one.
func moveOn(ctx context.Context, tx pgx.Tx, client *river.Client[pgx.Tx], workspace, from, to string, m made) error {
	tag, err := tx.Exec(ctx, "UPDATE fleet.launch SET step = $3, made = $4 WHERE workspace = $1 AND step = $2", workspace, from, to, m)
	if err != nil || tag.RowsAffected() == 0 || to == stepYes || to == stepDone {
		return err
	}
	_, err = client.InsertTx(ctx, tx, launchArgs{Workspace: workspace, Step: to}, nil)
	return err
}

const listName = "Conference"

// step takes one step, and settles the tickets of its calls. They name the job, which is the same for all attempts.
func (w *workspace) step(ctx context.Context, at string, m *made) (next string, err error) {
	ctx = prospectkit.WithActor(ctx, w.job)
	if next, err = w.take(ctx, at, m); err == nil {
		err = w.finish(ctx)
	}
	return next, err
}

func (w *workspace) take(ctx context.Context, at string, m *made) (next string, err error) {
	switch at {
	case stepList:
		ensured, err := w.client.Lists.Ensure(ctx, prospectkit.NewList{Name: listName})
		if err != nil {
			return "", err
		}
		m.ListID = ensured.List.ID
		return stepAgent, nil
	case stepAgent:
		ensured, err := w.client.Agents.Ensure(ctx, prospectkit.PersonDiscovery{
			ListName: "Heads of sales", Start: true, MaxCreditSpend: 1000, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
		})
		if err != nil {
			return "", err
		}
		m.AgentID = ensured.Agent.ID
		return stepWait, nil
	case stepWait: // looks once: a job that sleeps takes no slot of a worker, and survives this process
		a, err := w.client.Agents.Get(ctx, m.AgentID)
		switch {
		case err != nil:
			return "", err
		case a.Status == prospectkit.AgentStatusProcessing:
			return "", engine.Later(time.Second)
		case a.Status != prospectkit.AgentStatusActive:
			return "", engine.Person(fmt.Errorf("the agent is %s", a.Status))
		}
		m.ResultsID = a.ListID
		return stepCampaign, nil
	case stepCampaign:
		return stepReview, w.campaign(ctx, m)
	case stepReview:
		switch c, err := w.find(ctx); {
		case err != nil:
			return "", err
		case c == nil || !c.Initialized():
			return "", engine.Later(time.Second)
		}
		r, err := w.client.Campaigns.Review(ctx, m.CampaignID)
		if err != nil {
			return "", err
		}
		m.Digest = r.Digest()
		return stepYes, nil
	case stepApprove: // nothing is sent if the journal says that this review was approved, or may have been
		_, err := w.client.Campaigns.Approve(ctx, m.CampaignID, m.Digest)
		if err = engine.Settle(ctx, err, w.patience); !engine.Judge(err).Done {
			return "", err
		}
		return stepDone, nil
	}
	return "", engine.Person(fmt.Errorf("no job is for the step %q", at))
}

func (w *workspace) campaignName() string { return "Spring, " + w.name }

// find returns the campaign, or nil.
func (w *workspace) find(ctx context.Context) (*prospectkit.Campaign, error) {
	for c, err := range w.client.Campaigns.All(ctx) {
		if err != nil || c.Raw().Text("name") == w.campaignName() {
			return c, err
		}
	}
	return nil, nil // there is none
}

// campaign makes the campaign, once. No read shows that a creation did not happen, so the ticket of one whose outcome is unknown keeps back
// another one, until a listing that was asked for long after it does not hold the campaign.
func (w *workspace) campaign(ctx context.Context, m *made) error {
	began := time.Now()
	found, err := w.find(ctx)
	if err != nil || found != nil {
		if found != nil {
			m.CampaignID = found.ID
		}
		return err
	}
	_, err = w.client.Campaigns.Create(ctx, prospectkit.NewCampaign{
		ListIDs: []string{m.ListID, m.ResultsID}, Extra: prospectkit.Fields{"name": w.campaignName()},
	}, prospectkit.Once(w.campaignName()))
	if unknown, ok := errors.AsType[*prospectkit.OutcomeUnknownError](err); ok && began.Sub(unknown.Ticket().LastSent) > w.patience {
		err = w.store.Ended(ctx, unknown.Ticket().ID, journal.End{Outcome: journal.NotApplied}) // it would have been in the listing (assumed)
	}
	if !engine.Judge(err).Done {
		return err
	}
	return engine.Later(time.Second) // and find it, or make it
}

// finish settles what is left of a step that has reached its end: its effect is there, by this attempt or by one whose worker was killed.
func (w *workspace) finish(ctx context.Context) error {
	for ticket, err := range w.client.InDoubt(ctx) {
		switch {
		case err != nil:
			return err
		case ticket.Actor != w.job:
			continue
		}
		r, err := w.client.Resolve(ctx, ticket)
		if err == nil && r.Outcome == prospectkit.OutcomeUnknown {
			c, _ := r.Object.(*prospectkit.Campaign)
			if r.Again.IsZero() || c != nil && c.Status == prospectkit.CampaignStopped { // by a teammate, after the approval
				err = w.done(ctx, ticket)
			}
		}
		if err != nil {
			return err
		}
	}
	for _, op := range []string{"lists.create", "agents.create-person-discovery", "agents.activate", "campaigns.create", "campaigns.approve"} {
		for e, err := range w.calls(ctx, op) {
			if err != nil {
				return err
			}
			if e.Outcome == journal.Unknown { // its lease has not ended
				return engine.Later(time.Second)
			}
		}
	}
	return nil
}

// done settles a ticket whose effect is there: it was this call, unless it was another one of the job.
func (w *workspace) done(ctx context.Context, t journal.Ticket) error {
	outcome := journal.Applied
	for e, err := range w.calls(ctx, t.Op) {
		if err != nil {
			return err
		}
		if e.Outcome == journal.Applied {
			outcome = journal.NotApplied
		}
	}
	return w.store.Ended(ctx, t.ID, journal.End{Outcome: outcome})
}

// calls are those of the job so far.
func (w *workspace) calls(ctx context.Context, op string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range w.store.Calls(ctx, op) {
			if (err != nil || e.Ticket.Actor == w.job) && !yield(e, err) {
				return
			}
		}
	}
}
