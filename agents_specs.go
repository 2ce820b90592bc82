package prospectkit

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/spend"
)

// AgentSpec is a [PersonDiscovery], a [PeopleWatcher] or a [WebMonitor]. ListName must differ from the name of every list and agent.
// MaxCreditSpend bounds one run, not their number. WorstCase forecasts the credits of a number of days, or fails with
// [spend.ErrUnknownPrice].
type AgentSpec interface {
	WorstCase(days int) (credits int64, err error)

	spec() agentSpec
	draft() AgentSpec // the same without Start
}

// AgentType is the kind of an agent.
type AgentType string

// The kinds of agents. A legacy kind reads as empty.
const (
	AgentTypePersonDiscovery AgentType = "person-discovery-via-filters"
	AgentTypePeopleWatcher   AgentType = "people-watcher"
	AgentTypeWebMonitor      AgentType = "web-monitor"
)

// Known reports whether it is documented.
func (t AgentType) Known() bool {
	return t == AgentTypePersonDiscovery || t == AgentTypePeopleWatcher || t == AgentTypeWebMonitor
}

// agentSpec is the common form of the three kinds.
type agentSpec struct {
	op   *op.Op
	kind AgentType
	body any // the spec itself

	// The fields that all kinds have.
	name      string
	start     bool
	expires   Expiration
	spend     int
	unlimited bool

	raw      []Fields // fields beside the typed ones
	own      func(*check.Violations)
	every    int    // days between runs; 0: undocumented
	defaults Fields // documented, of its own fields
}

// cost is what is known of the cost of the agent, once it starts.
func (s agentSpec) cost() *spend.Agent {
	a := &spend.Agent{Op: s.op.Name, PerRun: int64(s.spend), Every: s.every, Until: time.Now().AddDate(0, 0, 31)}
	if date, err := time.Parse(time.DateOnly, string(s.expires)); err == nil {
		a.Until = date.Add(36 * time.Hour) // it ends everywhere on earth
	} else if s.expires == NeverExpires {
		a.Until = time.Time{}
	}
	return a
}

// check refuses values outside of documented bounds. An agent that starts needs a cap or Unlimited.
func (s agentSpec) check(bad *check.Violations, starts bool) {
	// That white space counts as blank is assumed: lists trim their names.
	bad.Must(strings.TrimSpace(s.name) != "", "listName", "must not be blank")
	s.expires.check(bad)
	bad.Between("maxCreditSpend", s.spend, 1000, 200_000) // of one run
	switch {
	case s.unlimited && s.spend != 0:
		bad.Add("maxCreditSpend", "is given beside Unlimited: choose one")
	case starts && !s.unlimited && s.spend == 0:
		bad.Add("maxCreditSpend", "is required for an agent that starts, unless Unlimited is set")
	}
	s.own(bad)
}

// PersonDiscovery is an agent that delivers people who match filters: location, industry, current and past employer and job title, employer
// size, and headquarters country. Their field names are undocumented: ask the owner of the service. The sandbox takes any (assumed: rule
// agents.filters). The result caps, in fifties, and the two enrichment flags, also undocumented, go into Extra.
//
// The service does not check the values: see [AgentsService.CheckValues]. Employer sizes, with the commas, are
//
//	1-10  11-50  51-200  201-500  501-1,000  1,001-5,000  5,001-10,000  10,001+
type PersonDiscovery struct {
	ListName       string     `json:"listName"` // of the agent and its results list
	Start          bool       `json:"start"`    // spends credits at once; default: a draft
	Expires        Expiration `json:"expirationDate,omitzero"`
	MaxCreditSpend int        `json:"maxCreditSpend,omitzero"` // credits per run, 1000 to 200,000
	Unlimited      bool       `json:"-"`                       // without MaxCreditSpend
	Filters        Fields     `json:"-"`                       // at least one; arrays of strings, OR-ed
	Extra          Fields     `json:"-"`
}

// WorstCase fails with [spend.ErrUnknownPrice]: how often it runs is undocumented.
func (p PersonDiscovery) WorstCase(days int) (int64, error) { return p.spec().cost().WorstCase(days) }

func (p PersonDiscovery) draft() AgentSpec { p.Start = false; return p }

func (p PersonDiscovery) spec() agentSpec {
	return agentSpec{
		op: op.AgentsCreateDiscovery, kind: AgentTypePersonDiscovery, body: p,
		name: p.ListName, start: p.Start, expires: p.Expires, spend: p.MaxCreditSpend, unlimited: p.Unlimited,
		raw: []Fields{p.Filters, p.Extra},
		own: func(bad *check.Violations) {
			if len(p.Filters) == 0 {
				bad.Add("Filters", "must have at least one that is not empty")
				return
			}
			bad.NotEmpty("Filters", p.Filters)
		},
	}
}

// WatchEvent is a change that a [PeopleWatcher] reports.
type WatchEvent string

// The events.
const (
	WatchProfileUpdates WatchEvent = "social-person-profile-updates"
	WatchPostUpdates    WatchEvent = "social-person-post-updates"
)

// PeopleWatcher is an agent that watches the people of lists for a change. Every contact is billed at the start, and again every Frequency
// days.
type PeopleWatcher struct {
	ListName       string     `json:"listName"` // not of a source list
	EventType      WatchEvent `json:"eventType"`
	ListID         string     `json:"listId,omitzero"`    // the source list
	ListIDs        []string   `json:"listIds,omitempty"`  // or several; each person once
	Frequency      int        `json:"frequency,omitzero"` // days between checks, 1 to 90; default 1
	Start          bool       `json:"start"`              // spends credits at once; default: a draft
	Expires        Expiration `json:"expirationDate,omitzero"`
	MaxCreditSpend int        `json:"maxCreditSpend,omitzero"` // credits per run, 1000 to 200,000
	Unlimited      bool       `json:"-"`                       // without MaxCreditSpend
	Extra          Fields     `json:"-"`
}

// WorstCase returns the most credits of a number of days: MaxCreditSpend, which it needs, at the start and every Frequency days.
func (p PeopleWatcher) WorstCase(days int) (int64, error) { return p.spec().cost().WorstCase(days) }

func (p PeopleWatcher) draft() AgentSpec { p.Start = false; return p }

func (p PeopleWatcher) spec() agentSpec {
	return agentSpec{
		op: op.AgentsCreateWatcher, kind: AgentTypePeopleWatcher, body: p,
		name: p.ListName, start: p.Start, expires: p.Expires, spend: p.MaxCreditSpend, unlimited: p.Unlimited,
		raw: []Fields{p.Extra}, own: p.checkSources, every: cmp.Or(p.Frequency, 1), defaults: Fields{"frequency": 1},
	}
}

func (p PeopleWatcher) checkSources(bad *check.Violations) {
	check.Required(bad, "eventType", p.EventType, WatchProfileUpdates, WatchPostUpdates)
	switch {
	case p.ListID != "" && p.ListIDs != nil:
		bad.Add("listId", "is given beside listIds: choose one")
	case p.ListID == "" && len(p.ListIDs) == 0:
		bad.Add("listId", "is required, unless listIds is given")
	}
	bad.OptionalID("listId", p.ListID)
	bad.IDs("listIds", p.ListIDs)
	bad.Between("frequency", p.Frequency, 1, 90)
}

// MonitorTarget is the kind of result of a [WebMonitor].
type MonitorTarget string

// The targets.
const (
	MonitorPeople    MonitorTarget = "person"
	MonitorCompanies MonitorTarget = "company"
)

// SearchPeriod is the time between two searches of a [WebMonitor], or that each looks back over: which is undocumented.
type SearchPeriod string

// The periods.
const (
	SearchPeriodHour     SearchPeriod = "1h"
	SearchPeriodSixHours SearchPeriod = "6h"
	SearchPeriodDay      SearchPeriod = "1d"
	SearchPeriodWeek     SearchPeriod = "7d"
)

// WebMonitor is an agent that searches the web by a prompt, and delivers people or companies, for 50 credits each. A cap of n results,
// undocumented, goes into Extra.
type WebMonitor struct {
	ListName       string        `json:"listName"` // of the agent and its results list
	EntityType     MonitorTarget `json:"entityType"`
	Prompt         string        `json:"prompt"`                // 1 to 2000 characters; naming the year helps
	SearchPeriod   SearchPeriod  `json:"searchPeriod,omitzero"` // default: a day
	NumResults     int           `json:"numResults,omitzero"`   // web pages read per run, 1 to 100; default 10
	Start          bool          `json:"start"`                 // spends credits at once; default: a draft
	Expires        Expiration    `json:"expirationDate,omitzero"`
	MaxCreditSpend int           `json:"maxCreditSpend,omitzero"` // credits per run, 1000 to 200,000
	Unlimited      bool          `json:"-"`                       // without MaxCreditSpend
	Extra          Fields        `json:"-"`
}

// WorstCase fails with [spend.ErrUnknownPrice]: how often it runs is undocumented.
func (p WebMonitor) WorstCase(days int) (int64, error) { return p.spec().cost().WorstCase(days) }

func (p WebMonitor) draft() AgentSpec { p.Start = false; return p }

func (p WebMonitor) spec() agentSpec {
	return agentSpec{
		op: op.AgentsCreateMonitor, kind: AgentTypeWebMonitor, body: p,
		name: p.ListName, start: p.Start, expires: p.Expires, spend: p.MaxCreditSpend, unlimited: p.Unlimited,
		raw: []Fields{p.Extra}, own: p.checkSearch, defaults: Fields{"numResults": 10, "searchPeriod": SearchPeriodDay},
	}
}

func (p WebMonitor) checkSearch(bad *check.Violations) {
	check.Required(bad, "entityType", p.EntityType, MonitorPeople, MonitorCompanies)
	bad.Length("prompt", p.Prompt, 1, 2000)
	check.OneOf(bad, "searchPeriod", p.SearchPeriod,
		SearchPeriodHour, SearchPeriodSixHours, SearchPeriodDay, SearchPeriodWeek)
	bad.Between("numResults", p.NumResults, 1, 100)
}

// Expiration is the date on which an agent stops, as in "2027-03-01", in an undocumented time zone, or [NeverExpires]. Empty means one month
// after creation.
type Expiration string

// NeverExpires lets an agent run until it is paused or deleted.
const NeverExpires Expiration = "never"

// MarshalJSON returns the date, or null for never. It fails for an empty one, which must be left out.
func (e Expiration) MarshalJSON() ([]byte, error) {
	switch e {
	case NeverExpires:
		return []byte("null"), nil
	case "":
		return nil, errors.New("an expiration that was not set has to be left out")
	}
	return json.Marshal(string(e))
}

func (e Expiration) check(bad *check.Violations) {
	if e != "" && e != NeverExpires {
		bad.Date("expirationDate", string(e))
	}
}
