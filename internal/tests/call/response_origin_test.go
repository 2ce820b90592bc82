package call_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/journal"
	"example.com/prospectkit/sandbox"
)

// stripping drops the rate headers while it is on, as some proxies do.
type stripping struct {
	base http.RoundTripper
	on   bool
}

func (s *stripping) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.base.RoundTrip(r)
	if resp != nil && s.on {
		resp.Header = resp.Header.Clone()
		for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
			resp.Header.Del(name)
		}
	}
	return resp, err
}

// throughStripping is a sandbox with all that everyCall speaks of, and a client behind a proxy that drops the rate headers.
func throughStripping(t *testing.T) (*prospectkit.Client, *stripping) {
	t.Helper()
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	sb := tests.EverySandbox(t, begin, sandbox.WithClock(sandbox.NewManualClock(begin)))
	proxy := &stripping{sb.Transport(), true}
	client, err := prospectkit.New(sb.BaseURL(), sb.Token(), tests.Routes(), prospectkit.WithTransport(proxy), tests.OneAttempt)
	require.NoError(t, err)
	return client, proxy
}

// shown reports whether the response of an operation shows that it is the service's: something of it is documented, or it names the agent.
func shown(row *op.Op) bool {
	return row == op.AgentsAdjust || row.Shape != op.Raw && !row.RawResponse
}

// A proxy may turn an error into a success and keep the rate headers. Then an error in a response of an
// undocumented shape leaves the outcome unknown.
func TestDecode_ErrorsWithRateHeaders(t *testing.T) {
	tests.EachOperation(t, func(t *testing.T, row *op.Op, call tests.AnyCall) {
		if row.Class == op.Read {
			return
		}
		for _, body := range []string{`{"error":"down"}`, `{"error":{"reason":"down"}}`, `{"ok":true,"error":1}`} {
			_, err := call(t.Context(), tests.NewClient(t, tests.Always(200, body), tests.OneAttempt))
			tests.RequireUnknown(t, err)
		}
		if row.Shape != op.Raw {
			return
		}
		for _, body := range []string{`{"error":null}`, `{"error":false,"id":7}`, `{"error":""}`, `{"rows":[{"error":"empty"}]}`, ``} {
			_, err := call(t.Context(), tests.NewClient(t, tests.Always(200, body), tests.OneAttempt))
			if len(body) > 0 || row.Write() {
				require.NoError(t, err, body)
			}
		}
	})
}

// Without the rate headers, a response proves itself, or belongs to a read that costs nothing, or
// the client has learnt that the headers are dropped on the way. Else the error names the remedy.
func TestDecode_SuccessesWithoutRateHeaders(t *testing.T) {
	tests.EachOperation(t, func(t *testing.T, row *op.Op, call tests.AnyCall) {
		client, _ := throughStripping(t)
		_, err := call(t.Context(), client)
		switch {
		case row.Class == op.Read || shown(row):
			require.NoError(t, err)
		default:
			tests.RequireUnknown(t, err)
			require.ErrorContains(t, err, "make Account.Me the first call of the client")
		}

		client, _ = throughStripping(t)
		_, err = client.Account.Me(t.Context()) // which proves itself
		require.NoError(t, err)
		derived := tests.Derived(t, client, prospectkit.Batch())
		_, err = call(t.Context(), derived)
		require.NoError(t, err, "the client has learnt that the headers are dropped")
	})
}

// A program that begins with Recover has learnt it before its first write.
func TestDecode_RecoverLearnsThatHeadersAreDropped(t *testing.T) {
	for _, recovers := range []bool{false, true} {
		client, proxy := throughStripping(t)
		client = tests.Derived(t, client, prospectkit.WithJournal(new(journal.MemoryJournal)))
		if recovers {
			require.NoError(t, tests.Discard(client.Recover(t.Context())))
		}
		_, err := tests.EveryCall["lists.add-contacts"](t.Context(), client)
		require.Equal(t, recovers, err == nil, err)
		if recovers {
			continue
		}
		tests.RequireUnknown(t, err)
		proxy.on = false
		require.NoError(t, tests.Discard(tests.EveryCall["lists.add-contacts"](t.Context(), client)), "its own headers")
	}
}

// Once a success with the headers was seen, one without is another server's, unless it proves itself.
func TestDecode_SuccessesThatLackWhatOthersHad(t *testing.T) {
	tests.EachOperation(t, func(t *testing.T, row *op.Op, call tests.AnyCall) {
		client, proxy := throughStripping(t)
		for _, proxy.on = range []bool{true, false} {
			require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
		}
		proxy.on = true
		_, err := call(t.Context(), client)
		switch {
		case row == op.AccountCredits: // of the same surface as the call before
		case row.Class == op.Read || shown(row):
			require.NoError(t, err, "nothing was seen on this surface")
		default:
			tests.RequireUnknown(t, err)
		}
		if row.Class != op.Read {
			return
		}
		proxy.on = false
		require.NoError(t, tests.Discard(call(t.Context(), client)))
		proxy.on = true
		if _, err = call(t.Context(), client); row.Shape != op.Raw {
			require.NoError(t, err)
			return
		}
		strange := tests.AsError(t, err)
		require.Equal(t, 200, strange.Status)
		require.NotEmpty(t, strange.Body)
		require.ErrorContains(t, err, "the 2xx response may not be the service's")
	})
}

// A 2xx of another server is a success of no call, unless it is the read of something whose shape nobody knows.
func TestDecode_OtherServersNeverSucceed(t *testing.T) {
	tests.EachOperation(t, func(t *testing.T, row *op.Op, call tests.AnyCall) {
		for name, tc := range map[string]struct {
			status            int
			body, contentType string
			harmless          bool // for a raw read
		}{
			"nothing":                {200, "", "application/json", false},
			"no content":             {204, "", "", false},
			"a space":                {202, " ", "text/html", false},
			"a page":                 {200, tests.HTML, tests.HTMLType, false},
			"a word":                 {200, `"OK"`, "application/json", false},
			"null":                   {200, `null`, "application/json", false},
			"a status":               {200, `{"status":"unavailable"}`, "application/json", true},
			"an empty object":        {200, `{}`, "application/json", true},
			"an empty array":         {200, `[]`, "application/json", true},
			"an error":               {200, `{"error":"unavailable"}`, "application/json", false},
			"a gateway's envelope":   {200, tests.GatewayError, "application/json", false},
			"the service's envelope": {200, tests.Envelope("LIST_NOT_FOUND"), "application/json", false},
			"no data":                {200, `{"data":[]}`, "application/json", true},
			"somebody else's object": {200, `{"id":"0","name":"0","campaignId":"0","crm":"0","stepId":"0","listIds":[]}`, "application/json", true},
			"the same, wrapped":      {200, `{"list":{"id":"0","name":"0"},"agent":{"name":"0"},"fact":{"id":"0"}}`, "application/json", true},
		} {
			client := tests.NewClient(t, tests.Always(tc.status, tc.body, append([]string{"Content-Type", tc.contentType}, tests.Bare...)...),
				tests.OneAttempt)
			_, err := call(t.Context(), client)
			switch {
			case row.Class != op.Read:
				tests.RequireUnknown(t, err)
			case row.Shape == op.Raw && tc.harmless:
				require.NoError(t, err, name)
			case row.Shape == op.Partial && tc.harmless: // of which little is shown: an id, or an array
			default:
				require.Error(t, err, name)
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), name)
			}
		}
	})
}

// Where a proxy begins to drop the headers, a response that proves itself makes reads pass again.
// The outcome of what changes or costs something stays unknown.
func TestDecode_HeadersThatAreDroppedLater(t *testing.T) {
	client, proxy := throughStripping(t)
	for _, proxy.on = range []bool{false, true} {
		_, err := client.Account.Credits(t.Context())
		require.Equal(t, proxy.on, err != nil)
		_, err = client.Search.FilterOptions(t.Context())
		require.Equal(t, proxy.on, err != nil)
	}
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	require.NoError(t, tests.Discard(client.Account.Credits(t.Context())))
	require.NoError(t, tests.Discard(client.Search.FilterOptions(t.Context())), "of another surface")
	_, err := tests.EveryCall["lists.add-contacts"](t.Context(), client)
	tests.RequireUnknown(t, err)

	proxy.on = false
	require.NoError(t, tests.Discard(client.Account.Credits(t.Context())))
	proxy.on = true
	_, err = client.Account.Credits(t.Context())
	require.ErrorContains(t, err, "the 2xx response may not be the service's")
}

// An error that repeats what was sent is a success of no call that changes or costs something; an
// envelope is none even with the headers.
func TestDecode_ErrorsThatRepeatWhatWasSent(t *testing.T) {
	const sent = `"id":"` + tests.DraftID + `","list":{"id":"` + tests.ListID + `","name":"Q1"},"agent":{"id":"` + tests.DraftID + `","name":"Heads"},` +
		`"campaignId":"` + tests.CampaignID + `","stepId":"` + tests.StepID + `","crm":"crm-1","listIds":[],"fact":{"id":"` + tests.FactID + `"},"profiles":[]`
	for fault, headers := range map[string][]string{
		`"unavailable"`:                   tests.Bare,
		`{"message":"unavailable"}`:       tests.Bare,
		`{"code":"GATEWAY"}`:              nil,
		`{"code":"UPSTREAM_UNAVAILABLE"}`: tests.Bare,
	} {
		for name := range tests.EveryCall {
			if row, _ := op.ByName(name); row.Class == op.Read || !shown(row) {
				continue
			}
			body := `{"error":` + fault + `,` + sent + `}`
			_, err := tests.EveryCall[name](t.Context(), tests.NewClient(t, tests.Always(200, body, headers...), tests.OneAttempt))
			tests.RequireUnknown(t, err)
			seen := tests.AsError(t, err)
			require.Equal(t, body, seen.Body, "one can see who has responded")
		}
	}
}

// A client that has learnt that the headers are dropped still believes no error page.
func TestDecode_OtherServersBehindAProxyThatDropsHeaders(t *testing.T) {
	for _, tc := range [][2]string{
		{"", "application/json"},
		{" ", "application/json"},
		{tests.HTML, tests.HTMLType},
		{`{"ok":true}`, tests.HTMLType},
		{`{"error":"down"}`, "application/json"},
		{tests.GatewayError, "application/json"},
		{"null", "application/json"},
		{`"OK"`, "application/json"},
		{`{"ok":`, "application/json"},
	} {
		answers := []tests.RoundTrip{
			tests.Always(200, tests.OneUser, tests.Bare...),
			tests.Always(200, tc[0], append([]string{"Content-Type", tc[1]}, tests.Bare...)...),
			tests.Always(200, `{"ok":true,"error":null}`, append([]string{"Content-Type", "Application/JSON; charset=utf-8"}, tests.Bare...)...),
		}
		rt := tests.Stage(t, answers...)
		client := tests.NewClient(t, rt, tests.OneAttempt)
		require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
		_, err := client.Lists.AddContacts(t.Context(), tests.ListID, prospectkit.Fields{"contacts": "x"})
		tests.RequireUnknown(t, err)
		_, err = client.Lists.AddContacts(t.Context(), tests.ListID, prospectkit.Fields{"contacts": "x"})
		require.NoError(t, err, "the service's")
	}
}

// What passes for a read teaches nothing if an error page may look like it: an id of anything, an array of anything.
func TestDecode_OtherServersTeachNothing(t *testing.T) {
	for _, tc := range [][2]string{
		{"lists.get", `{"id":"gw-1","message":"unavailable"}`},
		{"lists.get", `{"list":{"id":"gw-1"}}`},
		{"lists.rows", `{"data":[{"message":"unavailable"}]}`},
		{"agents.get", `{"id":"gw-1","message":"unavailable"}`},
		{"agents.list", `{"agents":[{"message":"unavailable"}]}`},
		{"agents.list", `[{"message":"unavailable"}]`},
		{"agents.list", `{"data":[]}`},
		{"search.prospects", `{"profiles":[]}`},
		{"agents.activate", `{"id":"` + tests.DraftID + `"}`},
	} {
		client := tests.NewClient(t, tests.Always(200, tc[1], append([]string{"Content-Type", "application/json"}, tests.Bare...)...), tests.OneAttempt)
		_, err := tests.EveryCall[tc[0]](t.Context(), client)
		if strings.HasSuffix(tc[0], ".get") {
			require.ErrorContains(t, err, "the 2xx response may not be the service's", "it is not the record that was asked for")
		} else {
			require.NoError(t, err)
		}
		_, err = client.Lists.AddContacts(t.Context(), tests.ListID, prospectkit.Fields{"contacts": "x"})
		tests.RequireUnknown(t, err)
	}
}

// Another transport may take another way: what was learnt is not taken along.
func TestDecode_AnotherTransportLearnsAfresh(t *testing.T) {
	client := tests.NewClient(t, tests.Always(200, tests.OneUser, tests.Bare...))
	require.NoError(t, tests.Discard(client.Account.Me(t.Context())))
	other := tests.Derived(t, client, prospectkit.WithTransport(tests.Always(200, `{"ok":true}`, tests.Bare...)))
	_, err := other.Lists.AddContacts(t.Context(), tests.ListID, prospectkit.Fields{"contacts": "x"})
	tests.RequireUnknown(t, err)
}

// A response that is too long, or does not fit what the caller wants it in, is applied if it is the service's.
func TestDecode_UnfitResponsesOfOtherServers(t *testing.T) {
	var out struct{ Status int }
	write := tests.Described(http.MethodPost, op.Unsafe)
	read := tests.Described(http.MethodGet, op.Read)
	const mismatch = `{"status":"unavailable"}`
	for name, c := range map[string]struct {
		headers []string
		want    prospectkit.Outcome
	}{"of the service": {nil, prospectkit.OutcomeApplied}, "of another server": {tests.Bare, prospectkit.OutcomeUnknown}} {
		t.Run(name, func(t *testing.T) {
			rt := tests.Stage(t, tests.Always(200, mismatch, c.headers...), tests.Always(200, mismatch, c.headers...))
			err := tests.NewClient(t, rt).Call(t.Context(), write, nil, &out)
			require.Equal(t, c.want, prospectkit.OutcomeOf(err), "%v", err)
			err = tests.NewClient(t, rt).Call(t.Context(), read, nil, &out)
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
			require.Len(t, rt.Sent, 2, "no repetition makes it fit")

			small := tests.NewClient(t, tests.Always(200, `{"profiles":["`+mismatch+`"]}`, c.headers...), prospectkit.WithMaxResponseBytes(8))
			require.Equal(t, c.want, prospectkit.OutcomeOf(small.Call(t.Context(), write, nil, nil)))
			require.Equal(t, c.want, prospectkit.OutcomeOf(small.Call(t.Context(), tests.Described(http.MethodPost, op.PaidRead), nil, nil)))
			require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(small.Call(t.Context(), read, nil, nil)))
		})
	}
}

// Nothing proves that a page that costs credits came from the service if it is empty: it is no end of a search.
func TestDecode_EmptyPageEndsNoSearch(t *testing.T) {
	first := tests.Always(200, `{"profiles":[{"firstName":"Ada"}],"scrollToken":"t"}`)
	for name, second := range map[string]struct {
		rt   tests.RoundTrip
		want prospectkit.Outcome
	}{
		"nothing":                    {tests.Always(200, ""), prospectkit.OutcomeApplied},
		"a space":                    {tests.Always(200, " "), prospectkit.OutcomeApplied},
		"no content":                 {tests.Always(204, ""), prospectkit.OutcomeApplied},
		"nothing, of another server": {tests.Always(200, "", tests.Bare...), prospectkit.OutcomeUnknown},
		"no content, of one, too":    {tests.Always(204, "", tests.Bare...), prospectkit.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			rt := tests.Stage(t, first, second.rt)
			var p prospectkit.Progress
			n := 0
			var last error
			for _, err := range tests.NewClient(t, rt).Search.Prospects(t.Context(), prospectkit.SearchParams{}, prospectkit.MaxPaidPages(5), prospectkit.WithProgress(&p)) {
				if last = err; err == nil {
					n++
				}
			}
			require.Equal(t, 1, n)
			require.Equal(t, second.want, prospectkit.OutcomeOf(last))
			require.Len(t, rt.Sent, 2)
			require.False(t, p.Report().Finished)
		})
	}
	for _, name := range []string{"search.prospects", "search.companies", "contacts.resolve"} {
		require.ErrorIs(t, called(name)(t.Context(), tests.NewClient(t, tests.Always(200, " "))), prospectkit.ErrResponseLost, name)
	}
}

// A cache, or a peer that mixes up two responses, may send one with the rate headers that is about something else. By the documented
// id or name in it, it is no response to this call: a free read is retried, and the outcome of anything else is unknown.
func TestDecode_ResponsesAboutSomethingElse(t *testing.T) {
	const elsewhere = `"id":"65f0c0ffee65f0c0ffee6fff","name":"another"`
	bodies := map[string]string{
		"lists.get":                      `{"list":{` + elsewhere + `}}`,
		"lists.create":                   `{"list":{` + elsewhere + `}}`,
		"lists.crm-push":                 `{"crm":"crm-2","listIds":["` + tests.ListID + `"]}`,
		"agents.get":                     `{"agent":{` + elsewhere + `,"status":"active"}}`,
		"agents.create-person-discovery": `{"agent":{` + elsewhere + `}}`,
		"agents.create-people-watcher":   `{"agent":{` + elsewhere + `}}`,
		"agents.create-web-monitor":      `{"agent":{` + elsewhere + `}}`,
		"campaigns.preview-step":         `{"stepId":"65f0c0ffee65f0c0ffee6fff","preview":{}}`,
		"contacts.timeline":              `{"contactId":"65f0c0ffee65f0c0ffee6fff","activities":[],"nextCursor":null}`,
	}
	for _, row := range op.All() { // where all is documented, an id of the request is that of the response
		text, err := os.ReadFile(tests.Path("testdata", "http", row.Name, "sandbox.http"))
		require.NoError(t, err)
		request, response, _ := strings.Cut(string(text), "\nHTTP/1.1 ")
		_, body, _ := strings.Cut(response, "\n\n")
		for _, sent := range regexp.MustCompile(`[0-9a-f]{24}`).FindAllString(request, -1) {
			if row.Shape == op.Typed && strings.Contains(body, `":"`+sent) {
				bodies[row.Name] = strings.ReplaceAll(strings.TrimSpace(body), sent, "65f0c0ffee65f0c0ffee6fff")
			}
		}
	}
	require.Contains(t, bodies, "campaigns.approve")
	for name, body := range bodies {
		tests.InTime(t, name, func(t *testing.T) {
			stale := tests.Always(200, body, "Date", "Sun, 01 Mar 1998 09:00:00 GMT")
			rt := tests.Stage(t, stale, stale, stale)
			_, err := tests.EveryCall[name](t.Context(), tests.NewClient(t, rt))
			row, _ := op.ByName(name)
			require.ErrorContains(t, err, "the 2xx response may not be the service's: it is about something else",
				"the method lacks repeatsID or the like of call_types.go; or the response of the sandbox shows the id for another thing")
			seen := tests.AsError(t, err)
			require.Equal(t, body, seen.Body, "one can see what it is about")
			if row.Class == op.Read {
				require.Len(t, rt.Sent, 3)
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err))
				return
			}
			require.Len(t, rt.Sent, 1)
			tests.RequireUnknown(t, err)
		})
	}
}

// What a cache has kept of another request is no response to one that changes or costs something, whatever it is about.
func TestDecode_StoredResponses(t *testing.T) {
	for name, body := range map[string]string{
		"campaigns.approve": `{"campaignId":"` + tests.CampaignID + `","status":"active"}`,
		"lists.crm-push":    `{"crm":"crm-1","listIds":["` + tests.ListID + `"]}`,
	} {
		rt := tests.Stage(t, tests.Always(200, body, "Age", "120"))
		_, err := tests.EveryCall[name](t.Context(), tests.NewClient(t, rt))
		tests.RequireUnknown(t, err)
	}
}

// A service may show a name in another form than it was sent: that is no other name.
func TestDecode_NamesInAnotherForm(t *testing.T) {
	for _, shown := range []string{"Q1", "q1", " Q1 ", ""} {
		client := tests.NewClient(t, tests.Always(201, `{"list":{"id":"`+tests.ListID+`","name":"`+shown+`"}}`))
		list, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"})
		require.NoError(t, err, shown)
		require.Equal(t, shown, list.Name)
	}
}

// The five calls that may cost credits are retried after the service's own 500, unless the policy forbids it. That forbids no other retry,
// and changes no other outcome.
func TestDecode_PaidReadsAreNotRetried(t *testing.T) {
	failed, page := tests.Always(500, tests.Envelope("UNEXPECTED_ERROR")), tests.Always(200, `{"profiles":[],"total":0}`)
	for _, forbidden := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			policy := prospectkit.WithRetry(prospectkit.RetryPolicy{NoPaidRetry: forbidden})
			try := func(name string, steps ...tests.RoundTrip) (requests int, err error) {
				rt := tests.Stage(t, steps...)
				_, err = tests.EveryCall[name](t.Context(), tests.NewClient(t, rt, policy))
				return len(rt.Sent), err
			}
			for _, name := range []string{"search.prospects", "search.run-saved", "search.companies", "contacts.resolve", "campaigns.preview-step"} {
				n, err := try(name, failed, failed, failed)
				require.Equal(t, prospectkit.OutcomeNotApplied, prospectkit.OutcomeOf(err), "a failed request never spends")
				require.Equal(t, map[bool]int{false: 3, true: 1}[forbidden], n, name)
			}
			n, err := try("account.me", failed, failed, failed)
			require.ErrorIs(t, err, prospectkit.CodeUnexpectedError)
			require.Equal(t, 3, n, "reads that cost nothing are retried")
			for _, refused := range []tests.RoundTrip{tests.Always(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "1"), tests.Always(425, "")} {
				n, err := try("search.prospects", refused, page)
				require.NoError(t, err)
				require.Equal(t, 2, n)
			}
			_, err = try("search.prospects", tests.Always(200, "{"))
			require.ErrorIs(t, err, prospectkit.ErrResponseLost)
			_, err = try("search.prospects", tests.CutOff)
			tests.RequireUnknown(t, err)
		})
	}
}

// A read that shows what only the service can know is the service's, whatever stands beside it.
func TestDecode_ProvedReadWithAnErrorBeside(t *testing.T) {
	_, err := tests.Call(t.Context(), tests.NewClient(t, tests.Always(200, `{"user":{"id":"65f0c0ffee65f0c0ffee65f1"},"error":{"code":"X"}}`, tests.Bare...)), false)
	require.NoError(t, err)
}

// What is not a success is none: an error in a 200, also of an undocumented shape, and a status below 200, also with rate headers.
func TestDecode_NoSuccessInDisguise(t *testing.T) {
	once := tests.OneAttempt
	_, err := tests.NewClient(t, tests.Always(200, tests.Envelope("INVALID_REQUEST")), once).Search.FilterOptions(t.Context())
	require.Error(t, err)
	tests.RequireUnknown(t, tests.NewClient(t, tests.Always(101, "", "RateLimit-Remaining", "9"), once).
		Call(t.Context(), tests.Described(http.MethodPost, op.Unsafe), nil, nil))
}

// A message may quote the URL of the request, and what it searched for: as it is or escaped, the text of the error does not show it.
func TestDecode_MessagesThatQuoteTheURL(t *testing.T) {
	search := prospectkit.Operation{Name: "x", Method: http.MethodGet, Path: "/business/x", Reads: true, Free: true, Surface: "lists"}
	for _, quoted := range []string{
		"search=berlin", "search%3Dberlin", "/api/v1/business/x?search=berlin", "%2Fapi%2Fv1%2Fbusiness%2Fx%3Fsearch%3Dberlin",
	} {
		client := tests.NewClient(t, tests.Always(404, strings.Replace(tests.Envelope("LIST_NOT_FOUND"), "prose", "nothing for "+quoted, 1)))
		err := client.Call(t.Context(), search, nil, nil, prospectkit.WithQuery("search", "berlin"))
		require.ErrorIs(t, err, prospectkit.CodeListNotFound)
		require.ErrorContains(t, err, "nothing for ")
		require.NotContains(t, err.Error(), "berlin", quoted)
	}
	search.Path = "/business/berlin"
	client := tests.NewClient(t, tests.Always(404, strings.Replace(tests.Envelope("LIST_NOT_FOUND"), "prose", "nothing at /api/v1/business/berlin", 1)))
	err := client.Call(t.Context(), search, nil, nil)
	require.ErrorContains(t, err, "nothing at ")
	require.NotContains(t, err.Error(), "berlin", "a path alone")
}

// Where the rate headers have other names, a read of a documented shape before the first write proves the responses of undocumented shape
// that follow. Recover makes that read. No call makes one of its own, and what was not read before stays unknown.
func TestProofBeforeAWrite(t *testing.T) {
	const me = `{"user":{"id":"65f0c0ffee65f0c0ffee65f0","email":"ada@engines.example"}}`
	renamed := append([]string{"X-RateLimit-Limit", "120", "X-RateLimit-Remaining", "119"}, tests.Bare...)
	for name, tc := range map[string]struct {
		written, read tests.RoundTrip
		applied       bool
		hinted        bool // the error says that something may drop the headers
	}{
		"headers of other names": {tests.Always(200, `{"ok":true}`, renamed...), tests.Always(200, me, renamed...), true, false},
		"the read has headers":   {tests.Always(200, `{"ok":true}`, renamed...), tests.Always(200, me), false, false},
		"the read fails":         {tests.Always(200, `{"ok":true}`, renamed...), tests.Always(404, ""), false, true},
		"another shape":          {tests.Always(200, `{"ok":true}`, renamed...), tests.Always(200, `{"ok":true}`, renamed...), false, true},
		"nothing is read":        {tests.Always(200, `{"ok":true}`, renamed...), nil, false, true},
		"a page":                 {tests.Always(200, `<html>`, renamed...), tests.Always(200, me, renamed...), false, false},
		"an error":               {tests.Always(200, `{"error":"down"}`, renamed...), tests.Always(200, me, renamed...), false, false},
		"its own headers":        {tests.Always(200, `{"ok":true}`), nil, true, false},
	} {
		sent := 0
		j := new(journal.MemoryJournal)
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				sent++
				return tc.written(r)
			}
			return tc.read(r)
		}), prospectkit.WithJournal(j))
		if tc.read != nil {
			require.NoError(t, tests.Discard(client.Recover(t.Context())), name)
		}
		result, err := client.Lists.AddContacts(t.Context(), tests.ListID, prospectkit.Fields{"contacts": []prospectkit.Fields{{"email": "ada@engines.example"}}})
		require.Equal(t, 1, sent, name)
		if !tc.applied {
			tests.RequireUnknown(t, err)
			require.Equal(t, tc.hinted, strings.Contains(err.Error(), "make Account.Me the first call"), "%s: %v", name, err)
			require.Equal(t, journal.Unknown, j.Entries()[0].Outcome, name)
			continue
		}
		require.NoError(t, err, name)
		require.Contains(t, result.String(), `"ok"`, name)
		require.Equal(t, journal.Applied, j.Entries()[0].Outcome, name)
	}
}
