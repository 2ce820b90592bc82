package prospectkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

// NotStartedError says that an agent is a draft: it never moves by itself, delivers nothing and has no results list until it is
// activated. errors.Is matches [ErrConflict].
type NotStartedError struct{ Agent *Agent }

// Error says that the agent is a draft.
func (e *NotStartedError) Error() string {
	return "prospectkit: agents.get: the agent was never started: a draft does not move until it is activated"
}

// Is matches [ErrConflict].
func (e *NotStartedError) Is(target error) bool { return target == error(ErrConflict) }

// Outcome returns [NotApplied].
func (e *NotStartedError) Outcome() Outcome { return NotApplied }

// Advice returns [ActionAfterState].
func (e *NotStartedError) Advice() Advice {
	return Advice{Action: ActionAfterState, Hint: "activate the agent, which spends credits"}
}

// LogValue groups the fields that are safe to log.
func (e *NotStartedError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("op", op.AgentsGet.Name), slog.String("outcome", string(NotApplied)))
}

// StartError says that [AgentsService.CreateAndStart] has saved a draft, but did not see it start. The draft holds its name: go on
// with [AgentsService.Activate], which cannot pay twice, rather than create it again.
type StartError struct {
	Draft *Agent

	cause error
}

// Error says why the draft did not start.
func (e *StartError) Error() string {
	return describe("agents.create-and-start", "the draft was saved, but not seen to start", causeText(e.cause, op.AgentsActivate.Name))
}

// Unwrap returns what the activation came to, such as an [OutcomeUnknownError], which can be resolved again.
func (e *StartError) Unwrap() error { return e.cause }

// Outcome says whether the agent was started.
func (e *StartError) Outcome() Outcome { return outcomeOfCause(e.cause) }

// Advice returns the advice of the cause.
func (e *StartError) Advice() Advice {
	if advice, ok := adviceOf(e.cause); ok {
		return advice
	}
	return Advice{Action: ActionVerifyFirst, Hint: "read the status of the draft, then activate it"}
}

// LogValue groups the fields that are safe to log.
func (e *StartError) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("op", op.AgentsActivate.Name), slog.String("outcome", string(e.Outcome())), slog.String("code", CodeOf(e.cause).logged()),
	)
}

// CreateAndStart saves a draft, sees that it is one, and activates it. So the only step that spends credits is one that the service
// refuses a second time, and neither a lost answer nor calling this again can pay twice. The spec's Start does not matter; its
// MaxCreditSpend or Unlimited is required.
//
// Lost answers are resolved by reading. A draft whose creation was in doubt is known by its name, which no agent had before.
// An activation that left no trace once it would surely show is sent again, at most twice. What cannot be told in the end
// comes back as the [OutcomeUnknownError]; once there is a draft, inside a [StartError] that names it. Allow some minutes for
// all of that.
//
// Options that are meant for one request, such as [WithField], hold for the creation of the draft.
//
// Errors: those of [AgentsService.Create] and [AgentsService.Activate].
//
// POST /business/agents/{agentId}/activate, scope agents.
func (s *AgentsService) CreateAndStart(ctx context.Context, in AgentSpec, opts ...CallOption) (*Agent, error) {
	spec, err := specOf(in)
	if err != nil {
		return nil, err
	}
	shared := readOptions(opts)
	if err := s.mayStart(ctx, spec, shared); err != nil {
		return nil, err
	}
	draft, err := s.saveDraft(ctx, spec.draft, opts, shared)
	if err != nil {
		return nil, err
	}
	if !draft.Draft() && draft.Status != "" {
		return draft, nil // it started by itself: to activate it now could only be refused
	}
	agent, err := s.startDraft(ctx, draft, shared)
	if err != nil {
		return nil, &StartError{Draft: draft, cause: err}
	}
	return agent, nil
}

// mayStart refuses, before a draft is saved, what would refuse to start it: a missing cap, or a safety rule.
func (s *AgentsService) mayStart(ctx context.Context, spec agentSpec, opts []CallOption) error {
	err := new(call).prepare(ctx, s.client, op.AgentsActivate, request{
		ids: []string{strings.Repeat("0", 24)}, check: func(bad *checks) { spec.check(bad, true) },
	}, opts)
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Rule == "" {
		refused.Op, refused.Method, refused.Route = spec.op.Name, spec.op.Method, spec.op.Path
	}
	return err
}

// saveDraft creates a draft, or finds the one that a creation without an answer made.
func (s *AgentsService) saveDraft(ctx context.Context, in AgentSpec, opts, reads []CallOption) (*Agent, error) {
	spec := in.spec()
	before, _, lookErr := s.named(ctx, spec.name, reads)
	draft, err := s.Create(ctx, in, opts...)
	if err == nil {
		return draft, nil
	}
	var doubt *OutcomeUnknownError
	switch {
	case before != nil || lookErr != nil:
		return nil, err // an agent of that name would prove nothing
	case errors.As(err, &doubt):
	case OutcomeOf(err) == Applied:
		doubt = &OutcomeUnknownError{op: spec.op, SentAt: time.Now(), look: s.lookForNew(spec)}
	default:
		return nil, err
	}
	found, resolveErr := doubt.Resolve(ctx, reads...)
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

// startDraft activates a draft. Whether it has started is read off its status after each doubt.
func (s *AgentsService) startDraft(ctx context.Context, draft *Agent, opts []CallOption) (*Agent, error) {
	var first error // the first doubt: no refusal that comes after it can clear it
	for round := 1; ; round++ {
		agent, err := s.Activate(ctx, draft.ID, opts...)
		var doubt *OutcomeUnknownError
		switch {
		case err == nil && agent.Status != "":
			return agent, nil
		case err == nil, OutcomeOf(err) == Applied:
			return s.started(ctx, draft, opts), nil
		case first != nil && (errors.Is(err, CodeAgentNotADraft) || errors.Is(err, CodeAgentProcessing)):
			return s.started(ctx, draft, opts), nil
		case !errors.As(err, &doubt) && first != nil:
			return nil, fmt.Errorf("%w (and since: %w)", first, err)
		case doubt == nil:
			return nil, err
		}
		if first == nil {
			first = err
		}
		r, resolveErr := doubt.Resolve(ctx, opts...)
		switch {
		case resolveErr != nil:
			return nil, fmt.Errorf("%w (and it could not be resolved: %w)", first, resolveErr)
		case r.Verdict == VerdictHappened:
			agent, _ = Resolved[Agent](r)
			return agent, nil
		case r.Verdict != VerdictNotSeen || !r.Settled || round == startRounds:
			return nil, first
		}
	}
}

// started reads an agent that has surely started. If it cannot be read, what the draft told will do.
func (s *AgentsService) started(ctx context.Context, draft *Agent, opts []CallOption) *Agent {
	if agent, err := s.Get(ctx, draft.ID, opts...); err == nil {
		return agent
	}
	return &Agent{ID: draft.ID, Type: draft.Type, Name: draft.Name, Started: true}
}

// named finds the agent of exactly this name. It reports whether there are agents whose name is not told. Several agents of one name
// are an error: the service promises unique names.
func (s *AgentsService) named(ctx context.Context, name string, opts []CallOption) (match *Agent, nameless bool, err error) {
	name = strings.TrimSpace(name)
	for agent, err := range s.All(ctx, iterOptions(opts)...) {
		switch {
		case err != nil:
			return nil, false, err
		case agent.Name == "":
			nameless = true
		case strings.TrimSpace(agent.Name) == name && match != nil:
			return nil, false, &Error{
				Op: op.AgentsList.Name, Method: op.AgentsList.Method, Route: op.AgentsList.Path, Status: http.StatusOK, Code: CodeListNameAmbiguous,
				Message: "several agents have this name", outcome: NotApplied,
			}
		case strings.TrimSpace(agent.Name) == name:
			match = agent
		}
	}
	return match, nameless, nil
}

// lookForNew finds an agent that a lost creation may have made: the name, the kind, and a state that fits. Agents tell no age.
func (s *AgentsService) lookForNew(spec agentSpec) lookup {
	return func(ctx context.Context, _ *OutcomeUnknownError, opts []CallOption) (Resolution, error) {
		agent, nameless, err := s.named(ctx, spec.name, opts)
		switch {
		case err != nil:
			return Resolution{}, err
		case agent == nil && nameless:
			return Resolution{Verdict: VerdictUnknowable, Settled: true, Note: "the listing does not tell the names of agents"}, nil
		case agent == nil:
			return Resolution{Verdict: VerdictNotSeen}, nil
		case agent.Type != "" && agent.Type != spec.kind:
			return Resolution{Verdict: VerdictNotSeen, Object: agent, Settled: true, Note: "an agent of another kind holds the name"}, nil
		case !spec.start && agent.Status != "" && !agent.Draft():
			return Resolution{Verdict: VerdictNotSeen, Object: agent, Settled: true, Note: "an agent of that name has left the draft state"}, nil
		case spec.start && agent.Draft():
			return Resolution{Verdict: VerdictNotSeen, Object: agent, Note: "an agent of that name is a draft, and was not started"}, nil
		}
		return Resolution{Verdict: VerdictHappened, Object: agent}, nil
	}
}

// lookAtStatus reads whether an agent is in the state that a lost call should have brought about.
func (s *AgentsService) lookAtStatus(agentID string, reached func(AgentStatus) bool) lookup {
	return func(ctx context.Context, _ *OutcomeUnknownError, opts []CallOption) (Resolution, error) {
		agent, err := s.Get(ctx, agentID, opts...)
		switch {
		case err != nil:
			return Resolution{}, err
		case agent.Status == "":
			return Resolution{Verdict: VerdictUnknowable, Object: agent, Settled: true, Note: "the agent's record tells no status"}, nil
		case reached(agent.Status):
			return Resolution{Verdict: VerdictHappened, Object: agent}, nil
		}
		return Resolution{Verdict: VerdictNotSeen, Object: agent}, nil
	}
}
