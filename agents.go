package prospectkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/outbound"
	"example.com/prospectkit/internal/pagewalk"
	"example.com/prospectkit/internal/redact"
	"example.com/prospectkit/internal/waits"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/spend"
)

// AgentsService manages agents, which search on a schedule and deliver people or companies into a results list. Start one with
// CreateAndStart, wait with WaitSettled, read results with Rows.
type AgentsService struct{ service }

// AgentStatus is the state of an agent. Others may exist.
type AgentStatus string

// The documented states.
const (
	AgentStatusInitializing AgentStatus = "initializing" // a draft: it does nothing until it is activated
	AgentStatusProcessing   AgentStatus = "processing"   // a run is in progress
	AgentStatusActive       AgentStatus = "active"
	AgentStatusPaused       AgentStatus = "paused"
	AgentStatusExpired      AgentStatus = "expired"
	AgentStatusFailed       AgentStatus = "failed"
)

// Known reports whether it is documented.
func (s AgentStatus) Known() bool {
	return s == AgentStatusInitializing || s == AgentStatusProcessing || s.Settled()
}

// Settled reports whether the agent has left the draft state and no run is in progress.
func (s AgentStatus) Settled() bool {
	return s == AgentStatusActive || s == AgentStatusPaused || s == AgentStatusExpired || s == AgentStatusFailed
}

// Agent is an agent. A creation documents all fields, the listing Status, ListID and ContactsFound; those of Get are assumed.
type Agent struct {
	ID            string      `json:"id"`   // assumed after a read
	Type          AgentType   `json:"type"` // assumed after a read; empty for a legacy kind
	Name          string      `json:"name"` // assumed after a read; also of its results list
	Status        AgentStatus `json:"status"`
	Started       bool        `json:"started"`          // assumed after a read; false for a draft
	ListID        string      `json:"listId,omitempty"` // its results list
	ContactsFound int         `json:"contactsFound"`
	partial
}

// String returns its JSON.
func (a Agent) String() string { return textOf(a.raw, a) }

// Draft reports whether the agent has yet to be activated.
func (a *Agent) Draft() bool { return a.Status == AgentStatusInitializing && !a.Started }

// Create creates a draft, which is free, or with Start an agent that spends credits, now and on every run; that needs MaxCreditSpend or
// Unlimited. [AgentsService.CreateAndStart] starts one at most once.
//
// After an unknown outcome, an agent that starts is never created again. Resolve looks for its name.
//
// Errors: documented: [CodeListNameTaken] (also when a list has the name), [CodeInsufficientCredits] (nothing is created or spent),
// [CodeAgentLimitReached], [CodeValidationFailed], [CodeInvalidRequest], [CodeListNotFound], [CodeAgentSourceListEmpty],
// [CodeAgentSignalRejected]; likely: [CodeListNameReserved], [CodeContactListRequired], [CodeListProcessing].
//
// POST /business/agents/person-discovery-via-filters and POST /business/agents/people-watcher and POST /business/agents/web-monitor, scope agents.
func (s *AgentsService) Create(ctx context.Context, in AgentSpec, opts ...CallOption) (*Agent, error) {
	spec, err := specOf(in)
	if err != nil {
		return nil, err
	}
	checkSpec := func(bad *check.Violations) { spec.check(bad, spec.start) }
	made := new(Agent)
	want := repeatsName(spec.name, &made.Name)
	want.shape = op.Typed // what is undocumented is in the request
	want.resultID = made.resultID
	want.accept = func() error { return errorIf(made.ID == "", "an agent has no id") }
	return doExpecting(ctx, s.conf, spec.op, args{
		body: spec.body, extra: spec.raw, check: checkSpec, free: !spec.start, cost: spend.Call{Agent: spec.cost()},
		lookup: journal.Lookup{Name: spec.name, Kind: string(spec.kind), Start: spec.start}, look: s.lookForNew, refusalMaySpend: saysTaken,
	}, opts, made, want)
}

func (a *Agent) resultID() string { return a.ID }

// saysTaken reports whether a creation was refused because something has the name: maybe the agent itself, if a gateway has
// repeated the request.
func saysTaken(err error) bool {
	return errors.Is(err, CodeListNameTaken) && OutcomeOf(err) == OutcomeNotApplied
}

// looks are the reads that show the effects of writes, by operation: for tickets.
func (s *AgentsService) looks() map[*op.Op]look {
	return map[*op.Op]look{
		op.AgentsCreateDiscovery: s.lookForNew, op.AgentsCreateWatcher: s.lookForNew, op.AgentsCreateMonitor: s.lookForNew,
		op.AgentsActivate: s.lookForStatus, op.AgentsPause: s.lookForStatus, op.AgentsAdjust: s.lookForStatus,
	}
}

// lookForNew looks for the agent that a creation may have made, by name, kind and state.
func (s *AgentsService) lookForNew(ctx context.Context, q *resolver, opts []CallOption) (finding, error) {
	want := q.ticket.Lookup
	agent, others, err := s.find(ctx, want.Name, opts)
	near := func(a *Agent) bool { return a.mayBeOf(AgentType(want.Kind)) && pagewalk.Near(a.Name, want.Name) }
	switch {
	case err != nil:
		return finding{}, err
	case agent == nil && slices.ContainsFunc(others, (*Agent).nameless):
		return doesNotTell(nil, "the listing has no names of agents")
	case agent == nil && slices.ContainsFunc(others, near):
		return finding{note: "an agent's name differs in case, spaces or accents only, or is cut off: it may be this one, if the service changes names"}, nil
	case agent == nil:
		return finding{sight: absent}, nil
	case !agent.mayBeOf(AgentType(want.Kind)):
		return finding{sight: absent, object: agent, note: "an agent of another kind holds the name", sure: true}, nil
	case !want.Start && agent.Status != "" && !agent.Draft():
		return doesNotTell(agent, "an agent of that name has left the draft state: it may be this one, started since")
	case want.Start && agent.Status == "" && !agent.Started:
		return doesNotTell(agent, "the agent of that name has no status")
	case want.Start && agent.Draft():
		return finding{sight: absent, object: agent, note: "an agent of that name is a draft, and was not started"}, nil
	}
	return finding{sight: shown, object: agent}, nil
}

// specOf returns the common part of a spec, and refuses nil.
func specOf(in AgentSpec) (agentSpec, error) {
	if check.IsNil(in) {
		create := &op.Op{Name: "agents.create", Method: http.MethodPost}
		return agentSpec{}, refusal(create, check.One("spec", "must not be nil"))
	}
	return in.spec(), nil
}

// All iterates over the agents, in undocumented order, by pageNum (assumed). The response is undocumented: an array, bare or under "agents"
// or "data".
//
// GET /business/agents, scope agents.
func (s *AgentsService) All(ctx context.Context, opts ...PageOption) iter.Seq2[*Agent, error] {
	return itemsOf[Agent](ctx, agentListing(s.conf).pager(), opts)
}

// Pages iterates over the pages of [AgentsService.All].
//
// GET /business/agents, scope agents.
func (s *AgentsService) Pages(ctx context.Context, opts ...PageOption) iter.Seq2[*Page[Agent], error] {
	return pagesOf[Agent](ctx, agentListing(s.conf).pager(), opts)
}

// Page reads the first page of [AgentsService.All].
//
// GET /business/agents, scope agents.
func (s *AgentsService) Page(ctx context.Context, opts ...CallOption) (*Page[Agent], error) {
	return agentListing(s.conf).read(ctx, 1, opts)
}

func agentListing(conf *config) listing[Agent] {
	return listing[Agent]{conf: conf, op: op.AgentsList, name: "agents", id: func(a *Agent) string { return a.ID }}
}

// Get reads one agent. The response is undocumented: the agent is looked for under "agent", or at the top (assumed).
//
// Errors: likely: [CodeAgentNotFound] (also for an agent of another workspace).
//
// GET /business/agents/{agentId}, scope agents.
func (s *AgentsService) Get(ctx context.Context, agentID string, opts ...CallOption) (*Agent, error) {
	agent := new(Agent)
	return doExpecting(ctx, s.conf, op.AgentsGet, args{ids: []string{agentID}}, opts, agent, repeatsID(agentID, &agent.ID))
}

// Adjust edits a draft. The path is assumed; fields and response are undocumented. The sandbox takes fields of the creation but start
// (assumed: rule agents.adjust).
//
// Errors: documented: [CodeAgentNotADraft], [CodeAgentProcessing] (do not wait: it never becomes a draft again); likely:
// [CodeListNameTaken], [CodeListNameReserved], [CodeAgentSignalRejected], [CodeListNotFound], [CodeAgentNotFound],
// [CodeAgentConfigMissing], [CodeAgentTypeUnsupported].
//
// PATCH /business/agents/{agentId}, scope agents.
func (s *AgentsService) Adjust(ctx context.Context, agentID string, in Fields, opts ...CallOption) (*Object, error) {
	checkFields := func(bad *check.Violations) {
		in.checkNames(bad, outbound.Names(PersonDiscovery{}, PeopleWatcher{}, WebMonitor{})...)
		added := s.conf.with(opts, new(check.Violations)).fields
		starts := slices.ContainsFunc(added, func(f outbound.Field) bool { return strings.EqualFold(f.Name, "start") })
		bad.Must(!starts && !in.has("start"), "start", "cannot be adjusted: Activate starts a draft, and spends credits")
		for _, value := range in {
			if expires, ok := value.(Expiration); ok {
				expires.check(bad)
			}
		}
	}
	return s.adjust(ctx, agentID, args{body: in, check: checkFields}, opts)
}

func (s *AgentsService) adjust(ctx context.Context, id string, a args, opts []CallOption) (*Object, error) {
	response := new(Object)
	a.ids, a.look = []string{id}, s.lookForStatus
	return doExpecting(ctx, s.conf, op.AgentsAdjust, a, opts, response, expected{proof: func() bool {
		var agent Agent
		return recordOf(*response, "agent", "id", &agent) == nil && sameID(agent.ID, id)
	}})
}

// Activate starts a draft. Each run spends credits, up to the MaxCreditSpend of the draft, or without limit. It is never retried after an
// unknown outcome: Resolve reads the status. If the response to a confirmed start is lost, only the ID is set.
//
// Errors: documented: [CodeInsufficientCredits] (nothing is billed), [CodeAgentSourceListEmpty], [CodeAgentNotADraft] (also after an
// earlier activation), [CodeAgentProcessing]; likely: [CodeAgentSignalRejected], [CodeListNotFound], [CodeAgentNotFound],
// [CodeAgentConfigMissing], [CodeAgentTypeUnsupported].
//
// POST /business/agents/{agentId}/activate, scope agents.
func (s *AgentsService) Activate(ctx context.Context, agentID string, opts ...CallOption) (*Agent, error) {
	in, agent := args{ids: []string{agentID}, look: s.lookForStatus, refusalMaySpend: saysStarted}, new(Agent)
	return doChange(ctx, s.conf, op.AgentsActivate, in, opts, "agent", agent, &agent.ID)
}

// saysStarted reports whether an activation was refused because the agent has left the draft state: by another
// process, or by the same request, which a gateway has repeated. So it tells that the agent has started, not by whom.
func saysStarted(err error) bool {
	said := errors.Is(err, CodeAgentNotADraft) || errors.Is(err, CodeAgentProcessing)
	return said && !errors.Is(err, ErrOutcomeUnknown) // a gateway may have repeated an old response
}

// Pause stops the runs of an agent and their spending. Its route is undocumented: supply it with [WithRoutes] and one parameter in braces.
// It is never retried after an unknown outcome: Resolve reads the status.
//
// Errors: documented: [CodeAgentNotRunning], [CodeAgentProcessing] (while a run is in progress); likely: [CodeAgentNotFound],
// [CodeAgentTypeUnsupported].
//
// (path undocumented), scope agents.
func (s *AgentsService) Pause(ctx context.Context, agentID string, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.AgentsPause, args{ids: []string{agentID}, look: s.lookForStatus}, opts)
}

// lookForStatus looks whether an agent was started or paused. No read shows an adjustment: of one before a start, it is waited for until it
// can no longer come late.
func (s *AgentsService) lookForStatus(ctx context.Context, q *resolver, opts []CallOption) (finding, error) {
	if q.op == op.AgentsAdjust && !q.ticket.Lookup.Start {
		return doesNotTell(nil, "")
	}
	agent, err := s.Get(ctx, q.id(), opts...)
	switch {
	case errors.Is(err, CodeAgentNotFound):
		return gone("the agent")
	case err != nil:
		return finding{}, err
	case q.op == op.AgentsAdjust:
		return finding{object: agent, note: q.op.Verify + "; Ensure adjusts it again before it starts it"}, nil
	case agent.Status == "":
		return doesNotTell(agent, "the agent has no status")
	case q.op == op.AgentsActivate && !agent.Draft(), agent.Status == AgentStatusPaused:
		return finding{sight: shown, object: agent}, nil
	case agent.Draft(): // which no documented move leads back to
		return finding{sight: absent, object: agent, note: "the agent is still a draft", kept: true}, nil
	}
	return finding{sight: absent, object: agent}, nil
}

// Rows iterates over the rows of an agent's results list: it reads the agent, then the rows, which needs the scope lists. A draft ends it
// with [ErrNotStarted].
//
// Errors: those of [AgentsService.Get] and [ListsService.Rows].
//
// GET /business/agents/{agentId}, scope agents.
func (s *AgentsService) Rows(ctx context.Context, agentID string, p RowsParams, opts ...PageOption) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		agent, err := s.Get(ctx, agentID, sharedOptions(opts)...)
		switch {
		case err != nil:
			yield(nil, err)
		case agent.ListID != "":
			(&ListsService{s.service}).Rows(ctx, agent.ListID, p, opts...)(yield)
		case agent.Draft():
			yield(nil, draftError())
		default:
			yield(nil, unusable(op.AgentsGet, "the agent has no listId"))
		}
	}
}

// secrets are hidden in errors about the rows.
func (s *AgentsService) secrets() redact.Secrets { return s.conf.secrets() }

// WaitSettled waits until no run is in progress: the agent is active, paused, expired or failed. It may be active right after a start,
// before its first run (undocumented).
//
// It polls after 2 s or more, then down to once a minute. A draft ends the wait with [ErrNotStarted]; the context, or five failed polls in a
// row, with [ErrNotSettled]. Beside any error stands the agent as last seen, or nil.
//
// Errors: those of [AgentsService.Get].
//
// GET /business/agents/{agentId}, scope agents.
func (s *AgentsService) WaitSettled(ctx context.Context, agentID string, opts ...CallOption) (*Agent, error) {
	read := func(ctx context.Context) (*Agent, error) { return s.Get(ctx, agentID, opts...) }
	return waitFor(ctx, s.conf, op.AgentsGet, read, (*Agent).sighting)
}

// WaitEach waits as [AgentsService.WaitSettled] does, for many agents, and yields each once. It reads one listing a poll, every 96 s after a
// burst of 30. A draft comes with [ErrNotStarted], an unreadable agent with its ID and an error. The last element may be [ErrNotSettled]
// without an agent.
//
// Errors: those of [AgentsService.Get].
//
// GET /business/agents and GET /business/agents/{agentId}, scope agents.
func (s *AgentsService) WaitEach(ctx context.Context, agentIDs ...string) iter.Seq2[*Agent, error] {
	return func(yield func(*Agent, error) bool) {
		var bad check.Violations
		bad.Must(ctx != nil, "context", "must not be nil")
		if bad.IDs("agentIds", agentIDs); len(bad) > 0 {
			yield(nil, refusal(op.AgentsList, bad))
			return
		}
		w := &awaited{pending: check.Distinct(agentIDs), began: time.Now(), from: time.Now(), yield: yield}
		of := len(w.pending)
		if of == 0 {
			return
		}
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
	return waits.NewShared[Agent](96*time.Second, 30)
}

// awaited is the agents that a WaitEach waits for.
type awaited struct {
	pending []string
	began   time.Time
	from    time.Time                // when the next listing begins at the earliest
	yield   func(*Agent, error) bool // false ends all waits
}

// poll reads the listing once, and yields what has settled. What the listing lacks is read alone, one agent a poll.
func (s *AgentsService) poll(ctx context.Context, w *awaited) error {
	agents, began, err := s.conf.polls.Read(ctx, w.from, s.listEach)
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
		if seen := agent.sighting(); (seen.Settled || seen.Err != nil) && !w.hand(id, &agent, seen.Err) {
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
	for page, err := range s.Pages(ctx, Sequential()) {
		if pages++; err != nil {
			return nil, pages, err
		}
		agents = append(agents, page.Items...)
	}
	return agents, pages, nil
}

// look reads one agent alone, and puts it at the end of those that are awaited.
func (s *AgentsService) look(ctx context.Context, w *awaited, id string) error {
	from := time.Now()
	agent, err := s.Get(ctx, id)
	s.conf.polls.Charge(1)
	switch {
	case mayBeNew(err, op.AgentsGet, w.began, from):
	case err != nil && (ctx.Err() != nil || isTransient(err)):
		return err
	case err != nil:
		w.hand(id, &Agent{ID: id}, err)
		return nil
	default:
		if seen := agent.sighting(); seen.Settled || seen.Err != nil {
			w.hand(id, agent, seen.Err)
			return nil //nolint:nilerr // it is handed out
		}
	}
	w.remove(id)
	w.pending = append(w.pending, id)
	return nil
}

// hand yields an agent whose wait is over. It reports false if all waits are.
func (w *awaited) hand(id string, agent *Agent, err error) bool {
	if w.remove(id); !w.yield(agent, err) {
		w.pending = nil
		return false
	}
	return true
}

func (w *awaited) remove(id string) {
	w.pending = slices.DeleteFunc(w.pending, func(pending string) bool { return pending == id })
}

// sighting reports whether the wait for an agent is over, or why it is useless.
func (a *Agent) sighting() waits.Sighting {
	seen := waits.Sighting{Settled: a.Status.Settled(), State: plain(string(a.Status)), Strange: !a.Status.Known()}
	if a.Draft() {
		seen.Err = draftError()
	}
	return seen
}

// draftError is the error of a method that needs an agent that was started.
func draftError() *Error {
	e := withoutEffect(op.AgentsGet, nil)
	e.classes, e.text = []ErrorClass{ErrNotStarted, ErrConflict}, "the agent was never started: a draft does nothing until it is activated"
	return e
}

// AutocompleteField names a vocabulary of the filters of a [PersonDiscovery].
type AutocompleteField string

// The vocabularies.
const (
	AutocompleteRegion   AutocompleteField = "region" // a person's location
	AutocompleteIndustry AutocompleteField = "industry"
	AutocompleteTitle    AutocompleteField = "title" // current and past job titles
)

// Autocomplete looks up values of a filter. The response is undocumented, and so is the query parameter with the text: supply it with
// [WithQuery].
//
// GET /business/agents/autocomplete, scope agents.
func (s *AgentsService) Autocomplete(ctx context.Context, field AutocompleteField, opts ...CallOption) (*Object, error) {
	return do[Object](ctx, s.conf, op.AgentsAutocomplete, args{query: autocompleteQuery{field}}, opts)
}

type autocompleteQuery struct {
	Field AutocompleteField `url:"field"`
}

func (q autocompleteQuery) check(bad *check.Violations) {
	bad.Must(q.Field != "", "field", "is required")
}

// ValueCheck says which values of a filter to look up.
type ValueCheck struct {
	Field  AutocompleteField
	Values []string
	// TextParam is the undocumented name of the query parameter for the text to complete. With it, each value takes a request.
	TextParam string
}

func (v ValueCheck) check(bad *check.Violations) {
	autocompleteQuery{v.Field}.check(bad)
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	bad.Must(len(v.Values) > 0 && !slices.ContainsFunc(v.Values, blank), "values", "must be given, and none may be blank")
	bad.Must(v.TextParam != "field", "TextParam", "must not be field")
}

// CheckedValue is the result of looking up a value.
type CheckedValue struct {
	Value  string
	Known  bool     // autocomplete offers exactly this text
	Near   []string // offered texts that differ in case or outer space only
	Widens bool     // an unknown industry: the agent may deliver and spend more

	record // the whole response
}

// String returns its JSON.
func (v CheckedValue) String() string { return textOf(Object{}, v) }

// CheckValues looks up values of a filter before credits are spent, because the service accepts unknown ones: an unknown region or title
// matches nobody, an unknown industry becomes the closest one or is dropped, and the agent spends more. The response is undocumented: a
// value is known if an array in it has the same text.
//
// GET /business/agents/autocomplete, scope agents.
func (s *AgentsService) CheckValues(ctx context.Context, in ValueCheck, opts ...CallOption) ([]CheckedValue, error) {
	var bad check.Violations
	if in.check(&bad); len(bad) > 0 {
		return nil, refusal(op.AgentsAutocomplete, bad)
	}
	checked := make([]CheckedValue, 0, len(in.Values))
	offers, records := make(map[string][]string), make(map[string]record) // by the text that was looked up
	for _, value := range in.Values {
		text, query := "", opts
		if in.TextParam != "" { // the caller's options come last: they may replace it
			text, query = value, append([]CallOption{WithQuery(in.TextParam, value)}, opts...)
		}
		if _, asked := offers[text]; !asked {
			response, err := s.Autocomplete(ctx, in.Field, query...)
			if err == nil {
				records[text] = record{jsonscan.Source(response.raw)}
				offers[text], err = outbound.Listed(response.raw)
			}
			if err != nil {
				return checked, err
			}
		}
		checked = append(checked, in.compare(value, offers[text], records[text]))
	}
	return checked, nil
}

func (v ValueCheck) compare(value string, offers []string, in record) CheckedValue {
	found := CheckedValue{Value: value, record: in}
	for _, offer := range offers {
		switch {
		case offer == value:
			found.Known = true
		case slices.Contains(found.Near, offer):
		case strings.EqualFold(strings.TrimSpace(offer), strings.TrimSpace(value)):
			found.Near = append(found.Near, offer)
		}
	}
	found.Widens = v.Field == AutocompleteIndustry && !found.Known
	return found
}

// mayBeOf reports whether there is an agent, and it is of a kind or does not say.
func (a *Agent) mayBeOf(kind AgentType) bool { return a != nil && (a.Type == kind || a.Type == "") }

// find finds the agent with exactly this name, and all others.
func (s *AgentsService) find(ctx context.Context, name string, opts []CallOption) (match *Agent, others []*Agent, err error) {
	return findNamed(s.All(ctx, pageOptions(opts)...), op.AgentsList, "agents", name, func(a *Agent) string { return a.Name })
}

func (a *Agent) nameless() bool { return a.Name == "" }
