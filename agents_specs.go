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

// AgentSpec says what an agent is to look for: a [PersonDiscovery], a [PeopleWatcher] or a [WebMonitor]. A blank ListName is refused
// (assumed: the service asks for one character).
type AgentSpec interface{ spec() agentSpec }

// agentSpec is what the three kinds have in common.
type agentSpec struct {
	op    *op.Op
	kind  AgentType
	body  any       // the spec itself
	draft AgentSpec // the same without Start
	terms
	raw []Fields // the caller's own fields, beside the typed ones
	own func(*checks)
}

// terms are the fields that all kinds have.
type terms struct {
	name      string
	start     bool
	expires   Expiration
	spend     int
	unlimited bool
}

// Bounds of the API reference.
const (
	minCreditSpend = 1000
	maxCreditSpend = 200_000
	maxFrequency   = 90
	maxPrompt      = 2000
	maxPagesARun   = 100
)

// check holds the spec against the documented bounds. What starts, now or in the next step, has to say what it may spend.
func (s agentSpec) check(bad *checks, starts bool) {
	if strings.TrimSpace(s.name) == "" { // assumed of white space: it names a list too, and lists trim their names
		bad.add("listName", "must not be blank")
	}
	s.expires.check(bad)
	bad.between("maxCreditSpend", s.spend, minCreditSpend, maxCreditSpend)
	switch {
	case s.unlimited && s.spend != 0:
		bad.add("maxCreditSpend", "is given beside Unlimited: choose one")
	case starts && !s.unlimited && s.spend == 0:
		bad.add("maxCreditSpend", "is required for an agent that starts, unless you say Unlimited")
	}
	s.own(bad)
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
// There are eight filters: a person's location, industry, current and past employer, current and past job title, employer size, and
// headquarters country. Their field names are undocumented: you supply them in Filters. So are those of the caps of results and of the
// two enrichment flags: they go into Extra. A cap on the results of one run must be a positive multiple of 50.
//
// The service does not check the values. Ask [AgentsService.CheckValues] first: an unknown value matches nothing, and an unknown
// industry widens the filter, so that the agent delivers more people and spends more. Employer sizes are
//
//	1-10  11-50  51-200  201-500  501-1,000  1,001-5,000  5,001-10,000  10,001+
//
// with the commas.
type PersonDiscovery struct {
	ListName       string     `json:"listName"` // of the agent and its results list; differs from every list and agent
	Start          bool       `json:"start"`    // start at once, which spends credits; default: save a draft, which is free
	Expires        Expiration `json:"expirationDate,omitzero"`
	MaxCreditSpend int        `json:"maxCreditSpend,omitzero"` // credits of one run or refresh, 1000 to 200,000; the agent's life has no cap
	Unlimited      bool       `json:"-"`                       // start without MaxCreditSpend
	Filters        Fields     `json:"-"`                       // at least one, none empty; each an array of strings, OR-ed
	Extra          Fields     `json:"-"`                       // fields whose names are undocumented
}

func (p PersonDiscovery) spec() agentSpec {
	draft := p
	draft.Start = false
	return agentSpec{
		op: op.AgentsCreateDiscovery, kind: AgentTypePersonDiscovery, body: p, draft: draft, raw: []Fields{p.Filters, p.Extra},
		terms: terms{p.ListName, p.Start, p.Expires, p.MaxCreditSpend, p.Unlimited}, own: p.checkFilters,
	}
}

func (p PersonDiscovery) checkFilters(bad *checks) {
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

var watchEvents = []WatchEvent{WatchProfileUpdates, WatchPostUpdates}

// Known reports whether the event is documented.
func (e WatchEvent) Known() bool { return slices.Contains(watchEvents, e) }

// PeopleWatcher is an agent that watches the people of lists for a change. Every contact is billed when it starts and again on
// every cycle, so Frequency is the billing cadence, too. The field names of the caps of results and of the two enrichment flags are
// undocumented: they go into Extra.
type PeopleWatcher struct {
	ListName       string     `json:"listName"` // of the agent and its new results list, never of a source list
	EventType      WatchEvent `json:"eventType"`
	ListID         string     `json:"listId,omitzero"`    // the source list
	ListIDs        []string   `json:"listIds,omitempty"`  // or several, nil if not: the people of all, each once
	Frequency      int        `json:"frequency,omitzero"` // days between checks, 1 to 90; default 1
	Start          bool       `json:"start"`              // start at once, which spends credits; default: save a draft, which is free
	Expires        Expiration `json:"expirationDate,omitzero"`
	MaxCreditSpend int        `json:"maxCreditSpend,omitzero"` // credits of one run or refresh, 1000 to 200,000; the agent's life has no cap
	Unlimited      bool       `json:"-"`                       // start without MaxCreditSpend
	Extra          Fields     `json:"-"`                       // fields whose names are undocumented
}

func (p PeopleWatcher) spec() agentSpec {
	draft := p
	draft.Start = false
	return agentSpec{
		op: op.AgentsCreateWatcher, kind: AgentTypePeopleWatcher, body: p, draft: draft, raw: []Fields{p.Extra},
		terms: terms{p.ListName, p.Start, p.Expires, p.MaxCreditSpend, p.Unlimited}, own: p.checkSources,
	}
}

func (p PeopleWatcher) checkSources(bad *checks) {
	requireOneOf(bad, "eventType", p.EventType, watchEvents...)
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
	bad.between("frequency", p.Frequency, 1, maxFrequency)
}

// MonitorTarget is what a [WebMonitor] delivers.
type MonitorTarget string

// The targets.
const (
	MonitorPeople    MonitorTarget = "person"
	MonitorCompanies MonitorTarget = "company"
)

var monitorTargets = []MonitorTarget{MonitorPeople, MonitorCompanies}

// Known reports whether the target is documented.
func (t MonitorTarget) Known() bool { return slices.Contains(monitorTargets, t) }

// SearchPeriod is the period of a [WebMonitor]'s search. Whether it is the time between two searches or the time that each one
// looks back over is undocumented.
type SearchPeriod string

// The periods.
const (
	SearchPeriodHour     SearchPeriod = "1h"
	SearchPeriodSixHours SearchPeriod = "6h"
	SearchPeriodDay      SearchPeriod = "1d"
	SearchPeriodWeek     SearchPeriod = "7d"
)

var searchPeriods = []SearchPeriod{SearchPeriodHour, SearchPeriodSixHours, SearchPeriodDay, SearchPeriodWeek}

// Known reports whether the period is documented.
func (p SearchPeriod) Known() bool { return slices.Contains(searchPeriods, p) }

// WebMonitor is an agent that searches the web in natural language and delivers people or companies that match. Each delivered
// result costs 50 credits, so a cap of n results is a cap of 50n credits. The field name of that cap is undocumented: it goes into Extra.
type WebMonitor struct {
	ListName       string        `json:"listName"` // of the agent and its results list; differs from every list and agent
	EntityType     MonitorTarget `json:"entityType"`
	Prompt         string        `json:"prompt"`                // the signal to watch for, 1 to 2000 characters; naming the year helps
	SearchPeriod   SearchPeriod  `json:"searchPeriod,omitzero"` // default: a day
	NumResults     int           `json:"numResults,omitzero"`   // web pages read in a run, 1 to 100, default 10; not a cap on results
	Start          bool          `json:"start"`                 // start at once, which spends credits; default: save a draft, which is free
	Expires        Expiration    `json:"expirationDate,omitzero"`
	MaxCreditSpend int           `json:"maxCreditSpend,omitzero"` // credits of one run or refresh, 1000 to 200,000; the agent's life has no cap
	Unlimited      bool          `json:"-"`                       // start without MaxCreditSpend
	Extra          Fields        `json:"-"`                       // fields whose names are undocumented
}

func (p WebMonitor) spec() agentSpec {
	draft := p
	draft.Start = false
	return agentSpec{
		op: op.AgentsCreateMonitor, kind: AgentTypeWebMonitor, body: p, draft: draft, raw: []Fields{p.Extra},
		terms: terms{p.ListName, p.Start, p.Expires, p.MaxCreditSpend, p.Unlimited}, own: p.checkSearch,
	}
}

func (p WebMonitor) checkSearch(bad *checks) {
	requireOneOf(bad, "entityType", p.EntityType, monitorTargets...)
	bad.length("prompt", p.Prompt, 1, maxPrompt)
	oneOf(bad, "searchPeriod", p.SearchPeriod, searchPeriods...)
	bad.between("numResults", p.NumResults, 1, maxPagesARun)
}

// requireOneOf is [oneOf] without a default.
func requireOneOf[T ~string](bad *checks, param string, value T, allowed ...T) {
	if value == "" {
		bad.add(param, "is required")
	}
	oneOf(bad, param, value, allowed...)
}

// Expiration says when an agent stops. The zero value leaves it to the service: one month from creation.
type Expiration struct {
	year  int
	month time.Month
	day   int
	never bool
}

// NeverExpires lets an agent run until it is paused or deleted.
func NeverExpires() Expiration { return Expiration{never: true} }

// ExpiresOn lets an agent run until a calendar date, which has to be in the future. The time zone is undocumented, so only a date that
// is past everywhere on earth, or that no calendar has, is refused locally.
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
