package services_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func TestAgents_Create(t *testing.T) {
	fields := func(f prospectkit.Fields) prospectkit.Fields { return f }
	for name, spec := range map[string]prospectkit.AgentSpec{
		"agents.create-person-discovery/draft": prospectkit.PersonDiscovery{
			ListName: "Heads of Sales",
			Filters: prospectkit.Fields{
				"locationField": []string{"Germany", "Berlin"},
				"sizeField":     []string{"501-1,000", "10,001+"},
			},
			Extra: fields(prospectkit.Fields{"resultsField": 100}),
		},
		"agents.create-person-discovery/started": prospectkit.PersonDiscovery{
			ListName: "Heads of Sales", Start: true, Expires: "2999-03-01", MaxCreditSpend: 5000,
			Filters: prospectkit.Fields{"titleField": []string{"Head of Sales"}},
		},
		"agents.create-people-watcher/several-lists": prospectkit.PeopleWatcher{
			ListName: "Movers", EventType: prospectkit.WatchProfileUpdates, ListIDs: []string{tests.ListID, "65F0C0FFEE65F0C0FFEE65F2"}, Frequency: 7,
			Expires: prospectkit.NeverExpires, MaxCreditSpend: 1000, Extra: prospectkit.Fields{"phoneField": true},
		},
		"agents.create-web-monitor/minimal": prospectkit.WebMonitor{
			ListName: "Funding", EntityType: prospectkit.MonitorCompanies, Prompt: "raised a seed round in 2027",
		},
		"agents.create-web-monitor/everything": prospectkit.WebMonitor{
			ListName: "Founders", EntityType: prospectkit.MonitorPeople, Prompt: "founded a company in 2027", SearchPeriod: prospectkit.SearchPeriodWeek,
			NumResults: 100, Start: true, Expires: "2999-12-31", MaxCreditSpend: 200_000,
			Extra: prospectkit.Fields{"resultCapField": 40},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := json.Marshal(spec)
			require.NoError(t, err)
			agent, err := tests.Exchange(t, name).Agents.Create(t.Context(), spec)
			require.NoError(t, err)
			kind, _, _ := strings.Cut(strings.TrimPrefix(name, "agents.create-"), "/")
			require.True(t, strings.HasPrefix(string(agent.Type), kind))
			require.Equal(t, tests.AgentID, agent.ID)
			require.True(t, agent.Type.Known())
			require.Equal(t, agent.Started, !agent.Draft())
			require.Equal(t, agent.Name, agent.Raw().Text("name"))
			after, err := json.Marshal(spec)
			require.NoError(t, err)
			require.Equal(t, string(before), string(after), "the caller's values are left alone")
		})
	}
}

func TestAgents_CreateRefusedByTheService(t *testing.T) {
	_, err := tests.Exchange(t, "agents.create-people-watcher/one-list").Agents.Create(t.Context(), prospectkit.PeopleWatcher{
		ListName: "Posts", EventType: prospectkit.WatchPostUpdates, ListID: tests.ListID,
	})
	require.ErrorIs(t, err, prospectkit.CodeAgentSourceListEmpty)
	require.ErrorIs(t, err, prospectkit.ErrInvalid)
	require.Equal(t, "listId", tests.AsError(t, err).Param)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
}

func TestAgents_CreateNeedsAnID(t *testing.T) {
	for _, body := range []string{`{"agent":{"name":"Funding"}}`, `{"agent":[]}`, `{}`, `null`, ``} {
		_, err := tests.NewClient(t, tests.Always(201, body)).Agents.Create(t.Context(), tests.Monitor())
		require.ErrorIs(t, err, prospectkit.ErrResponseLost, body)
	}
}

func TestAgents_Listings(t *testing.T) {
	for _, wrapper := range []string{"agents", "data", "bare"} {
		t.Run(wrapper, func(t *testing.T) {
			page, err := tests.Exchange(t, "agents.list/"+wrapper).Agents.Page(t.Context())
			require.NoError(t, err)
			require.Len(t, page.Items, 3)
			require.Equal(t, 1, page.Number)
			require.Equal(t, 1, page.TotalPages)
			require.Equal(t, 3, page.TotalRecords)
			require.True(t, page.TotalKnown)
			active, legacy, odd := page.Items[0], page.Items[1], page.Items[2]
			require.Equal(t, prospectkit.AgentTypePeopleWatcher, active.Type)
			require.Equal(t, prospectkit.AgentStatusActive, active.Status)
			require.Equal(t, tests.ResultsID, active.ListID)
			require.Equal(t, 12, active.ContactsFound)
			require.True(t, active.Started)
			require.Empty(t, legacy.Type, "a legacy kind reads null")
			require.Equal(t, "Old", legacy.Name)
			require.Empty(t, legacy.ListID)
			require.Equal(t, prospectkit.AgentStatus("hibernating"), odd.Status)
			require.False(t, odd.Status.Known())
			require.False(t, odd.Status.Settled())
			require.Zero(t, odd.ContactsFound, "retyped fields read zero")
			require.Contains(t, string(odd.Raw().Raw()), `"contactsFound": "many"`)

			all, err := prospectkit.Collect(tests.Exchange(t, "agents.list/"+wrapper).Agents.All(t.Context()), 10)
			require.NoError(t, err)
			require.Equal(t, page.Items, all)
		})
	}
}

func TestAgents_ListingsThatShowNoAgents(t *testing.T) {
	for _, body := range []string{`{}`, `{"agents":{}}`, `{"data":null,"pagination":{"totalRecords":7}}`, `"agents"`, `[1]`, `{"agents":[null]}`, `{"agents":[`, `null`} {
		client := tests.NewClient(t, tests.Always(200, body), noRetry)
		_, err := client.Agents.Page(t.Context())
		require.Error(t, err, body)
		require.Equal(t, 200, tests.AsError(t, err).Status, body)
	}
	for _, body := range []string{`{"agents":[]}`, `{"agents":null}`, `{"data":null,"pagination":{}}`, `{"data":null,"pagination":{"totalRecords":0}}`, `[]`, `{"data":[],"pagination":{"pageNum":1,"totalPages":0,"totalRecords":0}}`} {
		page, err := tests.NewClient(t, tests.Always(200, body)).Agents.Page(t.Context())
		require.NoError(t, err, body)
		require.Empty(t, page.Items, body)
	}
}

func TestAgents_AllOverPages(t *testing.T) {
	page := func(items, pagination string) tests.RoundTrip {
		return tests.Always(200, `{"data":[`+items+`],"pagination":{`+pagination+`}}`)
	}
	const one = `{"id":"65f0c0ffee65f0c0ffee6a01","name":"A"}`
	two := page(`{"id":"65f0c0ffee65f0c0ffee6a02","name":"B"}`, `"pageNum":2`)
	s := tests.Stage(t, page(one, `"pageNum":1`), two, page("", `"pageNum":3`)) // totals are those of testListing
	var names []string
	for agent, err := range tests.NewClient(t, s).Agents.All(t.Context()) {
		require.NoError(t, err)
		names = append(names, agent.Name)
	}
	require.Equal(t, []string{"A", "B"}, names)
	require.Equal(t, []string{"GET /agents", "GET /agents?pageNum=2"}, s.Sent[:2])
	s.Done()
	all, err := prospectkit.Collect(tests.NewClient(t, page(one, `"next":"elsewhere"`)).Agents.All(t.Context()), 10)
	require.NoError(t, err)
	require.Len(t, all, 1, "with no page numbers there is nothing to go on with")

	_, err = prospectkit.Collect(tests.NewClient(t, page(one, `"pageNum":1`)).Agents.All(t.Context()), 10)
	require.ErrorContains(t, err, "asked for page 2, got page 1", "the assumed parameter is ignored: an error, not an endless walk")
}

func TestAgents_Get(t *testing.T) {
	agent, err := tests.Exchange(t, "agents.get/wrapped").Agents.Get(t.Context(), tests.AgentID)
	require.NoError(t, err)
	require.Equal(t, prospectkit.AgentStatusActive, agent.Status)
	require.Equal(t, 7, agent.Raw().Int("notInTheDocument.deep"))
	require.False(t, agent.Draft())

	agent, err = tests.Exchange(t, "agents.get/bare").Agents.Get(t.Context(), tests.AgentID)
	require.NoError(t, err)
	require.True(t, agent.Draft())
	require.Empty(t, agent.Type)

	_, err = tests.Exchange(t, "agents.get/missing").Agents.Get(t.Context(), tests.AgentID)
	require.ErrorIs(t, err, prospectkit.CodeAgentNotFound)
	require.ErrorIs(t, err, prospectkit.ErrNotFound)
}

func TestAgents_Adjust(t *testing.T) {
	adjusted, err := tests.Exchange(t, "agents.adjust/draft").Agents.Adjust(t.Context(), tests.AgentID, prospectkit.Fields{
		"maxCreditSpend": 2000, "expirationDate": prospectkit.NeverExpires,
	})
	require.NoError(t, err)
	require.True(t, adjusted.Bool("whatever.came"))

	_, err = tests.Exchange(t, "agents.adjust/processing").Agents.Adjust(t.Context(), tests.AgentID, prospectkit.Fields{"maxCreditSpend": 2000})
	require.ErrorIs(t, err, prospectkit.CodeAgentProcessing)

	_, err = tests.NewClient(t, tests.Untouched(t)).Agents.Adjust(t.Context(), tests.AgentID, prospectkit.Fields{"start": true})
	require.ErrorIs(t, err, prospectkit.ErrInvalid, "neither NoSpend nor a spend guard would have been asked")
	_, err = tests.NewClient(t, tests.Untouched(t)).Agents.Adjust(t.Context(), tests.AgentID, prospectkit.Fields{"maxCreditSpend": 2000}, prospectkit.WithField("Start", true))
	require.ErrorIs(t, err, prospectkit.ErrInvalid, "a field of an option is one, too")
	_, err = tests.NewClient(t, tests.Untouched(t)).Agents.Adjust(t.Context(), tests.AgentID, prospectkit.Fields{"x": prospectkit.Expiration("2027-02-30")})
	require.Equal(t, []string{"expirationDate is not a date like 2027-03-01"}, tests.Refusals(t, err))
}

func TestAgents_Activate(t *testing.T) {
	agent, err := tests.Exchange(t, "agents.activate/agent").Agents.Activate(t.Context(), tests.AgentID)
	require.NoError(t, err)
	require.Equal(t, prospectkit.AgentStatusProcessing, agent.Status)
	require.Equal(t, tests.ResultsID, agent.ListID)

	agent, err = tests.Exchange(t, "agents.activate/nothing").Agents.Activate(t.Context(), tests.AgentID)
	require.NoError(t, err)
	require.Equal(t, &prospectkit.Agent{ID: tests.AgentID}, agent, "all that is known")

	agent, err = tests.Exchange(t, "agents.activate/something-else").Agents.Activate(t.Context(), tests.AgentID)
	require.NoError(t, err)
	require.Equal(t, tests.AgentID, agent.ID)
	require.JSONEq(t, `["queued"]`, string(agent.Raw().Raw()))

	_, err = tests.Exchange(t, "agents.activate/short-of-credits").Agents.Activate(t.Context(), tests.AgentID)
	require.ErrorIs(t, err, prospectkit.CodeInsufficientCredits)
	require.ErrorIs(t, err, prospectkit.ErrInsufficientCredits)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "a failed request never spends")
}

func TestAgents_Pause(t *testing.T) {
	path := "/business/agents/{agentId}/yours"
	at := func(route string) prospectkit.ClientOption {
		return prospectkit.WithRoutes(map[string]string{"agents.pause": route})
	}
	paused, err := tests.Exchange(t, "agents.pause/your-path", at("PUT "+path)).Agents.Pause(t.Context(), tests.AgentID, prospectkit.WithField("yourField", true))
	require.NoError(t, err)
	require.True(t, paused.Bool("ok"))

	_, err = tests.Exchange(t, "agents.pause/draft", at("POST "+path)).Agents.Pause(t.Context(), tests.AgentID)
	require.ErrorIs(t, err, prospectkit.CodeAgentNotRunning)
	var refused *prospectkit.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []string{"POST", path}, []string{refused.Method, refused.Route}, "errors name the caller's route")

	agents := tests.NewClient(t, tests.Untouched(t), at("POST /business/agents/pause")).Agents
	_, err = agents.Pause(t.Context(), tests.AgentID)
	require.Equal(t, []string{"path has 0 parameters, the call has 1 ids"}, tests.Refusals(t, err))
	agents = tests.NewClient(t, tests.Untouched(t), at("POST "+path)).Agents
	_, err = agents.Pause(t.Context(), "short")
	require.Equal(t, []string{"agentId must be 24 hexadecimal digits"}, tests.Refusals(t, err))
	_, err = tests.Unrouted(t).Agents.Pause(t.Context(), tests.AgentID)
	require.Equal(t, []string{"route is undocumented: set it with WithRoutes"}, tests.Refusals(t, err))
}

func TestAgents_Autocomplete(t *testing.T) {
	found, err := tests.Exchange(t, "agents.autocomplete/region").Agents.Autocomplete(t.Context(), prospectkit.AutocompleteRegion,
		prospectkit.WithQuery("yourText", "Ber lin"), prospectkit.WithQuery("more", "B&n"))
	require.NoError(t, err)
	require.Contains(t, string(found.Raw()), "Berlin, Germany")

	s := tests.Stage(t, tests.Times(4, tests.Always(200, `[]`))...)
	client := tests.NewClient(t, s)
	fields := []prospectkit.AutocompleteField{prospectkit.AutocompleteRegion, prospectkit.AutocompleteIndustry, prospectkit.AutocompleteTitle, "later"}
	for i, field := range fields {
		_, err := client.Agents.Autocomplete(t.Context(), field)
		require.NoError(t, err)
		require.Equal(t, "GET /agents/autocomplete?field="+string(field), s.Sent[i])
	}
	_, err = tests.NewClient(t, tests.Untouched(t)).Agents.Autocomplete(t.Context(), "")
	require.Equal(t, []string{"field is required"}, tests.Refusals(t, err))
}

func TestAgents_SafetyModes(t *testing.T) {
	started := tests.Monitor()
	started.Start, started.Unlimited = true, true
	noSpend := tests.NewClient(t, tests.Always(201, tests.AgentJSON("initializing")), prospectkit.NoSpend())
	_, err := noSpend.Agents.Create(t.Context(), tests.Monitor())
	require.NoError(t, err, "a draft is free")

	refused := tests.NewClient(t, tests.Untouched(t), prospectkit.NoSpend())
	_, start := refused.Agents.Create(t.Context(), started)
	_, activate := refused.Agents.Activate(t.Context(), tests.AgentID)
	_, both := refused.Agents.CreateAndStart(t.Context(), started)
	for _, err := range []error{start, activate, both} {
		var rule *prospectkit.RefusedError
		require.ErrorAs(t, err, &rule)
		require.Equal(t, prospectkit.RuleNoSpend, rule.Rule)
	}
	_, err = tests.NewClient(t, tests.Untouched(t), prospectkit.ReadOnly()).Agents.Create(t.Context(), tests.Monitor())
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))

	_, err = tests.NewClient(t, tests.Untouched(t)).Agents.Create(t.Context(), started, prospectkit.AllowRetryUnknown())
	require.Equal(t, []string{tests.NotRepeatable}, tests.Refusals(t, err), "what spends is never repeated")
	_, err = tests.NewClient(t, tests.Always(201, tests.AgentJSON("initializing"))).Agents.Create(t.Context(), tests.Monitor(), prospectkit.AllowRetryUnknown())
	require.NoError(t, err)
}

func TestAgents_Rows(t *testing.T) {
	rows := `{"entityType":"contactList","data":[{"id":"65f0c0ffee65f0c0ffee7001","firstName":"Ada"}],"pagination":{"pageNum":1,"totalPages":1}}`
	s := tests.Stage(t, tests.Sees("active"), tests.Always(200, rows), tests.Sees("active"), tests.Always(200, rows))
	seq := tests.NewClient(t, s).Agents.Rows(t.Context(), tests.AgentID, prospectkit.RowsParams{Limit: 10}, noRetry)
	require.Empty(t, s.Sent, "nothing before the first range")
	for range 2 {
		for row, err := range seq {
			require.NoError(t, err)
			require.Equal(t, "Ada", row.Text("firstName"))
			break
		}
	}
	require.Equal(t, []string{"GET /agents/" + tests.AgentID, "GET /lists/" + tests.ResultsID + "/rows?limit=10&pageNum=1"}, s.Sent[:2])
	s.Done()

	draft := tests.Always(200, `{"agent":{"id":"`+tests.AgentID+`","status":"initializing","listId":null}}`)
	_, err := prospectkit.Collect(tests.NewClient(t, draft).Agents.Rows(t.Context(), tests.AgentID, prospectkit.RowsParams{}), 1)
	require.ErrorIs(t, err, prospectkit.ErrNotStarted)
	require.ErrorIs(t, err, prospectkit.ErrConflict)
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
	require.Equal(t, tests.NoWait, tests.Waits(err))

	listless := tests.Always(200, `{"agent":{"status":"active"}}`)
	_, err = prospectkit.Collect(tests.NewClient(t, listless).Agents.Rows(t.Context(), tests.AgentID, prospectkit.RowsParams{}), 1)
	require.ErrorContains(t, err, "the agent has no listId")
	require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
}

func TestAgents_KnownWords(t *testing.T) {
	for _, status := range []prospectkit.AgentStatus{"initializing", "processing", "active", "paused", "expired", "failed"} {
		require.True(t, status.Known(), status)
		require.Equal(t, status != "initializing" && status != "processing", status.Settled(), status)
	}
	for _, kind := range []prospectkit.AgentType{"person-discovery-via-filters", "people-watcher", "web-monitor"} {
		require.True(t, kind.Known(), kind)
	}
	require.False(t, prospectkit.AgentStatus("").Known())
	require.False(t, prospectkit.AgentType("").Known())
}
