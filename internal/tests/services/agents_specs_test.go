package services_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

type (
	watcherOf = prospectkit.PeopleWatcher
)

// specBounds holds every documented bound of a spec, at it and outside it.
var specBounds = []struct {
	name string
	spec prospectkit.AgentSpec
	want []string // none: it is sent
}{
	{"blank name", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.ListName = " \t" }), []string{"listName must not be blank"}},
	{"long name", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.ListName = strings.Repeat("n", 300) }), nil},
	{"spend 999", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.MaxCreditSpend = 999 }), []string{"maxCreditSpend is 999, must be 1000 to 200000"}},
	{"spend 1000", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.MaxCreditSpend = 1000 }), nil},
	{"spend 200,000", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.MaxCreditSpend = 200_000 }), nil},
	{"spend 200,001", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.MaxCreditSpend = 200_001 }), []string{"maxCreditSpend is 200001, must be 1000 to 200000"}},
	{"negative spend", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.MaxCreditSpend = -1 }), []string{"maxCreditSpend is -1, must be 1000 to 200000"}},
	{"start without a cap", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Start = true }), []string{startNeedsCap}},
	{"watcher without a cap", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.Start = true }), []string{startNeedsCap}},
	{"discovery without a cap", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Start = true }), []string{startNeedsCap}},
	{"start with a cap", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.Start, s.MaxCreditSpend = true, 1000 }), nil},
	{"start without limit", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Start, s.Unlimited = true, true }), nil},
	{"draft without limit", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Unlimited = true }), nil},
	{"cap and no limit", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.MaxCreditSpend, s.Unlimited = 1000, true }), []string{"maxCreditSpend is given beside Unlimited: choose one"}},

	{"no event", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.EventType = "" }), []string{"eventType is required"}},
	{"odd event", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.EventType = "birthday" }), []string{`eventType is "birthday", must be one of ["social-person-profile-updates" "social-person-post-updates"]`}},
	{"no source", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.ListID = "" }), []string{"listId is required, unless listIds is given"}},
	{"both sources", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.ListIDs = []string{tests.ListID} }), []string{"listId is given beside listIds: choose one"}},
	{"a source and no others", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.ListIDs = []string{} }), []string{"listId is given beside listIds: choose one"}},
	{"no sources", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.ListID, s.ListIDs = "", []string{} }), []string{"listId is required, unless listIds is given"}},
	{"many sources", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.ListID, s.ListIDs = "", slices.Repeat([]string{tests.ListID}, 2000) }), nil},
	{"bad source", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.ListID = "x" }), []string{"listId must be 24 hexadecimal digits"}},
	{"bad sources", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.ListID, s.ListIDs = "", []string{tests.ListID, "x", "y"} }), []string{"listIds must all be 24 hexadecimal digits; index 1 is not"}},
	{"frequency -1", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.Frequency = -1 }), []string{"frequency is -1, must be 1 to 90"}},
	{"frequency 1", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.Frequency = 1 }), nil},
	{"frequency 90", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.Frequency = 90 }), nil},
	{"frequency 91", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.Frequency = 91 }), []string{"frequency is 91, must be 1 to 90"}},

	{"no target", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.EntityType = "" }), []string{"entityType is required"}},
	{"odd target", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.EntityType = "people" }), []string{`entityType is "people", must be one of ["person" "company"]`}},
	{"no prompt", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Prompt = "" }), []string{"prompt has 0 characters, must have 1 to 2000"}},
	{"prompt of 2000", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Prompt = strings.Repeat("é", 2000) }), nil},
	{"prompt of 2001", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Prompt = strings.Repeat("é", 2001) }), []string{"prompt has 2001 characters, must have 1 to 2000"}},
	{"odd period", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.SearchPeriod = "30d" }), []string{`searchPeriod is "30d", must be one of ["1h" "6h" "1d" "7d"]`}},
	{"period", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.SearchPeriod = prospectkit.SearchPeriodSixHours }), nil},
	{"pages -1", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.NumResults = -1 }), []string{"numResults is -1, must be 1 to 100"}},
	{"pages 1", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.NumResults = 1 }), nil},
	{"pages 101", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.NumResults = 101 }), []string{"numResults is 101, must be 1 to 100"}},

	{"no filters", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters = nil }), []string{emptyFilters}},
	{"empty filters", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) {
		s.Filters = prospectkit.Fields{"a": []string{}, "b": nil, "c": map[string]any{"d": []any{nil}}}
	}), []string{"Filters.a" + isEmpty, "Filters.b" + isEmpty, "Filters.c.d[0]" + isEmpty}},
	{"a filter that came out empty", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters["industryField"] = []string{} }), []string{"Filters.industryField is empty, which could mean everything: leave it out if you mean that"}},
	{"a filter that is null", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters["industryField"] = nil }), []string{"Filters.industryField is empty, which could mean everything: leave it out if you mean that"}},
	{"an empty value", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters["industryField"] = []string{"Software", ""} }), []string{"Filters.industryField[1] is empty, which could mean everything: leave it out if you mean that"}},
	{"nested filters", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters = prospectkit.Fields{"a": map[string][]string{"b": {"x"}}} }), nil},
	{"filter that cannot be encoded", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters = prospectkit.Fields{"a": func() {}} }), []string{`body cannot be encoded: field "a": json: unsupported type: func()`}},
	{"extra field of ours", tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Extra = prospectkit.Fields{"searchPeriod": "1d"} }), []string{`body cannot be encoded: field "searchPeriod" is set by the call itself`}},
	{"filter of ours", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Filters = prospectkit.Fields{"start": true} }), []string{`body cannot be encoded: field "start" is set by the call itself`}},
	{"same field twice", tests.Altered(tests.Discovery(), func(s *tests.DiscoveryOf) { s.Extra = prospectkit.Fields{"titleField": 1} }), []string{`body cannot be encoded: field "titleField" is set by the call itself`}},
	{"field without a name", tests.Altered(tests.Watcher(), func(s *watcherOf) { s.Extra = prospectkit.Fields{"": 1} }), []string{"body has a field without a name"}},
}

const (
	startNeedsCap = "maxCreditSpend is required for an agent that starts, unless Unlimited is set"
	emptyFilters  = "Filters must have at least one that is not empty"
	isEmpty       = " is empty, which could mean everything: leave it out if you mean that"
)

func TestSpecs_Bounds(t *testing.T) {
	for _, test := range specBounds {
		t.Run(test.name, func(t *testing.T) {
			if test.want == nil {
				s := tests.Stage(t, tests.RoundTrip(tests.Made))
				_, err := tests.NewClient(t, s).Agents.Create(t.Context(), test.spec)
				require.NoError(t, err)
				s.Done()
				return
			}
			_, err := tests.NewClient(t, tests.Untouched(t)).Agents.Create(t.Context(), test.spec)
			require.Equal(t, test.want, tests.Refusals(t, err))
		})
	}
}

func TestSpecs_AllViolationsAtOnce(t *testing.T) {
	_, err := tests.NewClient(t, tests.Untouched(t)).Agents.Create(t.Context(), prospectkit.WebMonitor{
		Expires: "2020-01-01", MaxCreditSpend: 1, NumResults: 1000, SearchPeriod: "x", Start: true,
	})
	require.Equal(t, []string{
		"listName must not be blank", "expirationDate is 2020-01-01, must be in the future", "maxCreditSpend is 1, must be 1000 to 200000",
		"entityType is required", "prompt has 0 characters, must have 1 to 2000", `searchPeriod is "x", must be one of ["1h" "6h" "1d" "7d"]`,
		"numResults is 1000, must be 1 to 100",
	}, tests.Refusals(t, err))
}

func TestSpecs_ByPointer(t *testing.T) {
	spec := tests.Monitor()
	_, err := tests.NewClient(t, tests.Always(201, tests.AgentJSON("initializing"))).Agents.Create(t.Context(), &spec)
	require.NoError(t, err)
	agents := tests.NewClient(t, tests.Untouched(t)).Agents
	for _, missing := range []prospectkit.AgentSpec{nil, (*prospectkit.WebMonitor)(nil)} {
		_, create := agents.Create(t.Context(), missing)
		_, start := agents.CreateAndStart(t.Context(), missing)
		require.Equal(t, []string{"spec must not be nil"}, tests.Refusals(t, create))
		require.Equal(t, []string{"spec must not be nil"}, tests.Refusals(t, start))
	}
}

func TestExpiration_OnTheWire(t *testing.T) {
	type body struct {
		Expires prospectkit.Expiration `json:"expirationDate,omitzero"`
	}
	for want, expires := range map[string]prospectkit.Expiration{
		`{}`:                              "",
		`{"expirationDate":null}`:         prospectkit.NeverExpires,
		`{"expirationDate":"2027-03-01"}`: "2027-03-01",
		`{"expirationDate":"0999-12-31"}`: "0999-12-31",
	} {
		text, err := json.Marshal(body{expires})
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
	_, err := json.Marshal(prospectkit.Expiration(""))
	require.ErrorContains(t, err, "has to be left out", "null would mean never")
}

// expires creates an agent with an expiration and returns why that was refused locally.
func expires(t *testing.T, e prospectkit.Expiration) []string {
	t.Helper()
	sent := false
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		sent = true
		return tests.Always(201, tests.AgentJSON("initializing"))(r)
	}))
	_, err := client.Agents.Create(t.Context(), tests.Altered(tests.Monitor(), func(s *tests.MonitorOf) { s.Expires = e }))
	if sent {
		require.NoError(t, err)
		return nil
	}
	return tests.Refusals(t, err)
}

func TestExpiration_DatesThatNoCalendarHas(t *testing.T) {
	for _, e := range []prospectkit.Expiration{"2999-02-29", "2999-13-01", "2999-1-1", "10000-05-01", "0000-05-01", "01.03.2999", "2999-03-01T00:00:00Z", "Never", "x\x00"} {
		require.Equal(t, []string{"expirationDate is not a date like 2027-03-01"}, expires(t, e))
	}
	require.Nil(t, expires(t, "2996-02-29"))
	require.Nil(t, expires(t, prospectkit.NeverExpires))
}

// A date is definitely past only once it is past at UTC-12: noon UTC of the day after.
func TestExpiration_PastDates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// The bubble begins at midnight UTC of 2000-01-01, which is noon of 1999-12-31 at UTC-12.
		require.Nil(t, expires(t, "1999-12-31"), "today somewhere: the service decides")
		require.Equal(t, []string{"expirationDate is 1999-12-30, must be in the future"}, expires(t, "1999-12-30"))
		time.Sleep(12*time.Hour - time.Second)
		require.Nil(t, expires(t, "1999-12-31"))
		time.Sleep(time.Second)
		require.Equal(t, []string{"expirationDate is 1999-12-31, must be in the future"}, expires(t, "1999-12-31"))
		require.Nil(t, expires(t, "2000-01-01"))
	})
}
