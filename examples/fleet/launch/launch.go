// Package launch has the steps of a launch: a list, an agent, its results, a campaign, a person's yes, the approval. Each step may be taken
// any number of times, and has its effect once. It knows no job engine.
package launch

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"time"

	"example.com/prospectkit"
	"example.com/prospectkit/examples/fleet/engine"
	"example.com/prospectkit/journal"
)

// Step is one step of a launch.
type Step string

// The steps, in order. A person says yes at Yes: no job does.
const (
	List     Step = "list"
	Agent    Step = "agent"
	Wait     Step = "wait"
	Campaign Step = "campaign"
	Review   Step = "review"
	Yes      Step = "yes"
	Approve  Step = "approve"
	Done     Step = "done"
)

// Made is what the steps have made so far.
type Made struct {
	ListID, AgentID, ResultsID, CampaignID string
	Digest                                 string // of what the person has seen
	Contacts                               int
}

// ListName is that of the list of contacts which each workspace has, or gets.
const ListName = "Conference"

const (
	agentName = "Heads of sales"
	agentCap  = 1000 // credits
	again     = time.Second
)

// Store is a journal that tells what a job did: a *prospectpg.Store, for example.
type Store interface {
	journal.Journal
	journal.History
	Entries(ctx context.Context, actor string) iter.Seq2[journal.Entry, error]
}

// Workspace is one customer's, as one job uses it.
type Workspace struct {
	Name   string
	Client *prospectkit.Client // with Once(Store) as its journal
	Store  Store
	Lease  time.Duration // of a ticket
	Job    string        // in the tickets of its calls: the same for all attempts

	// Patience is after what time a person settles the ticket of an approval that no read shows.
	Patience time.Duration
}

// Take takes one step, and settles the tickets of its earlier attempts. With an error, it is to be taken again as [engine.Judge] says.
func (w *Workspace) Take(ctx context.Context, at Step, m *Made) (next Step, err error) {
	ctx = prospectkit.WithActor(ctx, w.Job)
	next, err = w.take(ctx, at, m)
	if err != nil {
		return "", err
	}
	if open, err := w.finish(ctx); err != nil || open {
		return "", cmp.Or(err, engine.Later(again))
	}
	return next, nil
}

func campaignName(workspace string) string { return "Spring, " + workspace }

// take takes one step. It may have been taken before, up to any point.
func (w *Workspace) take(ctx context.Context, at Step, m *Made) (next Step, err error) {
	switch at {
	case List:
		ensured, err := w.Client.Lists.Ensure(ctx, prospectkit.NewList{Name: ListName})
		if err != nil {
			return "", err
		}
		m.ListID = ensured.List.ID
		return Agent, nil
	case Agent:
		ensured, err := w.Client.Agents.Ensure(ctx, prospectkit.PersonDiscovery{
			ListName: agentName, Start: true, MaxCreditSpend: agentCap, Filters: prospectkit.Fields{"jobTitles": []string{"Head of Sales"}},
		})
		if err != nil {
			return "", err
		}
		m.AgentID = ensured.Agent.ID
		return Wait, nil
	case Wait:
		return w.wait(ctx, m)
	case Campaign:
		return w.campaign(ctx, m)
	case Review:
		return w.review(ctx, m)
	case Approve:
		return w.approve(ctx, m)
	default:
		return "", engine.Person(fmt.Errorf("no job is for the step %q", at))
	}
}

// wait looks once. A job that sleeps takes no slot of a worker, and needs none of this process to survive.
func (w *Workspace) wait(ctx context.Context, m *Made) (Step, error) {
	a, err := w.Client.Agents.Get(ctx, m.AgentID)
	switch {
	case err != nil:
		return "", err
	case a.Status == prospectkit.AgentStatusProcessing:
		return "", engine.Later(again)
	case a.Status != prospectkit.AgentStatusActive:
		return "", engine.Person(fmt.Errorf("the agent is %s", a.Status))
	}
	m.ResultsID = a.ListID
	return Campaign, nil
}

// campaign makes the campaign, once. Names of campaigns may repeat, so it looks before it makes one, and never makes another while the
// outcome of an earlier call is open.
func (w *Workspace) campaign(ctx context.Context, m *Made) (Step, error) {
	found, err := w.findCampaign(ctx)
	if err != nil {
		return "", err
	}
	before, err := w.settle(ctx, "campaigns.create", found != "")
	switch {
	case err != nil:
		return "", err
	case found != "":
		m.CampaignID = found
		return Review, nil
	case before != journal.NotApplied:
		return "", engine.Later(again)
	}
	_, err = w.Client.Campaigns.Create(ctx, prospectkit.Fields{
		"name": campaignName(w.Name), "listIds": []string{m.ListID, m.ResultsID},
	})
	if err != nil {
		return "", err
	}
	return w.campaign(ctx, m) // and find it
}

func (w *Workspace) findCampaign(ctx context.Context) (id string, err error) {
	for c, err := range w.Client.Campaigns.All(ctx) {
		if err != nil {
			return "", err
		}
		if c.Raw().Text("name") == campaignName(w.Name) {
			id = c.ID
		}
	}
	return id, nil
}

// review shows the campaign to a person, once it is complete.
func (w *Workspace) review(ctx context.Context, m *Made) (Step, error) {
	for c, err := range w.Client.Campaigns.All(ctx) {
		if err != nil {
			return "", err
		}
		if c.ID == m.CampaignID && !c.Initialized() {
			return "", engine.Later(again)
		}
	}
	r, err := w.Client.Campaigns.Review(ctx, m.CampaignID)
	if err != nil {
		return "", err
	}
	m.Digest, m.Contacts = r.Digest(), r.Contacts
	return Yes, nil
}

// approve approves what the person has seen, once: nothing is sent if the journal says that this review was approved, or may have been.
func (w *Workspace) approve(ctx context.Context, m *Made) (Step, error) {
	_, err := w.Client.Campaigns.ApproveReviewed(ctx, m.CampaignID, m.Digest)
	if err = engine.Settle(ctx, err, w.Patience); !engine.Judge(err).Done {
		return "", err
	}
	return Done, nil
}
