package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/op"
)

var _ = serves(map[*op.Op]endpoint{
	op.AgentsCreateDiscovery: {handle: createAgent(PersonDiscovery), json: true, takes: agentTakes[PersonDiscovery]},
	op.AgentsCreateWatcher:   {handle: createAgent(PeopleWatcher), json: true, takes: agentTakes[PeopleWatcher]},
	op.AgentsCreateMonitor:   {handle: createAgent(WebMonitor), json: true, takes: agentTakes[WebMonitor]},
	op.AgentsList:            {handle: (*call).listAgents},
	op.AgentsGet:             {handle: (*call).getAgent},
	op.AgentsAdjust:          {handle: (*call).adjustAgent, json: true},
	op.AgentsActivate:        {handle: (*call).activateAgent},
	op.AgentsPause:           {handle: (*call).pauseAgent, path: []string{"agentId"}},
	op.AgentsAutocomplete:    {handle: (*call).autocomplete, takes: []taking{required("field", oneOf("region", "industry", "title"))}},
})

const freePlanAgents = 10

// The documented states of an agent.
const (
	agentDraft      = "initializing"
	agentProcessing = "processing"
	agentActive     = "active"
	agentPaused     = "paused"
	agentExpired    = "expired"
	agentFailed     = "failed"
)

// Agent seeds an agent. With a Config, an active or processing agent runs by the clock. Without one, nothing changes its state,
// and a draft is a legacy draft, which cannot be started.
type Agent struct {
	ID        string          `json:"id,omitempty"`
	Type      string          `json:"type,omitempty"` // PersonDiscovery, PeopleWatcher or WebMonitor; empty is a legacy kind, which reads null
	Name      string          `json:"name"`
	Status    string          `json:"status,omitempty"`    // empty is a draft
	ListID    string          `json:"listId,omitempty"`    // its results; without one, a running agent gets a list of its name
	Config    json.RawMessage `json:"config,omitempty"`    // the body it was created with, a JSON object
	ExpiresAt time.Time       `json:"expiresAt,omitzero"`  // zero is never
	BeganAt   time.Time       `json:"beganAt,omitzero"`    // the run
	NextAt    time.Time       `json:"nextAt,omitzero"`     // when a run begins, delivers or ends
	Due       int             `json:"due,omitempty"`       // results that the run still has to deliver
	Runs      int             `json:"runs,omitempty"`      // begun so far
	Delivered int             `json:"delivered,omitempty"` // results, in all runs
}

// AgentPlan sets the undocumented behavior of agents. The zero value means the defaults.
type AgentPlan struct {
	Results    int                 // that a run finds, before any cap; default 5, negative is none
	Every      time.Duration       // between two results; default a minute
	Vocabulary map[string][]string // values that filters recognise and autocomplete offers: region, industry, title; employer is for filters only
}

// Agents changes the undocumented behavior of agents.
func Agents(plan AgentPlan) Option {
	return checked(plan.Every >= 0, "Agents: the time between two results is negative", func(sb *Sandbox) { sb.plan = plan.complete() })
}

func (p AgentPlan) complete() AgentPlan {
	p.Results = max(0, cmp.Or(p.Results, 5))
	p.Every = cmp.Or(p.Every, time.Minute)
	words := maps.Clone(vocabularies)
	maps.Copy(words, p.Vocabulary)
	p.Vocabulary = words
	return p
}

var agents = keeps(kind[Agent]{
	name: "agents", missing: refusal{"AGENT_NOT_FOUND", "No agent has this id.", ""},
	seeds: func(ws *Workspace) *[]Agent { return &ws.Agents },
	check: func(ws *Workspace, a Agent, fail failing) {
		fail.among("agent", a.Name, "type", a.Type, "", PersonDiscovery, PeopleWatcher, WebMonitor)
		fail.among("agent", a.Name, "status", cmp.Or(a.Status, agentDraft), op.States["agent"]...)
		if len(a.Config) > 0 && (!json.Valid(a.Config) || !isObject(a.Config)) {
			fail("agent %q: the config is not a JSON object", a.Name)
		}
		if a.ListID != "" && !slices.ContainsFunc(ws.Lists, func(l List) bool { return sameID(l.ID, a.ListID) }) {
			fail("agent %q: no list has the id %s", a.Name, a.ListID)
		}
	},
	fill: func(_ *workspace, a *Agent) { a.Status = cmp.Or(a.Status, agentDraft) },
})

// begin schedules what an agent does next, and sets when, if that is not known.
func (a *Agent) begin(ws *workspace, _, now time.Time) {
	soon := now.Add(ws.sb.plan.Every)
	switch running := len(a.Config) > 0; {
	case running && a.Status == agentProcessing:
		if a.NextAt.IsZero() || a.NextAt.After(soon) {
			a.NextAt = soon
		}
	case running && a.Status == agentActive:
		if a.BeganAt.IsZero() {
			a.BeganAt = now
		}
		a.rest(now)
	default:
		a.stop(a.Status)
	}
	ws.scheduleAgent(a)
	ws.scheduleExpiry(a)
}

// spec is what the config of an agent says, which was accepted before: nothing, if it has none.
func (a *Agent) spec() *agentSpec {
	var body fields
	_ = json.Unmarshal(a.Config, &body) // it is an object, or nothing
	return readSpec(a.Type, bodyInput(body))
}

// Agents copies the agents, newest first.
func (w *Tenant) Agents() []Agent { return newestFirst(agents.copies(w)) }

func (a *Agent) wire() object {
	return object{"id": a.ID, "type": orNull(a.Type), "name": a.Name, "status": a.Status, "started": a.Status != agentDraft}
}

// record is an agent as reads show it.
func (ws *workspace) record(a *Agent) object {
	w := a.wire()
	w["listId"], w["contactsFound"] = orNull(a.ListID), 0
	if l := ws.list(a.ListID); l != nil {
		w["contactsFound"] = len(l.Rows)
	}
	return w
}

func createAgent(kind string) handler {
	return func(c *call) response {
		spec := readSpec(kind, c.in)
		delete(c.body, "start")
		a := &Agent{Type: kind, Name: spec.name, Status: agentDraft, Config: must(json.Marshal(c.body)), ExpiresAt: spec.expires}
		if !c.in.has("expirationDate") {
			a.ExpiresAt = stamp(c.now).AddDate(0, 1, 0)
		}
		c.mayCreate(a, spec)
		c.effect(func() {
			a = agents.add(c.ws, *a)
			a.begin(c.ws, c.now, c.now)
			if spec.start {
				c.ws.beginRun(a, c.now, c.spend)
			}
		}, "agent created: %q", spec.name)
		return reply(http.StatusCreated, object{"agent": a.wire()})
	}
}

// mayCreate checks what concerns more than one field.
func (c *call) mayCreate(a *Agent, spec *agentSpec) {
	c.nameFree(strings.TrimSpace(a.Name))
	c.sourcesExist(spec)
	if c.ws.Plan == "free" && len(agents.in(c.ws)) >= freePlanAgents {
		deny("AGENT_LIMIT_REACHED", fmt.Sprintf("The free plan holds at most %d agents.", freePlanAgents))
	}
	signalAccepted(spec)
	if spec.start {
		c.mayStart(a)
	}
}

func (c *call) sourcesExist(s *agentSpec) {
	for _, id := range s.sources {
		must(lists.byID(c, id))
	}
}

// signalAccepted rejects a prompt that has the word for that.
func signalAccepted(s *agentSpec) {
	if strings.Contains(strings.ToLower(s.prompt), "[rejected]") {
		deny("AGENT_SIGNAL_REJECTED", "The search provider refused the prompt. Rewrite it.")
	}
}

// mayStart checks what a start needs: sources, and credits for the first run.
func (c *call) mayStart(a *Agent) {
	spec := a.spec()
	c.sourcesExist(spec)
	if a.Type == PeopleWatcher && len(c.ws.watchable(spec)) == 0 {
		deny("AGENT_SOURCE_LIST_EMPTY", "No contact of the source has a social-network URL.")
	}
	c.costs(c.ws.plannedRun(a))
}

func (c *call) listAgents() response {
	return listing("agents", newestFirst(agents.in(c.ws)), c.ws.record)
}

func (c *call) agent() *Agent { return agents.of(c, "agentId") }

func (c *call) getAgent() response { return c.showAgent(c.agent()) }

func (c *call) showAgent(a *Agent) response {
	return reply(http.StatusOK, object{"agent": c.ws.record(a)})
}

// draftAgent finds the agent that the path names, which has to be a draft that can be worked on.
func (c *call) draftAgent() *Agent {
	a := c.agent()
	switch {
	case a.Type == "":
		deny("AGENT_TYPE_UNSUPPORTED", "Agents of this kind are no longer supported.")
	case a.Status == agentProcessing:
		deny("AGENT_PROCESSING", "A run is in progress.")
	case a.Status != agentDraft:
		deny("AGENT_NOT_A_DRAFT", "The agent is "+a.Status+".")
	case len(a.Config) == 0:
		deny("AGENT_CONFIG_MISSING", "The draft has no stored configuration.")
	}
	return a
}

func (c *call) adjustAgent() response {
	a := c.draftAgent()
	merged := mergeConfig(a.Config, c.body)
	c.check(bodyInput(merged), append([]taking{func(_ *call, in input, v *checks) {
		if in.has("start") {
			v.fail("start", "cannot be adjusted: activate the agent")
		}
	}}, agentTakes[a.Type]...))
	spec := readSpec(a.Type, bodyInput(merged))
	if name := strings.TrimSpace(spec.name); name != strings.TrimSpace(a.Name) {
		c.nameFree(name)
	}
	c.sourcesExist(spec)
	signalAccepted(spec)
	config := must(json.Marshal(merged))
	c.effect(func() {
		a.Name, a.Config = spec.name, config
		if c.in.has("expirationDate") {
			a.ExpiresAt = spec.expires
			c.ws.scheduleExpiry(a)
		}
	}, "agent adjusted: %s", a.ID)
	return c.showAgent(a)
}

// mergeConfig puts changes over a configuration. One kind of source replaces the other.
func mergeConfig(config json.RawMessage, changes fields) (merged fields) {
	stop(json.Unmarshal(config, &merged))
	for sent, other := range map[string]string{"listId": "listIds", "listIds": "listId"} {
		if _, ok := changes[sent]; ok {
			delete(merged, other)
		}
	}
	maps.Copy(merged, changes)
	return merged
}

func (c *call) activateAgent() response {
	a := c.draftAgent()
	if !a.ExpiresAt.IsZero() && !c.now.Before(a.ExpiresAt) {
		stop(invalid("expirationDate", "has passed"))
	}
	c.mayStart(a)
	c.effect(func() { c.ws.beginRun(a, c.now, c.spend) }, "agent started: %s", a.ID)
	return c.showAgent(a)
}

func (c *call) pauseAgent() response {
	a := c.agent()
	if a.Status == agentProcessing {
		deny("AGENT_PROCESSING", "A run is in progress.")
	}
	if a.Status != agentActive {
		deny("AGENT_NOT_RUNNING", "The agent is "+a.Status+": there is nothing to pause.")
	}
	c.effect(func() { a.stop(agentPaused) }, "agent paused: %s", a.ID)
	return c.showAgent(a)
}

func (c *call) autocomplete() response {
	field := c.in.text("field")
	return reply(http.StatusOK, object{"values": append([]string{}, kept(c.sb.plan.Vocabulary[field], c.asksFor)...)})
}

// asksFor reports whether every text of the query, under whatever name, is part of a word.
func (c *call) asksFor(word string) bool {
	for name, texts := range c.query {
		for _, text := range texts {
			if name != "field" && !strings.Contains(strings.ToLower(word), strings.ToLower(text)) {
				return false
			}
		}
	}
	return true
}
