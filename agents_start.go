package prospectkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

const (
	unseenStart = "the draft was saved, but not seen to start"
	unlikeSpec  = "a draft of this name was found, and not started, because it could not be adjusted to the spec: " +
		"call again, or adjust and activate it, or take another name"
)

// notStarted is the error of the method with this name, after a draft was saved, and its adjustment or activation failed
// or has an unknown outcome. It keeps the fields of the error response, if there was one.
func notStarted(name string, last *op.Op, text string, cause error) *Error {
	var e Error
	if response, ok := errors.AsType[*Error](cause); ok {
		e = *response
	}
	e.Op, e.Method, e.Route = name, last.Method, last.Path
	e.Code, e.cause, e.outcome = CodeOf(cause), cause, OutcomeOf(cause)
	e.classes, e.text = []ErrorClass{ErrNotStarted}, text
	return &e
}

// notFoundAgain is the error of the method with this name, after a draft was saved whose response was lost, and which no read found: the
// creation was applied, and nothing was started.
func notFoundAgain(name string, creation *Error) *Error {
	e := *creation
	e.Op, e.text = name, "a draft was saved, but not found again, so it was not started: call again, and it is found by its name"
	return &e
}

// EnsuredAgent is the result of [AgentsService.Ensure].
type EnsuredAgent struct {
	Agent *Agent // beside an error that matches [CodeListNameTaken]: that of another kind
	// Created says that this call created the agent, for certain. A draft that was found, and not started, may differ from the spec.
	Created bool
	// WasStarted says that the agent had started before this call. It then keeps its cap and filters, whatever the spec.
	WasStarted bool
}

// Ensure gets or creates the agent with this name and kind: a draft, or with Start a started one. The name is the key, so [Once] is
// refused: called again, it creates and starts nothing twice. An agent that has started stays as it is; a draft that is to start is first
// adjusted to the spec (path and fields assumed).
//
// After an unknown outcome it reads, and resends what had no effect, at most twice: allow some minutes. A result stands beside
// [ErrNotStarted] and [CodeListNameTaken]. After [ErrResponseLost], call again.
//
// Errors: those of [AgentsService.Create] and [AgentsService.Adjust] and [AgentsService.Activate].
//
// POST /business/agents/person-discovery-via-filters and POST /business/agents/people-watcher and POST /business/agents/web-monitor and PATCH /business/agents/{agentId} and POST /business/agents/{agentId}/activate, scope agents.
func (s *AgentsService) Ensure(ctx context.Context, in AgentSpec, opts ...CallOption) (*EnsuredAgent, error) {
	return s.ensure(ctx, "agents.ensure", in, false, opts)
}

// CreateAndStart is [AgentsService.Ensure] with Start: it saves a draft, which is free, and activates it, which spends credits, now and on
// every run: set Expires, too. No later call makes you pay twice.
//
// If the start fails, the draft stands beside [ErrNotStarted]. Call again if its outcome is unknown, and after [ErrResponseLost].
//
// Errors: those of [AgentsService.Create] and [AgentsService.Adjust] and [AgentsService.Activate].
//
// POST /business/agents/person-discovery-via-filters and POST /business/agents/people-watcher and POST /business/agents/web-monitor and PATCH /business/agents/{agentId} and POST /business/agents/{agentId}/activate, scope agents.
func (s *AgentsService) CreateAndStart(ctx context.Context, in AgentSpec, opts ...CallOption) (*Agent, error) {
	e, err := s.ensure(ctx, "agents.create-and-start", in, true, opts)
	if e == nil || err != nil && !errors.Is(err, ErrNotStarted) { // then it is of another kind
		return nil, err
	}
	return e.Agent, err
}

// ensure gets or creates an agent, and starts it if the spec or the caller says so.
func (s *AgentsService) ensure(ctx context.Context, name string, in AgentSpec, start bool, opts []CallOption) (*EnsuredAgent, error) {
	spec, err := specOf(in)
	if err != nil {
		return nil, err
	}
	var bad check.Violations                           // before anything is read; a key that was used would end the call as applied, and the agent may not have started
	bad.Must(ctx != nil, "context", "must not be nil") // the guard is asked before a call
	if bad.Must(s.conf.with(opts, new(check.Violations)).once == "", "Once", "is not for Ensure and CreateAndStart: the name is the key"); len(bad) > 0 {
		return nil, refusal(spec.op, bad)
	}
	if start = start || spec.start; start {
		if err := s.mayStart(spec, opts); err != nil {
			return nil, err
		}
	}
	e, err := s.ensureDraft(ctx, in.draft(), start, opts)
	if lost, ok := errors.AsType[*Error](err); ok && start && lost.outcome == OutcomeApplied {
		err = notFoundAgain(name, lost)
	}
	if err != nil {
		return e, err
	}
	e.WasStarted = e.Agent.Status != "" && !e.Agent.Draft()
	if !start || e.WasStarted {
		return e, nil
	}
	opts = append(slices.Clip(opts), begun)
	if !e.Created {
		err := s.adjustDraft(ctx, e.Agent.ID, in, opts)
		if saysStarted(err) {
			e.WasStarted, e.Agent = true, s.started(ctx, e.Agent, sharedOptions(opts))
			return e, nil
		}
		if err != nil {
			return e, notStarted(name, op.AgentsAdjust, unlikeSpec, err)
		}
	}
	if err := s.startDraft(ctx, e, spec, sharedOptions(opts)); err != nil {
		return e, notStarted(name, op.AgentsActivate, unseenStart, err)
	}
	return e, nil
}

// adjustDraft gives a draft that this call has not created for certain what the creation would have given it. It may be repeated: it leaves
// the same state, and nothing is started before it was confirmed.
func (s *AgentsService) adjustDraft(ctx context.Context, id string, in AgentSpec, opts []CallOption) error {
	var bad check.Violations
	spec := in.spec()
	text := encoded(spec.body, spec.raw, s.conf.with(opts, new(check.Violations)).fields, &bad)
	if len(bad) > 0 {
		return refusal(op.AgentsAdjust, bad)
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(text, &fields) // it was just made
	adjusted := Fields{}
	maps.Copy(adjusted, spec.defaults)
	for name, value := range fields {
		adjusted[name] = value
	}
	delete(adjusted, "listName") // by which it was found
	delete(adjusted, "start")
	if spec.expires == "" {
		adjusted["expirationDate"] = Expiration(s.conf.clock.At(time.Now()).UTC().AddDate(0, 1, 0).Format(time.DateOnly))
	}
	a := args{body: adjusted, lookup: journal.Lookup{Start: true}}
	if opts = sharedOptions(opts); !s.conf.guard.Priced(op.AgentsAdjust.Name) { // what has a price is sent once
		opts = append(opts, AllowRetryUnknown())
	}
	_, err := s.adjust(ctx, id, a, opts)
	return err
}

// mayStart refuses a draft that could not be started: one without a cap, or against a safety rule.
func (s *AgentsService) mayStart(spec agentSpec, opts []CallOption) error {
	var bad check.Violations
	chosen := s.conf.with(sharedOptions(opts), &bad)
	spec.check(&bad, true)
	if len(bad) > 0 {
		return refusal(spec.op, bad)
	}
	spends, sends := consequences(op.AgentsActivate, args{})
	if rule := safetyRule(op.AgentsActivate, spends, sends, &chosen); rule != "" {
		return ruleRefusal(op.AgentsActivate, rule, nil)
	}
	return nil
}

// ensureDraft gets or creates a draft. Creating it again is refused while its name is taken (documented). None is
// created that could not be paid for.
func (s *AgentsService) ensureDraft(ctx context.Context, in AgentSpec, start bool, opts []CallOption) (*EnsuredAgent, error) {
	spec, reads := in.spec(), sharedOptions(opts)
	if earlier, _, err := s.find(ctx, spec.name, reads); err == nil && earlier.mayBeOf(spec.kind) {
		return &EnsuredAgent{Agent: earlier}, nil
	}
	opts, reads = append(slices.Clip(opts), begun), append(reads, begun)
	if start {
		if err := s.conf.guard.Check(ctx, spend.Call{Op: op.AgentsActivate.Name, Agent: spec.cost()}); err != nil {
			return nil, ruleRefusal(op.AgentsActivate, RuleSpendGuard, err)
		}
	}
	var (
		write        repeatableWrite
		draft, found *Agent
	)
	sent, looked := write.repeat(func() (err error) {
		draft, err = s.Create(ctx, in, opts...)
		return err
	}, func(unknown *OutcomeUnknownError) (again bool, err error) {
		r, err := unknown.Resolve(ctx, reads...)
		if r == nil {
			return false, err
		}
		holder, held := r.Object.(*Agent)
		if holder.mayBeOf(spec.kind) {
			found = holder
		}
		return !held && r.Outcome == OutcomeNotApplied, err
	})
	switch {
	case sent == nil:
		return &EnsuredAgent{Agent: draft, Created: true}, nil
	case found != nil:
		return &EnsuredAgent{Agent: found}, nil
	case OutcomeOf(sent) == OutcomeApplied, errors.Is(sent, CodeListNameTaken):
		if OutcomeOf(sent) != OutcomeApplied && write.unknown != nil {
			sent = write.unknown
		}
		return s.holder(ctx, spec, sent, reads)
	}
	return nil, write.err(sent, looked)
}

// holder finds the agent that holds a name, or returns the error of its creation. An agent that was
// created just now may not be visible yet.
func (s *AgentsService) holder(ctx context.Context, spec agentSpec, creation error, reads []CallOption) (*EnsuredAgent, error) {
	e, other := &EnsuredAgent{Created: OutcomeOf(creation) == OutcomeApplied}, (*Agent)(nil)
	enough, err := s.conf.until(ctx, spec.op, spec.op.VisibleAfter, func() (done bool, err error) {
		agent, others, err := s.find(ctx, spec.name, reads)
		switch {
		case agent.mayBeOf(spec.kind):
			e.Agent = agent
		case agent != nil:
			other = agent
		case err == nil && !slices.ContainsFunc(others, (*Agent).nameless): // without the scope for lists, it has to wait
			list, _, _ := (&ListsService{s.service}).named(ctx, spec.name, reads)
			return list != nil, nil
		}
		return true, err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w (and it could not be read: %w)", creation, err)
	case e.Agent == nil && !enough:
		return nil, holderUnseen(ctx, creation)
	case e.Agent == nil && other != nil && OutcomeOf(creation) == OutcomeNotApplied:
		return &EnsuredAgent{Agent: other}, creation
	case e.Agent == nil:
		return nil, creation
	}
	return e, nil
}

// startDraft activates a draft, and again while an unknown activation shows no effect, three times in all. The spec
// says what a draft costs only if this call has created it.
func (s *AgentsService) startDraft(ctx context.Context, e *EnsuredAgent, spec agentSpec, opts []CallOption) error {
	created := e.Created
	starts := callOption(func(c *callConfig, _ *check.Violations) {
		if created {
			c.starts = spec.cost()
		}
	})
	var (
		write          repeatableWrite
		agent, started *Agent
	)
	sent, looked := write.repeat(func() (err error) {
		agent, err = s.Activate(ctx, e.Agent.ID, append(slices.Clip(opts), starts)...)
		return err
	}, func(unknown *OutcomeUnknownError) (again bool, err error) {
		r, err := unknown.Resolve(ctx, opts...)
		if err != nil {
			return false, err
		}
		if r.Outcome == OutcomeApplied {
			started, _ = r.Object.(*Agent)
		}
		return r.Outcome == OutcomeNotApplied, nil
	})
	switch {
	case started != nil:
		e.Agent = started
	case sent == nil && agent.Status != "":
		e.Agent = agent
	case OutcomeOf(sent) == OutcomeApplied, saysStarted(sent):
		e.Agent = s.started(ctx, e.Agent, opts)
	default:
		return write.err(sent, looked)
	}
	return nil
}

// started reads an agent that has started. If the read fails, it falls back on the draft's fields.
func (s *AgentsService) started(ctx context.Context, draft *Agent, opts []CallOption) *Agent {
	if agent, err := s.Get(ctx, draft.ID, opts...); err == nil {
		return agent
	}
	return &Agent{ID: draft.ID, Type: draft.Type, Name: draft.Name, Started: true}
}
