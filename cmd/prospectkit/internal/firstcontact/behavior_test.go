package firstcontact_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// limits changes the limit of a query, which is 0 if there is none.
func limits(pattern string, change func(int) int) func(string, url.Values) {
	e := pathPattern(pattern)
	return func(path string, query url.Values) {
		if !e.MatchString(path) {
			return
		}
		n, _ := strconv.Atoi(query.Get("limit"))
		if n = change(n); n != 0 {
			query.Set("limit", strconv.Itoa(n))
		}
	}
}

func cut(most int) func(int) int { return func(n int) int { return min(n, most) } }

func without(names ...string) func(string, url.Values) {
	return func(_ string, query url.Values) {
		for _, name := range names {
			query.Del(name)
		}
	}
}

func replace(resp *http.Response, status int, body string) {
	resp.StatusCode, resp.Header = status, resp.Header.Clone()
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
}

const unexpected = `{"error":{"code":"UNEXPECTED_ERROR","message":"","param":null,"doc_url":null,"request_id":null}}`

// fails makes the requests of some paths fail.
func fails(pattern string, status int) func(string, *http.Response) {
	e := pathPattern(pattern)
	return func(path string, resp *http.Response) {
		if e.MatchString(path) {
			replace(resp, status, unexpected)
		}
	}
}

// milliseconds shows a reset that falls while the run goes on.
func milliseconds(_ string, h http.Header) {
	if n, err := strconv.ParseInt(h.Get("RateLimit-Reset"), 10, 64); err == nil {
		h.Set("RateLimit-Reset", strconv.FormatInt(n*1000, 10))
	}
}

// plantedBehavior are differences in what a service does with a request.
var plantedBehavior = []plant{
	{
		name: "pages are cut", query: limits("/business/lists/*/rows", cut(100)),
	},
	{
		name: "a smaller limit of rows", query: limits("/business/lists/*/rows", func(n int) int {
			if n > 100 {
				return 1001
			}
			return n
		}),
	},
	{
		name: "smaller pages of lists", query: limits("/business/lists", func(n int) int {
			if n == 1000 {
				return 50
			}
			return n
		}),
	},
	{
		name: "another default size of lists", query: limits("/business/lists", func(n int) int {
			if n == 0 {
				return 25
			}
			return n
		}),
	},
	{
		name: "another default size of rows", query: limits("/business/lists/*/rows", func(n int) int {
			if n == 0 {
				return 25
			}
			return n
		}),
	},
	{
		name: "pages from zero",
		query: func(_ string, query url.Values) {
			if n, err := strconv.Atoi(query.Get("pageNum")); err == nil {
				query.Set("pageNum", strconv.Itoa(n+1))
			}
		},
		body: on("/business/lists**", func(o object) any {
			if p, ok := o["pagination"].(object); ok {
				n, _ := p["pageNum"].(json.Number).Int64()
				p["pageNum"] = n - 1
			}
			return o
		}),
	},
	{
		name: "sort is ignored", query: without("sortBy", "sortOrder"),
	},
	{
		name: "search is ignored", query: without("search"),
	},
	{
		name: "the kind of lists is ignored", query: without("entityType"),
	},
	{
		name: "a limit over 1000", query: limits("/business/lists", cut(1000)),
	},
	{
		name: "milliseconds", response: header(milliseconds),
	},
	{
		name: "an operation always fails", response: fails("/business/saved-searches", 500),
	},
	{
		name: "an operation that many depend on fails", response: fails("/business/lists", 502),
	},
	{
		name: "not modified", response: func(path string, resp *http.Response) {
			if path == "/business/campaigns" {
				replace(resp, http.StatusNotModified, "")
			}
		},
	},
	{
		name: "an unknown agent fails", response: fails("/business/agents/ffffffffffffffffffffffff", 500),
	},
	{
		name: "no credits for some keys", response: fails("/business/credits", 403),
	},
	{
		name: "no owner for some keys", response: func(path string, resp *http.Response) {
			if path == "/business/me" && resp.StatusCode == http.StatusOK {
				replace(resp, 403, unexpected)
			}
		},
	},
	{
		name: "no filter options for some keys", response: fails("/business/prospects/filter-options", 403),
	},
	{
		name: "errors in an array", body: failing(func(o object) any { return object{"errors": []any{o["error"]}, "status": 400} }),
	},
	{
		name: "headers missing from one operation", response: header(func(path string, h http.Header) {
			if path == "/business/credits" {
				h.Del("RateLimit-Reset")
			}
		}),
	},
}

// A date after a 429 is obeyed, and told.
func TestPlanted_RetryAfterDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
		n := 0
		busy := plant{response: func(_ string, resp *http.Response) {
			if n++; n == 2 {
				replace(resp, http.StatusTooManyRequests, strings.ReplaceAll(unexpected, "UNEXPECTED_ERROR", "RATE_LIMITED"))
				resp.Header.Set("Retry-After", time.Now().Add(3*time.Second).UTC().Format(http.TimeFormat))
			}
		}}
		report := check(t, sb, changed{sb.Transport(), []plant{busy}}, nil)
		require.Equal(t, []string{"headers: Retry-After is a date instead of seconds"}, lines(report))
	})
}
