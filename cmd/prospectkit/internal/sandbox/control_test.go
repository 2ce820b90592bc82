package sandbox

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// parsed is a command line.
func parsed(t *testing.T, args ...string) (cfg config) {
	t.Helper()
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	cfg.flags(flags)
	require.NoError(t, flags.Parse(args))
	return cfg
}

func newTestHost(t *testing.T, args ...string) *host {
	t.Helper()
	h, err := newHost(parsed(t, args...))
	require.NoError(t, err)
	return h
}

func TestStateCanBeReadAndReset(t *testing.T) {
	p := start(t, "-fault", "lists.create:nth=2:status=500")
	p.ok(t, "POST", "/business/lists", `{"name":"made"}`)

	raw, err := json.Marshal(p.control(t, "GET", "state", "").body)
	require.NoError(t, err)
	var state sandbox.State
	require.NoError(t, decode(bytes.NewReader(raw), &state))
	require.NoError(t, state.Validate())
	require.Equal(t, "made", state.Workspaces[0].Lists[4].Name)
	seeded := start(t, "-seed", seedFile(t, state))
	require.Contains(t, listNames(t, seeded), "made")
	require.Equal(t, p.Token, seeded.Token)

	require.Equal(t, http.StatusOK, p.control(t, "POST", "reset", "").StatusCode)
	require.NotContains(t, listNames(t, p), "made")
	require.Len(t, p.control(t, "GET", "journal", "").body["requests"], 1, "a new journal")

	p.ok(t, "POST", "/business/lists", `{"name":"made"}`)
	a, err := p.api(t, "POST", "/business/lists", `{"name":"more"}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusInternalServerError, a.StatusCode, "the fault of the command line is back")
}

func TestClockMovesWindows(t *testing.T) {
	p := start(t, "-clock", "manual")
	remaining := func() string { return p.ok(t, "GET", "/business/me", "").Header.Get("RateLimit-Remaining") }
	require.Equal(t, "119", remaining())
	require.Equal(t, "118", remaining())
	require.NotEmpty(t, p.control(t, "POST", "clock", `{"advance":"1m"}`).body["now"])
	require.Equal(t, "119", remaining())
	for _, body := range []string{``, `{}`, `{"advance":"-1s"}`, `{"advance":"90000h"}`, `{"advance":"soon"}`, `{"by":1}`} {
		a := p.control(t, "POST", "clock", body)
		require.Equal(t, http.StatusBadRequest, a.StatusCode, body)
		require.NotEmpty(t, a.body["error"])
	}
}

func TestClockThatMovesByItself(t *testing.T) {
	for _, clock := range []string{"real", "x60"} {
		a := start(t, "-clock", clock).control(t, "POST", "clock", `{"advance":"1m"}`)
		require.Equal(t, http.StatusBadRequest, a.StatusCode)
		require.Contains(t, a.body["error"], "-clock manual")
	}
}

func TestRecords(t *testing.T) {
	p := start(t)
	p.ok(t, "POST", "/business/lists", `{"name":"noted"}`)
	entry := p.control(t, "GET", "journal", "").body["requests"].([]any)[0].(map[string]any)
	require.Equal(t, "lists.create", entry["operation"])
	require.Equal(t, "full access", entry["key"])
	require.EqualValues(t, 201, entry["status"])
	require.NotEmpty(t, entry["effects"])

	require.EqualValues(t, 5_000, p.control(t, "GET", "ledger", "").body["balance"])
	require.EqualValues(t, 40, p.control(t, "GET", "ledger?workspace=neighbour", "").body["balance"])
	require.Equal(t, http.StatusBadRequest, p.control(t, "GET", "ledger?workspace=nobody", "").StatusCode)
	require.Contains(t, p.control(t, "GET", "", "").body, "POST /_sandbox/reset")
}

// startReady starts the command with a campaign that can be approved, and returns the campaign's id.
func startReady(t *testing.T) (p *process, id string) {
	t.Helper()
	list := sandbox.List{ID: "65f0c0ffee65f0c0ffee65f0", Name: "Berlin", Rows: sandbox.Rows(sandbox.Row{"email": "grace@navy.example"})}
	p = start(t, "-clock", "manual", "-seed", seedFile(t, sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", Accounts: []string{"email"}, Lists: []sandbox.List{list},
		Campaigns: []sandbox.Campaign{sandbox.ReadyCampaign("Spring", list.ID)},
	}}}))
	campaigns := p.ok(t, "GET", "/business/campaigns", "").body["campaigns"].([]any)
	return p, campaigns[0].(map[string]any)["id"].(string)
}

func TestNewestRecords(t *testing.T) {
	p := start(t)
	for range 3 {
		p.ok(t, "GET", "/business/me", "")
	}
	newest := p.control(t, "GET", "journal?last=2", "").body["requests"].([]any)
	require.Len(t, newest, 2)
	require.Equal(t, "req_000003", newest[1].(map[string]any)["requestId"])
	require.Len(t, p.control(t, "GET", "journal?last=9", "").body["requests"], 3)
	require.Empty(t, p.control(t, "GET", "journal?last=0", "").body["requests"])
	require.Equal(t, map[string]any{"error": "?last=-1 has to be a number"}, p.control(t, "GET", "journal?last=-1", "").body)
}

func TestOutbox(t *testing.T) {
	p, id := startReady(t)
	p.ok(t, "POST", "/business/campaigns/"+id+"/approve", "")
	require.Empty(t, p.control(t, "GET", "outbox", "").body["outbox"])
	p.control(t, "POST", "clock", `{"advance":"1h"}`)
	messages := p.control(t, "GET", "outbox", "").body["outbox"].([]any)
	require.Len(t, messages, 1)
	require.Equal(t, id, messages[0].(map[string]any)["campaignId"])
	require.Equal(t, "message", messages[0].(map[string]any)["kind"])
	require.Equal(t, http.StatusBadRequest, p.control(t, "GET", "outbox?workspace=nobody", "").StatusCode)
}

// What a teammate does in the app, and no request of the API can: to resume it, a program approves it.
func TestATeammateStopsACampaign(t *testing.T) {
	p, id := startReady(t)
	stop := "campaigns/" + strings.ToUpper(id) + "/stop"
	require.Equal(t, http.StatusBadRequest, p.control(t, "POST", stop, "").StatusCode, "a draft")
	p.ok(t, "POST", "/business/campaigns/"+id+"/approve", "")
	require.Equal(t, http.StatusBadRequest, p.control(t, "POST", stop+"?workspace=nobody", "").StatusCode)
	require.Equal(t, http.StatusOK, p.control(t, "POST", stop, "").StatusCode)
	require.Equal(t, http.StatusBadRequest, p.control(t, "POST", stop, "").StatusCode)
	p.control(t, "POST", "clock", `{"advance":"1h"}`)
	require.Empty(t, p.control(t, "GET", "outbox", "").body["outbox"])

	p.ok(t, "POST", "/business/campaigns/"+id+"/approve", "")
	p.control(t, "POST", "clock", `{"advance":"1h"}`)
	require.Len(t, p.control(t, "GET", "outbox", "").body["outbox"], 1)
	require.Empty(t, p.stderr.String())
}

func TestATeammateActs(t *testing.T) {
	p := start(t, "-seed", "empty", "-clock", "manual")
	made := p.control(t, "PUT", "lists", `{"name":"theirs","rows":[{"firstName":"Ada"}]}`).body["id"].(string)
	p.control(t, "PUT", "lists", `{"id":"`+made+`","rows":[{"firstName":"Ada"},{"firstName":"Bob"}]}`)
	require.Len(t, p.ok(t, "GET", "/business/lists/"+made+"/rows", "").body["data"], 2)

	hub := p.control(t, "PUT", "hubs", `{"name":"Company","status":"processing"}`).body["id"].(string)
	p.control(t, "PUT", "hubs", `{"id":"`+hub+`","status":"ready"}`)
	require.Equal(t, made, p.control(t, "DELETE", "lists/"+made, "").body["id"])
	require.Empty(t, listNames(t, p))
	require.Equal(t, "ready", p.ok(t, "GET", "/business/knowledge-hubs/"+hub, "").body["knowledgeHub"].(map[string]any)["status"])

	for what, body := range map[string]string{
		"PUT lists": `{"name":""}`, "DELETE lists/77": ``, "PUT hubs": `{"nam":"x"}`, "PUT agents": `{"name":"x","status":"asleep"}`, "PUT gadgets": `{}`,
		"POST campaigns/77/stop": ``,
	} {
		method, path, _ := strings.Cut(what, " ")
		a := p.control(t, method, path, body)
		require.Equal(t, http.StatusBadRequest, a.StatusCode, what)
		require.NotEmpty(t, a.body["error"], what)
	}
	require.Empty(t, p.stderr.String())
}

func TestMistakesOfATeammateAreExplained(t *testing.T) {
	p := start(t, "-seed", "empty")
	for want, ask := range map[string][3]string{
		`the body has to be a JSON object, or empty: something follows the JSON value`: {"PUT", "lists", `{"name":"X"} {"name":"Y"}`},
		`the body has to be a JSON object, or empty: json: cannot unmarshal array`:     {"PUT", "lists", `[{"name":"X"}]`},
		`Tx.Put: "list" is no kind of object: the kinds are ["lists"`:                  {"PUT", "list", `{"name":"X"}`},
		`Tx.Delete: none of the lists has the id "77"`:                                 {"DELETE", "lists/77", ``},
		`{"fault": "lists.create:nth=2:drop-after"} is what to inject`:                 {"POST", "faults", `{"faults":"lists.rows:drop-after"}`},
		`it lacks an option for what happens, such as DropAfter`:                       {"POST", "faults", `{"fault":"lists.rows:nth=2"}`},
	} {
		a := p.control(t, ask[0], ask[1], ask[2])
		require.Equal(t, http.StatusBadRequest, a.StatusCode, want)
		require.Contains(t, a.body["error"], want)
	}
	require.Empty(t, listNames(t, p))
}

func TestControlPlaneIsForThisMachineOnly(t *testing.T) {
	routes := newTestHost(t).routes()
	for name, tc := range map[string]struct {
		method, host, from, site string
		want                     int
	}{
		"here":                {"GET", "127.0.0.1:80", "127.0.0.1:1", "", 200},
		"here by name":        {"POST", "localhost", "127.0.0.1:1", "", 200},
		"here, version 6":     {"POST", "[::1]:80", "[::1]:1", "", 200},
		"another machine":     {"GET", "127.0.0.1:80", "192.0.2.7:1", "", 403},
		"a name that rebinds": {"GET", "rebound.example:80", "127.0.0.1:1", "", 403},
		"no host":             {"GET", "", "127.0.0.1:1", "", 403},
		"a page elsewhere":    {"POST", "127.0.0.1:80", "127.0.0.1:1", "cross-site", 403},
	} {
		t.Run(name, func(t *testing.T) {
			path := map[string]string{"GET": "state", "POST": "reset"}[tc.method]
			req := httptest.NewRequestWithContext(t.Context(), tc.method, controlPath+path, nil)
			req.Host, req.RemoteAddr = tc.host, tc.from
			if tc.site != "" {
				req.Header.Set("Sec-Fetch-Site", tc.site)
			}
			w := httptest.NewRecorder()
			routes.ServeHTTP(w, req)
			require.Equal(t, tc.want, w.Code)
		})
	}
}

func TestPathsReachTheSandboxUntouched(t *testing.T) {
	p := start(t)
	for _, path := range []string{"//business/me", "/business/../business/me", "/business/me/", "/_sandbox/state"} {
		a, err := p.api(t, "GET", path, "")
		require.NoError(t, err)
		require.Equal(t, "ENDPOINT_NOT_FOUND", a.code(), path)
	}
	require.Equal(t, http.StatusMethodNotAllowed, p.control(t, "GET", "nothing", "").StatusCode)
	require.Equal(t, http.StatusMethodNotAllowed, p.control(t, "PATCH", "state", "").StatusCode)
}
