package prospectkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// AgentSpec says what an agent is to look for: a [PersonDiscovery], a [PeopleWatcher] or a [WebMonitor]. A ListName of white space is
// refused (assumed: the service's document asks for one character).
type AgentSpec interface{ spec() agentSpec }

// agentSpec is what the three kinds have in common.
type agentSpec struct {
	op        *op.Op
	kind      AgentType
	body      any       // the spec itself, as a draft if it is made a draft
	draft     AgentSpec // the same without Start
	name      string
	start     bool
	expires   Expiration
	spend     int
	unlimited bool
	raw       []Fields // the caller's own fields, beside the typed ones
	own       func(*checks)
}

// Bounds of the service's document.
const (
	minCreditSpend  = 1000
	maxCreditSpend  = 200_000
	maxFrequency    = 90
	maxPrompt       = 2000
	maxPagesARun    = 100
	resultsMultiple = 50
)

// check holds the spec against the document's bounds. What starts, now or in the next step, has to say what it may spend.
func (s agentSpec) check(bad *checks, starts bool) {
	if strings.TrimSpace(s.name) == "" { // assumed of white space: it names a list too, and lists trim their names
		bad.add("listName", "must not be blank")
	}
	s.expires.check(bad)
	s.checkSpending(bad, starts)
	s.own(bad)
}

// checkSpending demands a cap, or the word that none is wanted, from what starts.
func (s agentSpec) checkSpending(bad *checks, starts bool) {
	bad.between("maxCreditSpend", s.spend, minCreditSpend, maxCreditSpend)
	switch {
	case s.unlimited && s.spend != 0:
		bad.add("maxCreditSpend", "is given beside Unlimited: choose one")
	case starts && !s.unlimited && s.spend == 0:
		bad.add("maxCreditSpend", "is required for an agent that starts, unless you say Unlimited")
	}
}

// options carries the caller's own fields into the body, where one that the spec has, or that is given twice, is refused.
func (s agentSpec) options(opts []CallOption) []CallOption {
	var all []CallOption
	for _, fields := range s.raw {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			all = append(all, WithField(name, fields[name]))
		}
	}
	return append(all, opts...)
}

// PersonDiscovery is an agent that delivers people who match filters.
//
// The service's document describes eight filters (a person's location, industry, current and past employer, current and past job
// title, employer size, headquarters country) and what they take, but not what their fields are called: you supply them in
// Filters. It does not call the caps of results and the two enrichment flags by name either: they go into Extra.
//
// The service checks no values: ask [AgentsService.CheckValues] first. One that it does not know matches nothing, except for an industry:
// it is mapped to the closest, and dropped if none is close. That widens the filter, so the agent delivers more people and spends more.
type PersonDiscovery struct {
	ListName       string     `json:"listName"` // of the agent and its results list; differs from every list and agent
	Start          bool       `json:"start"`    // start at once, which spends credits; default: save a draft, which is free
	Expires        Expiration `json:"expirationDate,omitzero"`
	MaxCreditSpend int        `json:"maxCreditSpend,omitzero"` // credits that one run or refresh may spend, 1000 to 200,000
	Unlimited      bool       `json:"-"`                       // start without MaxCreditSpend
	Filters        Fields     `json:"-"`                       // at least one, none empty; each an array of strings, OR-ed
	Extra          Fields     `json:"-"`                       // fields whose names the document does not show
}

func (p PersonDiscovery) spec() agentSpec {
	draft := p
	draft.Start = false
	return agentSpec{
		op: op.AgentsCreateDiscovery, kind: AgentTypePersonDiscovery, body: p, draft: draft,
		name: p.ListName, start: p.Start, expires: p.Expires, spend: p.MaxCreditSpend, unlimited: p.Unlimited,
		raw: []Fields{p.Filters, p.Extra},
		own: func(bad *checks) {
			if blank(p.Filters) {
				bad.add("Filters", "must have at least one that is not empty")
				return
			}
			bad.filledIn("Filters", p.Filters)
			if text, err := json.Marshal(p.Filters); err == nil {
				if texts, _ := stringsIn(text); slices.Contains(texts, "") {
					bad.add("Filters", "must not hold an empty value")
				}
			}
		},
	}
}

// blank reports whether there is no value in the filters: nothing but null and what is empty.
func blank(filters Fields) bool {
	text, err := json.Marshal(filters)
	if err != nil {
		return false // the body is refused for that reason
	}
	found, c := false, jsonscan.New(text)
	leaves(&c, func(c *jsonscan.Cursor) {
		if !c.Null() {
			c.Skip()
			found = true
		}
	})
	return !found
}

// leaves visits every value that is no object and no array, however deep. The visitor reads it.
func leaves(c *jsonscan.Cursor, visit func(*jsonscan.Cursor)) {
	switch {
	case c.Is('{'):
		c.Object()
		for _, ok := c.Member(); ok; _, ok = c.Member() {
			leaves(c, visit)
		}
	case c.Is('['):
		c.Array()
		for c.Element() {
			leaves(c, visit)
		}
	default:
		visit(c)
	}
}

// WatchEvent is what a [PeopleWatcher] looks out for.
type WatchEvent string

// The events.
const (
	WatchProfileUpdates WatchEvent = "social-person-profile-updates"
	WatchPostUpdates    WatchEvent = "social-person-post-updates"
)

// Known reports whether the document lists the event.
func (e WatchEvent) Known() bool { return e == WatchProfileUpdates || e == WatchPostUpdates }

// PeopleWatcher is an agent that watches the people of lists for a change. Every contact is billed when it starts and again on
// every cycle, so Frequency is the billing cadence, too. The caps of results and the two enrichment flags have names that the
// service's document does not show: they go into Extra.
type PeopleWatcher struct {
	ListName       string     `json:"listName"` // of the agent and its new results list, never of a source list
	EventType      WatchEvent `json:"eventType"`
	ListID         string     `json:"listId,omitzero"`    // the source list
	ListIDs        []string   `json:"listIds,omitempty"`  // or several, nil if not: the people of all, each once
	Frequency      int        `json:"frequency,omitzero"` // days between checks, 1 to 90; default 1
	Start          bool       `json:"start"`              // start at once, which spends credits; default: save a draft, which is free
	Expires        Expiration `json:"expirationDate,omitzero"`
	MaxCreditSpend int        `json:"maxCreditSpend,omitzero"` // credits that one run or refresh may spend, 1000 to 200,000
	Unlimited      bool       `json:"-"`                       // start without MaxCreditSpend
	Extra          Fields     `json:"-"`                       // fields whose names the document does not show
}

func (p PeopleWatcher) spec() agentSpec {
	draft := p
	draft.Start = false
	return agentSpec{
		op: op.AgentsCreateWatcher, kind: AgentTypePeopleWatcher, body: p, draft: draft,
		name: p.ListName, start: p.Start, expires: p.Expires, spend: p.MaxCreditSpend, unlimited: p.Unlimited,
		raw: []Fields{p.Extra},
		own: func(bad *checks) {
			needed(bad, "eventType", p.EventType, WatchProfileUpdates, WatchPostUpdates)
			p.checkSources(bad)
			bad.between("frequency", p.Frequency, 1, maxFrequency)
		},
	}
}

func (p PeopleWatcher) checkSources(bad *checks) {
	switch {
	case p.ListID != "" && p.ListIDs != nil:
		bad.add("listId", "is given beside listIds: choose one")
	case p.ListID == "" && len(p.ListIDs) == 0:
		bad.add("listId", "or listIds is required")
	}
	bad.optionalID("listId", p.ListID)
	if slices.ContainsFunc(p.ListIDs, func(id string) bool { return !isID(id) }) {
		bad.add("listIds", "must all be 24 hexadecimal digits")
	}
}

// MonitorTarget is what a [WebMonitor] delivers.
type MonitorTarget string

// The targets.
const (
	MonitorPeople    MonitorTarget = "person"
	MonitorCompanies MonitorTarget = "company"
)

// Known reports whether the document lists the target.
func (t MonitorTarget) Known() bool { return t == MonitorPeople || t == MonitorCompanies }

// SearchPeriod is the period of a [WebMonitor]'s search. Whether it is the time between two searches or the time that each one
// looks back over is not shown by the service's document.
type SearchPeriod string

// The periods.
const (
	PeriodHour     SearchPeriod = "1h"
	PeriodSixHours SearchPeriod = "6h"
	PeriodDay      SearchPeriod = "1d"
	PeriodWeek     SearchPeriod = "7d"
)

// Known reports whether the document lists the period.
func (p SearchPeriod) Known() bool {
	return p == PeriodHour || p == PeriodSixHours || p == PeriodDay || p == PeriodWeek
}

// MonitorResultCredits is what each result costs that a [WebMonitor] delivers.
const MonitorResultCredits = 50

// WebMonitor is an agent that searches the web in natural language and delivers people or companies that match. Each delivered
// result costs [MonitorResultCredits], so a cap of n results is a cap of n times that. What the cap on results is called is not shown
// by the service's document: it goes into Extra.
type WebMonitor struct {
	ListName       string        `json:"listName"` // of the agent and its results list; differs from every list and agent
	EntityType     MonitorTarget `json:"entityType"`
	Prompt         string        `json:"prompt"`                // the signal to watch for, 1 to 2000 characters; naming the year helps
	SearchPeriod   SearchPeriod  `json:"searchPeriod,omitzero"` // default: a day
	NumResults     int           `json:"numResults,omitzero"`   // web pages read in a run, 1 to 100, default 10; not a cap on results
	Start          bool          `json:"start"`                 // start at once, which spends credits; default: save a draft, which is free
	Expires        Expiration    `json:"expirationDate,omitzero"`
	MaxCreditSpend int           `json:"maxCreditSpend,omitzero"` // credits that one run or refresh may spend, 1000 to 200,000
	Unlimited      bool          `json:"-"`                       // start without MaxCreditSpend
	Extra          Fields        `json:"-"`                       // fields whose names the document does not show
}

func (p WebMonitor) spec() agentSpec {
	draft := p
	draft.Start = false
	return agentSpec{
		op: op.AgentsCreateMonitor, kind: AgentTypeWebMonitor, body: p, draft: draft,
		name: p.ListName, start: p.Start, expires: p.Expires, spend: p.MaxCreditSpend, unlimited: p.Unlimited,
		raw: []Fields{p.Extra},
		own: func(bad *checks) {
			needed(bad, "entityType", p.EntityType, MonitorPeople, MonitorCompanies)
			bad.length("prompt", p.Prompt, 1, maxPrompt)
			oneOf(bad, "searchPeriod", p.SearchPeriod, PeriodHour, PeriodSixHours, PeriodDay, PeriodWeek)
			bad.between("numResults", p.NumResults, 1, maxPagesARun)
		},
	}
}

// needed is [oneOf] without a default.
func needed[T ~string](bad *checks, param string, value T, allowed ...T) {
	if value == "" {
		bad.add(param, "is required")
	}
	oneOf(bad, param, value, allowed...)
}

// EmployerSize is an employer size as a filter of [PersonDiscovery] takes it. Commas are part of the value.
type EmployerSize string

// The sizes.
const (
	EmployerSize1To10       EmployerSize = "1-10"
	EmployerSize11To50      EmployerSize = "11-50"
	EmployerSize51To200     EmployerSize = "51-200"
	EmployerSize201To500    EmployerSize = "201-500"
	EmployerSize501To1000   EmployerSize = "501-1,000"
	EmployerSize1001To5000  EmployerSize = "1,001-5,000"
	EmployerSize5001To10000 EmployerSize = "5,001-10,000"
	EmployerSizeOver10000   EmployerSize = "10,001+"
)

// Known reports whether the document lists the size. The service accepts any other value, which then matches nobody.
func (s EmployerSize) Known() bool {
	switch s {
	case EmployerSize1To10, EmployerSize11To50, EmployerSize51To200, EmployerSize201To500, EmployerSize501To1000, EmployerSize1001To5000,
		EmployerSize5001To10000, EmployerSizeOver10000:
		return true
	}
	return false
}

// EmployerSizeOf returns the bucket that a number of employees falls into, or "" if there is nobody.
func EmployerSizeOf(employees int) EmployerSize {
	switch {
	case employees < 1:
		return ""
	case employees <= 10:
		return EmployerSize1To10
	case employees <= 50:
		return EmployerSize11To50
	case employees <= 200:
		return EmployerSize51To200
	case employees <= 500:
		return EmployerSize201To500
	case employees <= 1000:
		return EmployerSize501To1000
	case employees <= 5000:
		return EmployerSize1001To5000
	case employees <= 10_000:
		return EmployerSize5001To10000
	}
	return EmployerSizeOver10000
}

// CheckResultsPerRun refuses a cap on the results of one run that the service would refuse: it has to be a positive multiple of
// 50. The field of that cap goes into Extra under a name that you supply, so nothing checks it for you.
func CheckResultsPerRun(results int) error {
	if results > 0 && results%resultsMultiple == 0 {
		return nil
	}
	problem := fmt.Sprintf("is %d, must be a positive multiple of %d", results, resultsMultiple)
	return &RefusedError{Op: op.AgentsCreateDiscovery.Name, Violations: []Violation{{"results per run", problem}}}
}

// Expiration says when an agent stops by itself. The zero value leaves it to the service: one month from creation.
type Expiration struct {
	year  int
	month time.Month
	day   int
	never bool
}

// NeverExpires lets an agent run until it is paused or deleted.
func NeverExpires() Expiration { return Expiration{never: true} }

// ExpiresOn lets an agent run until a calendar date, which has to be in the future. In which time zone is not shown by the service's
// document, so what is refused locally is only a date that is past everywhere on earth, and one that no calendar has.
func ExpiresOn(year int, month time.Month, day int) Expiration {
	return Expiration{year: year, month: month, day: day}
}

// IsZero reports whether nothing was said, so that the service decides.
func (e Expiration) IsZero() bool { return e == Expiration{} }

// Never reports whether there is no end.
func (e Expiration) Never() bool { return e.never }

// Date returns the calendar date; it reports false if there is none.
func (e Expiration) Date() (year int, month time.Month, day int, ok bool) {
	return e.year, e.month, e.day, !e.never && !e.IsZero()
}

// String returns the date as YYYY-MM-DD, "never", or "default".
func (e Expiration) String() string {
	switch {
	case e.never:
		return "never"
	case e.IsZero():
		return "default"
	}
	return fmt.Sprintf("%04d-%02d-%02d", e.year, int(e.month), e.day)
}

// MarshalJSON returns the date, or null for never. The zero value has to be left out, as omitzero does: null would mean that the
// agent never expires.
func (e Expiration) MarshalJSON() ([]byte, error) {
	switch {
	case e.never:
		return []byte("null"), nil
	case e.IsZero():
		return nil, errors.New("an expiration that was not set has to be left out")
	}
	return json.Marshal(e.String())
}

// UnmarshalJSON reads a date, or null for never.
func (e *Expiration) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*e = NeverExpires()
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return errors.New("an expiration is a date or null")
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return fmt.Errorf("an expiration is a date like 2027-03-01, not %q", oneLine(text))
	}
	*e = ExpiresOn(t.Date())
	return nil
}

// check refuses what is no date, and what is past even where the day begins last, at UTC-12.
func (e Expiration) check(bad *checks) {
	if _, _, _, ok := e.Date(); !ok {
		return
	}
	if year, month, day := e.midnight().Date(); year != e.year || month != e.month || day != e.day || year < 1 || year > 9999 {
		bad.add("expirationDate", "is %s, which is no date", e)
		return
	}
	today := ExpiresOn(time.Now().In(time.FixedZone("", -12*60*60)).Date())
	if e.midnight().Before(today.midnight()) {
		bad.add("expirationDate", "is %s, must be in the future", e)
	}
}

func (e Expiration) midnight() time.Time {
	return time.Date(e.year, e.month, e.day, 0, 0, 0, 0, time.UTC)
}
