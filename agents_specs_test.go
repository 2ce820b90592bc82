package prospectkit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// altered changes a copy of a spec.
func altered[T any](spec T, change func(*T)) T {
	change(&spec)
	return spec
}

type (
	monitorOf   = prospectkit.WebMonitor
	watcherOf   = prospectkit.PeopleWatcher
	discoveryOf = prospectkit.PersonDiscovery
)

// specBounds holds every documented bound of a spec, at it and outside it.
var specBounds = []struct {
	name string
	spec prospectkit.AgentSpec
	want []string // none: it is sent
}{
	{"blank name", altered(monitor(), func(s *monitorOf) { s.ListName = " \t" }), []string{"listName must not be blank"}},
	{"long name", altered(watcher(), func(s *watcherOf) { s.ListName = strings.Repeat("n", 300) }), nil},
	{"spend 999", altered(monitor(), func(s *monitorOf) { s.MaxCreditSpend = 999 }), []string{"maxCreditSpend is 999, must be 1000 to 200000"}},
	{"spend 1000", altered(monitor(), func(s *monitorOf) { s.MaxCreditSpend = 1000 }), nil},
	{"spend 200,000", altered(discovery(), func(s *discoveryOf) { s.MaxCreditSpend = 200_000 }), nil},
	{"spend 200,001", altered(discovery(), func(s *discoveryOf) { s.MaxCreditSpend = 200_001 }), []string{"maxCreditSpend is 200001, must be 1000 to 200000"}},
	{"negative spend", altered(watcher(), func(s *watcherOf) { s.MaxCreditSpend = -1 }), []string{"maxCreditSpend is -1, must be 1000 to 200000"}},
	{"start without a cap", altered(monitor(), func(s *monitorOf) { s.Start = true }), []string{startNeedsCap}},
	{"watcher without a cap", altered(watcher(), func(s *watcherOf) { s.Start = true }), []string{startNeedsCap}},
	{"discovery without a cap", altered(discovery(), func(s *discoveryOf) { s.Start = true }), []string{startNeedsCap}},
	{"start with a cap", altered(watcher(), func(s *watcherOf) { s.Start, s.MaxCreditSpend = true, 1000 }), nil},
	{"start without limit", altered(discovery(), func(s *discoveryOf) { s.Start, s.Unlimited = true, true }), nil},
	{"draft without limit", altered(monitor(), func(s *monitorOf) { s.Unlimited = true }), nil},
	{"cap and no limit", altered(watcher(), func(s *watcherOf) { s.MaxCreditSpend, s.Unlimited = 1000, true }), []string{"maxCreditSpend is given beside Unlimited: choose one"}},

	{"no event", altered(watcher(), func(s *watcherOf) { s.EventType = "" }), []string{"eventType is required"}},
	{"odd event", altered(watcher(), func(s *watcherOf) { s.EventType = "birthday" }), []string{`eventType is "birthday", must be one of ["social-person-profile-updates" "social-person-post-updates"]`}},
	{"no source", altered(watcher(), func(s *watcherOf) { s.ListID = "" }), []string{"listId is required, unless listIds is given"}},
	{"both sources", altered(watcher(), func(s *watcherOf) { s.ListIDs = []string{listID} }), []string{"listId is given beside listIds: choose one"}},
	{"a source and no others", altered(watcher(), func(s *watcherOf) { s.ListIDs = []string{} }), []string{"listId is given beside listIds: choose one"}},
	{"no sources", altered(watcher(), func(s *watcherOf) { s.ListID, s.ListIDs = "", []string{} }), []string{"listId is required, unless listIds is given"}},
	{"many sources", altered(watcher(), func(s *watcherOf) { s.ListID, s.ListIDs = "", slices.Repeat([]string{listID}, 2000) }), nil},
	{"bad source", altered(watcher(), func(s *watcherOf) { s.ListID = "x" }), []string{"listId must be 24 hexadecimal digits"}},
	{"bad sources", altered(watcher(), func(s *watcherOf) { s.ListID, s.ListIDs = "", []string{listID, "x", "y"} }), []string{"listIds must all be 24 hexadecimal digits; index 1 is not"}},
	{"frequency -1", altered(watcher(), func(s *watcherOf) { s.Frequency = -1 }), []string{"frequency is -1, must be 1 to 90"}},
	{"frequency 1", altered(watcher(), func(s *watcherOf) { s.Frequency = 1 }), nil},
	{"frequency 90", altered(watcher(), func(s *watcherOf) { s.Frequency = 90 }), nil},
	{"frequency 91", altered(watcher(), func(s *watcherOf) { s.Frequency = 91 }), []string{"frequency is 91, must be 1 to 90"}},

	{"no target", altered(monitor(), func(s *monitorOf) { s.EntityType = "" }), []string{"entityType is required"}},
	{"odd target", altered(monitor(), func(s *monitorOf) { s.EntityType = "people" }), []string{`entityType is "people", must be one of ["person" "company"]`}},
	{"no prompt", altered(monitor(), func(s *monitorOf) { s.Prompt = "" }), []string{"prompt has 0 characters, must have 1 to 2000"}},
	{"prompt of 2000", altered(monitor(), func(s *monitorOf) { s.Prompt = strings.Repeat("é", 2000) }), nil},
	{"prompt of 2001", altered(monitor(), func(s *monitorOf) { s.Prompt = strings.Repeat("é", 2001) }), []string{"prompt has 2001 characters, must have 1 to 2000"}},
	{"odd period", altered(monitor(), func(s *monitorOf) { s.SearchPeriod = "30d" }), []string{`searchPeriod is "30d", must be one of ["1h" "6h" "1d" "7d"]`}},
	{"period", altered(monitor(), func(s *monitorOf) { s.SearchPeriod = prospectkit.SearchPeriodSixHours }), nil},
	{"pages -1", altered(monitor(), func(s *monitorOf) { s.NumResults = -1 }), []string{"numResults is -1, must be 1 to 100"}},
	{"pages 1", altered(monitor(), func(s *monitorOf) { s.NumResults = 1 }), nil},
	{"pages 101", altered(monitor(), func(s *monitorOf) { s.NumResults = 101 }), []string{"numResults is 101, must be 1 to 100"}},

	{"no filters", altered(discovery(), func(s *discoveryOf) { s.Filters = nil }), []string{emptyFilters}},
	{"empty filters", altered(discovery(), func(s *discoveryOf) {
		s.Filters = prospectkit.Fields{"a": []string{}, "b": nil, "c": map[string]any{"d": []any{nil}}}
	}), []string{emptyFilters}},
	{"a filter that came out empty", altered(discovery(), func(s *discoveryOf) { s.Filters["industryField"] = []string{} }), []string{"Filters.industryField is empty, which could mean everything: leave it out if you mean that"}},
	{"a filter that is null", altered(discovery(), func(s *discoveryOf) { s.Filters["industryField"] = nil }), []string{"Filters.industryField is empty, which could mean everything: leave it out if you mean that"}},
	{"an empty value", altered(discovery(), func(s *discoveryOf) { s.Filters["industryField"] = []string{"Software", ""} }), []string{"Filters must not hold an empty value"}},
	{"nested filters", altered(discovery(), func(s *discoveryOf) { s.Filters = prospectkit.Fields{"a": map[string][]string{"b": {"x"}}} }), nil},
	{"filter that cannot be encoded", altered(discovery(), func(s *discoveryOf) { s.Filters = prospectkit.Fields{"a": func() {}} }), []string{`body cannot be encoded: field "a": json: unsupported type: func()`}},
	{"extra field of ours", altered(monitor(), func(s *monitorOf) { s.Extra = prospectkit.Fields{"searchPeriod": "1d"} }), []string{`body cannot be encoded: field "searchPeriod" is set by the call itself`}},
	{"filter of ours", altered(discovery(), func(s *discoveryOf) { s.Filters = prospectkit.Fields{"start": true} }), []string{`body cannot be encoded: field "start" is set by the call itself`}},
	{"same field twice", altered(discovery(), func(s *discoveryOf) { s.Extra = prospectkit.Fields{"titleField": 1} }), []string{`body cannot be encoded: field "titleField" is set by the call itself`}},
	{"field without a name", altered(watcher(), func(s *watcherOf) { s.Extra = prospectkit.Fields{"": 1} }), []string{"body has a field without a name"}},
}

const (
	startNeedsCap = "maxCreditSpend is required for an agent that starts, unless Unlimited is set"
	emptyFilters  = "Filters must have at least one that is not empty"
)

func TestSpecs_Bounds(t *testing.T) {
	for _, test := range specBounds {
		t.Run(test.name, func(t *testing.T) {
			if test.want == nil {
				s := stage(t, always(201, agentJSON("initializing")))
				_, err := newClient(t, s).Agents.Create(t.Context(), test.spec)
				require.NoError(t, err)
				s.done()
				return
			}
			_, err := newClient(t, untouched(t)).Agents.Create(t.Context(), test.spec)
			require.Equal(t, test.want, refusals(t, err))
		})
	}
}

func TestSpecs_AllViolationsAtOnce(t *testing.T) {
	_, err := newClient(t, untouched(t)).Agents.Create(t.Context(), prospectkit.WebMonitor{
		Expires: prospectkit.ExpiresOn(2020, time.January, 1), MaxCreditSpend: 1, NumResults: 1000, SearchPeriod: "x", Start: true,
	})
	require.Equal(t, []string{
		"listName must not be blank", "expirationDate is 2020-01-01, must be in the future", "maxCreditSpend is 1, must be 1000 to 200000",
		"entityType is required", "prompt has 0 characters, must have 1 to 2000", `searchPeriod is "x", must be one of ["1h" "6h" "1d" "7d"]`,
		"numResults is 1000, must be 1 to 100",
	}, refusals(t, err))
}

func TestSpecs_ByPointer(t *testing.T) {
	spec := monitor()
	_, err := newClient(t, always(201, agentJSON("initializing"))).Agents.Create(t.Context(), &spec)
	require.NoError(t, err)
	agents := newClient(t, untouched(t)).Agents
	for _, missing := range []prospectkit.AgentSpec{nil, (*prospectkit.WebMonitor)(nil)} {
		_, create := agents.Create(t.Context(), missing)
		_, start := agents.CreateAndStart(t.Context(), missing)
		require.Equal(t, []string{"spec must not be nil"}, refusals(t, create))
		require.Equal(t, []string{"spec must not be nil"}, refusals(t, start))
	}
}
