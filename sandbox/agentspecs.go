package sandbox

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The kinds of agent, as [Agent] calls them.
const (
	PersonDiscovery = "person-discovery-via-filters"
	PeopleWatcher   = "people-watcher"
	WebMonitor      = "web-monitor"
)

// AgentFields are names that your application uses for documented fields whose names are undocumented. Without a name, the field is kept and
// has no effect.
type AgentFields struct {
	ResultsPerRun    string // of a person discovery: a positive multiple of 50
	ResultCap        string // of any kind: the results of all runs, at least 1
	Phone, WorkEmail string // flags of a person discovery or a people watcher: each adds AgentPlan.Enrichment to the price of a contact
}

// agentFilter is a filter of a person discovery that holds something.
type agentFilter struct {
	industries bool
	values     []string
}

// agentSpec is what an agent was created with.
type agentSpec struct {
	kind      string
	name      string
	start     bool
	expires   time.Time // zero is never
	maxSpend  int64     // of a run; zero is no limit
	sources   []string
	frequency int // days
	entity    string
	prompt    string
	period    string
	filters   []agentFilter
	perRun    int // results; zero is no limit
	cap       int // results of all runs, likewise
	enriched  int // flags that are set
}

const (
	minCreditSpend, maxCreditSpend = 1000, 200_000
	maxFrequency                   = 90
	longestPrompt                  = 2000
	maxPages                       = 100
	resultsMultiple                = 50
)

// periods are how often a web monitor searches.
var periods = map[string]time.Duration{"1h": time.Hour, "6h": 6 * time.Hour, "1d": 24 * time.Hour, "7d": 7 * 24 * time.Hour}

// readSpec reads the fields of a creation, in their documented order.
func readSpec(kind string, body *form, now time.Time, names AgentFields) agentSpec {
	s := agentSpec{kind: kind}
	s.name = body.required("listName")
	if body.has("listName") && strings.TrimSpace(s.name) == "" {
		body.fail("listName", "has to be at least 1 character long")
	}
	switch kind {
	case PeopleWatcher:
		body.requiredChoice("eventType", "social-person-profile-updates", "social-person-post-updates")
		s.readSources(body)
		s.frequency = body.integer("frequency", 1, maxFrequency, 1)
	case WebMonitor:
		s.entity = body.requiredChoice("entityType", "person", "company")
		s.prompt = body.required("prompt")
		if body.has("prompt") {
			body.length("prompt", s.prompt, longestPrompt)
		}
		s.period = body.choice("searchPeriod", slices.Sorted(maps.Keys(periods))...)
		body.integer("numResults", 1, maxPages, 10) // caps pages, not results
	}
	s.start = body.flag("start")
	s.readExpiry(body, now)
	if body.has("maxCreditSpend") {
		s.maxSpend = int64(body.integer("maxCreditSpend", minCreditSpend, maxCreditSpend, 0))
	}
	s.readNamed(body, names)
	if kind == PersonDiscovery {
		s.readFilters(body, "", body.fields)
		if len(s.filters) == 0 {
			body.fail("filters", "need at least one that is not empty")
		}
	}
	return s
}

func (s *agentSpec) readSources(body *form) {
	one, hasOne := body.text("listId")
	many, hasMany := body.idList("listIds", 1, 0)
	sentOne := body.has("listId")
	switch {
	case sentOne && hasMany:
		body.fail("listId", "and listIds exclude each other")
	case !sentOne && !hasMany:
		body.fail("listId", "or listIds is required")
	case hasOne:
		body.id("listId", one)
		many = []string{one}
	}
	s.sources = many
}

func (s *agentSpec) readExpiry(body *form, now time.Time) {
	const name = "expirationDate"
	raw, sent := body.fields[name]
	if !sent || string(raw) == "null" {
		return
	}
	text, _ := asString(raw)
	day, err := time.Parse(time.DateOnly, text)
	switch {
	case err != nil:
		body.fail(name, "has to be a date, YYYY-MM-DD, or null")
	case !day.After(now):
		body.fail(name, "has to be in the future")
	}
	s.expires = day
}

// readNamed reads the fields that only the test has a name for.
func (s *agentSpec) readNamed(body *form, names AgentFields) {
	sent := func(name string) bool { return name != "" && body.has(name) }
	if s.kind == PersonDiscovery && sent(names.ResultsPerRun) {
		if s.perRun = body.integer(names.ResultsPerRun, 1, math.MaxInt32, resultsMultiple); s.perRun%resultsMultiple != 0 {
			body.fail(names.ResultsPerRun, "has to be a multiple of %d", resultsMultiple)
		}
	}
	if sent(names.ResultCap) {
		s.cap = body.integer(names.ResultCap, 1, math.MaxInt32, 0)
	}
	for _, name := range []string{names.Phone, names.WorkEmail} {
		if s.kind != WebMonitor && sent(name) && body.flag(name) {
			s.enriched++
		}
	}
}

// readFilters reads every array as a filter, at any depth.
func (s *agentSpec) readFilters(body *form, under string, within fields) {
	for _, name := range slices.Sorted(maps.Keys(within)) {
		raw := within[name]
		if isObject(raw) {
			var inner fields
			_ = json.Unmarshal(raw, &inner) // an object is one
			s.readFilters(body, under+name+".", inner)
		}
		if raw[0] != '[' {
			continue
		}
		values, err := stringsOf(raw)
		if err != nil {
			body.fail(under+name, "%v", err)
		}
		if len(values) > 0 {
			s.filters = append(s.filters, agentFilter{strings.Contains(strings.ToLower(name), "industr"), values})
		}
	}
}

// between is the time between the beginnings of two runs.
func (s *agentSpec) between() time.Duration {
	if s.kind == PeopleWatcher {
		return time.Duration(s.frequency) * 24 * time.Hour
	}
	return cmp.Or(periods[s.period], periods["1d"])
}

// delivers is the kind of list that the results go to.
func (s *agentSpec) delivers() string {
	if s.entity == "company" {
		return CompanyList
	}
	return ContactList
}

// closest are the known industries that share a word with one of the texts, or the first five letters of one: of several, that with the
// fewest other words. A text that resembles none is dropped.
func closest(known, texts []string) (found []string) {
	for _, text := range texts {
		best, most := "", 0.0
		for _, industry := range known {
			alike, words := 0, wordsOf(industry)
			for _, word := range words {
				alike += min(1, len(kept(wordsOf(text), func(w string) bool { return w[:min(5, len(w))] == word[:min(5, len(word))] })))
			}
			if score := float64(alike) / float64(len(words)); score > most {
				best, most = industry, score
			}
		}
		if best != "" {
			found = append(found, best)
		}
	}
	return found
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}
