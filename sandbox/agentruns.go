package sandbox

import (
	"encoding/json"
	"time"
)

// payment books credits, in a request or by the clock.
type payment func(amount int64, reason string)

// kindOp names the operation whose price an agent pays.
var kindOp = map[string]string{
	PersonDiscovery: "agents.create-person-discovery", PeopleWatcher: "agents.create-people-watcher", WebMonitor: "agents.create-web-monitor",
}

// each is what a watched contact or a delivered result costs.
func (ws *workspace) each(a *Agent) int64 {
	return ws.sb.prices[kindOp[a.Type]] + int64(ws.spec(a).enriched)*ws.sb.plan.Enrichment
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

// affords is for how many of n units a run can pay, which has spent something.
func (ws *workspace) affords(a *Agent, n int, spent, balance int64) int {
	each := ws.each(a)
	if each == 0 {
		return n
	}
	if most := ws.spec(a).maxSpend; most > 0 {
		balance = min(balance, most-spent)
	}
	return int(min(int64(n), max(0, balance)/each))
}

// plannedRun is what the next run has to pay for, whatever the balance, and how many results it delivers.
func (ws *workspace) plannedRun(a *Agent) (units, results int) {
	const unbounded = 1 << 62
	spec := ws.spec(a)
	results = ws.sb.plan.Results
	if spec.perRun > 0 {
		results = min(results, spec.perRun)
	}
	if spec.cap > 0 {
		results = max(0, min(results, spec.cap-a.Delivered))
	}
	if a.Type == PeopleWatcher {
		units = ws.affords(a, len(ws.watchable(spec)), 0, unbounded)
		return units, min(results, units)
	}
	if _, matches := ws.finds(a, spec); !matches {
		results = 0
	}
	results = ws.affords(a, results, 0, unbounded)
	return results, results
}

// finds is the next person whom the filters of an agent match, unless one of them recognises none of its values. An industry filter then
// restricts nothing.
func (ws *workspace) finds(a *Agent, spec *agentSpec) (p person, matches bool) {
	p, matches = invent(a.Name, a.Delivered), true
	for i, f := range spec.filters {
		values := f.values
		if f.industries {
			values = closest(ws.sb.plan.Vocabulary["industry"], values)
		}
		matches = (p.wants(ws.sb.plan.Vocabulary, values, a.Delivered+i) || f.industries) && matches
	}
	return p, matches
}

// beginRun starts a run, which delivers its first result.
func (ws *workspace) beginRun(a *Agent, at time.Time, pay payment) {
	if ws.byID[a.ListID] == nil {
		a.ListID = ws.sb.makeList(ws, a.Name, ws.spec(a).delivers(), at).ID
	}
	units, results := ws.plannedRun(a)
	a.Status, a.Running, a.BeganAt, a.Spent, a.Due = agentProcessing, true, at, 0, results
	a.Runs++
	if a.Type == PeopleWatcher {
		units = ws.affords(a, units, 0, ws.Credits)
		a.pay(int64(units)*ws.each(a), "contacts watched by "+a.Name, pay)
		a.Due = min(a.Due, units)
	}
	if a.Due > 0 {
		ws.deliver(a, pay)
	}
	a.NextAt = at.Add(ws.sb.plan.Every)
	ws.scheduleAgent(a)
}

func (a *Agent) pay(amount int64, reason string, pay payment) {
	if amount > 0 {
		a.Spent += amount
		pay(amount, reason)
	}
}

// deliver puts one result into the list. It ends the run if there is nothing to deliver, or not enough credits.
func (ws *workspace) deliver(a *Agent, pay payment) bool {
	row, l := ws.result(a), ws.byID[a.ListID]
	if row == nil || l == nil {
		a.Due = 0
		return false
	}
	if a.Type != PeopleWatcher { // which has paid
		a.pay(ws.each(a), "result of "+a.Name, pay)
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
func (ws *workspace) result(a *Agent) json.RawMessage {
	spec := ws.spec(a)
	if a.Type == PeopleWatcher {
		if watched := ws.watchable(spec); len(watched) > 0 {
			return watched[a.Delivered%len(watched)]
		}
		return nil
	}
	if ws.affords(a, 1, a.Spent, ws.Credits) == 0 {
		return nil
	}
	p, _ := ws.finds(a, spec)
	if spec.delivers() == CompanyList {
		return Rows(p.Employer.row())[0]
	}
	return Rows(p.row(a.Delivered + 1))[0]
}

// endRun makes an agent active until its next run.
func (ws *workspace) endRun(a *Agent, at time.Time) {
	a.stop(agentActive)
	if a.NextAt = a.BeganAt.Add(ws.spec(a).between()); a.NextAt.Before(at) {
		a.NextAt = at
	}
}

func (a *Agent) stop(status string) {
	a.Status, a.Running, a.Due, a.NextAt = status, false, 0, time.Time{}
}

// scheduleAgent schedules the next event of an agent, which replaces the previous one.
func (ws *workspace) scheduleAgent(a *Agent) {
	kind := "agent run began"
	switch {
	case a.Due > 0:
		kind = "agent delivered"
	case a.Running:
		kind = "agent run ended"
	}
	ws.later(&a.NextAt, kind, a.ID, func() bool { return ws.step(a) })
}

func (ws *workspace) step(a *Agent) (happened bool) {
	at := a.NextAt
	pay := func(amount int64, reason string) {
		ws.book(LedgerEntry{Time: at, Operation: kindOp[a.Type], Amount: -amount, Reason: reason})
	}
	switch {
	case !a.Running:
		ws.beginRun(a, at, pay)
		return true
	case a.Due == 0:
		ws.endRun(a, at)
		happened = true
	default:
		if happened = ws.deliver(a, pay); happened {
			a.NextAt = at.Add(ws.sb.plan.Every)
		}
	}
	ws.scheduleAgent(a)
	return happened
}

func (ws *workspace) scheduleExpiry(a *Agent) {
	ws.later(&a.ExpiresAt, "agent expired", a.ID, func() bool {
		if a.Status == agentDraft || a.Status == agentFailed || a.Status == agentExpired {
			return false
		}
		a.stop(agentExpired)
		return true
	})
}
