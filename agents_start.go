package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
)

// notStarted is the error after a draft was saved and its activation failed. It keeps the fields of
// the error response, if there was one.
func notStarted(cause error) *Error {
	var e Error
	if response, ok := errors.AsType[*Error](cause); ok {
		e = *response
	}
	e.Op, e.Method, e.Route = "agents.create-and-start", op.AgentsActivate.Method, op.AgentsActivate.Path
	e.class, e.cause, e.outcome = ErrNotStarted, cause, OutcomeOf(cause)
	e.prose = "the draft was saved, but not seen to start"
	return &e
}

// CreateAndStart saves a draft and activates it. Only the activation spends credits, and the service
// refuses a second one. So neither a lost response nor a second call can make you pay twice. The
// spec's Start is ignored; its MaxCreditSpend or Unlimited is required. Options for one request,
// such as [WithField], apply to the creation of the draft.
//
// Unknown outcomes are resolved by reading: a draft by its name, which no agent had before, and a
// start by the status of the agent. An activation without effect is sent again, at most twice. Allow
// some minutes for this. An outcome that remains unknown is returned as an [OutcomeUnknownError].
//
// Once there is a draft, it is returned beside any error, and the error matches [ErrNotStarted].
// The draft keeps its name: continue with [AgentsService.Activate], and do not create it again.
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
	draft, err := s.saveDraft(ctx, in.draft(), opts)
	if err != nil {
		return nil, err
	}
	if draft.Status != "" && !draft.Draft() {
		return draft, nil // it has started already: an activation would be refused
	}
	agent, err := s.startDraft(ctx, draft, sharedOptions(opts))
	if err != nil {
		return draft, notStarted(err)
	}
	return agent, nil
}

// mayStart refuses a draft that could not be started: one without a cap, or against a safety rule.
func (s *AgentsService) mayStart(spec agentSpec, opts []CallOption) error {
	var bad check.Violations
	conf := callConfig{settings: s.client.conf.settings}
	for _, option := range sharedOptions(opts) {
		option.applyCall(&conf, &bad)
	}
	spec.check(&bad, true)
	if len(bad) > 0 {
		return refusal(spec.op, bad)
	}
	if rule := s.client.forbids(op.AgentsActivate, args{}, &conf); rule != "" {
		return forbidden(op.AgentsActivate, rule)
	}
	return nil
}

// saveDraft creates a draft. If its response is lost, it looks for the draft by name.
func (s *AgentsService) saveDraft(ctx context.Context, in AgentSpec, opts []CallOption) (*Agent, error) {
	spec, reads := in.spec(), sharedOptions(opts)
	before, _, lookErr := s.named(ctx, spec.name, reads)
	draft, err := s.Create(ctx, in, opts...)
	unknown, isUnknown := errors.AsType[*OutcomeUnknownError](err)
	switch {
	case err == nil:
		return draft, nil
	case before != nil || lookErr != nil:
		return nil, err // an agent with that name would prove nothing
	case isUnknown:
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

// startDraft activates a draft, and again as long as an unknown activation shows no effect.
func (s *AgentsService) startDraft(ctx context.Context, draft *Agent, opts []CallOption) (*Agent, error) {
	var first error // the first unknown outcome: a later refusal does not make it known
	for round := 1; ; round++ {
		agent, err := s.Activate(ctx, draft.ID, opts...)
		unknown, isUnknown := errors.AsType[*OutcomeUnknownError](err)
		switch {
		case err == nil && agent.Status != "":
			return agent, nil
		case err == nil, OutcomeOf(err) == OutcomeApplied, first != nil && saysStarted(err):
			return s.started(ctx, draft, opts), nil
		case first != nil && !isUnknown:
			return nil, fmt.Errorf("%w (and since: %w)", first, err)
		case !isUnknown:
			return nil, err
		}
		first = cmp.Or(first, err)
		r, err := unknown.Resolve(ctx, opts...)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w (and it could not be resolved: %w)", first, err)
		case r.Verdict == VerdictHappened:
			agent, _ = Resolved[Agent](r)
			return agent, nil
		case r.Verdict == VerdictUnknowable || !r.Final || round == maxRounds:
			return nil, first
		}
	}
}

// saysStarted reports whether an activation was refused because the agent has left the draft state.
func saysStarted(err error) bool {
	return errors.Is(err, CodeAgentNotADraft) || errors.Is(err, CodeAgentProcessing)
}

// started reads an agent that has started. If the read fails, it falls back on the draft's fields.
func (s *AgentsService) started(ctx context.Context, draft *Agent, opts []CallOption) *Agent {
	if agent, err := s.Get(ctx, draft.ID, opts...); err == nil {
		return agent
	}
	return &Agent{ID: draft.ID, Type: draft.Type, Name: draft.Name, Started: true}
}

// named finds the agent with exactly this name. nameless reports agents without names.
func (s *AgentsService) named(ctx context.Context, name string, opts []CallOption) (match *Agent, nameless bool, err error) {
	agents := s.All(ctx, pageOptions(opts)...)
	match, others, err := findNamed(agents, op.AgentsList, "agents", name, func(a *Agent) string { return a.Name })
	return match, slices.Contains(others, ""), err
}

// lookForNew looks for an agent that an unknown creation may have made, by name, kind and state.
func (s *AgentsService) lookForNew(spec agentSpec) lookup {
	return func(ctx context.Context, _ *OutcomeUnknownError, opts []CallOption) (Resolution, error) {
		agent, nameless, err := s.named(ctx, spec.name, opts)
		switch {
		case err != nil:
			return Resolution{}, err
		case agent == nil && nameless:
			return unknowable(nil, "the listing has no names of agents")
		case agent == nil:
			return Resolution{Verdict: VerdictNotSeen}, nil
		case agent.Type != "" && agent.Type != spec.kind:
			return ruledOut(agent, "an agent of another kind holds the name")
		case !spec.start && agent.Status != "" && !agent.Draft():
			return ruledOut(agent, "an agent of that name has left the draft state")
		case spec.start && agent.Draft():
			note := "an agent of that name is a draft, and was not started"
			return Resolution{Verdict: VerdictNotSeen, Object: agent, Note: note}, nil
		}
		return Resolution{Verdict: VerdictHappened, Object: agent}, nil
	}
}

// lookAtStatus reads whether an agent has reached the requested state.
func (s *AgentsService) lookAtStatus(agentID string, reached func(AgentStatus) bool) lookup {
	return func(ctx context.Context, _ *OutcomeUnknownError, opts []CallOption) (Resolution, error) {
		agent, err := s.Get(ctx, agentID, opts...)
		switch {
		case err != nil:
			return Resolution{}, err
		case agent.Status == "":
			return unknowable(agent, "the agent has no status")
		case reached(agent.Status):
			return Resolution{Verdict: VerdictHappened, Object: agent}, nil
		}
		return Resolution{Verdict: VerdictNotSeen, Object: agent}, nil
	}
}

// unknowable is the result of a lookup whose response lacks the evidence.
func unknowable(object any, note string) (Resolution, error) {
	return Resolution{Verdict: VerdictUnknowable, Object: object, Final: true, Note: note}, nil
}

// ruledOut is the result of a lookup that found something the call cannot have made.
func ruledOut(object any, note string) (Resolution, error) {
	return Resolution{Verdict: VerdictNotSeen, Object: object, Final: true, Note: note}, nil
}
