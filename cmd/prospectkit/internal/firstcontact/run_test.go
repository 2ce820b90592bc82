package firstcontact_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
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
func check(t *testing.T, sb *sandbox.Sandbox, transport http.RoundTripper) *firstcontact.Report {
	t.Helper()
	return checkWith(t, sb, sb.Token(), transport)
}

func checkWith(t *testing.T, sb *sandbox.Sandbox, token string, transport http.RoundTripper) *firstcontact.Report {
	t.Helper()
	run, err := firstcontact.Start(sb.BaseURL(), token, transport)
	require.NoError(t, err)
	require.NoError(t, run.Ask(t.Context()))
	return run.Report()
}

// requireHarmless demands that the sandbox was only read.
func requireHarmless(t *testing.T, sb *sandbox.Sandbox) {
	t.Helper()
	require.LessOrEqual(t, len(sb.Journal()), 120)
	for _, e := range sb.Journal() {
		require.Equal(t, http.MethodGet, e.Method)
		require.Empty(t, e.Effects)
		require.Zero(t, e.Credits)
	}
	require.Empty(t, sb.Ledger())
}

// requireReasons demands that nothing differs, and that whatever could not be told has a reason.
func requireReasons(t *testing.T, report *firstcontact.Report) {
	t.Helper()
	require.Empty(t, lines(report), "the sandbox that check asks shows less than this one: run.go of firstcontact seeds it, nullable, open and vocabularies of asks.go have the rest")
	for _, u := range report.Untold {
		require.NotEmpty(t, u.Why, u.Operation)
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
		"sparse": {Workspaces: []sandbox.Workspace{{Lists: []sandbox.List{{Name: "sparse", Rows: slices.Repeat(sandbox.Rows(sandbox.Row{"email": "a@b.example"}), 20)}}}}},
		"empty":  fixture.Empty(), "none": {}, "nulls": nulls, "small 1": fixture.Small(1), "small 2": fixture.Small(2), "small 3": fixture.Small(3),
		"clean": fixture.Build(fixture.Config{Seed: 4, ContactLists: 60, CompanyLists: 3, Rows: 700, Clean: true}),
		"rows":  fixture.Build(fixture.Config{Seed: 5, CompanyLists: 1, Rows: 3}),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, opts := range [][]sandbox.Option{nil, {sandbox.SlidingWindows()}} {
					sb := sandbox.New(t, append(opts, sandbox.Seed(state))...)
					requireReasons(t, check(t, sb, sb.Transport()))
					requireHarmless(t, sb)
					time.Sleep(17 * time.Second)
					requireReasons(t, check(t, sb, sb.Transport())) // in the middle of a window
				}
			})
		})
	}
}

// Every read that is free is asked, and nothing else; not the timeline, whose path is undocumented.
func TestRun_AsksEveryRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		report := check(t, sb, sb.Transport())
		requireReasons(t, report)
		require.Contains(t, report.Untold, firstcontact.Untold{Operation: "contacts.timeline", Why: "the activities of a contact: its path is undocumented"})
		for _, o := range op.All() {
			require.Equal(t, o.FreeRead() && o.Path != "", sb.Calls(o.Name) > 0, "%s: a free read has a request in plan of asks.go; nothing else is asked", o.Name)
		}
	})
}

// against runs over the network of this machine.
func against(t *testing.T, url, token string) (*firstcontact.Report, error) {
	t.Helper()
	run, err := firstcontact.Start(url+"/api/v1", token, firstcontact.NewTransport())
	require.NoError(t, err)
	if err := run.Ask(t.Context()); err != nil {
		return nil, err
	}
	return run.Report(), nil
}

// Over a connection, the names of headers may be written in any case, and a connection that breaks is no reason to send more.
func TestRun_OverTheWire(t *testing.T) {
	for _, name := range []string{"RateLimit-Limit", "Ratelimit-Limit", "ratelimit-limit", "RATELIMIT-LIMIT"} {
		sb, env := service(t, func(w http.ResponseWriter, kept *httptest.ResponseRecorder) {
			limit := kept.Header()["Ratelimit-Limit"]
			kept.Header().Del("RateLimit-Limit")
			w.Header()[name] = limit
			renaming("none", "none")(w, kept)
		})
		report, err := against(t, strings.TrimSuffix(env("PROSPECTKIT_BASE_URL"), "/api/v1"), sb.Token())
		require.NoError(t, err)
		require.Empty(t, lines(report), name)
	}
	sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
	sb.Fail("folders.list", sandbox.Always(), sandbox.DropAfter())
	server := httptest.NewServer(sb.Handler())
	defer server.Close()
	report, err := against(t, server.URL, sb.Token())
	require.NoError(t, err)
	require.Empty(t, lines(report))
	requireHarmless(t, sb)
}

// No value that a customer has written is in any output.
func TestRun_ShowsNoValue(t *testing.T) {
	const secret = "Canary"
	n := 0
	canary := func() string {
		n++
		return fmt.Sprintf("%s%04d Lovelace", secret, n)
	}
	spread := func(o object) {
		for name, v := range o {
			if text, ok := v.(string); ok && len(text) != 24 && !strings.HasPrefix(text, "20") {
				o[name] = canary()
			}
		}
		o["custom"] = object{canary(): 1, canary() + "@mail.example": canary(), "64f0a1b2c3d4e5f60718293a": object{canary(): nil}}
		o["byMail"] = object{strings.ToLower(secret) + "@mail.example": object{"count": 1}}
		o["byDay"] = object{"2026-01-01": canary(), "2026-01-02": canary()}
		o["Canary Lovelace"] = true
	}
	plants := []plant{
		{after: each(rows, "data", spread)},
		{after: each(lists, "data", spread)},
		{after: each(campaigns, "campaigns", spread)},
		{after: each(agents, "agents", spread)},
		{after: each(me, "user", spread)},
		{after: on(options, top(put("filterOptions", object{"Canary": []any{"Canary"}, "title": []any{"Canary"}})))},
		{after: inError(func(o object) {
			o["message"], o["code"], o["param"], o["doc_url"] = canary(), canary(), canary(), canary()
		})},
		{after: func(r *reply) {
			r.header.Set("RateLimit-Policy", canary())
			r.header.Set("RateLimit-Limit", canary())
			r.header.Set("Content-Type", "canary/lovelace; name=\"Canary\"")
			r.header.Set("Deprecation-Canary", "x")
		}},
	}
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		text := printed(t, check(t, sb, changed{sb.Transport(), plants}))
		require.Contains(t, text, "undocumented")
		for _, leak := range []string{secret, "Lovelace", "lovelace", "@mail", "64f0a1b2", "2026-01-0", sb.Token()} {
			require.NotContains(t, text, leak)
		}
		for _, list := range sb.Snapshot().Workspaces[0].Lists {
			require.NotContains(t, text, list.ID)
			require.NotContains(t, text, list.Name)
		}
	})
}

// printed is a report in both forms.
func printed(t *testing.T, report *firstcontact.Report) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.WriteText(&out, 1, nil))
	require.NoError(t, cli.WriteJSON(&out, report))
	return out.String()
}

// The report does not hold the key, wherever the service echoes it: as a name, in a name, as a value, and in a header.
func TestRun_HidesTheKey(t *testing.T) {
	for _, key := range []string{"sk_live_maryhadalittlelamb", "maryhadalittlelamb", "WORKSPACE_SECRET"} {
		for _, echo := range []string{key, base64.RawURLEncoding.EncodeToString([]byte(key + ":"))} {
			synctest.Test(t, func(t *testing.T) {
				state := fixture.Small(1)
				state.Workspaces[0].Keys = []sandbox.Key{{Token: key}}
				sb := sandbox.New(t, sandbox.Seed(state))
				echoing := plant{after: func(r *reply) {
					o := r.body.(object)
					o[echo], o["by_"+echo], o["status"] = object{echo: 1}, 2, echo
					within(o, "agent", put("status", echo))
					r.header.Set("RateLimit-"+echo, echo)
				}}
				text := printed(t, checkWith(t, sb, key, changed{sb.Transport(), []plant{echoing}}))
				require.Contains(t, text, "undocumented")
				require.NotContains(t, strings.ToLower(text), strings.ToLower(echo))
			})
		}
	}
}

// A key of one scope has no access to the rest. A mock that responds alike to everything is no service: nothing else is said of it.
func TestRun_Untold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		report := checkWith(t, sb, sb.Key("lists"), sb.Transport())
		requireReasons(t, report)
		require.Contains(t, report.Untold, firstcontact.Untold{Operation: "agents.list", Why: "the key has no access (403): it may lack the scope agents"})
		for _, p := range []plant{
			{name: "saved searches: the service failed each time (500)", after: fails(saved, 500)},
			{name: "no row has lastName: it is empty, or has another name", after: each(rows, "data", rename("lastName", "surname"))},
			{name: "limit=1001: the service failed each time (502)", after: fails(lists, 502)},
			{name: "a list: the service failed each time (500)", after: func(r *reply) {
				if r.status == 200 {
					fails(list, 500)(r)
				}
			}},
			{name: "folders of agents: the response is 400 INVALID_REQUEST", after: func(r *reply) {
				if r.query.Get("type") == "agent" {
					responds("", 400, `{"error":{"code":"INVALID_REQUEST","message":"","param":null,"doc_url":null,"request_id":null}}`)(r)
				}
			}},
			{name: "", after: func(r *reply) { // documented of successes alone
				if r.status >= 400 {
					unrated(r.header)
				}
			}},
			{name: "", after: func(*reply) { time.Sleep(61 * time.Second) }},
		} {
			report = check(t, sb, changed{sb.Transport(), []plant{p}})
			requireReasons(t, report)
			require.Contains(t, printed(t, report), p.name)
		}
		report = check(t, sb, changed{sb.Transport(), []plant{{after: responds("", 200, "{}")}}})
		requireReasons(t, report)
		require.Equal(t, []firstcontact.Untold{{Operation: "everything", Why: "this server responds alike whatever is asked, as a static mock does"}}, report.Untold)
	})
}

func TestRun_CannotRun(t *testing.T) {
	sb := sandbox.New(t)
	run, err := firstcontact.Start(sb.BaseURL(), "wrong", sb.Transport())
	require.NoError(t, err)
	require.ErrorContains(t, run.Ask(t.Context()), "does not accept the key")

	server := httptest.NewServer(http.NotFoundHandler())
	url := server.URL
	server.Close()
	_, err = against(t, url, "key")
	require.ErrorContains(t, err, "the service cannot be reached: ")
}

// Two runs that meet the same write the same JSON, without times and counts, and whatever the order of what they meet.
func TestReport_JSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Build(fixture.Config{Seed: 1, ContactLists: 9, CompanyLists: 2, Rows: 99})))
		n := 0
		turned := func(key string) func(*reply) {
			return on("", top(value(key, func(v any) any {
				all := v.([]any)
				n += len(all)
				return slices.Concat(all[n%max(1, len(all)):], all[:n%max(1, len(all))])
			})))
		}
		various := []plant{{after: turned("agents")}, {after: turned("campaigns")}, {after: turned("knowledgeHubs")}, {after: each(lists, "data", word("entityType", strings.ToUpper))}, {after: rates(agents, unrated)}, {after: fails(saved, 500)}}
		var texts [3]string
		for i := range texts {
			var out bytes.Buffer
			require.NoError(t, cli.WriteJSON(&out, check(t, sb, changed{sb.Transport(), various})))
			texts[i] = out.String()
			time.Sleep(17 * time.Second)
			require.Equal(t, texts[0], texts[i])
		}
		require.Contains(t, texts[0], `"differs": [`)
	})
}

// A refusal by a rate limit is waited for as it says, but not without end. How it says so is judged, and what was not asked is told.
func TestRun_RateLimit(t *testing.T) {
	for wait, want := range map[string]string{
		"3": "", "": "Retry-After is missing from a 429", "code": "a 429: BUSY instead of RATE_LIMITED", "soon": "Retry-After is neither seconds nor a date", "date": "Retry-After is a date instead of seconds", "86400": "",
	} {
		synctest.Test(t, func(t *testing.T) {
			began, n := time.Now(), 0
			busy := plant{after: func(r *reply) {
				if n++; n == 2 || wait == "86400" && n > 2 {
					responds("", 429, `{"error":{"code":"`+map[bool]string{true: "BUSY", false: "RATE_LIMITED"}[wait == "code"]+`","message":"","param":null,"doc_url":null,"request_id":null}}`)(r)
					r.header.Set("Retry-After", strings.Replace(strings.Replace(wait, "code", "3", 1), "date", time.Now().Add(3*time.Second).UTC().Format(http.TimeFormat), 1))
				}
			}}
			sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
			report := check(t, sb, changed{sb.Transport(), []plant{busy}})
			require.Equal(t, want == "", len(report.Differs) == 0, lines(report))
			require.Contains(t, strings.Join(lines(report), ""), want)
			require.Less(t, time.Since(began), firstcontact.MaxWaits)
			require.Equal(t, wait == "3" || wait == "date" || wait == "code", time.Since(began) >= 2*time.Second)
			require.Equal(t, wait == "86400", strings.Contains(printed(t, report), "the rate limit was used up (429)"))
		})
	}
}

// Why there was no response is the same for two runs, whatever the ports of their connections, and quotes nobody.
func TestReport_NoResponse(t *testing.T) {
	sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)), sandbox.NoLimits())
	for _, instead := range []string{"", "Ada\r\n\r\n"} {
		api := sb.Handler()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/agents") {
				api.ServeHTTP(w, r)
				return
			}
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			if _, _ = conn.Write([]byte(instead)); instead == "" {
				_ = conn.(*net.TCPConn).SetLinger(0) // a reset
			}
			_ = conn.Close()
		}))
		t.Cleanup(server.Close)
		var texts [2]string
		for i := range texts {
			report, err := against(t, server.URL, sb.Token())
			require.NoError(t, err)
			var out bytes.Buffer
			require.NoError(t, cli.WriteJSON(&out, report))
			texts[i] = out.String()
		}
		require.Equal(t, texts[0], texts[1])
		require.Contains(t, texts[0], "agents: no response: ")
		require.Contains(t, texts[0], "an agent: it has seen no agents in this workspace", "which may have some")
		require.NotContains(t, texts[0], "127.0.0.1")
		require.NotContains(t, texts[0], "Ada")
	}
}
