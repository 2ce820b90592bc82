package firstcontact_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// object is a JSON object of a response.
type object = map[string]any

// changed is a service that differs from the sandbox.
type changed struct {
	next  http.RoundTripper
	plant []plant
}

// plant is one difference, and what a report has to say about it. The expressions match lines of the form
// "check: difference".
type plant struct {
	name string
	want []string // each matches some line
	also []string // may match others

	path     func(string) (string, bool) // of a request, as the sandbox has it; false: it is unknown
	query    func(path string, query url.Values)
	body     func(path string, v any) any
	response func(path string, resp *http.Response)
}

func (c changed) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	path := strings.TrimPrefix(req.URL.Path, "/api/v1")
	for _, p := range c.plant {
		if p.path != nil {
			to, ok := p.path(path)
			if !ok {
				to = "/nowhere"
			}
			req.URL.Path = "/api/v1" + to
			path = to
		}
		if p.query != nil {
			query := req.URL.Query()
			p.query(path, query)
			req.URL.RawQuery = query.Encode()
		}
	}
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	for _, p := range c.plant {
		if p.body != nil {
			v = p.body(path, v)
		}
	}
	if text, err = json.Marshal(v); err != nil {
		return nil, err
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	resp.Header.Set("Content-Length", strconv.Itoa(len(text)))
	for _, p := range c.plant {
		if p.response != nil {
			p.response(path, resp)
		}
	}
	return resp, nil
}

// on changes the successes of the paths that match.
func on(pattern string, change func(object) any) func(string, any) any {
	e := pathPattern(pattern)
	return func(path string, v any) any {
		o, ok := v.(object)
		if !ok || !e.MatchString(path) || o["error"] != nil {
			return v
		}
		return change(o)
	}
}

// every changes the objects of an array, or the one object, under a key.
func every(key string, change func(object)) func(object) any {
	return func(o object) any {
		switch v := o[key].(type) {
		case []any:
			for _, item := range v {
				change(item.(object))
			}
		case object:
			change(v)
		}
		return o
	}
}

func rename(from, to string) func(object) {
	return func(o object) {
		if v, ok := o[from]; ok {
			delete(o, from)
			o[to] = v
		}
	}
}

func set(key string, value func(any) any) func(object) {
	return func(o object) {
		if v, ok := o[key]; ok {
			o[key] = value(v)
		}
	}
}

func top(change func(object)) func(object) any {
	return func(o object) any {
		change(o)
		return o
	}
}

// failing changes the bodies of errors.
func failing(change func(object) any) func(string, any) any {
	return func(_ string, v any) any {
		if o, ok := v.(object); ok && o["error"] != nil {
			return change(o)
		}
		return v
	}
}

// moved makes a path stand somewhere else.
func moved(from, to string) func(string) (string, bool) {
	return func(path string) (string, bool) {
		switch path {
		case from:
			return "", false
		case to:
			return from, true
		}
		return path, true
	}
}

func header(change func(path string, h http.Header)) func(string, *http.Response) {
	return func(path string, resp *http.Response) { change(path, resp.Header) }
}

func withoutMilliseconds(v any) any {
	at, err := time.Parse(time.RFC3339, v.(string))
	if err != nil {
		return v
	}
	return at.Format(time.RFC3339)
}

// uuids gives every id another form, and takes it back in paths.
func uuid(v any) any {
	id, ok := v.(string)
	if !ok || len(id) != 24 {
		return v
	}
	return id[:8] + "-" + id[8:12] + "-4" + id[12:15] + "-8" + id[15:18] + "-" + id[18:] + "000000"
}

func unUUID(path string) (string, bool) {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if len(part) == 36 && part[8] == '-' {
			s := strings.ReplaceAll(part, "-", "")
			parts[i] = s[:12] + s[13:16] + s[17:26]
		}
	}
	return strings.Join(parts, "/"), true
}

// pathPattern reads a path in which * is one element and ** is any number.
func pathPattern(text string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.NewReplacer("**", ".*", "*", "[^/]+").Replace(text) + "$")
}

func status(pattern string, from, to int) func(string, *http.Response) {
	e := pathPattern(pattern)
	return func(path string, resp *http.Response) {
		if e.MatchString(path) && resp.StatusCode == from {
			resp.StatusCode = to
		}
	}
}

var planted = []plant{
	{
		name: "path of saved searches moved", path: moved("/business/saved-searches", "/saved-searches"),
		want: []string{`^search.saved: path: .* found at GET /saved-searches$`},
	},
	{
		name: "path of the pages of a hub moved", path: func(p string) (string, bool) {
			return p, !strings.HasSuffix(p, "/pages")
		},
		want: []string{`^hubs.pages: path: .* leads nowhere`},
	},
	{
		name: "data of lists under another key", body: on("/business/lists", top(rename("data", "items"))),
		want: []string{`^lists.list: response: data is now items$`},
	},
	{
		name: "rows at the top", body: on("/business/lists/*/rows", func(o object) any { return o["data"] }),
		want: []string{`^lists.rows: response: data has no wrapper`, `^lists.rows: response: pagination is missing`, `^lists.rows: response: entityType is missing`},
	},
	{
		name: "a list without wrapper", body: on("/business/lists/*", func(o object) any { return o["list"] }),
		want: []string{`^lists.get: response: list has no wrapper`},
	},
	{
		name: "everything wrapped", body: on("/business/campaigns", func(o object) any { return object{"result": o} }),
		want: []string{`^campaigns.list: response: (the whole response|campaigns) is now result`},
	},
	{
		name: "field of lists renamed", body: on("/business/lists", every("data", rename("contactsCount", "contactCount"))),
		want: []string{`^lists.list: response: data\[\]\.contactsCount is now contactCount$`},
	},
	{
		name: "field of steps renamed", body: on("/business/campaigns/*/steps", every("steps", rename("sequenceNumber", "position"))),
		want: []string{`^campaigns.steps: response: steps\[\]\.sequenceNumber is now position$`},
	},
	{
		name: "snake case", body: on("/business/knowledge-hubs", every("knowledgeHubs", rename("isDefault", "is_default"))),
		want: []string{`^hubs.list: response: knowledgeHubs\[\]\.isDefault is now is_default$`},
	},
	{
		name: "field of rows renamed", body: on("/business/lists/*/rows", every("data", rename("jobTitle", "job_title"))),
		want: []string{`^lists.rows: response: data\[\]\.jobTitle is now job_title$`},
	},
	{
		name: "count as text", body: on("/business/lists", every("data", set("companiesCount", func(v any) any { return v.(json.Number).String() }))),
		want: []string{`^lists.list: response: data\[\]\.companiesCount is string instead of integer$`},
	},
	{
		name: "balance with a fraction", body: on("/business/credits", every("credits", set("balance", func(any) any { return json.Number("12.5") }))),
		want: []string{`^account.credits: response: credits.balance is number instead of integer$`},
	},
	{
		name: "channels as text", body: on("/business/campaigns", every("campaigns", set("channels", func(any) any { return "email" }))),
		want: []string{`^campaigns.list: response: campaigns\[\]\.channels is string instead of array$`},
	},
	{
		name: "null for a name", body: on("/business/folders", every("folders", set("name", func(any) any { return nil }))),
		want: []string{`^folders.list: response: folders\[\]\.name is null instead of string$`},
	},
	{
		name: "null for some names", body: on("/business/agents", func(o object) any {
			o["agents"].([]any)[0].(object)["name"] = nil
			return o
		}),
		want: []string{`^agents.list: response: agents\[\]\.name is sometimes null instead of string$`},
	},
	{
		name: "field missing", body: on("/business/me", every("user", func(o object) { delete(o, "name") })),
		want: []string{`^account.me: response: user.name is missing`},
	},
	{
		name: "field missing sometimes", body: on("/business/saved-searches", func(o object) any {
			delete(o["savedSearches"].([]any)[0].(object), "name")
			return o
		}),
		want: []string{`^search.saved: response: savedSearches\[\]\.name is missing from some`},
	},
	{
		name: "extra fields", body: on("/business/lists", every("data", func(o object) { o["ownerId"], o["tags"] = o["id"], []any{"a"} })),
		want: []string{`^lists.list: response: data\[\]\.ownerId is undocumented`, `^lists.list: response: data\[\]\.tags is undocumented`},
	},
	{
		name: "another kind of list", body: on("/business/lists", func(o object) any {
			if data := o["data"].([]any); len(data) > 0 {
				data[0].(object)["entityType"] = "mixedList"
			}
			return o
		}),
		want: []string{`^lists.list: response: data\[\]\.entityType has the undocumented value mixedList$`},
		also: []string{`^paging: lists|^lists: `},
	},
	{
		name: "another status of agents", body: on("/business/agents/*", every("agent", set("status", func(any) any { return "archived" }))),
		want: []string{`^agents.get: response: agent.status has the undocumented value archived$`},
	},
	{
		name: "dates without milliseconds", body: on("/business/lists", every("data", set("createdAt", withoutMilliseconds))),
		want: []string{`^lists.list: response: data\[\]\.createdAt has the form "timestamp without milliseconds"`},
	},
	{
		name: "dates of campaigns as numbers", body: on("/business/campaigns", every("campaigns", set("createdAt", func(any) any { return json.Number("1760000000000") }))),
		want: []string{`^campaigns.list: response: campaigns\[\]\.createdAt is integer \(milliseconds since 1970\) instead of string`},
	},
	{
		name: "ids of another form", path: unUUID, body: on("/business/agents**", func(o object) any {
			every("agents", set("id", uuid))(o)
			return every("agent", set("id", uuid))(o)
		}),
		want: []string{`^agents.list: response: agents\[\]\.id has the form "uuid" instead of "id"`, `^agents.get: response: agent.id has the form "uuid"`},
	},
	{
		name: "pagination renamed", body: on("/business/lists", top(rename("pagination", "meta"))),
		want: []string{`^lists.list: response: pagination is now meta$`},
	},
	{
		name: "pagination at the top", body: on("/business/lists/*/rows", func(o object) any {
			maps.Copy(o, o["pagination"].(object))
			delete(o, "pagination")
			return o
		}),
		want: []string{`^lists.rows: response: pagination has no wrapper`},
	},
	{
		name: "page number renamed", body: on("/business/lists", every("pagination", rename("pageNum", "page"))),
		want: []string{`^lists.list: response: pagination.pageNum is now page$|pagination.pageNum is now pagination.page$`},
	},
	{
		name: "totals missing", body: on("/business/campaigns/*/scheduled-sends", every("pagination", func(o object) { delete(o, "totalPages") })),
		want: []string{`^campaigns.scheduled-sends: response: pagination.totalPages is missing`},
	},
	{
		name: "another envelope of errors", body: failing(func(o object) any { return o["error"] }),
		want: []string{`^errors: envelope: error has no wrapper`},
	},
	{
		name: "errors in an array", body: failing(func(o object) any { return object{"errors": []any{o["error"]}} }),
		want: []string{`^errors: envelope: `},
	},
	{
		name: "request id renamed", body: failing(func(o object) any { return every("error", rename("request_id", "requestId"))(o) }),
		want: []string{`^errors: envelope: error.request_id is now (error\.)?requestId$`},
	},
	{
		name: "status of a missing list", response: status("/business/lists/*", 404, 410),
		want: []string{`^errors: unknown list: the status is 410 instead of 404$`},
	},
	{
		name: "status of invalid queries", response: status("/business/**", 422, 400),
		want: []string{`^errors: limit over 1000: the status is 400 instead of 422$`, `^errors: unknown row filter: the status is 400`, `^errors: folders of no kind: the status is 400`},
		also: []string{`^errors: .*the status is 400 instead of 422$`},
	},
	{
		name: "another code", body: failing(func(o object) any {
			return every("error", set("code", func(v any) any { return strings.Replace(v.(string), "AGENT_NOT_FOUND", "NO_SUCH_AGENT", 1) }))(o)
		}),
		want: []string{`^errors: unknown agent: the code is NO_SUCH_AGENT instead of AGENT_NOT_FOUND$`},
	},
	{
		name: "another success", response: status("/business/me", 200, 203),
		want: []string{`^account.me: response: the status is 203 instead of 200$`},
	},
	{
		name: "another limit", response: header(func(path string, h http.Header) {
			if strings.HasPrefix(path, "/business/agents") {
				h.Set("RateLimit-Limit", "45")
			}
		}),
		want: []string{`^limits: agents: the limit is 45 instead of 30`},
	},
	{
		name: "a longer window", response: header(func(path string, h http.Header) {
			if strings.HasPrefix(path, "/business/campaigns") && h.Get("RateLimit-Reset") != "" {
				h.Set("RateLimit-Reset", "3600")
			}
		}),
		want: []string{`^limits: campaigns: the window of 30 is longer than a minute: 3600 seconds$`},
	},
	{
		name: "reset as an instant", response: header(func(_ string, h http.Header) {
			if h.Get("RateLimit-Reset") != "" {
				h.Set("RateLimit-Reset", strconv.FormatInt(time.Now().Unix()+60, 10))
			}
		}),
		want: []string{`^limits: lists: RateLimit-Reset is an instant`},
		also: []string{`^limits: [a-z-]+: RateLimit-Reset is an instant`},
	},
	{
		name: "a header with a prefix", response: header(func(_ string, h http.Header) {
			if v := h.Get("RateLimit-Remaining"); v != "" {
				h.Del("RateLimit-Remaining")
				h.Set("X-RateLimit-Remaining", v)
			}
		}),
		want: []string{`^headers: rate limits: RateLimit-Remaining is now X-Ratelimit-Remaining$`},
	},
	{
		name: "a header missing", response: header(func(_ string, h http.Header) { h.Del("RateLimit-Reset") }),
		want: []string{`^headers: rate limits: RateLimit-Reset is missing$`},
	},
	{
		name: "headers missing from one surface", response: header(func(path string, h http.Header) {
			if path == "/business/saved-searches" {
				h.Del("RateLimit-Limit")
				h.Del("RateLimit-Remaining")
				h.Del("RateLimit-Reset")
			}
		}),
		want: []string{`^headers: rate limits: RateLimit-Limit is missing from search.saved$`},
		also: []string{`^headers: rate limits: RateLimit-\w+ is missing from search.saved$`},
	},
	{
		name: "no headers on errors", response: func(_ string, resp *http.Response) {
			if resp.StatusCode >= 400 {
				resp.Header.Del("RateLimit-Limit")
				resp.Header.Del("RateLimit-Remaining")
				resp.Header.Del("RateLimit-Reset")
			}
		},
		want: []string{`^headers: rate limits on errors: RateLimit-Limit is missing from all errors$`},
		also: []string{`^headers: rate limits on errors: `},
	},
	{
		name: "a deprecation", response: header(func(_ string, h http.Header) { h.Set("Deprecation", "@1767225600") }),
		want: []string{`^headers: undocumented: Deprecation is undocumented$`},
	},
	{
		name: "another content type", response: func(path string, resp *http.Response) {
			if path == "/business/credits" {
				resp.Header.Set("Content-Type", "text/html")
			}
		},
		want: []string{`^account.credits: response: the content type is not application/json$`},
	},
	{
		name: "a filter that is not heeded", path: func(p string) (string, bool) { return p, true },
		body: on("/business/folders", every("folders", set("type", func(any) any { return "agent" }))),
		want: []string{`^folders: type contactList: others are returned, too$`},
		also: []string{`^folders: type \w+: others are returned, too$`},
	},
}

// lines are the differences of a report.
func lines(report *firstcontact.Report) []string {
	var all []string
	for _, f := range report.Findings {
		for _, difference := range f.Differences {
			all = append(all, f.Check+": "+difference)
		}
	}
	return all
}

func matches(patterns []string, line string) bool {
	for _, pattern := range patterns {
		if regexp.MustCompile(pattern).MatchString(line) {
			return true
		}
	}
	return false
}

// A report has every planted difference and no other.
func TestPlanted_EachAlone(t *testing.T) {
	for _, p := range append(append([]plant{{name: "nothing"}}, planted...), plantedPlaces...) {
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testPlants(t, []plant{p}) })
		})
	}
}

func TestPlanted_AllTogether(t *testing.T) {
	all := together()
	require.GreaterOrEqual(t, len(all), 35)
	synctest.Test(t, func(t *testing.T) { testPlants(t, all) })
}

func testPlants(t *testing.T, all []plant) {
	t.Helper()
	state := fixture.Build(fixture.Config{Seed: 1, ContactLists: 2, CompanyLists: 1, Rows: 30})
	sb := sandbox.New(t, sandbox.Seed(state))
	report := check(t, sb, changed{sb.Transport(), all}, nil)
	found := lines(report)
	var allowed []string
	for _, p := range all {
		allowed = append(append(allowed, p.want...), p.also...)
		for _, want := range p.want {
			require.True(t, matchesAny(want, found), "%s: %s is not among %q", p.name, want, found)
		}
	}
	for _, line := range found {
		require.True(t, matches(allowed, line), "invented: %s (if it is new in the sandbox: asks.go describes it)", line)
	}
	requireHarmless(t, sb, report)
}

func matchesAny(pattern string, lines []string) bool {
	for _, line := range lines {
		if matches([]string{pattern}, line) {
			return true
		}
	}
	return false
}

// together are the planted differences that do not hide each other.
func together() []plant {
	hidden := []string{ // by others, or hiding others
		"a list without wrapper", "rows at the top", "everything wrapped", "pagination renamed", "null for some names", "errors in an array",
		"another envelope of errors", "a header missing", "a filter that is not heeded", "reset as an instant", "headers missing from one surface",
		"path of the pages of a hub moved", "no headers on errors", "another kind of list", "path of saved searches moved",
		"paths of single lists unknown", "agents paged", "row id renamed", "no row id", "pages count from zero", "pagination by other names",
		"errors are HTML", "oldest first", "headers that are no integers", "no rate headers", "a shorter window", "the day instead of the minute",
		"truncated", "rows nested", "no page past the end", "a smaller limit", "columns renamed", "filter options as an array", "a missing list is no error",
		"large numbers as ids",
	}
	var all []plant
	for _, p := range append(slices.Clip(planted), plantedPlaces...) {
		if !slices.Contains(hidden, p.name) {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b plant) int { // what moves an array comes after what changes its elements
		return strings.Compare(strconv.FormatBool(strings.Contains(a.name, "under another key")), strconv.FormatBool(strings.Contains(b.name, "under another key")))
	})
	return all
}

// requireHarmless demands that the sandbox was only read.
func requireHarmless(t *testing.T, sb *sandbox.Sandbox, report *firstcontact.Report) {
	t.Helper()
	require.LessOrEqual(t, report.Requests, firstcontact.MaxRequests())
	require.Len(t, sb.Journal(), report.Requests)
	for _, e := range sb.Journal() {
		require.Equal(t, http.MethodGet, e.Method)
		require.Empty(t, e.Effects)
		require.Zero(t, e.Credits)
	}
	require.Empty(t, sb.Ledger())
}
