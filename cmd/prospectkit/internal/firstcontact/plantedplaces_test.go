package firstcontact_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// with changes a body to a text.
func with(pattern string, status int, text string) func(string, *http.Response) {
	e := pathPattern(pattern)
	return func(path string, resp *http.Response) {
		if e.MatchString(path) {
			resp.StatusCode = status
			resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		}
	}
}

func put(key string, value any) func(object) any {
	return func(o object) any {
		o[key] = value
		return o
	}
}

// plantedPlaces are more differences: where things stand, and how the service responds.
var plantedPlaces = []plant{
	{
		name: "paths of single lists unknown", path: func(p string) (string, bool) {
			return p, !strings.HasPrefix(p, "/business/lists/") || strings.Count(p, "/") != 3
		},
		want: []string{`^lists.get: path: GET /business/lists/\{listId\} leads nowhere`},
	},
	{
		name: "folders paged", body: on("/business/folders", func(o object) any {
			return object{"data": o["folders"], "pagination": object{"pageNum": 1, "totalPages": 1, "totalRecords": 2}}
		}),
		want: []string{`^folders.list: response: folders is now data$`, `^folders.list: response: pagination is undocumented \(object\)$`},
	},
	{
		name: "agents paged", body: on("/business/agents", top(rename("agents", "data"))),
		want: []string{`^agents.list: response: agents is now data$`},
	},
	{
		name: "row id renamed", body: on("/business/lists/*/rows", every("data", rename("id", "contactId"))),
		want: []string{`^lists.rows: response: data\[\]\.id is now contactId$`},
	},
	{
		name: "no row id", body: on("/business/lists/*/rows", every("data", func(o object) { delete(o, "id") })),
		want: []string{`^lists.rows: response: data\[\]\.id is missing`},
	},
	{
		name: "an empty folder id", body: on("/business/lists", every("data", set("folderId", func(v any) any {
			if v == nil {
				return ""
			}
			return v
		}))),
		want: []string{`^lists.list: response: data\[\]\.folderId has the form "empty text" instead of "id"$`},
	},
	{
		name: "counts of a list nested", body: on("/business/lists/*", every("list", func(o object) {
			o["counts"] = object{"contacts": o["contactsCount"], "companies": o["companiesCount"]}
			delete(o, "contactsCount")
			delete(o, "companiesCount")
		})),
		want: []string{`^lists.get: response: list.contactsCount is now list.counts.contacts$`, `^lists.get: response: list.companiesCount is now list.counts.companies$`},
	},
	{
		name: "pages longer than asked for", body: on("/business/lists", func(o object) any {
			if data, _ := o["data"].([]any); len(data) > 0 {
				o["data"] = append(data, data...)
			}
			return o
		}),
		want: []string{`^paging: lists, page 2: the page is longer than limit$`},
		also: []string{`^paging: lists`, `^lists: newest first`},
	},
	{
		name: "a page too many is told", body: on("/business/lists", every("pagination", set("totalPages", func(v any) any {
			n, _ := v.(json.Number).Int64()
			return n + 1
		}))),
		want: []string{`^paging: lists: totalPages does not fit totalRecords and a page of \d+$`},
		also: []string{`^paging: lists`},
	},
	{
		name: "pages count from zero", body: on("/business/lists", every("pagination", set("pageNum", func(v any) any {
			n, _ := v.(json.Number).Int64()
			return n - 1
		}))),
		want: []string{`^paging: lists: pageNum is not that of the page`, `^paging: lists, page 2: pageNum is not`},
		also: []string{`^paging: lists, past the end: pageNum is not`},
	},
	{
		name: "pagination by other names", body: on("/business/campaigns/*/scheduled-sends", func(o object) any {
			p := o["pagination"].(object)
			return object{"data": o["data"], "page": p["pageNum"], "pageCount": p["totalPages"], "total": p["totalRecords"]}
		}),
		want: []string{`pagination.pageNum is now page$`, `pagination.totalPages is now pageCount$`, `pagination.totalRecords is now total$`},
	},
	{
		name: "errors are HTML", response: func(_ string, resp *http.Response) {
			if resp.StatusCode >= 400 {
				resp.Body = io.NopCloser(strings.NewReader("<html>Ada Lovelace</html>"))
			}
		},
		want: []string{`^errors: envelope: the error for "unknown list" is no JSON$`},
		also: []string{`^errors: envelope: the error for "[a-z0-9 ]+" is no JSON$`},
	},
	{
		name: "a code of its own", body: failing(func(o object) any {
			o["error"].(object)["status"] = 404
			return o
		}),
		want: []string{`^errors: envelope: error.status is undocumented \(integer\)$`},
	},
	{
		name: "a missing list is no error", response: with("/business/lists/ffffffffffffffffffffffff", 200, `{"list":null}`),
		want: []string{`^errors: unknown list: responds with 200 instead of 404 LIST_NOT_FOUND$`},
	},
	{
		name: "no key is forbidden", response: status("/business/me", 401, 403),
		want: []string{`^errors: no key: the status is 403 instead of 401$`},
	},
	{
		name: "headers that are no integers", response: header(func(_ string, h http.Header) {
			if v := h.Get("RateLimit-Limit"); v != "" {
				h.Set("RateLimit-Limit", v+";w=60")
			}
		}),
		want: []string{`^headers: rate limits: RateLimit-Limit is not an integer$`},
	},
	{
		name: "no rate headers", response: header(func(_ string, h http.Header) {
			h.Del("RateLimit-Limit")
			h.Del("RateLimit-Remaining")
			h.Del("RateLimit-Reset")
		}),
		want: []string{
			`^headers: rate limits: RateLimit-Limit is missing$`, `^headers: rate limits: RateLimit-Remaining is missing$`,
			`^headers: rate limits: RateLimit-Reset is missing$`,
		},
	},
	{
		name: "a shorter window", response: header(func(path string, h http.Header) {
			if strings.HasPrefix(path, "/business/agents") && h.Get("RateLimit-Reset") != "" {
				h.Set("RateLimit-Reset", "17")
			}
		}),
		want: []string{`^limits: agents: the window of 30 is shorter than a minute$`},
	},
	{
		name: "the day instead of the minute", response: header(func(path string, h http.Header) {
			if strings.HasPrefix(path, "/business/agents") && h.Get("RateLimit-Reset") != "" {
				h.Set("RateLimit-Limit", "2000")
				h.Set("RateLimit-Remaining", "1990")
				h.Set("RateLimit-Reset", "86000")
			}
		}),
		want: []string{`^limits: agents: the headers describe the day, although the minute has less left$`},
		also: []string{`^limits: agents: RateLimit-Remaining does not fall`},
	},
	{
		name: "user at the top", body: on("/business/me", func(o object) any { return o["user"] }),
		want: []string{`^account.me: response: user has no wrapper: its content stands at the top$`},
	},
	{
		name: "filter options as an array", body: on("/business/prospects/filter-options", put("filterOptions", []any{object{"key": "a"}})),
		want: []string{`^search.filter-options: response: filterOptions is array instead of object$`},
	},
	{
		name: "steps at the top", body: on("/business/campaigns/*/steps", func(o object) any { return o["steps"] }),
		want: []string{`^campaigns.steps: response: steps has no wrapper`},
	},
	{
		name: "numbers as ids", body: on("/business/saved-searches", every("savedSearches", set("id", func(any) any { return json.Number("17") }))),
		want: []string{`^search.saved: response: savedSearches\[\]\.id is integer instead of string \(id\)$`},
	},
	{
		name: "large numbers as ids", body: on("/business/folders", every("folders", set("id", func(any) any { return json.Number("1760000000017") }))),
		want: []string{`^folders.list: response: folders\[\]\.id is integer instead of string \(id\)$`},
	},
	{
		name: "columns renamed", body: on("/business/lists/*", every("list", rename("columns", "customColumns"))),
		want: []string{`^lists.get: response: list.columns is now list.customColumns$`},
	},
	{
		name: "rows nested", body: on("/business/lists/*/rows", every("data", func(o object) {
			fields := object{}
			for name, v := range o {
				fields[name] = v
				delete(o, name)
			}
			o["id"], o["fields"] = fields["id"], fields
			delete(fields, "id")
		})),
		want: []string{`^lists.rows: response: data\[\]\.firstName is now fields.firstName$`},
		also: []string{`^lists.rows: response: data\[\]\.\w+ is now fields\.`},
	},
	{
		name: "oldest first", body: on("/business/lists", func(o object) any {
			if data := o["data"].([]any); len(data) > 1 {
				data[0], data[1] = data[1], data[0]
			}
			return o
		}),
		want: []string{`^lists: newest first: an older list comes before a newer one$`},
	},
	{
		name: "truncated", response: with("/business/saved-searches", 200, `{"savedSearches":[`),
		want: []string{`^search.saved: response: the response is no JSON$`},
	},
	{
		name: "an error without its link", body: failing(func(o object) any { return every("error", func(e object) { delete(e, "doc_url") })(o) }),
		want: []string{`^errors: envelope: error.doc_url is missing`},
	},
	{
		name: "field of rows with another name", body: on("/business/lists/*/rows", every("data", rename("lastName", "surname"))),
		want: []string{`^rows: fields of rows of contacts: no row has lastName`},
	},
	{
		name: "no page past the end", response: func(_ string, resp *http.Response) {
			if resp.Request.URL.Query().Get("pageNum") == "1000000" {
				resp.StatusCode = http.StatusNotFound
				resp.Body = io.NopCloser(strings.NewReader(`{"error":{"code":"PAGE_NOT_FOUND","message":"","param":null,"doc_url":null,"request_id":null}}`))
			}
		},
		want: []string{`^lists.list: response: a valid request for a page past the end gets a 404$`},
	},
	{
		name: "a smaller limit", response: func(_ string, resp *http.Response) {
			if resp.Request.URL.Query().Get("limit") == "1000" {
				resp.StatusCode = http.StatusUnprocessableEntity
				resp.Body = io.NopCloser(strings.NewReader(`{"error":{"code":"VALIDATION_FAILED","message":"","param":"limit","doc_url":null,"request_id":null}}`))
			}
		},
		want: []string{`^lists.list: response: limit=1000, documented as the largest, is refused with a 422$`, `^lists.rows: response: limit=1000, documented as the largest, is refused with a 422$`},
	},
}
