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

	"example.com/prospectkit/cmd/prospectkit/internal/firstcontact"
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

// eachEighth counts from its first request on.
func (p plant) eachEighth() plant {
	n, response := 0, p.response
	p.response = func(path string, resp *http.Response) {
		if n++; n%8 == 0 {
			response(path, resp)
		}
	}
	return p
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
		want: []string{`^paging: rows, largest page: limit=1000 gives only 100 elements, although there are more$`},
	},
	{
		name: "a smaller limit of rows", query: limits("/business/lists/*/rows", func(n int) int {
			if n > 100 {
				return 1001
			}
			return n
		}),
		want: []string{`^lists.rows: response: limit=1000, documented as the largest, is refused with a 422$`},
	},
	{
		name: "smaller pages of lists", query: limits("/business/lists", func(n int) int {
			if n == 1000 {
				return 50
			}
			return n
		}),
		want: []string{`^paging: lists, past the end: totalPages does not fit totalRecords and a page of 1000: pages are smaller$`},
	},
	{
		name: "another default size of lists", query: limits("/business/lists", func(n int) int {
			if n == 0 {
				return 25
			}
			return n
		}),
		want: []string{`^paging: lists: a page has 25 elements by default, instead of 50$`},
	},
	{
		name: "another default size of rows", query: limits("/business/lists/*/rows", func(n int) int {
			if n == 0 {
				return 25
			}
			return n
		}),
		want: []string{`^paging: rows of contacts: a page has 25 elements by default, instead of 100$`},
		also: []string{`^paging: rows of companies: a page has 25 elements by default, instead of 100$`},
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
		want: []string{
			`^paging: lists: pageNum is not that of the page that was asked for: 0 instead of 1$`,
			`^paging: lists, page 2: pageNum=2 gives the third page: pages count from 0, and page 1 is the second$`,
			`^paging: rows of contacts: pageNum is .*: 0 instead of 1$`, `^paging: rows, page 2: pageNum=2 gives the third page`,
		},
		also: []string{`^paging: rows(, largest page| of companies): pageNum is .*: 0 instead of 1$`},
	},
	{
		name: "sort is ignored", query: without("sortBy", "sortOrder"),
		want: []string{`^rows: sorted by firstName: sortBy=firstName&sortOrder=asc is ignored: the rows are in another order$`},
		also: []string{`^rows: sorted by name: sortBy=name&sortOrder=desc is ignored: `},
	},
	{
		name: "search is ignored", query: without("search"),
		want: []string{`^lists: search: search is ignored: lists are returned that cannot match$`},
	},
	{
		name: "the kind of lists is ignored", query: without("entityType"), want: []string{`^lists: entityType: others are returned, too$`},
	},
	{
		name: "a limit over 1000", query: limits("/business/lists", cut(1000)),
		want: []string{`^errors: limit over 1000: responds with 200 instead of 422 VALIDATION_FAILED$`},
	},
	{
		name: "milliseconds", response: header(milliseconds),
		want: []string{`^limits: lists: RateLimit-Reset is in milliseconds instead of seconds: 60000$`},
		also: []string{`^limits: [a-z-]+: RateLimit-Reset is in milliseconds instead of seconds: 60000$`},
	},
	{
		name: "every eighth fails", response: fails("**", 500),
		want: []string{`^requests: failures: \d+ of \d+ requests got a 500, others for the same did not$`},
	},
	{
		name: "an operation always fails", response: fails("/business/saved-searches", 500),
		want: []string{`^search.saved: response: responds with 500 to every request$`},
	},
	{
		name: "an operation that many depend on fails", response: fails("/business/lists", 502),
		want: []string{`^lists.list: response: responds with 502 to every request$`},
	},
	{
		name: "not modified", response: func(path string, resp *http.Response) {
			if path == "/business/campaigns" {
				replace(resp, http.StatusNotModified, "")
			}
		},
		want: []string{`^campaigns.list: response: responds with 304 instead of 200$`},
	},
	{
		name: "an unknown agent fails", response: fails("/business/agents/ffffffffffffffffffffffff", 500),
		want: []string{`^errors: unknown agent: the status is 500 instead of 404$`, `^errors: unknown agent: the code is UNEXPECTED_ERROR instead of AGENT_NOT_FOUND$`},
	},
	{
		name: "no credits for some keys", response: fails("/business/credits", 403),
		want: []string{`^account.credits: response: responds with 403, although every valid key has access$`},
	},
	{
		name: "no owner for some keys", response: func(path string, resp *http.Response) {
			if path == "/business/me" && resp.StatusCode == http.StatusOK {
				replace(resp, 403, unexpected)
			}
		},
		want: []string{`^account.me: response: responds with 403, although every valid key has access$`},
		also: []string{`^errors: no key: the status is 403`},
	},
	{
		name: "no filter options for some keys", response: fails("/business/prospects/filter-options", 403),
		want: []string{`^search.filter-options: response: responds with 403, although every valid key has access$`},
	},
	{
		name: "errors in an array", body: failing(func(o object) any { return object{"errors": []any{o["error"]}, "status": 400} }),
		want: []string{`^errors: envelope: error is missing`, `^errors: envelope: errors is undocumented \(array\)$`},
		also: []string{`^errors: envelope: status is undocumented \(integer\)$`},
	},
	{
		name: "headers missing from one operation", response: header(func(path string, h http.Header) {
			if path == "/business/credits" {
				h.Del("RateLimit-Reset")
			}
		}),
		want: []string{`^headers: rate limits: RateLimit-Reset is missing from account.credits$`},
	},
}

func TestPlanted_Behavior(t *testing.T) {
	rows := fixture.Build(fixture.Config{Seed: 1, ContactLists: 2, CompanyLists: 1, Rows: 3 * 130, Clean: true})
	lists := fixture.Build(fixture.Config{Seed: 1, ContactLists: 52, CompanyLists: 1, Rows: 53, Clean: true})
	for _, p := range plantedBehavior {
		state := rows
		switch {
		case strings.HasSuffix(p.name, "of lists"):
			state = lists
		case p.name == "every eighth fails":
			p = p.eachEighth()
		}
		t.Run(p.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sb := sandbox.New(t, sandbox.Seed(state))
				report := check(t, sb, changed{sb.Transport(), []plant{p}}, nil)
				found := lines(report)
				for _, want := range p.want {
					require.True(t, matchesAny(want, found), "%s is not among %q", want, found)
				}
				for _, line := range found {
					require.True(t, matches(append(p.want, p.also...), line), "invented: %s (if it is new in the sandbox: asks.go describes it)", line)
				}
				requireHarmless(t, sb, report)
				requireModest(t, sb)
			})
		})
	}
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
		require.Equal(t, []string{"headers: Retry-After: Retry-After is a date instead of seconds"}, lines(report))
	})
}

// Only a listing that was read tells that there is nothing in it.
func TestPlanted_NothingIsFoundWhereNothingWasRead(t *testing.T) {
	for _, status := range []int{304, 307, 403, 500} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
			failing := plant{response: fails("/business/(lists|agents)", status)} //nolint:bodyclose // it is no response of ours
			report := check(t, sb, changed{sb.Transport(), []plant{failing}}, nil)
			for _, f := range report.Findings {
				require.NotContains(t, f.Why, "this workspace shows no", f.Check)
				requireUnsettled(t, &f)
				if f.Check == "lists.get: response" {
					require.Equal(t, `the response for "lists" was `+strconv.Itoa(status), f.Why)
				}
			}
		})
	}
}

// A response that cannot be read settles nothing either.
func TestPlanted_UnreadableSettlesNothing(t *testing.T) {
	for _, body := range []string{"[", ""} {
		synctest.Test(t, func(t *testing.T) {
			sb := sandbox.New(t, sandbox.Seed(fixture.Small(1)))
			unreadable := plant{response: func(path string, resp *http.Response) {
				if path == "/business/agents" || path == "/business/folders" {
					replace(resp, http.StatusOK, body)
				}
			}}
			report := check(t, sb, changed{sb.Transport(), []plant{unreadable}}, nil)
			require.NotEmpty(t, lines(report))
			for _, f := range report.Findings {
				requireUnsettled(t, &f)
			}
		})
	}
}

// requireUnsettled demands that what differs, in a response that was not read, is not said to settle a question.
func requireUnsettled(t *testing.T, f *firstcontact.Finding) {
	t.Helper()
	if strings.HasSuffix(f.Check, ": response") && len(f.Differences) > 0 {
		require.Empty(t, f.Question, "%s: %q", f.Check, f.Differences)
	}
}
