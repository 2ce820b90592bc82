package firstcontact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
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

// reply is a response of the sandbox, to be changed.
type reply struct {
	path   string // below /api/v1
	query  url.Values
	status int
	header http.Header
	body   any
	text   string // instead of the body
}

// plant is one difference. What a report says about it is in testdata/planted.txt.
type plant struct {
	name   string
	before func(path string, query url.Values) string // changes a request, and returns its path
	after  func(*reply)
}

// changed is a service that differs from the sandbox.
type changed struct {
	next   http.RoundTripper
	plants []plant
}

func (c changed) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	r := &reply{path: strings.TrimPrefix(req.URL.Path, "/api/v1"), query: req.URL.Query()}
	query := req.URL.Query()
	for _, p := range c.plants {
		if p.before != nil {
			r.path = p.before(r.path, query)
		}
	}
	req.URL.Path, req.URL.RawQuery = "/api/v1"+r.path, query.Encode()
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(resp.Body)
	d.UseNumber()
	if err := d.Decode(&r.body); err != nil {
		return nil, err
	}
	r.status, r.header = resp.StatusCode, resp.Header.Clone()
	for _, p := range c.plants {
		if p.after != nil {
			p.after(r)
		}
	}
	text, err := json.Marshal(r.body)
	if r.text != "" {
		text = []byte(r.text)
	}
	r.header.Set("Content-Length", strconv.Itoa(len(text)))
	resp.StatusCode, resp.Header, resp.Body, resp.ContentLength = r.status, r.header, io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return resp, err
}

// on changes the successes of the paths that match a pattern, in which * is one element; every changes all responses of such paths.
func on(pattern string, change func(object) any) func(*reply) {
	return every(pattern, func(r *reply) {
		if o, ok := r.body.(object); ok && r.status < 400 {
			r.body = change(o)
		}
	})
}

func every(pattern string, change func(*reply)) func(*reply) {
	return func(r *reply) {
		if ok, _ := path.Match(pattern, r.path); ok || pattern == "" {
			change(r)
		}
	}
}

// each changes the objects of an array, or the one object, under a key.
func each(pattern, key string, change func(object)) func(*reply) {
	return on(pattern, func(o object) any { within(o, key, change); return o })
}

func within(o object, key string, change func(object)) {
	switch v := o[key].(type) {
	case []any:
		for _, item := range v {
			change(item.(object))
		}
	case object:
		change(v)
	}
}

// failing changes the bodies of errors, or the object within.
func failing(change func(o object) any) func(*reply) {
	return func(r *reply) {
		if r.status >= 400 {
			r.body = change(r.body.(object))
		}
	}
}

func inError(change func(object)) func(*reply) {
	return failing(func(o object) any { within(o, "error", change); return o })
}

func top(change func(object)) func(object) any { return func(o object) any { change(o); return o } }

func rename(from, to string) func(object) {
	return set(from, func(o object, v any) { delete(o, from); o[to] = v })
}

func put(key string, value any) func(object) { return func(o object) { o[key] = value } }

func value(key string, change func(any) any) func(object) {
	return set(key, func(o object, v any) { o[key] = change(v) })
}

func set(key string, change func(object, any)) func(object) {
	return func(o object) {
		if v, ok := o[key]; ok {
			change(o, v)
		}
	}
}

func unset(keys ...string) func(object) {
	return func(o object) {
		maps.DeleteFunc(o, func(key string, _ any) bool { return strings.Contains(" "+strings.Join(keys, " ")+" ", " "+key+" ") })
	}
}

// firstOf changes the first element of an array.
func firstOf(key string, change func(object)) func(object) any {
	return top(func(o object) {
		if all, _ := o[key].([]any); len(all) > 0 {
			change(all[0].(object))
		}
	})
}

func word(key string, write func(string) string) func(object) {
	return value(key, func(v any) any {
		if text, ok := v.(string); ok {
			return write(text)
		}
		return v
	})
}

func plus(key string, n int64) func(object) {
	return value(key, func(v any) any { i, _ := v.(json.Number).Int64(); return i + n })
}

func status(pattern string, from, to int) func(*reply) {
	return every(pattern, func(r *reply) {
		if r.status == from {
			r.status = to
		}
	})
}

// fails responds with a failure, or with another text.
func fails(pattern string, status int) func(*reply) {
	return responds(pattern, status, `{"error":{"code":"UNEXPECTED_ERROR","message":"","param":null,"doc_url":null,"request_id":null}}`)
}

func responds(pattern string, status int, text string) func(*reply) {
	return every(pattern, func(r *reply) { r.status, r.text = status, text })
}

// rates changes the rate headers of a surface, unless there are none.
func rates(prefix string, change func(h http.Header)) func(*reply) {
	return func(r *reply) {
		if strings.HasPrefix(r.path, prefix) && r.header.Get("RateLimit-Limit") != "" {
			change(r.header)
		}
	}
}

func as(name, text string) func(http.Header) { return func(h http.Header) { h.Set(name, text) } }

func unrated(h http.Header) {
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		h.Del(name)
	}
}

// moved makes a path stand somewhere else, or nowhere.
func moved(from, to string) func(string, url.Values) string {
	return func(p string, _ url.Values) string {
		switch ok, _ := path.Match(from, p); {
		case ok:
			return "/nowhere"
		case p == to:
			return from
		}
		return p
	}
}

// limits changes the limit of a query, which is 0 if there is none.
func limits(pattern string, change func(int) int) func(string, url.Values) string {
	return func(p string, query url.Values) string {
		n, _ := strconv.Atoi(query.Get("limit"))
		if ok, _ := path.Match(pattern, p); ok && change(n) != 0 {
			query.Set("limit", strconv.Itoa(change(n)))
		}
		return p
	}
}

func without(names ...string) func(string, url.Values) string {
	return func(p string, query url.Values) string {
		for _, name := range names {
			query.Del(name)
		}
		return p
	}
}

// uuid gives an id another form, and unUUID takes it back in a path.
func uuid(v any) any {
	id := v.(string)
	return id[:8] + "-" + id[8:12] + "-4" + id[12:15] + "-8" + id[15:18] + "-" + id[18:] + "000000"
}

func unUUID(p string, _ url.Values) string {
	dir, id := path.Split(p)
	if len(id) == 36 && id[8] == '-' {
		s := strings.ReplaceAll(id, "-", "")
		return dir + s[:12] + s[13:16] + s[17:26]
	}
	return p
}

const (
	lists, list, rows       = "/business/lists", "/business/lists/*", "/business/lists/*/rows"
	campaigns, steps, sends = "/business/campaigns", "/business/campaigns/*/steps", "/business/campaigns/*/scheduled-sends"
	agents, agent, folders  = "/business/agents", "/business/agents/*", "/business/folders"
	hubs, saved, credits    = "/business/knowledge-hubs", "/business/saved-searches", "/business/credits"
	me, options             = "/business/me", "/business/prospects/filter-options"
	unknown                 = "/ffffffffffffffffffffffff"
)

// planted are the differences. Those whose name ends in (lists) or (rows) need many of them.
var planted = []plant{
	// Where things stand.
	{name: "path of saved searches moved", before: moved(saved, "/saved-searches")},
	{name: "path of the pages of a hub moved", before: moved(hubs+"/*/pages", "")},
	{name: "paths of single lists unknown", before: moved(list, "")},
	{name: "data of lists under another key", after: on(lists, top(rename("data", "items")))},
	{name: "rows at the top", after: on(rows, func(o object) any { return o["data"] })},
	{name: "a list without wrapper", after: on(list, func(o object) any { return o["list"] })},
	{name: "user at the top", after: on(me, func(o object) any { return o["user"] })},
	{name: "steps at the top", after: on(steps, func(o object) any { return o["steps"] })},
	{name: "everything wrapped", after: on(campaigns, func(o object) any { return object{"result": o} })},
	{name: "folders paged", after: on(folders, func(o object) any {
		return object{"data": o["folders"], "pagination": object{"pageNum": 1, "totalPages": 1, "totalRecords": 2}}
	})},
	{name: "agents paged", after: on(agents, top(rename("agents", "data")))},
	{name: "pagination renamed", after: on(lists, top(rename("pagination", "meta")))},
	{name: "pagination at the top", after: on(rows, top(func(o object) { maps.Copy(o, o["pagination"].(object)); delete(o, "pagination") }))},
	{name: "pagination by other names", after: on(sends, func(o object) any {
		p := o["pagination"].(object)
		return object{"data": o["data"], "page": p["pageNum"], "pageCount": p["totalPages"], "total": p["totalRecords"]}
	})},
	{name: "page number renamed", after: each(lists, "pagination", rename("pageNum", "page"))},
	{name: "totals missing", after: each(sends, "pagination", unset("totalPages"))},
	{name: "filter options as an array", after: on(options, top(put("filterOptions", []any{object{"key": "a"}})))},

	// Keys.
	{name: "field of lists renamed", after: each(lists, "data", rename("contactsCount", "contactCount"))},
	{name: "field of steps renamed", after: each(steps, "steps", rename("sequenceNumber", "position"))},
	{name: "snake case", after: each(hubs, "knowledgeHubs", rename("isDefault", "is_default"))},
	{name: "field of rows renamed", after: each(rows, "data", rename("jobTitle", "job_title"))},
	{name: "row id renamed", after: each(rows, "data", rename("id", "contactId"))},
	{name: "no row id", after: each(rows, "data", unset("id"))},
	{name: "columns renamed", after: each(list, "list", rename("columns", "customColumns"))},
	{name: "counts of a list nested", after: each(list, "list", func(o object) {
		o["counts"] = object{"contacts": o["contactsCount"], "companies": o["companiesCount"]}
		unset("contactsCount", "companiesCount")(o)
	})},
	{name: "field missing", after: each(me, "user", unset("name"))},
	{name: "field missing sometimes", after: on(saved, firstOf("savedSearches", unset("name")))},
	{name: "extra fields", after: each(lists, "data", func(o object) { o["ownerId"], o["tags"] = o["id"], []any{"a"} })},

	// Types, forms and values.
	{name: "count as text", after: each(lists, "data", value("companiesCount", func(v any) any { return v.(json.Number).String() }))},
	{name: "balance with a fraction", after: each(credits, "credits", put("balance", 12.5))},
	{name: "channels as text", after: each(campaigns, "campaigns", put("channels", "email"))},
	{name: "null for a name", after: each(folders, "folders", put("name", nil))},
	{name: "null for some names", after: on(agents, firstOf("agents", put("name", nil)))},
	{name: "numbers as ids", after: each(saved, "savedSearches", put("id", 17))},
	{name: "large numbers as ids", after: each(folders, "folders", put("id", json.Number("1760000000017")))},
	{name: "an empty folder id", after: each(lists, "data", value("folderId", func(v any) any {
		if v == nil {
			return ""
		}
		return v
	}))},
	{name: "ids of another form", before: unUUID, after: func(r *reply) {
		each(agents, "agents", value("id", uuid))(r)
		each(agent, "agent", value("id", uuid))(r)
	}},
	{name: "dates without milliseconds", after: each(lists, "data", word("createdAt", func(s string) string { return s[:19] + "Z" }))},
	{name: "dates of campaigns as numbers", after: each(campaigns, "campaigns", put("createdAt", json.Number("1760000000000")))},
	{name: "another kind of list", after: on(lists, firstOf("data", put("entityType", "mixedList")))},
	{name: "another status of agents", after: each(agent, "agent", put("status", "archived"))},
	{name: "kinds of lists in capitals", after: each(lists, "data", word("entityType", strings.ToUpper))},
	{name: "kinds of agents in snake case", after: each(agents, "agents", word("type", func(s string) string { return strings.ReplaceAll(s, "-", "_") }))},

	// Statuses and errors.
	{name: "another envelope of errors", after: failing(func(o object) any { return o["error"] })},
	{name: "errors in an array", after: failing(func(o object) any { return object{"errors": []any{o["error"]}} })},
	{name: "request id renamed", after: inError(rename("request_id", "requestId"))},
	{name: "a code of its own", after: inError(put("status", 404))},
	{name: "an error without its link", after: inError(unset("doc_url"))},
	{name: "the field of an error is not named", after: inError(put("param", nil))},
	{name: "status of a missing list", after: status(list, 404, 410)},
	{name: "status of invalid queries", after: status("", 422, 400)},
	{name: "another code", after: inError(word("code", func(s string) string { return strings.Replace(s, "AGENT_NOT_FOUND", "NO_SUCH_AGENT", 1) }))},
	{name: "another success", after: status(me, 200, 203)},
	{name: "errors are HTML", after: func(r *reply) {
		if r.status >= 400 {
			r.text = "<html>Ada Lovelace</html>"
		}
	}},
	{name: "a missing list is no error", after: responds(lists+unknown, 200, `{"list":null}`)},
	{name: "a missing list is forbidden", after: status(lists+unknown, 404, 403)},
	{name: "no key is forbidden", after: status(me, 401, 403)},
	{name: "truncated", after: responds(saved, 200, `{"savedSearches":[`)},
	{name: "no page past the end", after: func(r *reply) {
		if r.query.Get("pageNum") == "1000000" {
			fails("", 404)(r)
		}
	}},
	{name: "not implemented", after: status(saved, 200, 501)},
	{name: "not modified", after: responds(campaigns, 304, " ")},
	{name: "an unknown agent fails", after: fails(agents+unknown, 500)},
	{name: "no credits for some keys", after: fails(credits, 403)},
	{name: "no owner for some keys", after: func(r *reply) {
		if r.status == 200 {
			fails(me, 403)(r)
		}
	}},
	{name: "no filter options for some keys", after: fails(options, 403)},
	{name: "another content type", after: every(credits, func(r *reply) { r.header.Set("Content-Type", "text/html") })},
	{name: "errors of another content type", after: func(r *reply) {
		if r.status >= 400 {
			r.header.Set("Content-Type", "text/html; charset=utf-8")
		}
	}},
	{name: "a mark before the JSON", after: func(r *reply) {
		text, _ := json.Marshal(r.body)
		r.text = "\ufeff" + string(text)
	}},

	// Limits, pages, order and filters.
	{name: "a smaller limit is the largest", after: func(r *reply) {
		if r.query.Get("limit") == "1000" {
			responds("", 422, `{"error":{"code":"VALIDATION_FAILED","message":"","param":"limit","doc_url":null,"request_id":null}}`)(r)
		}
	}},
	{name: "pages are cut (rows)", before: limits(rows, func(n int) int { return min(n, 100) })},
	{name: "a smaller limit (rows)", before: limits(rows, func(n int) int { return map[bool]int{true: 1001, false: n}[n > 100] })},
	{name: "smaller pages (lists)", before: limits(lists, func(n int) int { return map[bool]int{true: 50, false: n}[n == 1000] })},
	{name: "another default size (lists)", before: limits(lists, func(n int) int { return map[bool]int{true: 25, false: n}[n == 0] })},
	{name: "another default size (rows)", before: limits(rows, func(n int) int { return map[bool]int{true: 25, false: n}[n == 0] })},
	{name: "a limit over 1000", before: limits(lists, func(n int) int { return min(n, 1000) })},
	{name: "pages longer than asked for", after: on(lists, top(func(o object) { all, _ := o["data"].([]any); o["data"] = append(all, all...) }))},
	{name: "a page too many is told", after: each(lists, "pagination", plus("totalPages", 1))},
	{name: "pages count from zero", after: each(lists, "pagination", plus("pageNum", -1))},
	{name: "pages from zero (rows)", before: func(p string, query url.Values) string {
		if n, err := strconv.Atoi(query.Get("pageNum")); err == nil {
			query.Set("pageNum", strconv.Itoa(n+1))
		}
		return p
	}, after: func(r *reply) {
		each(lists, "pagination", plus("pageNum", -1))(r)
		each(rows, "pagination", plus("pageNum", -1))(r)
	}},
	{name: "the same page again", before: func(p string, query url.Values) string {
		if query.Get("pageNum") == "2" {
			query.Del("pageNum")
		}
		return p
	}, after: func(r *reply) {
		if r.query.Get("pageNum") == "2" {
			within(r.body.(object), "pagination", put("pageNum", 2))
		}
	}},
	{name: "oldest first", after: on(lists, top(func(o object) {
		if all := o["data"].([]any); len(all) > 1 {
			all[0], all[1] = all[1], all[0]
		}
	}))},
	{name: "sort is ignored (rows)", before: without("sortBy", "sortOrder")},
	{name: "the totals of no page", after: func(r *reply) {
		if r.query.Get("pageNum") == "1000000" {
			within(r.body.(object), "pagination", func(o object) { o["totalRecords"], o["totalPages"] = 0, 0 })
		}
	}},
	{name: "search is ignored", before: without("search")},
	{name: "search has wildcards", before: func(p string, query url.Values) string {
		query.Set("search", strings.Trim(query.Get("search"), "%_"))
		return without(map[bool]string{true: "search"}[query.Get("search") == ""])(p, query)
	}},
	{name: "search in the same case", after: func(r *reply) {
		on(lists, top(value("data", func(v any) any {
			return slices.DeleteFunc(v.([]any), func(v any) bool { return !strings.Contains(v.(object)["name"].(string), r.query.Get("search")) })
		})))(r)
	}},
	{name: "the folder is ignored", before: func(p string, query url.Values) string {
		return without(map[bool]string{true: "folderId"}[len(query.Get("folderId")) == 24])(p, query)
	}},
	{name: "a list counts the other kind", after: each(lists, "data", func(o object) {
		o["contactsCount"], o["companiesCount"] = o["companiesCount"], o["contactsCount"]
	})},
	{name: "the kind of lists is ignored", before: without("entityType")},
	{name: "a filter that is not heeded", after: each(folders, "folders", put("type", "agent"))},

	// Headers and windows.
	{name: "another limit", after: rates(agents, as("RateLimit-Limit", "45"))},
	{name: "a longer window", after: rates(campaigns, as("RateLimit-Reset", "3600"))},
	{name: "the day instead of the minute", after: rates(agents, func(h http.Header) {
		h.Set("RateLimit-Limit", "2000")
		h.Set("RateLimit-Remaining", "1990")
		h.Set("RateLimit-Reset", "86000")
	})},
	{name: "what remains does not fall", after: rates("", as("RateLimit-Remaining", "17"))},
	{name: "what was used instead of what remains", after: rates("", func(h http.Header) {
		used, _ := strconv.Atoi(h.Get("RateLimit-Remaining"))
		h.Set("RateLimit-Remaining", strconv.Itoa(200-used))
	})},
	{name: "reset as an instant", after: rates("", func(h http.Header) { h.Set("RateLimit-Reset", strconv.FormatInt(time.Now().Unix()+60, 10)) })},
	{name: "milliseconds", after: rates("", func(h http.Header) { h.Set("RateLimit-Reset", h.Get("RateLimit-Reset")+"000") })},
	{name: "another limit, and a reset that is a date", after: rates("", func(h http.Header) {
		h.Set("RateLimit-Reset", "Sun, 22 Nov 2026 14:00:00 GMT")
		h.Set("RateLimit-Limit", strings.Replace(h.Get("RateLimit-Limit"), "60", "90", 1))
	})},
	{name: "headers that are no integers", after: rates("", func(h http.Header) { h.Set("RateLimit-Limit", h.Get("RateLimit-Limit")+";w=60") })},
	{name: "a header with a prefix", after: rates("", func(h http.Header) {
		h["X-Ratelimit-Remaining"] = h["Ratelimit-Remaining"]
		h.Del("RateLimit-Remaining")
	})},
	{name: "a header missing", after: rates("", func(h http.Header) { h.Del("RateLimit-Reset") })},
	{name: "no rate headers", after: rates("", unrated)},
	{name: "headers missing from one operation", after: rates(credits, func(h http.Header) { h.Del("RateLimit-Reset") })},
	{name: "headers missing from one surface", after: rates(saved, unrated)},
	{name: "a deprecation", after: func(r *reply) { r.header.Set("Deprecation", "@1767225600") }},
	{name: "a wait after successes", after: func(r *reply) {
		if r.status == 200 {
			r.header.Set("Retry-After", "3")
		}
	}},
}

// lines are the differences of a report.
func lines(report *firstcontact.Report) []string {
	all := []string{}
	for _, d := range report.Differs {
		all = append(all, fmt.Sprintf("%s (%s): %s", d.Operation, d.What, d.Detail))
	}
	return all
}

// Each planted difference is told, and nothing else: what a report says about each, alone, is in a file to be read.
func TestPlanted(t *testing.T) {
	small := fixture.Build(fixture.Config{Seed: 1, ContactLists: 2, CompanyLists: 1, Rows: 30})
	many := map[string]sandbox.State{
		"(rows)":  fixture.Build(fixture.Config{Seed: 1, ContactLists: 2, CompanyLists: 1, Rows: 3 * 130, Clean: true}),
		"(lists)": fixture.Build(fixture.Config{Seed: 1, ContactLists: 52, CompanyLists: 1, Rows: 53, Clean: true}),
	}
	var told strings.Builder
	for _, p := range append([]plant{{name: "nothing"}}, planted...) {
		state := small
		for of, large := range many {
			if strings.HasSuffix(p.name, of) {
				state = large
			}
		}
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(state))
			found := lines(check(t, sb, changed{sb.Transport(), []plant{p}}))
			fmt.Fprintf(&told, "%s\n\t%s\n", p.name, strings.Join(found, "\n\t"))
			require.Equal(t, p.name == "nothing", len(found) == 0, p.name)
			requireHarmless(t, sb)
		})
	}
	golden.Equal(t, "testdata/planted.txt", told.String())
}
