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
	},
	{
		name: "folders paged", body: on("/business/folders", func(o object) any {
			return object{"data": o["folders"], "pagination": object{"pageNum": 1, "totalPages": 1, "totalRecords": 2}}
		}),
	},
	{
		name: "agents paged", body: on("/business/agents", top(rename("agents", "data"))),
	},
	{
		name: "row id renamed", body: on("/business/lists/*/rows", every("data", rename("id", "contactId"))),
	},
	{
		name: "no row id", body: on("/business/lists/*/rows", every("data", func(o object) { delete(o, "id") })),
	},
	{
		name: "an empty folder id", body: on("/business/lists", every("data", set("folderId", func(v any) any {
			if v == nil {
				return ""
			}
			return v
		}))),
	},
	{
		name: "counts of a list nested", body: on("/business/lists/*", every("list", func(o object) {
			o["counts"] = object{"contacts": o["contactsCount"], "companies": o["companiesCount"]}
			delete(o, "contactsCount")
			delete(o, "companiesCount")
		})),
	},
	{
		name: "pages longer than asked for", body: on("/business/lists", func(o object) any {
			if data, _ := o["data"].([]any); len(data) > 0 {
				o["data"] = append(data, data...)
			}
			return o
		}),
	},
	{
		name: "a page too many is told", body: on("/business/lists", every("pagination", set("totalPages", func(v any) any {
			n, _ := v.(json.Number).Int64()
			return n + 1
		}))),
	},
	{
		name: "pages count from zero", body: on("/business/lists", every("pagination", set("pageNum", func(v any) any {
			n, _ := v.(json.Number).Int64()
			return n - 1
		}))),
	},
	{
		name: "pagination by other names", body: on("/business/campaigns/*/scheduled-sends", func(o object) any {
			p := o["pagination"].(object)
			return object{"data": o["data"], "page": p["pageNum"], "pageCount": p["totalPages"], "total": p["totalRecords"]}
		}),
	},
	{
		name: "errors are HTML", response: func(_ string, resp *http.Response) {
			if resp.StatusCode >= 400 {
				resp.Body = io.NopCloser(strings.NewReader("<html>Ada Lovelace</html>"))
			}
		},
	},
	{
		name: "a code of its own", body: failing(func(o object) any {
			o["error"].(object)["status"] = 404
			return o
		}),
	},
	{
		name: "a missing list is no error", response: with("/business/lists/ffffffffffffffffffffffff", 200, `{"list":null}`),
	},
	{
		name: "no key is forbidden", response: status("/business/me", 401, 403),
	},
	{
		name: "headers that are no integers", response: header(func(_ string, h http.Header) {
			if v := h.Get("RateLimit-Limit"); v != "" {
				h.Set("RateLimit-Limit", v+";w=60")
			}
		}),
	},
	{
		name: "no rate headers", response: header(func(_ string, h http.Header) {
			h.Del("RateLimit-Limit")
			h.Del("RateLimit-Remaining")
			h.Del("RateLimit-Reset")
		}),
	},
	{
		name: "a shorter window", response: header(func(path string, h http.Header) {
			if strings.HasPrefix(path, "/business/agents") && h.Get("RateLimit-Reset") != "" {
				h.Set("RateLimit-Reset", "17")
			}
		}),
	},
	{
		name: "the day instead of the minute", response: header(func(path string, h http.Header) {
			if strings.HasPrefix(path, "/business/agents") && h.Get("RateLimit-Reset") != "" {
				h.Set("RateLimit-Limit", "2000")
				h.Set("RateLimit-Remaining", "1990")
				h.Set("RateLimit-Reset", "86000")
			}
		}),
	},
	{
		name: "user at the top", body: on("/business/me", func(o object) any { return o["user"] }),
	},
	{
		name: "filter options as an array", body: on("/business/prospects/filter-options", put("filterOptions", []any{object{"key": "a"}})),
	},
	{
		name: "steps at the top", body: on("/business/campaigns/*/steps", func(o object) any { return o["steps"] }),
	},
	{
		name: "numbers as ids", body: on("/business/saved-searches", every("savedSearches", set("id", func(any) any { return json.Number("17") }))),
	},
	{
		name: "large numbers as ids", body: on("/business/folders", every("folders", set("id", func(any) any { return json.Number("1760000000017") }))),
	},
	{
		name: "columns renamed", body: on("/business/lists/*", every("list", rename("columns", "customColumns"))),
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
	},
	{
		name: "oldest first", body: on("/business/lists", func(o object) any {
			if data := o["data"].([]any); len(data) > 1 {
				data[0], data[1] = data[1], data[0]
			}
			return o
		}),
	},
	{
		name: "truncated", response: with("/business/saved-searches", 200, `{"savedSearches":[`),
	},
	{
		name: "an error without its link", body: failing(func(o object) any { return every("error", func(e object) { delete(e, "doc_url") })(o) }),
	},
	{
		name: "field of rows with another name", body: on("/business/lists/*/rows", every("data", rename("lastName", "surname"))),
	},
	{
		name: "no page past the end", response: func(_ string, resp *http.Response) {
			if resp.Request.URL.Query().Get("pageNum") == "1000000" {
				resp.StatusCode = http.StatusNotFound
				resp.Body = io.NopCloser(strings.NewReader(`{"error":{"code":"PAGE_NOT_FOUND","message":"","param":null,"doc_url":null,"request_id":null}}`))
			}
		},
	},
	{
		name: "a smaller limit", response: func(_ string, resp *http.Response) {
			if resp.Request.URL.Query().Get("limit") == "1000" {
				resp.StatusCode = http.StatusUnprocessableEntity
				resp.Body = io.NopCloser(strings.NewReader(`{"error":{"code":"VALIDATION_FAILED","message":"","param":"limit","doc_url":null,"request_id":null}}`))
			}
		},
	},
}
