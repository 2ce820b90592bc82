package firstcontact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// check runs against a transport.
func check(t *testing.T, sb *sandbox.Sandbox, transport http.RoundTripper, routes map[string]string) *firstcontact.Report {
	t.Helper()
	run, err := firstcontact.Start(firstcontact.Config{BaseURL: sb.BaseURL(), Token: sb.Token(), Transport: transport, Routes: routes})
	require.NoError(t, err)
	require.NoError(t, run.Ask(t.Context()))
	return run.Report()
}

// requireReasons demands that nothing differs, and that whatever could not be told has a reason.
func requireReasons(t *testing.T, report *firstcontact.Report) {
	t.Helper()
	require.Empty(t, lines(report), "the sandbox responds otherwise than asks.go of firstcontact describes it: what is new belongs there, into plan or descriptions")
	for _, u := range report.Untold {
		require.NotEmpty(t, u.Why, u.About)
	}
}

// Whatever the workspace holds, the sandbox does not differ from itself.
func TestRun_Unchanged(t *testing.T) {
	nulls := sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "nulls", Credits: 1,
		Lists: []sandbox.List{
			{Name: "a", Rows: sandbox.Rows(sandbox.Row{"firstName": nil, "company": nil, "revenue": "much"}, sandbox.Row{"email": "a@b.example"})},
			{Name: "b", EntityType: sandbox.CompanyList, Rows: sandbox.Rows(sandbox.Row{"name": nil}, sandbox.Row{"odd key": 1, "größe": true})},
			{Name: "c", CompletionStatus: "processing"},
		},
		Agents:    []sandbox.Agent{{Name: "legacy", Status: "paused"}, {Name: "draft", Type: sandbox.WebMonitor}},
		Campaigns: []sandbox.Campaign{{Name: "bare"}, {Name: "bare"}},
		Hubs:      []sandbox.Hub{{Name: "building", Status: "processing"}},
	}}}
	for name, state := range map[string]sandbox.State{
		"empty": fixture.Empty(), "none": {}, "nulls": nulls, "small 1": fixture.Small(1), "small 2": fixture.Small(2), "small 3": fixture.Small(3),
		"clean": fixture.Build(fixture.Config{Seed: 4, ContactLists: 60, CompanyLists: 3, Rows: 700, Clean: true}),
		"rows":  fixture.Build(fixture.Config{Seed: 5, CompanyLists: 1, Rows: 3}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, opts := range [][]sandbox.Option{nil, {sandbox.SlidingWindows()}} {
					sb := sandbox.New(t, append(opts, sandbox.Seed(state))...)
					report := check(t, sb, sb.Transport(), nil)
					requireReasons(t, report)
					requireHarmless(t, sb)
					time.Sleep(17 * time.Second)
					again := check(t, sb, sb.Transport(), nil) // in the middle of a window
					requireReasons(t, again)
				}
			})
		})
	}
}

// A mock that knows the documentation only responds alike to everything, without rate headers.
func TestRun_StaticMock(t *testing.T) {
	const id = "0123456789abcdef01234567"
	list, alone := oneList(t, id)
	const pages = `"pagination":{"pageNum":1,"totalPages":1,"totalRecords":1}`
	documentedOnly := map[string]string{
		"GET /business/me":                             `{"user":{"id":"` + id + `","email":"a@b.example","name":"Ada"}}`,
		"GET /business/lists":                          `{"data":[` + list + `],` + pages + `}`,
		"GET /business/lists/{id}":                     alone,
		"GET /business/lists/{id}/rows":                `{"entityType":"contactList","data":[{}],` + pages + `}`,
		"GET /business/folders":                        `{"folders":[{"id":"` + id + `","name":"Regions","type":"contactList"}]}`,
		"GET /business/agents":                         `{"agents":[{"id":"` + id + `","status":"active","listId":"` + id + `","contactsFound":2}]}`,
		"GET /business/agents/{id}":                    `{"agent":{"id":"` + id + `"}}`,
		"GET /business/agents/autocomplete":            `{}`,
		"GET /business/credits":                        `{}`,
		"GET /business/prospects/filter-options":       `{}`,
		"GET /business/campaigns":                      `{}`,
		"GET /business/campaigns/{id}/steps":           `{}`,
		"GET /business/campaigns/{id}/scheduled-sends": ``,
		"GET /business/knowledge-hubs":                 ``,
		"GET /business/knowledge-hubs/{id}":            ``,
		"GET /business/saved-searches":                 `{}`,
	}
	anyID := regexp.MustCompile(`\{\w+\}`)
	for _, o := range op.All() {
		pattern := anyID.ReplaceAllString(o.Route(), "{id}")
		if _, shown := documentedOnly[pattern]; !shown && o.FreeRead() && o.Provenance == op.Documented {
			documentedOnly[pattern] = ""
		}
	}
	for _, kind := range []string{"examples", "routes", "one id"} {
		mux := http.NewServeMux()
		for pattern, body := range documentedOnly {
			method, path, _ := strings.Cut(pattern, " ")
			if kind == "one id" {
				path = strings.ReplaceAll(path, "{id}", id)
			}
			mux.HandleFunc(method+" /api/v1"+path, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if kind != "routes" {
					_, _ = w.Write([]byte(body))
				}
			})
		}
		server := httptest.NewServer(mux)
		report, err := against(t, server.URL, "key")
		server.Close()
		require.NoError(t, err)
		require.NotEmpty(t, report.Untold)
		requireReasons(t, report)
	}
}

// oneList is a list, as a listing shows it, and the response of a read of it alone.
func oneList(t *testing.T, id string) (listed, alone string) {
	t.Helper()
	sb := sandbox.New(t, sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Lists: []sandbox.List{{ID: id, Name: "Berlin"}}}}}))
	read := func(path string) []byte {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sb.BaseURL()+path, http.NoBody)
		require.NoError(t, err)
		request.SetBasicAuth(sb.Token(), "")
		response, err := sb.Client().Do(request)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return body
	}
	var page struct{ Data []json.RawMessage }
	require.NoError(t, json.Unmarshal(read("/business/lists"), &page))
	require.Len(t, page.Data, 1)
	return string(page.Data[0]), string(read("/business/lists/" + id))
}

// against runs over the network of this machine.
func against(t *testing.T, url, token string) (*firstcontact.Report, error) {
	t.Helper()
	run, err := firstcontact.Start(firstcontact.Config{BaseURL: url + "/api/v1", Token: token, Transport: firstcontact.NewTransport()})
	require.NoError(t, err)
	if err := run.Ask(t.Context()); err != nil {
		return nil, err
	}
	return run.Report(), nil
}

// Over a connection, the names of headers may be written in any case.
func TestRun_HeadersOverTheWire(t *testing.T) {
	for _, name := range []string{"RateLimit-Limit", "Ratelimit-Limit", "ratelimit-limit", "RATELIMIT-LIMIT"} {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kept := httptest.NewRecorder()
			sb.Handler().ServeHTTP(kept, r)
			for key, values := range kept.Header() {
				if key == "Ratelimit-Limit" {
					key = name
				}
				w.Header()[key] = values
			}
			w.WriteHeader(kept.Code)
			_, _ = w.Write(kept.Body.Bytes())
		}))
		report, err := against(t, server.URL, sb.Token())
		server.Close()
		require.NoError(t, err)
		require.Empty(t, lines(report), name)
	}
}

// No value that a customer has written is in any output.
func TestRun_ShowsNoValue(t *testing.T) {
	const secret = "Canary"
	n := 0
	canary := func() string {
		n++
		return fmt.Sprintf("%s%04d Lovelace", secret, n)
	}
	spread := func(key string) func(object) {
		return func(o object) {
			for name, v := range o {
				if text, ok := v.(string); ok && len(text) != 24 && !strings.HasPrefix(text, "20") {
					o[name] = canary()
				}
			}
			o[key] = object{canary(): 1, canary() + "@mail.example": canary(), "64f0a1b2c3d4e5f60718293a": object{canary(): nil}}
			o["byMail"] = object{strings.ToLower(secret) + "@mail.example": object{"count": 1}}
			o["byDay"] = object{"2026-01-01": canary(), "2026-01-02": canary()}
			o["Canary Lovelace"] = true
		}
	}
	plants := []plant{
		{body: on("/business/lists/*/rows", every("data", spread("tags")))},
		{body: on("/business/lists", every("data", spread("custom")))},
		{body: on("/business/campaigns", every("campaigns", spread("custom")))},
		{body: on("/business/agents", every("agents", spread("custom")))},
		{body: on("/business/me", every("user", spread("custom")))},
		{body: on("/business/prospects/filter-options", put("filterOptions", object{"Canary": []any{"Canary"}, "title": []any{"Canary"}}))},
		{body: failing(func(o object) any {
			e := o["error"].(object)
			e["message"], e["code"], e["param"], e["doc_url"] = canary(), canary(), canary(), canary()
			return o
		})},
		{response: header(func(_ string, h http.Header) { //nolint:bodyclose // it is no response of ours
			h.Set("RateLimit-Policy", canary())
			h.Set("RateLimit-Limit", canary())
			h.Set("Content-Type", "canary/lovelace; name=\"Canary\"")
			h.Set("Deprecation-Canary", "x")
		})},
	}
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		report := check(t, sb, changed{sb.Transport(), plants}, nil)
		var out bytes.Buffer
		require.NoError(t, report.WriteText(&out, 1, nil))
		require.NoError(t, cli.WriteJSON(&out, report))
		text := strings.ReplaceAll(out.String(), "canary/lovelace", "")
		for _, leak := range []string{secret, "Lovelace", "@mail", "64f0a1b2", "2026-01-0", sb.Token(), sb.Snapshot().Workspaces[0].Lists[0].ID} {
			require.NotContains(t, text, leak)
		}
		for _, list := range sb.Snapshot().Workspaces[0].Lists {
			require.NotContains(t, text, list.ID)
			require.NotContains(t, text, list.Name)
		}
	})
}

func TestRun_KeyOfOneScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		run, err := firstcontact.Start(firstcontact.Config{BaseURL: sb.BaseURL(), Token: sb.Key("lists"), Transport: sb.Transport()})
		require.NoError(t, err)
		require.NoError(t, run.Ask(t.Context()))
		report := run.Report()
		requireReasons(t, report)
		require.Contains(t, report.Untold, firstcontact.Untold{About: "agents.list", Why: "the key has no access (403): it may lack the scope agents"})
	})
}

func TestRun_CannotRun(t *testing.T) {
	sb := sandbox.New(t)
	run, err := firstcontact.Start(firstcontact.Config{BaseURL: sb.BaseURL(), Token: "wrong", Transport: sb.Transport()})
	require.NoError(t, err)
	require.ErrorContains(t, run.Ask(t.Context()), "rejects the key (401)")

	server := httptest.NewServer(http.NotFoundHandler())
	url := server.URL
	server.Close()
	_, err = against(t, url, "key")
	require.ErrorContains(t, err, "cannot be reached")

	for _, route := range []string{"POST /business/x/{id}", "GET /business/x", "GET business/{x}", "GET /business/{x}?y"} {
		_, err = firstcontact.Start(firstcontact.Config{
			BaseURL: sb.BaseURL(), Token: sb.Token(), Transport: sb.Transport(), Routes: map[string]string{"contacts.timeline": route},
		})
		require.Error(t, err)
	}
	_, err = firstcontact.Start(firstcontact.Config{
		BaseURL: sb.BaseURL(), Token: sb.Token(), Transport: sb.Transport(), Routes: map[string]string{"agents.pause": "GET /x"},
	})
	require.Error(t, err)
}

// With its route, the timeline is read. Without, nothing is guessed.
func TestRun_Route(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const route = "GET /business/people/{contactId}/story"
		untold := firstcontact.Untold{About: "contacts.timeline", Why: "the activities of a contact: its path is undocumented: -route sets it"}
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)), sandbox.WithRoute("contacts.timeline", route))
		report := check(t, sb, sb.Transport(), map[string]string{"contacts.timeline": route})
		requireReasons(t, report)
		require.NotContains(t, report.Untold, untold)
		require.Equal(t, 1, sb.Calls("contacts.timeline"))
		require.Contains(t, check(t, sb, sb.Transport(), nil).Untold, untold)
	})
}

// Two runs that meet the same write the same JSON, without times and counts.
func TestReport_JSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		var texts []string
		for range 3 {
			var out bytes.Buffer
			require.NoError(t, cli.WriteJSON(&out, check(t, sb, changed{sb.Transport(), plantedForms[:1]}, nil)))
			texts = append(texts, out.String())
			time.Sleep(17 * time.Second)
		}
		require.Equal(t, []string{texts[0], texts[0], texts[0]}, texts)
		require.Contains(t, texts[0], `"differs": [`)
	})
}

// A service whose limits are used up is not waited for without end, and what was not asked is told.
func TestRun_WaitsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		report := check(t, sb, changed{sb.Transport(), []plant{{response: header(func(_ string, h http.Header) { //nolint:bodyclose // it is no response of ours
			if h.Get("RateLimit-Remaining") != "" {
				h.Set("RateLimit-Remaining", "1")
			}
		})}}}, nil)
		require.Less(t, time.Since(began), firstcontact.MaxWaits+time.Minute)
		require.Contains(t, lines(report), "limits of lists: RateLimit-Remaining does not fall from request to request")
		for _, u := range report.Untold {
			require.NotEmpty(t, u.Why, u.About)
		}
	})
}
