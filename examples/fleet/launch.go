package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/prospectkit"
	"example.com/prospectkit/journal"
)

// launchArgs is one step of the launch of a workspace. Each step is a job, and exists once.
type launchArgs struct {
	Workspace string `json:"workspace"`
	Step      step   `json:"step"`
}

func (launchArgs) Kind() string { return "launch" }

func (launchArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
}

type step string

// The steps, in order. A person says yes to stepYes: no job does.
const (
	stepList     step = "list"
	stepAgent    step = "agent"
	stepWait     step = "wait"
	stepCampaign step = "campaign"
	stepReview   step = "review"
	stepYes      step = "yes"
	stepApprove  step = "approve"
	stepDone     step = "done"
)

// made is what the steps have made so far.
type made struct {
	ListID, AgentID, ResultsID, CampaignID string
	Digest                                 string // of what the person has seen
	Contacts                               int
}

const (
	listName  = "Conference"
	agentName = "Heads of sales"
	agentCap  = 1000 // credits
	again     = time.Second
)

func campaignName(workspace string) string { return "Spring, " + workspace }

// launcher works the steps.
type launcher struct {
	river.WorkerDefaults[launchArgs]

	fleet *fleet
}

// Work runs one step, and stores its result together with the job of the next one and the end of this one.
func (l *launcher) Work(ctx context.Context, job *river.Job[launchArgs]) error {
	return outcome(ctx, l.run(ctx, job))
}

func (l *launcher) run(ctx context.Context, job *river.Job[launchArgs]) error {
	ctx, w, err := l.fleet.of(ctx, job.Args.Workspace, job.JobRow)
	if err != nil {
		return err
	}
	var at step
	var m made
	err = l.fleet.pool.QueryRow(ctx, "SELECT step, made FROM fleet.launch WHERE workspace = $1", w.name).Scan(&at, &m)
	if err != nil || at != job.Args.Step { // an earlier attempt took this step, and was killed before River knew
		return err
	}
	next, err := w.take(ctx, at, &m)
	if err != nil {
		return err
	}
	if open, err := w.finish(ctx); err != nil || open {
		return cmp.Or(err, river.JobSnooze(again))
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
func moveOn(ctx context.Context, tx pgx.Tx, client *river.Client[pgx.Tx], workspace string, from, to step, m made) error {
	tag, err := tx.Exec(ctx, "UPDATE fleet.launch SET step = $3, made = $4 WHERE workspace = $1 AND step = $2", workspace, from, to, m)
	if err != nil || tag.RowsAffected() == 0 || to == stepYes || to == stepDone {
		return err
	}
	_, err = client.InsertTx(ctx, tx, launchArgs{Workspace: workspace, Step: to}, nil)
	return err
}

// take takes one step. It may have been taken before, up to any point.
func (w *workspace) take(ctx context.Context, at step, m *made) (next step, err error) {
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
			ListName: agentName, Start: true, MaxCreditSpend: agentCap, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
		})
		if err != nil {
			return "", err
		}
		m.AgentID = ensured.Agent.ID
		return stepWait, nil
	case stepWait:
		return w.wait(ctx, m)
	case stepCampaign:
		return w.campaign(ctx, m)
	case stepReview:
		return w.review(ctx, m)
	case stepApprove:
		return w.approve(ctx, m)
	default:
		return "", river.JobCancel(fmt.Errorf("no job is for the step %q", at))
	}
}

// wait looks once. A job that sleeps takes no slot of a worker, and needs none of this process to survive.
func (w *workspace) wait(ctx context.Context, m *made) (step, error) {
	a, err := w.client.Agents.Get(ctx, m.AgentID)
	switch {
	case err != nil:
		return "", err
	case a.Status == prospectkit.AgentStatusProcessing:
		return "", river.JobSnooze(again)
	case a.Status != prospectkit.AgentStatusActive:
		return "", river.JobCancel(fmt.Errorf("the agent is %s", a.Status))
	}
	m.ResultsID = a.ListID
	return stepCampaign, nil
}

// campaign makes the campaign, once. Names of campaigns may repeat, so it looks before it makes one, and never makes another while the
// outcome of an earlier call is open.
func (w *workspace) campaign(ctx context.Context, m *made) (step, error) {
	found, err := w.findCampaign(ctx)
	if err != nil {
		return "", err
	}
	before, err := w.settle(ctx, "campaigns.create", new(found != ""))
	switch {
	case err != nil:
		return "", err
	case found != "":
		m.CampaignID = found
		return stepReview, nil
	case before != journal.NotApplied:
		return "", river.JobSnooze(again)
	}
	_, err = w.client.Campaigns.Create(ctx, prospectkit.Fields{
		"name": campaignName(w.name), "listIds": []string{m.ListID, m.ResultsID},
	})
	if err != nil {
		return "", err
	}
	return "", river.JobSnooze(0) // and find it
}

func (w *workspace) findCampaign(ctx context.Context) (id string, err error) {
	for c, err := range w.client.Campaigns.All(ctx) {
		if err != nil {
			return "", err
		}
		if c.Text("name") == campaignName(w.name) {
			id = c.Text("id")
		}
	}
	return id, nil
}

// review shows the campaign to a person, once it is complete.
func (w *workspace) review(ctx context.Context, m *made) (step, error) {
	for c, err := range w.client.Campaigns.All(ctx) {
		if err != nil {
			return "", err
		}
		if c.Text("id") == m.CampaignID && !prospectkit.Initialized(*c) {
			return "", river.JobSnooze(again)
		}
	}
	r, err := w.client.Campaigns.Review(ctx, m.CampaignID)
	if err != nil {
		return "", err
	}
	m.Digest, m.Contacts = r.Digest(), r.Contacts
	return stepYes, nil
}

// approve approves what the person has seen, once. First it asks the journal whether an attempt of this job that was killed did so.
func (w *workspace) approve(ctx context.Context, m *made) (step, error) {
	before, err := w.settle(ctx, "campaigns.approve", nil)
	switch {
	case err != nil:
		return "", err
	case before == journal.Applied:
		return stepDone, nil
	case before == journal.Unknown:
		return "", river.JobSnooze(again)
	}
	_, err = w.client.Campaigns.ApproveReviewed(ctx, m.CampaignID, m.Digest)
	if refused, ok := errors.AsType[*prospectkit.RefusedError](err); ok && refused.Rule == prospectkit.RuleReview {
		return "", river.JobCancel(fmt.Errorf("a person has to look again: %w", err))
	}
	if err != nil {
		return "", err
	}
	return stepDone, nil
}
