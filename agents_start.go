package prospectkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
)

// opCreateAndStart names the composite in errors.
const opCreateAndStart = "agents.create-and-start"

// draftError says that an agent is a draft.
func draftError() *Error {
	o := op.AgentsGet
	return &Error{
		Op: o.Name, Method: o.Method, Route: o.Path, class: ErrNotStarted, outcome: OutcomeNotApplied,
		prose: "the agent was never started: a draft does not move until it is activated",
	}
}

// notStarted marks what the activation of a draft came to. What the service said about it stays readable.
func notStarted(cause error) *Error {
	var e Error
	if said, ok := errors.AsType[*Error](cause); ok {
		e = *said
	}
	e.Op, e.Method, e.Route = opCreateAndStart, op.AgentsActivate.Method, op.AgentsActivate.Path
	e.class, e.cause, e.outcome, e.prose = ErrNotStarted, cause, OutcomeOf(cause), "the draft was saved, but not seen to start"
	return &e
}

// startAdvice is what to do about an agent that was not started.
func startAdvice(cause error) Advice {
	if advice, ok := adviceOf(cause); ok {
		return advice
	}
	return Advice{Action: ActionAfterState, Hint: "activate the agent, which spends credits"}
}

// CreateAndStart saves a draft, sees that it is one, and activates it. The only step that spends credits is one that the service
// refuses a second time, so neither a lost response nor calling this again can pay twice. The spec's Start does not matter; its
// MaxCreditSpend or Unlimited is required. Options for one request, such as [WithField], hold for the creation of the draft.
//
// Unknown outcomes are resolved by reading: a draft by its name, which no agent had before, and a start by the status of the agent. An
// activation that did not show is sent again, at most twice. Allow some minutes for all of that. What stays unknown is returned as an
// [OutcomeUnknownError].
//
// Once there is a draft, it is returned beside any error, which errors.Is takes for [ErrNotStarted]. The draft holds its name: go on
// with [AgentsService.Activate], which cannot pay twice, and do not create it again.
//
// Errors: those of [AgentsService.Create] and [AgentsService.Activate].
//
// POST /business/agents/{agentId}/activate, scope agents.
func (s *AgentsService) CreateAndStart(ctx context.Context, in AgentSpec, opts ...CallOption) (*Agent, error) {
	spec, err := specOf(in)
	if err != nil {
		return nil, err
	}
	if err := s.mayStart(spec, opts); err != nil {
		return nil, err
	}
	shared := sharedOptions(opts)
	draft, err := s.saveDraft(ctx, spec, opts, shared)
	if err != nil {
		return nil, err
	}
	if !draft.Draft() && draft.Status != "" {
		return draft, nil // it has started already: to activate it now could only be refused
	}
	agent, err := s.startDraft(ctx, draft, shared)
	if err != nil {
		return draft, notStarted(err)
	}
	return agent, nil
}

// mayStart refuses, before a draft is saved, what would refuse to start it: a missing cap, or a safety rule.
func (s *AgentsService) mayStart(spec agentSpec, opts []CallOption) error {
	var bad checks
	conf := callConfig{settings: s.client.conf.settings}
	for _, option := range sharedOptions(opts) {
		option.applyCall(&conf, &bad)
	}
	spec.check(&bad, true)
	if len(bad) > 0 {
		return refusal(spec.op, bad...)
	}
	if rule := s.client.forbids(op.AgentsActivate, args{}, &conf); rule != "" {
		return forbidden(op.AgentsActivate, rule)
	}
	return nil
}

// saveDraft creates a draft, or finds the one that a creation without a response made.
func (s *AgentsService) saveDraft(ctx context.Context, spec agentSpec, opts, reads []CallOption) (*Agent, error) {
	spec = spec.draft.spec()
	before, _, lookErr := s.named(ctx, spec.name, reads)
	draft, err := s.Create(ctx, spec.draft, opts...)
	if err == nil {
		return draft, nil
	}
	var unknown *OutcomeUnknownError
	switch {
	case before != nil || lookErr != nil:
		return nil, err // an agent of that name would prove nothing
	case errors.As(err, &unknown):
	case OutcomeOf(err) == OutcomeApplied:
		unknown = &OutcomeUnknownError{op: spec.op, SentAt: time.Now(), look: s.lookForNew(spec)}
	default:
		return nil, err
	}
	found, resolveErr := unknown.Resolve(ctx, reads...)
	if resolveErr != nil {
		return nil, fmt.Errorf("%w (and it could not be resolved: %w)", err, resolveErr)
	}
	if draft, ok := Resolved[Agent](found); ok && found.Verdict == VerdictHappened {
		return draft, nil
	}
	return nil, err
}

// startRounds bounds how often a draft is activated that did not start.
const startRounds = 3

// startDraft activates a draft. After each unknown outcome, its status tells whether it has started.
func (s *AgentsService) startDraft(ctx context.Context, draft *Agent, opts []CallOption) (*Agent, error) {
	var first error // the first unknown outcome: no refusal that comes after it can clear it
	for round := 1; ; round++ {
		agent, err := s.Activate(ctx, draft.ID, opts...)
		var unknown *OutcomeUnknownError
		switch {
		case err == nil && agent.Status != "":
			return agent, nil
		case err == nil, OutcomeOf(err) == OutcomeApplied:
			return s.started(ctx, draft, opts), nil
		case first != nil && (errors.Is(err, CodeAgentNotADraft) || errors.Is(err, CodeAgentProcessing)):
			return s.started(ctx, draft, opts), nil
		case !errors.As(err, &unknown) && first != nil:
			return nil, fmt.Errorf("%w (and since: %w)", first, err)
		case unknown == nil:
			return nil, err
		}
		if first == nil {
			first = err
		}
		r, resolveErr := unknown.Resolve(ctx, opts...)
		switch {
		case resolveErr != nil:
			return nil, fmt.Errorf("%w (and it could not be resolved: %w)", first, resolveErr)
		case r.Verdict == VerdictHappened:
			agent, _ = Resolved[Agent](r)
			return agent, nil
		case r.Verdict != VerdictNotSeen || !r.Final || round == startRounds:
			return nil, first
		}
	}
}

// started reads an agent that has started. If it cannot be read, what the draft told will do.
func (s *AgentsService) started(ctx context.Context, draft *Agent, opts []CallOption) *Agent {
	if agent, err := s.Get(ctx, draft.ID, opts...); err == nil {
		return agent
	}
	return &Agent{ID: draft.ID, Type: draft.Type, Name: draft.Name, Started: true}
}

// named finds the agent of exactly this name, and reports whether there are agents whose name is not told.
func (s *AgentsService) named(ctx context.Context, name string, opts []CallOption) (match *Agent, nameless bool, err error) {
	match, others, err := findNamed(s.All(ctx, pageOptions(opts)...), op.AgentsList, "agents", name, func(a *Agent) string { return a.Name })
	return match, slices.Contains(others, ""), err
}

// lookForNew finds an agent that an unknown creation may have made, by name, kind and state. Agents tell no age.
func (s *AgentsService) lookForNew(spec agentSpec) lookup {
	return func(ctx context.Context, _ *OutcomeUnknownError, opts []CallOption) (Resolution, error) {
		agent, nameless, err := s.named(ctx, spec.name, opts)
		switch {
		case err != nil:
			return Resolution{}, err
		case agent == nil && nameless:
			return Resolution{Verdict: VerdictUnknowable, Final: true, Note: "the listing does not tell the names of agents"}, nil
		case agent == nil:
			return Resolution{Verdict: VerdictNotSeen}, nil
		case agent.Type != "" && agent.Type != spec.kind:
			return Resolution{Verdict: VerdictNotSeen, Object: agent, Final: true, Note: "an agent of another kind holds the name"}, nil
		case !spec.start && agent.Status != "" && !agent.Draft():
			return Resolution{Verdict: VerdictNotSeen, Object: agent, Final: true, Note: "an agent of that name has left the draft state"}, nil
		case spec.start && agent.Draft():
			return Resolution{Verdict: VerdictNotSeen, Object: agent, Note: "an agent of that name is a draft, and was not started"}, nil
		}
		return Resolution{Verdict: VerdictHappened, Object: agent}, nil
	}
}

// lookAtStatus reads whether an agent is in the state that the call should have brought about.
func (s *AgentsService) lookAtStatus(agentID string, reached func(AgentStatus) bool) lookup {
	return func(ctx context.Context, _ *OutcomeUnknownError, opts []CallOption) (Resolution, error) {
		agent, err := s.Get(ctx, agentID, opts...)
		switch {
		case err != nil:
			return Resolution{}, err
		case agent.Status == "":
			return Resolution{Verdict: VerdictUnknowable, Object: agent, Final: true, Note: "the agent's record tells no status"}, nil
		case reached(agent.Status):
			return Resolution{Verdict: VerdictHappened, Object: agent}, nil
		}
		return Resolution{Verdict: VerdictNotSeen, Object: agent}, nil
	}
}
