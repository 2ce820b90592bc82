package firstcontact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	"example.com/prospectkit/internal/golden"
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

// plant is one difference. What a report says about it is in testdata/planted.txt.
type plant struct {
	name string

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
	},
	{
		name: "path of the pages of a hub moved", path: func(p string) (string, bool) {
			return p, !strings.HasSuffix(p, "/pages")
		},
	},
	{
		name: "data of lists under another key", body: on("/business/lists", top(rename("data", "items"))),
	},
	{
		name: "rows at the top", body: on("/business/lists/*/rows", func(o object) any { return o["data"] }),
	},
	{
		name: "a list without wrapper", body: on("/business/lists/*", func(o object) any { return o["list"] }),
	},
	{
		name: "everything wrapped", body: on("/business/campaigns", func(o object) any { return object{"result": o} }),
	},
	{
		name: "field of lists renamed", body: on("/business/lists", every("data", rename("contactsCount", "contactCount"))),
	},
	{
		name: "field of steps renamed", body: on("/business/campaigns/*/steps", every("steps", rename("sequenceNumber", "position"))),
	},
	{
		name: "snake case", body: on("/business/knowledge-hubs", every("knowledgeHubs", rename("isDefault", "is_default"))),
	},
	{
		name: "field of rows renamed", body: on("/business/lists/*/rows", every("data", rename("jobTitle", "job_title"))),
	},
	{
		name: "count as text", body: on("/business/lists", every("data", set("companiesCount", func(v any) any { return v.(json.Number).String() }))),
	},
	{
		name: "balance with a fraction", body: on("/business/credits", every("credits", set("balance", func(any) any { return json.Number("12.5") }))),
	},
	{
		name: "channels as text", body: on("/business/campaigns", every("campaigns", set("channels", func(any) any { return "email" }))),
	},
	{
		name: "null for a name", body: on("/business/folders", every("folders", set("name", func(any) any { return nil }))),
	},
	{
		name: "null for some names", body: on("/business/agents", func(o object) any {
			o["agents"].([]any)[0].(object)["name"] = nil
			return o
		}),
	},
	{
		name: "field missing", body: on("/business/me", every("user", func(o object) { delete(o, "name") })),
	},
	{
		name: "field missing sometimes", body: on("/business/saved-searches", func(o object) any {
			delete(o["savedSearches"].([]any)[0].(object), "name")
			return o
		}),
	},
	{
		name: "extra fields", body: on("/business/lists", every("data", func(o object) { o["ownerId"], o["tags"] = o["id"], []any{"a"} })),
	},
	{
		name: "another kind of list", body: on("/business/lists", func(o object) any {
			if data := o["data"].([]any); len(data) > 0 {
				data[0].(object)["entityType"] = "mixedList"
			}
			return o
		}),
	},
	{
		name: "another status of agents", body: on("/business/agents/*", every("agent", set("status", func(any) any { return "archived" }))),
	},
	{
		name: "dates without milliseconds", body: on("/business/lists", every("data", set("createdAt", withoutMilliseconds))),
	},
	{
		name: "dates of campaigns as numbers", body: on("/business/campaigns", every("campaigns", set("createdAt", func(any) any { return json.Number("1760000000000") }))),
	},
	{
		name: "ids of another form", path: unUUID, body: on("/business/agents**", func(o object) any {
			every("agents", set("id", uuid))(o)
			return every("agent", set("id", uuid))(o)
		}),
	},
	{
		name: "pagination renamed", body: on("/business/lists", top(rename("pagination", "meta"))),
	},
	{
		name: "pagination at the top", body: on("/business/lists/*/rows", func(o object) any {
			maps.Copy(o, o["pagination"].(object))
			delete(o, "pagination")
			return o
		}),
	},
	{
		name: "page number renamed", body: on("/business/lists", every("pagination", rename("pageNum", "page"))),
	},
	{
		name: "totals missing", body: on("/business/campaigns/*/scheduled-sends", every("pagination", func(o object) { delete(o, "totalPages") })),
	},
	{
		name: "another envelope of errors", body: failing(func(o object) any { return o["error"] }),
	},
	{
		name: "errors in an array", body: failing(func(o object) any { return object{"errors": []any{o["error"]}} }),
	},
	{
		name: "request id renamed", body: failing(func(o object) any { return every("error", rename("request_id", "requestId"))(o) }),
	},
	{
		name: "status of a missing list", response: status("/business/lists/*", 404, 410),
	},
	{
		name: "status of invalid queries", response: status("/business/**", 422, 400),
	},
	{
		name: "another code", body: failing(func(o object) any {
			return every("error", set("code", func(v any) any { return strings.Replace(v.(string), "AGENT_NOT_FOUND", "NO_SUCH_AGENT", 1) }))(o)
		}),
	},
	{
		name: "another success", response: status("/business/me", 200, 203),
	},
	{
		name: "another limit", response: header(func(path string, h http.Header) {
			if strings.HasPrefix(path, "/business/agents") {
				h.Set("RateLimit-Limit", "45")
			}
		}),
	},
	{
		name: "a longer window", response: header(func(path string, h http.Header) {
			if strings.HasPrefix(path, "/business/campaigns") && h.Get("RateLimit-Reset") != "" {
				h.Set("RateLimit-Reset", "3600")
			}
		}),
	},
	{
		name: "reset as an instant", response: header(func(_ string, h http.Header) {
			if h.Get("RateLimit-Reset") != "" {
				h.Set("RateLimit-Reset", strconv.FormatInt(time.Now().Unix()+60, 10))
			}
		}),
	},
	{
		name: "a header with a prefix", response: header(func(_ string, h http.Header) {
			if v := h.Get("RateLimit-Remaining"); v != "" {
				h.Del("RateLimit-Remaining")
				h.Set("X-RateLimit-Remaining", v)
			}
		}),
	},
	{
		name: "a header missing", response: header(func(_ string, h http.Header) { h.Del("RateLimit-Reset") }),
	},
	{
		name: "headers missing from one surface", response: header(func(path string, h http.Header) {
			if path == "/business/saved-searches" {
				h.Del("RateLimit-Limit")
				h.Del("RateLimit-Remaining")
				h.Del("RateLimit-Reset")
			}
		}),
	},
	{
		name: "no headers on errors", response: func(_ string, resp *http.Response) {
			if resp.StatusCode >= 400 {
				resp.Header.Del("RateLimit-Limit")
				resp.Header.Del("RateLimit-Remaining")
				resp.Header.Del("RateLimit-Reset")
			}
		},
	},
	{
		name: "a deprecation", response: header(func(_ string, h http.Header) { h.Set("Deprecation", "@1767225600") }),
	},
	{
		name: "another content type", response: func(path string, resp *http.Response) {
			if path == "/business/credits" {
				resp.Header.Set("Content-Type", "text/html")
			}
		},
	},
	{
		name: "a filter that is not heeded", path: func(p string) (string, bool) { return p, true },
		body: on("/business/folders", every("folders", set("type", func(any) any { return "agent" }))),
	},
}

// lines are the differences of a report.
func lines(report *firstcontact.Report) []string {
	all := []string{}
	for _, d := range report.Differs {
		all = append(all, d.About+": "+d.Difference)
	}
	return all
}

// Each planted difference is told, and nothing else: what a report says about each, alone, is in a file to be read.
func TestPlanted(t *testing.T) {
	small := fixture.Build(fixture.Config{Seed: 1, ContactLists: 2, CompanyLists: 1, Rows: 30})
	rows := fixture.Build(fixture.Config{Seed: 1, ContactLists: 2, CompanyLists: 1, Rows: 3 * 130, Clean: true})
	lists := fixture.Build(fixture.Config{Seed: 1, ContactLists: 52, CompanyLists: 1, Rows: 53, Clean: true})
	var told strings.Builder
	for _, p := range slices.Concat([]plant{{name: "nothing"}}, planted, plantedPlaces, plantedForms, plantedBehavior) {
		state := small
		switch behaves := slices.ContainsFunc(plantedBehavior, func(b plant) bool { return b.name == p.name }); {
		case strings.HasSuffix(p.name, "of lists") && behaves:
			state = lists
		case behaves:
			state = rows
		}
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(state))
			found := lines(check(t, sb, changed{sb.Transport(), []plant{p}}, nil))
			require.Equal(t, p.name == "nothing", len(found) == 0, p.name)
			fmt.Fprintf(&told, "%s\n\t%s\n", p.name, strings.Join(found, "\n\t"))
			requireHarmless(t, sb)
		})
	}
	golden.Equal(t, "testdata/planted.txt", told.String())
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
