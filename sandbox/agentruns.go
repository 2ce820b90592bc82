package sandbox

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// The kinds of agent, as [Agent] calls them.
const (
	PersonDiscovery = "person-discovery-via-filters"
	PeopleWatcher   = "people-watcher"
	WebMonitor      = "web-monitor"
)

// agentSpec is what an agent was created with.
type agentSpec struct {
	name     string
	start    bool
	expires  time.Time // zero is never
	maxSpend int64     // of a run; zero is no limit
	sources  []string
	cycle    time.Duration // between the beginnings of two runs
	entity   string
	prompt   string
	filters  map[string][]string // by name, those that hold something
}

// periods are how often a web monitor searches.
var periods = map[string]time.Duration{"1h": time.Hour, "6h": 6 * time.Hour, "1d": 24 * time.Hour, "7d": 7 * 24 * time.Hour}

// agentTakes are the fields of a creation of each kind, in their documented order.
var agentTakes = func() map[string][]taking {
	common := []taking{optional("start", aFlag), optional("expirationDate", futureDate), optional("maxCreditSpend", integer(1000, 200_000))}
	return map[string][]taking{
		PersonDiscovery: slices.Concat([]taking{required("listName", notBlank)}, common, []taking{someFilter}),
		PeopleWatcher: slices.Concat([]taking{
			required("listName", notBlank), required("eventType", oneOf("social-person-profile-updates", "social-person-post-updates")),
			oneOfTwo("listId", "listIds"), optional("listId", anID), optional("listIds", idList(1, math.MaxInt)), optional("frequency", integer(1, 90)),
		}, common),
		WebMonitor: slices.Concat([]taking{
			required("listName", notBlank), required("entityType", oneOf("person", "company")), required("prompt", chars(2000)),
			optional("searchPeriod", oneOf(slices.Sorted(maps.Keys(periods))...)), optional("numResults", integer(1, 100)), // caps pages, not results
		}, common),
	}
}()

func notBlank(c *call, v value) string {
	if v.isText && strings.TrimSpace(v.text) == "" {
		return "has to be at least 1 character long"
	}
	return anyText(c, v)
}

func futureDate(c *call, v value) string {
	day, err := time.Parse(time.DateOnly, v.text)
	switch {
	case v.raw == "null":
	case err != nil:
		return "has to be a date, YYYY-MM-DD, or null"
	case !day.After(c.now):
		return "has to be in the future"
	}
	return ""
}

func someFilter(_ *call, in input, v *checks) {
	if filters := agentFilters(in, "", v.fail); len(filters) == 0 {
		v.fail("filters", "need at least one that is not empty")
	}
}

// agentFilters are the arrays that hold something, at any depth: each is a filter.
func agentFilters(in input, under string, fail func(param, format string, args ...any)) map[string][]string {
	filters := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		raw := []byte(in[name].raw)
		var inner fields
		if isObject(raw) && json.Unmarshal(raw, &inner) == nil {
			maps.Copy(filters, agentFilters(bodyInput(inner), under+name+".", fail))
		}
		if raw[0] != '[' {
			continue
		}
		values, err := stringsOf(raw)
		if err != nil {
			fail(under+name, "%v", err)
		}
		if len(values) > 0 {
			filters[under+name] = values
		}
	}
	return filters
}

// readSpec reads what was accepted.
func readSpec(kind string, in input) *agentSpec {
	s := &agentSpec{name: in.text("listName"), prompt: in.text("prompt"), entity: in.text("entityType"), sources: in.texts("listIds")}
	s.start, s.maxSpend = in["start"].raw == "true", in.number("maxCreditSpend", 0)
	s.expires, _ = time.Parse(time.DateOnly, in.text("expirationDate"))
	s.cycle = cmp.Or(periods[in.text("searchPeriod")], periods["1d"]) * time.Duration(in.number("frequency", 1))
	if in.has("listId") {
		s.sources = []string{in.text("listId")}
	}
	if kind == PersonDiscovery {
		s.filters = agentFilters(in, "", func(string, string, ...any) {})
	}
	return s
}

// delivers is the kind of list that the results go to.
func (s *agentSpec) delivers() string {
	if s.entity == "company" {
		return CompanyList
	}
	return ContactList
}

// found is the next person whom the filters of an agent match, unless one of them recognises none of its values. An industry filter then
// restricts nothing.
func (ws *workspace) found(a *Agent) (p person, matches bool) {
	words, filters := ws.sb.plan.Vocabulary, a.spec().filters
	p = invent(a.Name, a.Delivered)
	for i, name := range slices.Sorted(maps.Keys(filters)) {
		industries := strings.Contains(strings.ToLower(name), "industr")
		var fits []person
		for _, value := range filters[name] {
			if industries {
				value = closest(words["industry"], value)
			}
			if fit, known := p.fit(words, value); known {
				fits = append(fits, fit)
			}
		}
		if len(fits) > 0 {
			p = fits[(a.Delivered+i)%len(fits)]
		} else if !industries {
			return p, false
		}
	}
	return p, true
}

// closest is the industry that shares a word with a text, or its first five letters.
func closest(industries []string, text string) string {
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		for _, industry := range industries {
			if strings.Contains(strings.ToLower(industry), word[:min(5, len(word))]) {
				return industry
			}
		}
	}
	return ""
}

// watchable are the contacts of the sources that have a social-network URL, each once.
func (ws *workspace) watchable(s *agentSpec) (rows []json.RawMessage) {
	seen := map[string]bool{}
	for _, source := range s.sources {
		l := ws.list(source)
		if l == nil || l.EntityType != ContactList {
			continue
		}
		for i, id := range ws.index(l).ids {
			if url, _ := fieldString(l.Rows[i], "socialUrl"); url != "" && !seen[id] {
				seen[id] = true
				rows = append(rows, l.Rows[i])
			}
		}
	}
	return rows
}

// payment books credits, in a request or by the clock.
type payment func(amount int64, reason string)

// kindOp names the operation whose price an agent pays.
var kindOp = map[string]string{
	PersonDiscovery: "agents.create-person-discovery", PeopleWatcher: "agents.create-people-watcher", WebMonitor: "agents.create-web-monitor",
}

// plannedRun is what the next run has to pay for, if the balance allows it: the contacts that are watched, or else the results. Each has the
// same price.
func (ws *workspace) plannedRun(a *Agent) (units int, each int64) {
	spec, each := a.spec(), ws.sb.prices[kindOp[a.Type]]
	if a.Type == PeopleWatcher {
		units = len(ws.watchable(spec))
	} else if _, matches := ws.found(a); matches {
		units = ws.sb.plan.Results
	}
	if spec.maxSpend > 0 {
		units = affordable(units, each, spec.maxSpend)
	}
	return units, each
}

func affordable(units int, each, credits int64) int {
	if each == 0 {
		return units
	}
	return int(min(int64(units), credits/each))
}

// beginRun starts a run, which pays for everything and delivers its first result.
func (ws *workspace) beginRun(a *Agent, at time.Time, pay payment) {
	if ws.list(a.ListID) == nil {
		a.ListID = ws.makeList(a.Name, a.spec().delivers(), at).ID
	}
	units, each := ws.plannedRun(a)
	units = affordable(units, each, ws.Credits)
	a.Status, a.BeganAt, a.NextAt, a.Due = agentProcessing, at, at.Add(ws.sb.plan.Every), min(units, ws.sb.plan.Results)
	a.Runs++
	pay(int64(units)*each, "run of "+a.Name)
	ws.deliver(a)
	ws.scheduleAgent(a)
}

// deliver puts the next result into the list, if there is any.
func (ws *workspace) deliver(a *Agent) bool {
	row, l := ws.result(a), ws.list(a.ListID)
	if a.Due == 0 || row == nil || l == nil {
		a.Due = 0
		return false
	}
	a.Due--
	a.Delivered++
	if id, _ := fieldString(row, "id"); id != "" {
		ws.remove(l, id)
	}
	ws.insert(l, len(l.Rows), []json.RawMessage{row})
	return true
}

// result is what an agent finds next.
func (ws *workspace) result(a *Agent) json.RawMessage {
	spec := a.spec()
	if a.Type == PeopleWatcher {
		if watched := ws.watchable(spec); len(watched) > 0 {
			return watched[a.Delivered%len(watched)]
		}
		return nil
	}
	p, _ := ws.found(a)
	if spec.delivers() == CompanyList {
		return Rows(p.Employer.row())[0]
	}
	return Rows(p.row(a.Delivered + 1))[0]
}

func (a *Agent) stop(status string) { a.Status, a.Due, a.NextAt = status, 0, time.Time{} }

// rest makes an agent active until its next run.
func (a *Agent) rest(now time.Time) {
	a.stop(agentActive)
	if a.NextAt = a.BeganAt.Add(a.spec().cycle); a.NextAt.Before(now) {
		a.NextAt = now
	}
}

// scheduleAgent schedules the next event of an agent, which replaces the previous one.
func (ws *workspace) scheduleAgent(a *Agent) {
	kind := "agent run began"
	switch {
	case a.Due > 0:
		kind = "agent delivered"
	case a.Status == agentProcessing:
		kind = "agent run ended"
	}
	status := a.Status
	ws.later(&a.NextAt, kind, a.ID, func() (happened bool) {
		at := a.NextAt
		switch {
		case a.Status != status: // a teammate has changed it
		case a.Status == agentActive:
			ws.beginRun(a, at, func(amount int64, reason string) {
				if amount > 0 {
					ws.book(LedgerEntry{Time: at, Operation: kindOp[a.Type], Amount: -amount, Reason: reason})
				}
			})
			return true
		case a.Due > 0:
			if happened = ws.deliver(a); happened {
				a.NextAt = at.Add(ws.sb.plan.Every)
			}
		default:
			happened = true
			a.rest(at)
		}
		ws.scheduleAgent(a)
		return happened
	})
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
