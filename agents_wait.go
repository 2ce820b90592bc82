package prospectkit

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/waits"
)

// WaitEach waits as [AgentsService.WaitSettled] does, for many agents with one listing a poll. It
// yields each agent once, when no run of it is in progress. WaitEach loops that run at the same time
// in clients derived from each other by [Client.With] share the listings. Together they poll
// at most 930 times a day, if the listing has one page: once every 96 s, after a burst of up to 30.
//
// A draft comes with an error that matches [ErrNotStarted]. An agent that the listing lacks is read
// alone, one a poll; if that cannot succeed, its ID comes with the error. Both end the wait for that
// agent only. If the context ends or five polls in a row have failed, the last element is a
// [WaitTimeoutError] without an agent: the agents that were not yielded are unsettled.
//
// Errors: those of [AgentsService.Get].
//
// GET /business/agents and GET /business/agents/{agentId}, scope agents.
func (s *AgentsService) WaitEach(ctx context.Context, agentIDs ...string) iter.Seq2[*Agent, error] {
	return func(yield func(*Agent, error) bool) {
		var bad check.Violations
		if bad.IDs("agentIds", agentIDs); len(bad) > 0 {
			yield(nil, refusal(op.AgentsList, bad))
			return
		}
		w := &awaited{pending: check.Distinct(agentIDs), from: time.Now(), yield: yield}
		of := len(w.pending)
		if of == 0 {
			return
		}
		leave := s.polls.Join()
		defer leave()
		poll := func(ctx context.Context) (*awaited, error) { return w, s.poll(ctx, w) }
		_, err := waitFor(ctx, s.conf, op.AgentsList, poll, func(*awaited) waits.Sighting {
			return waits.Sighting{Settled: len(w.pending) == 0, State: fmt.Sprintf("%d of %d pending", len(w.pending), of)}
		})
		if err != nil && len(w.pending) > 0 {
			yield(nil, err)
		}
	}
}

// newAgentPolls is the pace of WaitEach: 930 of the 2,000 documented requests a day.
func newAgentPolls() *waits.Shared[Agent] {
	return &waits.Shared[Agent]{Every: 96 * time.Second, Burst: 30}
}

// awaited is the agents that a WaitEach waits for.
type awaited struct {
	pending []string
	from    time.Time                // when the next listing begins at the earliest
	yield   func(*Agent, error) bool // false ends all waits
}

// poll reads the listing once, and yields what has settled. What the listing lacks is read alone, one agent a poll.
func (s *AgentsService) poll(ctx context.Context, w *awaited) error {
	agents, began, err := s.polls.Read(ctx, w.from, s.listEach)
	if err != nil && err == ctx.Err() { //nolint:errorlint // it waited for other waiters, or for the pace
		err = withoutEffect(op.AgentsList, err)
	}
	if err != nil {
		return err
	}
	w.from = began.Add(1)
	at := make(map[string]int, len(agents))
	for i := range agents {
		at[strings.ToLower(agents[i].ID)] = i
	}
	missing := ""
	for _, id := range slices.Clone(w.pending) {
		i, listed := at[strings.ToLower(id)]
		if !listed {
			missing = cmp.Or(missing, id)
			continue
		}
		agent := agents[i] // a copy: waiters share the listing
		if !w.settle(id, &agent) {
			return nil
		}
	}
	if missing == "" {
		return nil
	}
	return s.look(ctx, w, missing)
}

// listEach reads all agents, and counts the pages.
func (s *AgentsService) listEach(ctx context.Context) (agents []Agent, pages int, err error) {
	for page, err := range s.Pages(ctx) {
		if pages++; err != nil {
			return nil, pages, err
		}
		agents = append(agents, page.Items...)
	}
	return agents, pages, nil
}

// look reads one agent alone, and puts it at the end of those that are awaited.
func (s *AgentsService) look(ctx context.Context, w *awaited, id string) error {
	agent, err := s.Get(ctx, id)
	s.polls.Charge(1)
	switch {
	case err == nil:
		if w.settle(id, agent) && w.remove(id) {
			w.pending = append(w.pending, id)
		}
	case ctx.Err() != nil || isTransient(err):
		return err
	case w.remove(id) && !w.yield(&Agent{ID: id}, err):
		w.pending = nil
	}
	return nil
}

// settle yields an agent whose wait is over. It reports false if all waits are.
func (w *awaited) settle(id string, agent *Agent) bool {
	over, err := agent.settled()
	if !over && err == nil {
		return true
	}
	if w.remove(id); !w.yield(agent, err) {
		w.pending = nil
		return false
	}
	return true
}

// remove reports whether an agent was awaited.
func (w *awaited) remove(id string) bool {
	i := slices.Index(w.pending, id)
	if i >= 0 {
		w.pending = slices.Delete(w.pending, i, i+1)
	}
	return i >= 0
}
