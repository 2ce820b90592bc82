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

var agents = keeps(kind[Agent]{
	name: "agents", missing: refusal{code: "AGENT_NOT_FOUND", message: "No agent has this id."},
	seeds: func(ws *Workspace) *[]Agent { return &ws.Agents },
	check: func(a Agent, fail failing) {
		fail.among("agent", a.Name, "type", a.Type, "", PersonDiscovery, PeopleWatcher, WebMonitor)
		fail.among("agent", a.Name, "status", cmp.Or(a.Status, agentDraft), op.States["agent"]...)
		if len(a.Config) > 0 && (!json.Valid(a.Config) || !isObject(a.Config)) {
			fail("agent %q: the config is not a JSON object", a.Name)
		}
	},
	fill: func(a *Agent) { a.Status = cmp.Or(a.Status, agentDraft) },
})

func (a *Agent) begin(ws *workspace, _, now time.Time) {
	ws.resume(a, now)
	ws.scheduleExpiry(a)
}

// spec is what the config of an agent says, which was accepted before: nothing, if it has none.
func (ws *workspace) spec(a *Agent) *agentSpec {
	s := ws.specs[string(a.Config)]
	if s == nil || s.kind != a.Type {
		s = &agentSpec{kind: a.Type}
		if len(a.Config) > 0 {
			var body fields
			_ = json.Unmarshal(a.Config, &body) // it is an object
			*s = readSpec(a.Type, &form{body, &checks{}}, time.Time{}, ws.sb.plan)
		}
		ws.specs[string(a.Config)] = s
	}
	return s
}

// resume schedules what an agent does next, and sets when, if that is not known.
func (ws *workspace) resume(a *Agent, now time.Time) {
	if (a.Status == agentActive || a.Status == agentProcessing) && len(a.Config) > 0 && a.NextAt.IsZero() {
		wait := ws.sb.plan.Every
		if a.Running = a.Running || a.Status == agentProcessing; !a.Running {
			wait = ws.spec(a).between(ws.sb.plan.Between)
		}
		if a.BeganAt.IsZero() {
			a.BeganAt = now
		}
		a.NextAt = now.Add(wait)
	}
	ws.scheduleAgent(a)
}

// Agents copies the agents, newest first.
func (w *Tenant) Agents() []Agent { return newestFirst(agents.copies(w)) }

// CreateAgent adds an agent and returns its id.
func (tx *Tx) CreateAgent(seed Agent) (id string) {
	listed := inspect(&Tenant{tx.sb, tx.ws}, func(ws *workspace) bool { return seed.ListID == "" || ws.byID[seed.ListID] != nil })
	if !listed {
		tx.sb.misuse("Tx.CreateAgent: no list has the id %s", seed.ListID)
		return ""
	}
	return agents.create(tx, "CreateAgent", seed)
}

// MoveAgent sets the state of an agent, whatever its current state: to paused, for example, or back to active.
func (tx *Tx) MoveAgent(agentID, status string) {
	agents.change(tx, "MoveAgent", agentID, func(a *Agent, now time.Time) bool {
		if !slices.Contains(op.States["agent"], status) {
			return false
		}
		a.stop(status)
		tx.ws.resume(a, now)
		return true
	})
}

// DeleteAgent removes an agent. Its results stay.
func (tx *Tx) DeleteAgent(agentID string) {
	agents.change(tx, "DeleteAgent", agentID, func(a *Agent, _ time.Time) bool {
		a.stop(agentExpired)
		agents.remove(tx.ws, a.ID)
		return true
	})
}
