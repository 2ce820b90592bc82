package call_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/tests"
	"example.com/prospectkit/sandbox"
)

// recorder responds to every request the same way and keeps what it saw last.
type recorder struct {
	path, query, body string
	header            http.Header
	requests          int
	respond           func() (*http.Response, error)
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.requests++
	r.path, r.query, r.header, r.body = req.URL.EscapedPath(), req.URL.RawQuery, req.Header.Clone(), ""
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		r.body = string(body)
	}
	if r.respond != nil {
		return r.respond()
	}
	return tests.Respond(200, `{"list":`+tests.OneList+`}`), nil
}

// A shared option holds for the client, and a call overrides it for itself.
func TestOptions_SharedAtBothLevels(t *testing.T) {
	failing := func() (*http.Response, error) { return tests.Respond(502, "<html>"), nil }
	limited := func() (*http.Response, error) {
		return tests.Respond(429, tests.Envelope("RATE_LIMITED"), "Retry-After", "30"), nil
	}
	hanging := func() (*http.Response, error) { return nil, errors.New("cut") }
	retries := func(n int) prospectkit.Option {
		return prospectkit.WithRetry(prospectkit.RetryPolicy{MaxAttempts: n})
	}
	for _, c := range []struct {
		name    string
		respond func() (*http.Response, error)
		client  []prospectkit.ClientOption
		call    []prospectkit.CallOption
		want    int // requests
	}{
		{"three attempts by default", failing, nil, nil, 3},
		{"client says five", failing, opts(retries(5)), nil, 5},
		{"call says two", failing, nil, calls(retries(2)), 2},
		{"call overrides client", hanging, opts(retries(5)), calls(retries(2)), 2},
		{"the last one counts", failing, opts(retries(5), retries(4)), calls(retries(2), tests.OneAttempt), 1},
		{"waits two minutes by default", limited, nil, nil, 4},
		{"client waits 10 s at most", limited, opts(prospectkit.WithMaxWait(10 * time.Second)), nil, 1},
		{"call waits 10 s at most", limited, nil, calls(prospectkit.WithMaxWait(10 * time.Second)), 1},
		{"call waits longer than client", limited, opts(prospectkit.WithMaxWait(0)), calls(prospectkit.WithMaxWait(time.Minute)), 3},
	} {
		tests.InTime(t, c.name, func(t *testing.T) {
			wire := &recorder{respond: c.respond}
			_, err := tests.NewClient(t, wire, c.client...).Lists.Get(t.Context(), tests.ListID, c.call...)
			require.Error(t, err)
			require.Equal(t, c.want, wire.requests)
		})
	}
}

func calls(o ...prospectkit.CallOption) []prospectkit.CallOption { return o }

// The time limit of an attempt is that of the call, else of the client, else of the operation, else half a minute. Its end is a timeout for
// whoever asks as of any other HTTP client, and not the end of the caller's context.
func TestOptions_AttemptTimeout(t *testing.T) {
	for _, c := range []struct{ client, call, operation, want time.Duration }{
		{0, 0, 0, 30 * time.Second},
		{3 * time.Second, 0, 0, 3 * time.Second},
		{0, 2 * time.Second, 0, 2 * time.Second},
		{3 * time.Second, 5 * time.Second, 0, 5 * time.Second},
		{0, 0, 7 * time.Second, 7 * time.Second},
	} {
		for _, class := range []op.Class{op.Read, op.Unsafe} {
			synctest.Test(t, func(t *testing.T) {
				client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				}), tests.OneAttempt)
				if c.client > 0 {
					client = tests.Derived(t, client, prospectkit.WithAttemptTimeout(c.client))
				}
				var opts []prospectkit.CallOption
				if c.call > 0 {
					opts = calls(prospectkit.WithAttemptTimeout(c.call))
				}
				o := tests.UnnamedOperation(class)
				o.AttemptTimeout = c.operation
				began := time.Now()
				err := client.Call(t.Context(), o, nil, nil, opts...)
				require.Equal(t, c.want, time.Since(began), "%+v", c)
				require.ErrorContains(t, err, "no complete response within the time limit")
				require.Equal(t, class == op.Unsafe, errors.Is(err, prospectkit.ErrOutcomeUnknown))
				var timeout net.Error
				require.ErrorAs(t, err, &timeout)
				require.True(t, timeout.Timeout())
				require.NotErrorIs(t, err, context.DeadlineExceeded)
			})
		}
	}
}

func TestOptions_BadOnesSendNothing(t *testing.T) {
	wire := new(recorder)
	client := tests.NewClient(t, wire)
	for name, c := range map[string]struct {
		option prospectkit.CallOption
		want   []prospectkit.Violation
	}{
		"nil":             {nil, violation("option 1", "is nil")},
		"query key":       {prospectkit.WithQuery("", "x"), violation("WithQuery", "needs a key")},
		"field name":      {prospectkit.WithField("", 1), violation("WithField", "needs a name")},
		"capture":         {prospectkit.WithInfo(nil), violation("WithInfo", "got nil")},
		"wait":            {prospectkit.WithMaxWait(-1), violation("WithMaxWait", "is -1ns, must not be negative")},
		"attempt timeout": {prospectkit.WithAttemptTimeout(-time.Second), violation("WithAttemptTimeout", "is -1s, must be positive")},
		"retry":           {prospectkit.WithRetry(prospectkit.RetryPolicy{MaxDelay: -1}), violation("RetryPolicy", "has a negative delay")},
		"unmarshalable":   {prospectkit.WithField("f", func() {}), violation("body", `cannot be encoded: field "f": json: unsupported type: func()`)},
	} {
		_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"}, c.option)
		refused := tests.AsRefused(t, err)
		require.Equal(t, c.want, refused.Violations, name)
		require.Equal(t, "lists.create", refused.Op)
	}
	require.Zero(t, wire.requests)
}

func TestWithQuery(t *testing.T) {
	wire := new(recorder)
	client := tests.NewClient(t, wire)
	_, err := client.Lists.GetWithColumns(t.Context(), tests.ListID,
		prospectkit.WithQuery("a b", "c&d=é#"), prospectkit.WithQuery("include", "columns,stats"), prospectkit.WithQuery("empty", ""))
	require.NoError(t, err)
	require.Equal(t, "a+b=c%26d%3D%C3%A9%23&empty=&include=columns%2Cstats", wire.query)
	_, err = client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"}, prospectkit.WithQuery("dry", "1"))
	require.NoError(t, err)
	require.Equal(t, "dry=1", wire.query)
	require.NoError(t, tests.Discard(client.Lists.Get(t.Context(), tests.ListID)))
	require.Empty(t, wire.query)
}

func TestWithField(t *testing.T) {
	wire := new(recorder)
	client := tests.NewClient(t, wire)
	note := prospectkit.WithField("note", map[string]any{"n": 1})

	_, err := client.Lists.Create(t.Context(), prospectkit.NewList{Name: "Q1"}, note, prospectkit.WithField("big", uint64(1<<63)))
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"Q1","note":{"n":1},"big":9223372036854775808}`, wire.body)
	require.Equal(t, "application/json", wire.header.Get("Content-Type"))

	own := prospectkit.Fields{"contactIds": []string{tests.ListID}}
	require.NoError(t, tests.Discard(client.Lists.AddMembers(t.Context(), tests.ListID, own, note)))
	require.JSONEq(t, `{"contactIds":["`+tests.ListID+`"],"note":{"n":1}}`, wire.body)
	require.Len(t, own, 1, "the caller's map is left alone")

	require.NoError(t, tests.Discard(client.Lists.AddMembers(t.Context(), tests.ListID, nil, note)))
	require.JSONEq(t, `{"note":{"n":1}}`, wire.body)
}

// A field that the body knows is not set from outside, also if the body leaves it out, or has no name for it in its tag. Nor is one of
// what is no object.
func TestWithField_Refuses(t *testing.T) {
	type body struct {
		Note string `json:",omitempty"`
		Size int    `json:"size,omitempty"`
	}
	ctx, c := t.Context(), tests.NewClient(t, tests.Untouched(t))
	set := func(name string) prospectkit.CallOption { return prospectkit.WithField(name, 1) }
	call := func(in any, field string) error {
		return c.Call(ctx, tests.UnnamedOperation(op.Unsafe), in, nil, set(field))
	}
	for name, errs := range map[string][]error{
		"name":       {tests.Discard(c.Lists.Create(ctx, tests.Q1, set("name")))},
		"entityType": {tests.Discard(c.Lists.Create(ctx, tests.Q1, set("entityType")))},
		"note":       {tests.Discard(c.Lists.AddMembers(ctx, tests.ListID, prospectkit.Fields{"note": 1}, set("note")))},
		"twice":      {tests.Discard(c.Lists.Create(ctx, tests.Q1, set("twice"), set("twice")))},
		"Note":       {call(body{}, "Note"), call(&body{}, "Note")},
		"size":       {call(body{}, "size"), call(&body{}, "size")},
	} {
		for _, err := range errs {
			require.Equal(t, []string{`body cannot be encoded: field "` + name + `" is set by the call itself`}, tests.Refusals(t, err))
		}
	}
	const noObject = "body cannot be encoded: WithField needs a body that is an object"
	require.Equal(t, []string{noObject}, tests.Refusals(t, call(map[string]any(nil), "x")))
	require.Equal(t, []string{noObject}, tests.Refusals(t, call([]int{1}, "x")))
	require.Equal(t, []string{"WithField cannot be used with a GET request"}, tests.Refusals(t, tests.Discard(c.Account.Me(ctx, set("x")))))
	_, err := c.Campaigns.ApproveUnreviewed(ctx, tests.CampaignID, set("x")) // which has no body (documented)
	require.Equal(t, []string{"WithField cannot be used: this call has no body"}, tests.Refusals(t, err))
}

func TestWithRoutes_Paths(t *testing.T) {
	wire := new(recorder)
	at := func(route string) (*prospectkit.Client, error) {
		return prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithTransport(wire), prospectkit.WithRoutes(map[string]string{"hubs.pages": route}))
	}
	for template, want := range map[string]string{
		"/business/v2/hubs/{id}":     "/api/v1/business/v2/hubs/" + tests.HubID,
		"/{id}":                      "/api/v1/" + tests.HubID,
		"/hubs/a-b_c.d~E/{anything}": "/api/v1/hubs/a-b_c.d~E/" + tests.HubID,
	} {
		client, err := at("GET " + template)
		require.NoError(t, err, template)
		require.NoError(t, tests.Discard(client.Facts.KnowledgePages(t.Context(), tests.HubID)), template)
		require.Equal(t, want, wire.path, template)
	}
	sent := wire.requests
	for _, route := range []string{
		"GET ", "GET hubs/{id}", "GET //evil.example/{id}", "GET /hubs//{id}", "GET /../{id}", "GET /hubs/./{id}", "GET /hubs/{id}/..", "GET /hubs/{id}?a=b", "GET /hubs/{id}#x",
		"GET /hubs\\{id}", "GET /hubs/{id}\r\n", "GET /hubs/ {id}", "GET https://evil.example/{id}", "GET /hubs/{id", "GET /hubs/{id}/%zz", "GET /{id}/%2e%2e/b", "GET /{id}/.%2E/b", "GET /%2e/{id}", "GET /{id}/x%2F..%2Fb",
		"GET /hubs/{id}/with%20space", "GET /hubs/%7Bx%7D/{anything}", "GET /hubs/{id}/é", "GET /hubs/{id};x=1", "GET /hubs%2F%2F{id}",
		"/hubs/{id}", " /hubs/{id}", "get /hubs/{id}", "GET", "GET  /hubs/{id}", "G@T /hubs/{id}", "DELETE /hubs/{id}",
	} {
		require.Contains(t, tests.Refusals(t, tests.Discard(at(route)))[0], "WithRoutes hubs.pages ", "%q", route)
	}
	for _, route := range []string{"GET /hubs", "GET /{a}/{b}"} {
		client, err := at(route)
		require.NoError(t, err, route)
		require.ErrorAs(t, tests.Discard(client.Facts.KnowledgePages(t.Context(), tests.HubID)), new(*prospectkit.RefusedError), route)
	}
	client, err := at("GET /hubs/{id}")
	require.NoError(t, err)
	require.ErrorAs(t, tests.Discard(client.Facts.KnowledgePages(t.Context(), "../../me")), new(*prospectkit.RefusedError))
	require.Equal(t, sent, wire.requests)
}

// The class decides what is retried, noted and refused: no road leads from a read to a write, nor from a free read to what costs credits.
func TestRoute_LeadsToNoStricterClass(t *testing.T) {
	wire := new(recorder)
	client := tests.NewClient(t, wire)
	body := prospectkit.Fields{"name": "Q1"}
	own := func(method, path string, class op.Class) error {
		o := tests.OfClass(class, prospectkit.Operation{Name: "my.own", Method: method, Path: path, Surface: "lists"})
		return client.Call(t.Context(), o, body, nil)
	}
	paused := func(route string) error {
		rerouted := tests.Derived(t, client, prospectkit.WithRoutes(map[string]string{"agents.pause": route}))
		return tests.Discard(rerouted.Agents.Pause(t.Context(), tests.CampaignID))
	}
	const approve = "/business/campaigns/" + tests.CampaignID + "/approve"
	for name, call := range map[string]func() error{
		"a method with the route of an approval": func() error { return paused("POST /business/campaigns/{id}/approve") },
		"the same in another spelling":           func() error { return paused("POST /Business/campaigns/{id}/approve") },
		"an own read to an approval":             func() error { return own("POST", approve, op.Read) },
		"an own paid read to an approval":        func() error { return own("POST", approve, op.PaidRead) },
		"an own free read to a paid one":         func() error { return own("POST", "/business/prospects/search", op.Read) },
		"an own read by a method that writes":    func() error { return own("DELETE", "/business/notes", op.Read) },
	} {
		require.ErrorIs(t, call(), prospectkit.ErrInvalid, name)
	}
	require.Zero(t, wire.requests)
	require.NoError(t, own("POST", "/business/companies/lookup", op.Read))
}

func TestWithInfo(t *testing.T) {
	var info prospectkit.Info
	client := tests.NewClient(t, tests.Always(200, tests.OneUser, "X-Served-By", "a", "RateLimit-Limit", "120", "RateLimit-Remaining", "119", "RateLimit-Reset", "60"))
	require.NoError(t, tests.Discard(client.Account.Me(t.Context(), prospectkit.WithInfo(&info))))
	require.Equal(t, []any{"account.me", "account", 200, "a", ""}, []any{info.Op, info.Surface, info.Status, info.Header.Get("X-Served-By"), info.RequestID})
	require.Equal(t, []any{"minute", 120, 119}, []any{info.Rate.Window, info.Rate.Limit, info.Rate.Remaining})
	require.Len(t, info.Attempts, 1)
	require.Equal(t, "confirmed", info.Attempts[0].Delivery)
	require.NoError(t, info.Attempts[0].Err)

	_, err := client.Lists.Create(t.Context(), prospectkit.NewList{}, prospectkit.WithInfo(&info))
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	require.Equal(t, prospectkit.Info{Op: "lists.create", Surface: "lists"}, info, "nothing is left of the call before")

	_, err = tests.NewClient(t, tests.Always(404, tests.Envelope("LIST_NOT_FOUND"))).Lists.Get(t.Context(), tests.ListID, prospectkit.WithInfo(&info))
	require.ErrorIs(t, err, prospectkit.ErrNotFound)
	require.Equal(t, []any{404, "req-1", prospectkit.CodeListNotFound}, []any{info.Status, info.RequestID, info.Attempts[0].Code})
	info.Header.Set("X-Mine", "1")

	cut := tests.NewClient(t, tests.RoundTrip(tests.CutOff), tests.OneAttempt)
	require.Error(t, tests.Discard(cut.Account.Me(t.Context(), prospectkit.WithInfo(&info))))
	require.Zero(t, info.Status)
	require.Empty(t, info.Header)
	require.Len(t, info.Attempts, 1)
	require.ErrorIs(t, info.Attempts[0].Err, io.ErrUnexpectedEOF)
}

// Only those who ask for the body get it: of the last response, whole or cut, and never with a secret.
func TestWithInfo_Body(t *testing.T) {
	var info prospectkit.Info
	_, err := tests.NewClient(t, tests.Always(200, tests.OneUser)).Account.Me(t.Context(), prospectkit.WithInfo(&info))
	require.NoError(t, err)
	require.Nil(t, info.Body)

	for most, want := range map[int]string{len(tests.OneUser): tests.OneUser, len(tests.OneUser) + 1: tests.OneUser, 10: tests.OneUser[:10], math.MaxInt: tests.OneUser, -1: ""} {
		info.MaxBody = most
		_, err := tests.NewClient(t, tests.Always(200, tests.OneUser)).Account.Me(t.Context(), prospectkit.WithInfo(&info))
		require.NoError(t, err)
		require.Equal(t, []any{want, most, most == 10}, []any{string(info.Body), info.MaxBody, info.BodyCut})
	}

	info.MaxBody = 1 << 10
	_, err = tests.NewClient(t, tests.Always(404, `{"error":{"code":"LIST_NOT_FOUND","message":"`+tests.Token+`"}}`)).
		Lists.Get(t.Context(), tests.ListID, prospectkit.WithInfo(&info))
	require.ErrorIs(t, err, prospectkit.ErrNotFound)
	require.JSONEq(t, `{"error":{"code":"LIST_NOT_FOUND","message":"[hidden]"}}`, string(info.Body))

	_, err = tests.NewClient(t, tests.Untouched(t)).Lists.Create(t.Context(), prospectkit.NewList{}, prospectkit.WithInfo(&info))
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	require.Nil(t, info.Body, "nothing is left of the call before")
	require.Equal(t, 1<<10, info.MaxBody)
}

// The tokens of pages are in no body: neither the one that a call sends, nor the one that it gets.
func TestWithInfo_BodyOfPages(t *testing.T) {
	info := prospectkit.Info{MaxBody: 1 << 10}
	sent := 0
	client := tests.NewClient(t, tests.RoundTrip(func(*http.Request) (*http.Response, error) {
		sent++
		return tests.Respond(200, fmt.Sprintf(`{"profiles":[{"firstName":"scroll-token-%d"}],"scrollToken":"scroll-token-%d"}`, sent-1, sent)), nil
	}))
	page, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{}, prospectkit.WithInfo(&info))
	require.NoError(t, err)
	require.JSONEq(t, `{"profiles":[{"firstName":"scroll-token-0"}],"scrollToken":"[hidden]"}`, string(info.Body))
	require.NoError(t, tests.Discard(page.Next(t.Context())))
	require.JSONEq(t, `{"profiles":[{"firstName":"[hidden]"}],"scrollToken":"[hidden]"}`, string(info.Body))

	for _, opts := range [][]prospectkit.PageOption{{}, {prospectkit.Sequential()}} {
		numbered := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			number := r.URL.Query().Get("pageNum")
			list := `{"id":"` + number + `"}`
			if number > "3" {
				list = ""
			}
			return tests.Respond(200, `{"data":[`+list+`],"pagination":{"pageNum":`+number+`,"totalPages":3,"totalRecords":3}}`), nil
		}))
		for page, err := range numbered.Lists.Pages(t.Context(), prospectkit.ListsParams{Limit: 1}, append(opts, prospectkit.WithInfo(&info))...) {
			require.NoError(t, err)
			require.Contains(t, string(info.Body), `"pageNum":`+page.Items[0].ID)
		}
	}
}

// After a response that was cut, the body is what arrived; after none, what the one before it was.
func TestWithInfo_BodyThatWasCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		info := prospectkit.Info{MaxBody: 1 << 10}
		cut := breaksOff(tests.OneUser, 12)
		client := tests.NewClient(t, tests.Stage(t, cut, cut, tests.CutOff))
		require.Error(t, tests.Discard(client.Account.Me(t.Context(), prospectkit.WithInfo(&info))))
		require.Len(t, info.Attempts, 3)
		require.Equal(t, []any{tests.OneUser[:12], true}, []any{string(info.Body), info.BodyCut})
	})
}

func TestWithInfo_HoldsEveryAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var info prospectkit.Info
		failed := tests.Always(503, "<html>", "Retry-After", "4")
		client := tests.NewClient(t, tests.Stage(t, failed, failed, tests.Always(200, tests.OneUser)))
		began := time.Now()
		require.NoError(t, tests.Discard(client.Account.Me(t.Context(), prospectkit.WithInfo(&info))))
		require.Len(t, info.Attempts, 3)
		require.Equal(t, time.Since(began), info.Duration)
		require.Equal(t, info.Duration, info.Attempts[0].Wait+info.Attempts[1].Wait)
		require.GreaterOrEqual(t, info.Attempts[0].Wait, 4*time.Second)
		require.Zero(t, info.Attempts[2].Wait)
		require.Equal(t, []int{503, 503, 200}, []int{info.Attempts[0].Status, info.Attempts[1].Status, info.Attempts[2].Status})
	})
}

// The routes of a client hold for its calls and those of derived clients, whose own replace one.
func TestRoutes_OfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		routes := map[string]string{
			"agents.pause":      "POST /business/agents/{agentId}/halt",
			"contacts.timeline": "GET /business/people/{contactId}/log",
			"hubs.pages":        "GET /business/hubs/{hubId}/pages",
		}
		var same []sandbox.Option
		for name, route := range routes {
			same = append(same, sandbox.WithRoute(name, route))
		}
		sb := tests.EverySandbox(t, time.Now(), same...)
		client := tests.SandboxClient(t, sb, prospectkit.WithRoutes(routes))
		delete(routes, "agents.pause") // the client has a copy
		client = tests.Derived(t, client, prospectkit.WithRoutes(routes))
		require.NoError(t, tests.Discard(client.Agents.Pause(t.Context(), tests.RunsID)))
		require.NoError(t, tests.Discard(client.Contacts.ActivitiesPage(t.Context(), tests.ContactID)))
		require.NoError(t, tests.Discard(client.Facts.KnowledgePages(t.Context(), tests.HubID)))
		elsewhere := tests.Derived(t, client, prospectkit.WithRoutes(map[string]string{"hubs.pages": "GET /business/elsewhere/{hubId}"}))
		_, err := client.Contacts.ActivitiesPage(t.Context(), tests.ImportID)
		require.Equal(t, "/business/people/{contactId}/log", tests.AsError(t, err).Route)
		_, err = elsewhere.Facts.KnowledgePages(t.Context(), tests.HubID)
		require.ErrorIs(t, err, prospectkit.CodeEndpointNotFound)
		require.Equal(t, "/business/elsewhere/{hubId}", tests.AsError(t, err).Route)
		_, err = client.Agents.Pause(t.Context(), tests.RunsID, prospectkit.NoSend(), prospectkit.ReadOnly())
		require.ErrorAs(t, err, new(*prospectkit.RefusedError), "a route lifts no rule")
		last := sb.Journal()[len(sb.Journal())-1]
		require.True(t, strings.HasSuffix(last.Path, "/business/elsewhere/"+tests.HubID), last.Path)
	})
}

// An operation of your own is yours, whatever its name.
func TestRoutes_NotOfCall(t *testing.T) {
	r := new(recorder)
	client := tests.NewClient(t, r, prospectkit.WithRoutes(map[string]string{"agents.pause": "POST /business/agents/{agentId}/halt"}))
	o := tests.UnnamedOperation(op.Read)
	o.Name, o.Method, o.Path = "agents.pause", "GET", "/business/mine"
	require.NoError(t, client.Call(t.Context(), o, nil, nil))
	require.Equal(t, "/api/v1/business/mine", r.path)
}

func TestRoutes_Refusals(t *testing.T) {
	_, err := prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithRoutes(map[string]string{
		"agents.halt": "POST /x", "lists.list": "GET /business/lists", "hubs.pages": "POST /business/hubs/{hubId}", "agents.pause": "/business/x", "contacts.timeline": "POST /business/x",
	}))
	const form = " must be a method and a path like POST /lists/{listId}, of letters, digits, - _ . ~ and whole parameters, without empty or dot segments"
	require.Equal(t, []string{
		"WithRoutes agents.halt is not an operation with an undocumented path",
		"WithRoutes agents.pause" + form,
		"WithRoutes contacts.timeline has the method POST, must have GET",
		"WithRoutes hubs.pages has the method POST, must have GET",
		"WithRoutes lists.list is not an operation with an undocumented path",
	}, tests.Refusals(t, err))
	_, err = prospectkit.New(tests.BaseURL, tests.Token, prospectkit.WithRoutes(map[string]string{"agents.pause": "GET /business/{id}/pause"}))
	require.Equal(t, []string{`WithRoutes agents.pause is "GET", must be one of ["POST" "PUT" "PATCH" "DELETE"]`}, tests.Refusals(t, err))
}
