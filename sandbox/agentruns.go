package sandbox

import (
	"encoding/json"
	"time"
)

var (
	ruleAgentRuns = assumed("agents.start", "a start returns the status processing and begins a run; the first result comes at once and the next ones minute by minute; the balance has to cover the whole run; after it the agent is active until the next run. AgentPlan changes that")
	_             = ambient("agents.expires", "an agent expires when the day of its date begins")
	_             = ambient("agents.clock", "runs begin, deliver, end, fail and expire by the clock; a run ends early when the balance is short; AgentPlan.Frozen and Strict stop the clock")
	_             = ambient("agents.results", "a watcher delivers its contacts one after the other, the other kinds deliver invented people or companies that fit the filters; a result that exists is replaced")
)

// payment books credits, in a request or by the clock.
type payment func(amount int64, reason string)

// kindOp names the operation whose price an agent pays.
var kindOp = map[string]string{
	PersonDiscovery: "agents.create-person-discovery", PeopleWatcher: "agents.create-people-watcher", WebMonitor: "agents.create-web-monitor",
}

// each is what a watched contact or a delivered result costs.
func (sb *Sandbox) each(a *agent) int64 {
	return sb.prices[kindOp[a.Type]] + int64(a.spec.enriched)*sb.plan.Enrichment
}

// watchable are the contacts of the sources that have a social-network URL, each once.
func (ws *workspace) watchable(s *agentSpec) (rows []json.RawMessage) {
	seen := map[string]bool{}
	for _, source := range s.sources {
		l := ws.list(source)
		if l == nil || l.EntityType != ContactList {
			continue
		}
		for i, row := range l.rows {
			if url, _ := fieldString(row, "socialUrl"); url != "" && !seen[l.ids[i]] {
				seen[l.ids[i]] = true
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// within is how many of n units a run can pay for.
func (a *agent) within(n int, each, balance int64) int {
	if each == 0 {
		return n
	}
	if a.spec.maxSpend > 0 {
		balance = min(balance, a.spec.maxSpend-a.Spent)
	}
	return int(min(int64(n), max(0, balance)/each))
}

// plannedRun is what the next run has to pay for, whatever the balance, and how many results it delivers.
func (sb *Sandbox) plannedRun(ws *workspace, a *agent) (units, results int) {
	fresh := agent{Agent: Agent{Type: a.Type}, spec: a.spec}
	const unbounded = 1 << 62
	results = sb.plan.Results
	if a.spec.perRun > 0 {
		results = min(results, a.spec.perRun)
	}
	if a.spec.cap > 0 {
		results = max(0, min(results, a.spec.cap-a.Delivered))
	}
	if a.Type == PeopleWatcher {
		units = fresh.within(len(ws.watchable(&a.spec)), sb.each(a), unbounded)
		return units, min(results, units)
	}
	if !sb.recognised(a) {
		results = 0
	}
	results = fresh.within(results, sb.each(a), unbounded)
	return results, results
}

// recognised reports whether somebody can match the filters.
func (sb *Sandbox) recognised(a *agent) bool {
	var nobody person
	for _, values := range a.spec.filters {
		if !nobody.wants(sb.plan.Vocabulary, values, 0) {
			return false
		}
	}
	return true
}

// beginRun starts a run, which delivers its first result.
func (sb *Sandbox) beginRun(ws *workspace, a *agent, at time.Time, pay payment) {
	if ws.byID[a.ListID] == nil {
		a.ListID = sb.makeList(ws, a.Name, a.spec.delivers(), at).ID
	}
	units, results := sb.plannedRun(ws, a)
	a.Status, a.Running, a.BeganAt, a.Spent, a.Due = sb.plan.Started, true, at, 0, results
	a.Runs++
	if a.Type == PeopleWatcher {
		units = a.within(units, sb.each(a), ws.balance)
		a.pay(int64(units)*sb.each(a), "contacts watched by "+a.Name, pay)
		a.Due = min(a.Due, units)
	}
	if a.Due > 0 {
		sb.deliver(ws, a, pay)
	}
	a.NextAt = at.Add(sb.plan.Every)
	sb.scheduleAgent(ws, a)
}

func (a *agent) pay(amount int64, reason string, pay payment) {
	if amount > 0 {
		a.Spent += amount
		pay(amount, reason)
	}
}

// deliver puts one result into the list. It ends the run if there is nothing to deliver, or not enough credits.
func (sb *Sandbox) deliver(ws *workspace, a *agent, pay payment) bool {
	row, l := sb.result(ws, a), ws.byID[a.ListID]
	if row == nil || l == nil {
		a.Due = 0
		return false
	}
	if a.Type != PeopleWatcher { // which has paid
		a.pay(sb.each(a), "result of "+a.Name, pay)
	}
	a.Due--
	a.Delivered++
	if id, _ := fieldString(row, "id"); id != "" {
		ws.remove(l, []string{id})
	}
	ws.insert(l, len(l.rows), []json.RawMessage{row})
	return true
}

// result is what an agent finds next: nothing, if it cannot be paid for.
func (sb *Sandbox) result(ws *workspace, a *agent) json.RawMessage {
	if a.Type == PeopleWatcher {
		if watched := ws.watchable(&a.spec); len(watched) > 0 {
			return watched[a.Delivered%len(watched)]
		}
		return nil
	}
	if a.within(1, sb.each(a), ws.balance) == 0 {
		return nil
	}
	p := invent(a.Name, a.Delivered)
	for i, values := range a.spec.filters {
		p.wants(sb.plan.Vocabulary, values, a.Delivered+i)
	}
	if a.spec.delivers() == CompanyList {
		return Rows(p.Employer.row())[0]
	}
	return Rows(p.row(a.Delivered + 1))[0]
}

// endRun makes an agent active until its next run, unless the plan makes it fail.
func (sb *Sandbox) endRun(a *agent, at time.Time) {
	if sb.plan.FailsAt > 0 && a.Runs == sb.plan.FailsAt {
		a.stop(agentFailed)
		return
	}
	a.stop(agentActive)
	a.NextAt = a.BeganAt.Add(a.spec.between(a.Type, sb.plan.Between))
	if a.NextAt.Before(at) {
		a.NextAt = at
	}
}

func (a *agent) stop(status string) {
	a.Status, a.Running, a.Due, a.NextAt = status, false, 0, time.Time{}
}

// scheduleAgent schedules the next event of an agent, which replaces the previous one.
func (sb *Sandbox) scheduleAgent(ws *workspace, a *agent) {
	at := a.NextAt
	if at.IsZero() || sb.plan.Frozen || sb.strict {
		return
	}
	kind := "agent run began"
	switch {
	case a.Due > 0:
		kind = "agent delivered"
	case a.Running:
		kind = "agent run ended"
	}
	ws.later(at, kind, a.ID, func() bool { return a.NextAt.Equal(at) && sb.step(ws, a) })
}

func (sb *Sandbox) step(ws *workspace, a *agent) (happened bool) {
	at := a.NextAt
	pay := func(amount int64, reason string) {
		ws.book(LedgerEntry{Time: at, Operation: kindOp[a.Type], Amount: -amount, Reason: reason})
	}
	switch {
	case !a.Running:
		sb.beginRun(ws, a, at, pay)
		return true
	case a.Due == 0:
		sb.endRun(a, at)
		happened = true
	default:
		if happened = sb.deliver(ws, a, pay); happened {
			a.NextAt = at.Add(sb.plan.Every)
		}
	}
	sb.scheduleAgent(ws, a)
	return happened
}

func (sb *Sandbox) scheduleAgentExpiry(ws *workspace, a *agent) {
	at := a.ExpiresAt
	if at.IsZero() || sb.plan.Frozen || sb.strict {
		return
	}
	ws.later(at, "agent expired", a.ID, func() bool {
		if !a.ExpiresAt.Equal(at) || a.Status == agentDraft || a.Status == agentFailed || a.Status == agentExpired {
			return false
		}
		a.stop(agentExpired)
		return true
	})
}
