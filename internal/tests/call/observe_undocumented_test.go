package call_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/catalogue"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/ratelimit"
	"example.com/prospectkit/sandbox"
)

// sandboxWords are the values that the sandbox has to choose, because there is one and its word is undocumented.
var sandboxWords = map[string][]string{
	"campaigns.list":   {"value campaigns.status draft"},
	"campaigns.create": {"value campaign.status draft", "value campaign.initializationStatus running"},
	"campaigns.adjust": {"value campaign.status draft"},
	"campaigns.steps":  {"value steps.type email"},
}

// The sandbox responds as documented, so a canary reports nothing else on any operation.
func TestUndocumented_NothingInTheSandbox(t *testing.T) {
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	tests.EachOperation(t, func(t *testing.T, row *op.Op, call tests.AnyCall) {
		sb := tests.EverySandbox(t, begin, sandbox.WithClock(sandbox.NewManualClock(begin)))
		var seen []string
		client, err := prospectkit.New(sb.BaseURL(), sb.Token(), prospectkit.WithTransport(sb.Transport()), tests.Undocumented(&seen))
		require.NoError(t, err)
		_, err = call(t.Context(), client)
		require.NoError(t, err)
		sb.Fail("*", sandbox.First(1), sandbox.Status(403, "INSUFFICIENT_SCOPE"))
		_, err = call(t.Context(), client)
		require.ErrorIs(t, err, prospectkit.CodeInsufficientScope)
		require.Equal(t, sandboxWords[row.Name], seen)
	})
}

func TestUndocumented(t *testing.T) {
	page := func(list, more string) tests.RoundTrip {
		return tests.Always(200, `{"data": [{"id": "`+tests.ListID+`"`+list+`}], "pagination": {"pageNum": 1, "totalPages": 1, "totalRecords": 1`+more+`}}`)
	}
	for name, c := range map[string]struct {
		respond tests.RoundTrip
		call    string
		want    []string
	}{
		"nothing":                 {page("", ""), "lists.list", nil},
		"a field":                 {page(`, "color": "red"`, `, "next": {"deep": 1}`), "lists.list", []string{"field data.color", "field pagination.next"}},
		"a kind":                  {page(`, "entityType": "dealList"`, ""), "lists.list", []string{"value data.entityType dealList"}},
		"a kind of no name":       {page(`, "entityType": "Ada Lovelace"`, ""), "lists.list", []string{"value data.entityType"}},
		"a kind like an id":       {page(`, "entityType": "65f0c0ffee"`, ""), "lists.list", []string{"value data.entityType"}},
		"a field of no name":      {page(`, "ada@example.com": 1`, ""), "lists.list", []string{"field data"}},
		"of another type":         {page(`, "entityType": 7, "name": {"x": 1}`, ""), "lists.list", nil},
		"beside the page":         {tests.Always(200, `{"data": [], "pagination": {}, "meta": 1}`), "lists.list", []string{"field meta"}},
		"a list to itself":        {tests.Always(200, `{"list": {"id": "`+tests.ListID+`", "completionStatus": "done", "entityType": "dealList", "columns": [{"id": "c", "width": 3}]}}`), "lists.get", []string{"value list.entityType dealList", "field list.columns.width"}},
		"a list without key":      {tests.Always(200, `{"id": "`+tests.ListID+`", "completionStatus": "done", "columns": [], "entityType": "dealList"}`), "lists.get", []string{"value entityType dealList"}},
		"columns of a row":        {tests.Always(200, `{"entityType": "contactList", "data": [{"id": "x", "mine": {"status": "new"}}], "pagination": {}, "cursor": 1}`), "lists.rows", []string{"field cursor"}},
		"a status":                {tests.Always(200, `{"agents": [{"id": "x", "status": "hibernating", "type": null, "more": 1}]}`), "agents.list", []string{"value agents.status hibernating", "missing name", "missing started"}},
		"only sometimes missing":  {tests.Always(200, `{"agents": [{"id": "x", "type": null}, {"name": "n", "started": true}]}`), "agents.list", nil},
		"missing everywhere":      {tests.Always(200, `{"campaigns": [{"campaignId": "x", "state": "active"}, {}]}`), "campaigns.list", []string{"missing id", "missing status", "missing initializationStatus", "missing channels", "missing listIds"}},
		"no step of that shape":   {tests.Always(200, `[{"number": 1, "kind": "x"}]`), "campaigns.steps", []string{"missing id", "missing type"}},
		"no state":                {tests.Always(200, `{"data": [{"id": "x", "status": "sent"}]}`), "campaigns.scheduled-sends", []string{"missing state"}},
		"nothing to miss it in":   {tests.Always(200, `{"campaigns": []}`), "campaigns.list", nil},
		"rows without an id":      {tests.Always(200, `{"entityType": "contactList", "data": [{"rowId": "x"}], "pagination": {}}`), "lists.rows", []string{"missing id"}},
		"a change without it":     {tests.Always(200, `{"ok": true}`), "campaigns.edit-send", []string{"missing id", "missing state"}},
		"a change without a word": {tests.Always(204, ``), "campaigns.edit-send", nil},
		"a category":              {tests.Always(200, `{"fact": {"id": "`+tests.FactID+`", "category": "gossip"}}`), "facts.edit", []string{"value fact.category gossip"}},
		"a raw response":          {tests.Always(200, `{"anything": {"status": "new"}}`), "account.credits", nil},
		"a profile":               {tests.Always(200, `{"profiles": [{"age": 36}], "total": 1}`), "search.prospects", []string{"field total"}},
		"a code":                  {tests.Always(404, tests.Envelope("LIST_ASLEEP")), "lists.get", []string{"code LIST_ASLEEP"}},
		"a code of no name":       {tests.Always(404, tests.Envelope("list 65f0 is asleep")), "lists.get", []string{"code"}},
		"beside the error":        {tests.Always(404, `{"error": {"code": "LIST_NOT_FOUND", "hint": "x"}, "trace": 1}`), "lists.get", []string{"field error.hint", "field trace"}},
		"an error of no shape":    {tests.Always(404, `<html>`), "lists.get", nil},
		"a header": {
			tests.Always(200, tests.OneUser, "RateLimit-Limit", "1", "RateLimit-Policy", "1;w=60", "X-Cache", "hit", "Retry-After", "3"), "account.me",
			[]string{"header Ratelimit-Policy"},
		},
		"an end": {tests.Always(200, tests.OneUser, "Deprecation", "@1", "Sunset", "soon", "X-Ratelimit-Used", "1"), "account.me", []string{"header Deprecation", "header Sunset", "header X-Ratelimit-Used"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the limit of a header makes the second call wait
				var heard []string
				client := tests.NewClient(t, c.respond, tests.Undocumented(&heard))
				for range 2 {
					_, _ = tests.EveryCall[c.call](t.Context(), client)
				}
				slices.Sort(heard)
				slices.Sort(c.want)
				require.Equal(t, c.want, heard, "and once each")
			})
		})
	}
}

// Every value that the package has a name for is documented.
func TestUndocumented_KnownValuesAreDocumented(t *testing.T) {
	for call, values := range map[string][]string{
		`agents.list {"agents": [{"id": "x", "type": null, "name": "n", "started": true, "status": %q}]}`: {"initializing", "processing", "active", "paused", "expired", "failed"},
		`agents.list {"agents": [{"id": "x", "name": "n", "started": true, "type": %q}]}`:                 {"person-discovery-via-filters", "people-watcher", "web-monitor"},
		`folders.list {"folders": [{"id": "x", "type": %q}]}`:                                             {"contactList", "companyList", "campaign", "agent"},
		`facts.edit {"fact": {"id": "` + tests.FactID + `", "category": %q}}`: {
			"overview", "products", "pricing", "icp-use-cases", "differentiators", "competitors", "faq", "source-digest", "custom", "objection",
			"faq-insight",
		},
		`campaigns.list {"campaigns": [{"id": "x", "channels": [], "listIds": [], "initializationStatus": "completed", "status": %q}]}`: {"active", "stopped"},
		`campaigns.list {"campaigns": [{"id": "x", "channels": [], "listIds": [], "status": "active", "initializationStatus": %q}]}`:    {"completed", "failed"},
		`campaigns.steps {"steps": [{"id": "x", "type": %q}]}`:                                                                          {"social_connection", "social_message"},
		`campaigns.scheduled-sends {"data": [{"id": "x", "state": %q}]}`: {
			"scheduled", "approval_required", "sent", "skipped", "stopped", "overwritten", "replied", "failed",
		},
	} {
		name, body, _ := strings.Cut(call, " ")
		for _, value := range values {
			var seen []string
			_, err := tests.EveryCall[name](t.Context(), tests.NewClient(t, tests.Always(200, fmt.Sprintf(body, value)), tests.Undocumented(&seen)))
			require.NoError(t, err)
			require.Empty(t, seen)
		}
	}
}

// Clients of one family report together, from any number of goroutines; others for themselves.
func TestUndocumented_IsReportedOnce(t *testing.T) {
	var seen []string
	newUser := tests.Always(200, strings.Replace(tests.OneUser, `"name"`, `"color":1,"name"`, 1))
	client := tests.NewClient(t, newUser, tests.Undocumented(&seen))
	child, err := client.With(prospectkit.ReadOnly())
	require.NoError(t, err)
	var all sync.WaitGroup
	for _, member := range []*prospectkit.Client{client, child, client, child} {
		all.Go(func() {
			for range 20 {
				_, _ = member.Account.Me(t.Context())
			}
		})
	}
	all.Wait()
	require.Equal(t, []string{"field user.color"}, seen)
	_, err = tests.NewClient(t, newUser, tests.Undocumented(&seen)).Account.Me(t.Context())
	require.NoError(t, err)
	require.Len(t, seen, 2)
}

// What is new in a late response is noticed in the end, though not every response is looked into. A
// new code or header is noticed at once.
func TestUndocumented_InLateResponses(t *testing.T) {
	for name, test := range map[string]struct {
		more        int // lists on the page
		old         int // responses before the new one
		status      int
		extra, seen string
		at          int // the response that tells
		header      []string
	}{
		"among the first":       {0, 10, 200, `, "color": "red"`, "field data.color", 11, nil},
		"the last of the first": {0, 63, 200, `, "color": "red"`, "field data.color", 64, nil},
		"after the first":       {0, 64, 200, `, "color": "red"`, "field data.color", 72, nil},
		"after large ones":      {100, 9, 200, `, "color": "red"`, "field data.color", 32, nil},
		"an error":              {0, 64, 404, `, "color": "red"`, "field error.color", 72, nil},
		"a new code":            {0, 64, 404, `, "code": "NEW_CODE"`, "code NEW_CODE", 65, nil},
		"a new header":          {100, 64, 200, "", "header Sunset", 65, []string{"Sunset", "Thu, 31 Dec 2026 23:59:59 GMT"}},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			answers, more := 0, strings.Repeat(`{"id": "`+tests.ListID+`", "name": "`+strings.Repeat("n", 90)+`"}, `, test.more)
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				answers++
				news, header := "", []string(nil)
				if answers > test.old {
					news, header = test.extra, test.header
				}
				if test.status != 200 {
					return tests.Respond(test.status, `{"error": {"code": "LIST_NOT_FOUND", "message": "none"`+news+`}}`, header...), nil
				}
				return tests.Respond(200, `{"data": [`+more+`{"id": "x"`+news+`}], "pagination": {"pageNum": 1, "totalPages": 1, "totalRecords": 1}}`, header...), nil
			}), tests.Undocumented(&seen))
			for len(seen) == 0 && answers < 100 {
				_, err := client.Lists.Page(t.Context(), prospectkit.ListsParams{})
				require.Equal(t, test.status == 200, err == nil)
			}
			require.Equal(t, []string{test.seen}, seen)
			require.Equal(t, test.at, answers)
		})
	}
}

// A service that makes up names forever fills no memory, and a token that it repeats stays hidden.
func TestUndocumented_IsBounded(t *testing.T) {
	var seen []string
	var sent atomic.Int32
	letters := func(n int) string {
		return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprintf("%06d", n))
	}
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		var body bytes.Buffer
		for i := range 100 {
			fmt.Fprintf(&body, `"%s": 1, `, letters(int(sent.Add(1))*100+i))
		}
		return tests.Respond(200, `{"user": {`+body.String()+`"id": "x"}}`), nil
	}), tests.Undocumented(&seen))
	for range 10 {
		_, err := client.Account.Me(t.Context())
		require.NoError(t, err)
	}
	require.Len(t, seen, 256)

	var quiet []string
	token := "secretTokenOfLetters"
	bodies := []string{`{"profiles": [], "scrollToken": "` + token + `"}`, `{"profiles": [], "` + token + `": 1}`}
	page, err := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		body := bodies[0]
		bodies = bodies[1:]
		return tests.Respond(200, body), nil
	}), tests.Undocumented(&quiet)).Search.ProspectsPage(t.Context(), tests.Everything)
	require.NoError(t, err)
	_, err = page.Next(t.Context())
	require.NoError(t, err)
	require.Empty(t, quiet)
}

// An operation is one however often it is described or its route is given: after the first responses only some are looked into.
func TestUndocumented_SamplesCallersRoutes(t *testing.T) {
	for name, call := range map[string]func(context.Context, *prospectkit.Client) error{
		"a described operation": func(ctx context.Context, client *prospectkit.Client) error {
			return client.Call(ctx, catalogue.Operation{
				Name: "things.get", Method: "GET", Path: "/business/things", Surface: ratelimit.SurfaceLists, Class: catalogue.ClassRead,
			}, nil, nil)
		},
		"a supplied route": func(ctx context.Context, client *prospectkit.Client) error {
			_, err := client.Agents.Pause(ctx, tests.AgentID, prospectkit.WithRoute("POST /business/agents/{agentId}/pause"))
			return err
		},
		"a created agent": func(ctx context.Context, client *prospectkit.Client) error {
			_, err := tests.EveryCall["agents.create-web-monitor"](ctx, client)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []string
			sent := 0
			client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
				sent++
				news := ""
				if sent > 64 {
					news = `, "` + strings.Repeat("n", sent-64) + `": 1`
				}
				return tests.Respond(404, `{"error": {"code": "AGENT_NOT_FOUND", "message": "none"`+news+`}}`), nil
			}), tests.Undocumented(&seen))
			for range 64 + 8 {
				require.Error(t, call(t.Context(), client))
			}
			require.Equal(t, []string{"field error.nnnnnnnn"}, seen)
		})
	}
}

// Names are short, and an error page that is not the service's has none.
func TestUndocumented_NamesOfForeigners(t *testing.T) {
	var seen []string
	short, long := "RateLimit-"+strings.Repeat("x", 54), "RateLimit-"+strings.Repeat("y", 55)
	client := tests.NewClient(t, tests.Always(502, `{"status":"down"}`, short, "1", long, "1"), tests.Undocumented(&seen), prospectkit.WithRetry(prospectkit.NoRetry))
	_, err := tests.Call(t.Context(), client, false)
	require.Error(t, err)
	require.Equal(t, []string{"header " + http.CanonicalHeaderKey(short)}, seen)
}
