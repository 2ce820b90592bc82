package sandbox

import (
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

// AgentFields are undocumented names: set those that your application uses. Without a name, the field is kept and has no
// effect. Without the name of the filter of industries, each filter with "industr" in its name counts as one.
type AgentFields struct {
	Industry      string // the filter of industries of a person discovery, by its own name: an unrecognised industry widens the search
	ResultsPerRun string // of a person discovery: a positive multiple of 50
	ResultCap     string // results in all, of any kind
	Phone         string // enrichment flags: each adds AgentPlan.Enrichment to the price of a contact
	WorkEmail     string
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
	filters   [][]string // without industries that resemble none

	perRun, cap int  // zero is no limit
	enriched    int  // how many flags are set
	filtered    bool // at least one filter holds something
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

// sharedFields are those of every kind that have a name, and ownFields those of one kind, in the order of the document.
var (
	sharedFields = []string{"listName", "start", "expirationDate", "maxCreditSpend"}
	ownFields    = map[string][]string{
		PersonDiscovery: nil,
		PeopleWatcher:   {"eventType", "listId", "listIds", "frequency"},
		WebMonitor:      {"entityType", "prompt", "searchPeriod", "numResults"},
	}
)

// readSpec reads the fields of a creation, in their documented order.
func readSpec(kind string, body *form, now time.Time, plan AgentPlan) agentSpec {
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
	s.readRest(body, plan)
	return s
}

func (s *agentSpec) readSources(body *form) {
	one, hasOne := body.text("listId")
	many, hasMany := body.idList("listIds", 0)
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

// readRest reads the fields that are documented without a name.
func (s *agentSpec) readRest(body *form, plan AgentPlan) {
	kind, names := s.kind, plan.Fields
	for _, name := range slices.Sorted(maps.Keys(body.fields)) {
		if slices.Contains(sharedFields, name) || slices.Contains(ownFields[kind], name) {
			continue
		}
		container := body.fields[name][0] == '[' || body.fields[name][0] == '{'
		switch {
		case kind == PersonDiscovery && container:
			s.readFilter(body, name, body.fields[name], plan)
			continue
		case name == "":
		case kind == PersonDiscovery && name == names.ResultsPerRun:
			s.perRun = body.integer(name, 1, math.MaxInt32, resultsMultiple)
			if s.perRun%resultsMultiple != 0 {
				body.fail(name, "has to be a multiple of %d", resultsMultiple)
			}
		case name == names.ResultCap:
			s.cap = body.integer(name, 1, math.MaxInt32, 0)
		case kind != WebMonitor && (name == names.Phone || name == names.WorkEmail):
			if body.flag(name) {
				s.enriched++
			}
		}
	}
	if kind == PersonDiscovery && !s.filtered {
		body.fail("filters", "need at least one that is not empty")
	}
}

func (s *agentSpec) readFilter(body *form, name string, raw json.RawMessage, plan AgentPlan) {
	if raw[0] == '{' {
		var inner fields
		_ = json.Unmarshal(raw, &inner) // an object is one
		for _, key := range slices.Sorted(maps.Keys(inner)) {
			s.readFilter(body, name+"."+key, inner[key], plan)
		}
		return
	}
	values, err := stringsOf(raw)
	if err != nil {
		body.fail(name, "has to be an array of strings")
		return
	}
	if len(values) == 0 {
		return
	}
	s.filtered = true
	if plan.Fields.industry(name) {
		known := closest(plan.Vocabulary["industry"], values)
		if values = known; len(values) == 0 {
			return // dropped: whoever works in whatever industry fits
		}
	}
	s.filters = append(s.filters, values)
}

// between is the time between the beginnings of two runs.
func (s *agentSpec) between(otherwise time.Duration) time.Duration {
	switch s.kind {
	case PeopleWatcher:
		return time.Duration(s.frequency) * 24 * time.Hour
	case WebMonitor:
		if d, ok := periods[s.period]; ok {
			return d
		}
		return periods["1d"]
	}
	return otherwise
}

// delivers is the kind of list that the results go to.
func (s *agentSpec) delivers() string {
	if s.entity == "company" {
		return CompanyList
	}
	return ContactList
}

// industry reports whether a filter, named by its path, is that of industries.
func (f AgentFields) industry(filter string) bool {
	own := filter[strings.LastIndexByte(filter, '.')+1:]
	if f.Industry != "" {
		return f.Industry == own || f.Industry == filter
	}
	return strings.Contains(strings.ToLower(own), "industr")
}

// closest maps each text to the known industry that it resembles most. One that resembles none is omitted.
func closest(known, texts []string) []string {
	var found []string
	for _, text := range texts {
		best, most := "", 0
		for _, industry := range known {
			if score := resemblance(text, industry); score > most {
				best, most = industry, score
			}
		}
		if best != "" && !slices.Contains(found, best) {
			found = append(found, best)
		}
	}
	return found
}

// resemblance counts the words that a text shares with an industry. Of equal ones, the industry with fewer other words is closer.
func resemblance(text, industry string) (score int) {
	words := wordsOf(text)
	for _, want := range wordsOf(industry) {
		if slices.ContainsFunc(words, func(word string) bool { return akin(word, want) }) {
			score += 1000
		} else {
			score--
		}
	}
	return score
}

func wordsOf(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(words, func(word string) bool { return word == "and" || word == "the" || word == "of" })
}

// akin reports whether two words are the same, or begin with the same five letters, or one of four letters begins the other.
func akin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 4 && strings.HasPrefix(b, a[:min(len(a), 5)])
}
