package sandbox

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"example.com/prospectkit/internal/op"
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
	Running   bool            `json:"running,omitempty"`   // in a run
	BeganAt   time.Time       `json:"beganAt,omitzero"`    // the run
	NextAt    time.Time       `json:"nextAt,omitzero"`     // when a run begins, delivers or ends
	Due       int             `json:"due,omitempty"`       // results that the run still has to deliver
	Spent     int64           `json:"spent,omitempty"`     // credits, in the run
	Runs      int             `json:"runs,omitempty"`      // begun so far
	Delivered int             `json:"delivered,omitempty"` // results, in all runs
}

type agent struct {
	Agent
	spec agentSpec // of its Config; empty without
}

// AgentPlan sets the undocumented behavior of agents. The zero value means the defaults.
type AgentPlan struct {
	Started    string              // the status of a run, which a start returns; default processing
	Results    int                 // that a run finds, before any cap; default 5, negative is none
	Every      time.Duration       // between two results; default a minute
	Between    time.Duration       // between the beginnings of two runs of a person discovery; default a day
	FailsAt    int                 // the run, from one, that ends with the status failed; default none
	Frozen     bool                // nothing moves by the clock: a run begins, and that is all
	Paged      bool                // the listing comes as data with pagination, like that of lists
	Rejects    []string            // a web monitor is refused if one of these is in its prompt, whatever the case; default "[rejected]"
	Enrichment int64               // credits that an enrichment flag adds to the price of a contact; default 1
	Fields     AgentFields         // names of undocumented fields
	Vocabulary map[string][]string // values that filters recognise and autocomplete offers: region, industry, title; employer is for filters only
}

// Agents changes the undocumented behavior of agents.
func Agents(plan AgentPlan) Option {
	switch {
	case plan.Started != "" && plan.Started != agentProcessing && plan.Started != agentActive:
		return mistaken("Agents: an agent that starts is %s or %s, not %q", agentProcessing, agentActive, plan.Started)
	case plan.Every < 0 || plan.Between < 0 || plan.FailsAt < 0 || plan.Enrichment < 0:
		return mistaken("Agents: a duration, a run or a price is negative")
	}
	return always(func(sb *Sandbox) { sb.plan = plan.complete() })
}

func (p AgentPlan) complete() AgentPlan {
	p.Started = cmp.Or(p.Started, agentProcessing)
	p.Results = max(0, cmp.Or(p.Results, 5))
	p.Every = cmp.Or(p.Every, time.Minute)
	p.Between = cmp.Or(p.Between, 24*time.Hour)
	p.Enrichment = cmp.Or(p.Enrichment, 1)
	if p.Rejects == nil {
		p.Rejects = []string{"[rejected]"}
	}
	words := maps.Clone(vocabularies)
	maps.Copy(words, p.Vocabulary)
	p.Vocabulary = words
	return p
}

func validateAgents(ws Workspace, fail failing) {
	lists := map[string]bool{}
	for _, l := range ws.Lists {
		lists[l.ID] = true
	}
	for _, a := range ws.Agents {
		fail.among("agent", a.Name, "type", a.Type, "", PersonDiscovery, PeopleWatcher, WebMonitor)
		fail.among("agent", a.Name, "status", cmp.Or(a.Status, agentDraft), op.States["agent"]...)
		if a.ListID != "" && !lists[a.ListID] {
			fail("agent %q: no list has the id %s", a.Name, a.ListID)
		}
		if len(a.Config) > 0 && (!json.Valid(a.Config) || !isObject(a.Config)) {
			fail("agent %q: the config is not a JSON object", a.Name)
		}
	}
}

// addAgent adds an agent and schedules its events. A running one without a list gets one.
func (sb *Sandbox) addAgent(ws *workspace, seed Agent) *agent {
	a := &agent{Agent: seed}
	ws.fill(&a.ID)
	a.Status = cmp.Or(a.Status, agentDraft)
	if len(a.Config) > 0 {
		a.spec = sb.readConfig(a.Type, a.Config)
	}
	ws.agents = append(ws.agents, a)
	sb.scheduleAgent(ws, a)
	sb.scheduleAgentExpiry(ws, a)
	return a
}

// readConfig reads a body that has been accepted before.
func (sb *Sandbox) readConfig(kind string, config json.RawMessage) agentSpec {
	var body fields
	_ = json.Unmarshal(config, &body) // it is an object
	return readSpec(kind, &form{body, &checks{}}, time.Time{}, sb.plan)
}

// beginAgents schedules the agents of a seed that have no time, once the time is known.
func (sb *Sandbox) beginAgents(ws *workspace, now time.Time) {
	for _, a := range ws.agents {
		if a.Status != agentActive && a.Status != agentProcessing || len(a.Config) == 0 || !a.NextAt.IsZero() {
			continue
		}
		if a.Status == agentProcessing {
			a.Running = true
		}
		wait := sb.plan.Every
		if !a.Running {
			wait = a.spec.between(a.Type, sb.plan.Between)
		}
		if a.BeganAt.IsZero() {
			a.BeganAt = now
		}
		a.NextAt = now.Add(wait)
		sb.scheduleAgent(ws, a)
	}
}

func (ws *workspace) agent(id string) *agent {
	return find(ws.agents, func(a *agent) bool { return sameID(a.ID, id) })
}

// Agents copies the agents, newest first.
func (w *Tenant) Agents() []Agent {
	return inspect(w, func(ws *workspace) []Agent { return appendNewest(nil, ws.agents, (*agent).snapshot) })
}

func (a *agent) snapshot() Agent { return a.Agent }

// CreateAgent adds an agent and returns its id.
func (tx *Tx) CreateAgent(seed Agent) (id string) {
	listless := seed
	listless.ListID = "" // looked at below
	if !tx.valid("CreateAgent", Workspace{Agents: []Agent{listless}}) {
		return ""
	}
	tx.change("CreateAgent", func(now time.Time) bool {
		if tx.ws.agent(seed.ID) != nil || seed.ListID != "" && tx.ws.byID[seed.ListID] == nil {
			return false
		}
		tx.ws.seen(seed.ID)
		id = tx.sb.addAgent(tx.ws, seed).ID
		tx.sb.beginAgents(tx.ws, now)
		return true
	})
	return id
}

// MoveAgent sets the state of an agent, whatever its current state: to paused, for example, or back to active.
func (tx *Tx) MoveAgent(agentID, status string) {
	tx.change("MoveAgent", func(now time.Time) bool {
		a := tx.ws.agent(agentID)
		if a == nil || !slices.Contains(op.States["agent"], status) {
			return false
		}
		a.stop(status)
		tx.sb.beginAgents(tx.ws, now)
		return true
	})
}

// DeleteAgent removes an agent. Its results stay.
func (tx *Tx) DeleteAgent(agentID string) {
	tx.change("DeleteAgent", func(time.Time) bool {
		a := tx.ws.agent(agentID)
		if a != nil {
			a.stop(agentExpired)
			tx.ws.agents = slices.DeleteFunc(tx.ws.agents, func(other *agent) bool { return other == a })
		}
		return a != nil
	})
}
