package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func create(name string) object { return object{"name": name} }

func TestWhenFaultsFire(t *testing.T) {
	for name, tc := range map[string]struct {
		opt  sandbox.FaultOption
		want string // . served, x hit
	}{
		"nth":    {sandbox.Nth(3), "..x..."},
		"first":  {sandbox.First(2), "xx...."},
		"every":  {sandbox.Every(2), ".x.x.x"},
		"always": {sandbox.Always(), "xxxxxx"},
		"when":   {sandbox.When(func(r *http.Request) bool { return r.URL.Query().Get("pageNum") == "4" }), "...x.."},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				f := sb.Fail("lists.list", tc.opt, sandbox.Status(500, "UNEXPECTED_ERROR"))
				got := ""
				for i := range 6 {
					r := c.get(lists, "pageNum", strconv.Itoa(i+1))
					c.get("/business/me").ok(200)
					got += map[int]string{200: ".", 500: "x"}[r.status]
					require.Equal(t, r.status == 500, r.header.Get("X-Sandbox-Fault") == "1")
				}
				require.Equal(t, tc.want, got)
				require.Equal(t, strings.Count(got, "x"), sb.Hits(f))
			})
		})
	}
}

// sends reports whether a request is the caller's.
func (c caller) sends(r *http.Request) bool {
	token, _, _ := r.BasicAuth()
	return token == c.token
}

func TestFaultsForAKeyAndByBody(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		other := c.as(sb.Key())
		sb.Fail("*", sandbox.When(other.sends), sandbox.HTML(502))
		sb.Fail("lists.create", sandbox.When(func(r *http.Request) bool {
			body, err := io.ReadAll(r.Body)
			return err == nil && strings.Contains(string(body), "cursed") && sb.Calls("lists.create") >= 0
		}), sandbox.Status(503, ""))
		require.Equal(t, 502, other.get("/business/me").status)
		c.get("/business/me").ok(200)
		c.do("POST", lists, create("fine")).ok(201)
		r := c.do("POST", lists, create("cursed"))
		require.Equal(t, 503, r.status)
		require.JSONEq(t, `{"error":{"code":"UNEXPECTED_ERROR","message":"","param":null,"doc_url":null,"request_id":null}}`, string(r.raw))
		require.Equal(t, 502, other.do("POST", lists, create("cursed")).status, "the first rule wins")
	})
}

func TestNthCountsAllKeys(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		other := c.as(sb.Workspace("other").Token())
		sb.Fail("account.me", sandbox.Nth(2), sandbox.Status(503, ""))
		c.get("/business/me").ok(200)
		require.Equal(t, 503, other.get("/business/me").status, "the second of all")
		other.get("/business/me").ok(200)
	})
}

func TestInjectedAnswersApplyNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		opts  []sandbox.FaultOption
		check func(r result)
	}{
		"code": {[]sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(90)}, func(r result) {
			r.fails(429, "RATE_LIMITED")
			require.Equal(r.t, "90", r.header.Get("Retry-After"))
		}},
		"absurd wait": {[]sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED"), sandbox.Header("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")}, func(r result) {
			require.Equal(r.t, "Sun, 06 Nov 1994 08:49:37 GMT", r.header.Get("Retry-After"))
		}},
		"no wait": {[]sandbox.FaultOption{sandbox.Status(429, "RATE_LIMITED")}, func(r result) {
			require.NotContains(r.t, r.header, "Retry-After")
		}},
		"future code": {[]sandbox.FaultOption{sandbox.FutureCode(409, "LIST_ON_FIRE")}, func(r result) {
			r.fails(409, "LIST_ON_FIRE")
		}},
		"page": {[]sandbox.FaultOption{sandbox.HTML(502)}, func(r result) {
			require.Equal(r.t, 502, r.status)
			require.Equal(r.t, "text/html; charset=utf-8", r.header.Get("Content-Type"))
			require.Contains(r.t, string(r.raw), "<h1>502 Bad Gateway</h1>")
		}},
		"redirect": {[]sandbox.FaultOption{sandbox.HTML(307), sandbox.Header("Location", "https://elsewhere.example/")}, func(r result) {
			require.Equal(r.t, 307, r.status)
			require.Equal(r.t, "https://elsewhere.example/", r.header.Get("Location"))
		}},
		"raw": {[]sandbox.FaultOption{sandbox.RawBody(201, `{"list":`)}, func(r result) {
			require.Equal(r.t, 201, r.status)
			require.Equal(r.t, `{"list":`, string(r.raw))
		}},
		"no content": {[]sandbox.FaultOption{sandbox.RawBody(204, "")}, func(r result) {
			require.Equal(r.t, 204, r.status)
			require.Empty(r.t, r.raw)
		}},
		"another type": {[]sandbox.FaultOption{sandbox.Status(500, ""), sandbox.Header("Content-Type", "text/plain")}, func(r result) {
			require.Equal(r.t, 500, r.status)
			require.Equal(r.t, "text/plain", r.header.Get("Content-Type"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
				sb.Fail("lists.create", tc.opts...)
				r := c.do("POST", lists, create("x"))
				require.Equal(t, "1", r.header.Get("X-Sandbox-Fault"))
				tc.check(r)
				require.Empty(t, sb.Lists())
				requireUncounted(t, c)
				require.Empty(t, sb.Journal()[0].Effects)
				require.NotEmpty(t, sb.Journal()[0].Fault)
			})
		})
	}
}

// requireUncounted demands that no request to lists has counted so far.
func requireUncounted(t *testing.T, c caller) {
	t.Helper()
	c.get(lists).requireRate(120, 119, 60)
}

func TestAlteredAnswersAreApplied(t *testing.T) {
	for name, tc := range map[string]struct {
		opt   sandbox.FaultOption
		check func(r result)
	}{
		"empty":     {sandbox.EmptyBody(), func(r result) { require.Empty(r.t, r.raw) }},
		"oversized": {sandbox.Oversized(100_000), func(r result) { require.Len(r.t, r.raw, 100_000); r.json() }},
		"extra": {sandbox.SetField("**.sandboxExtra", sandbox.Row{"nested": []any{1}}), func(r result) {
			require.Contains(r.t, r.json(), "sandboxExtra")
			require.Contains(r.t, at(r.json(), "list"), "sandboxExtra")
		}},
		"null":         {sandbox.SetField("list.name", nil), func(r result) { require.Nil(r.t, at(r.json(), "list").(object)["name"]) }},
		"null object":  {sandbox.SetField("list", nil), func(r result) { require.Nil(r.t, r.json()["list"]) }},
		"enum":         {sandbox.SetField("list.entityType", "robotList"), func(r result) { require.Equal(r.t, "robotList", at(r.json(), "list", "entityType")) }},
		"other type":   {sandbox.Header("Content-Type", "text/html"), func(r result) { require.Equal(r.t, "text/html", r.header.Get("Content-Type")) }},
		"stray header": {sandbox.RetryAfter(5), func(r result) { require.Equal(r.t, "5", r.header.Get("Retry-After")) }},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				sb.Fail("lists.create", tc.opt)
				r := c.do("POST", lists, create("x"))
				require.Equal(t, 201, r.status)
				tc.check(r)
				require.Len(t, sb.Lists(), 1)
			})
		})
	}
}

func TestFieldsOfPages(t *testing.T) {
	sb := sandbox.New(t, someLists())
	c := inPlace(t, sb)
	sb.Fail("lists.list", sandbox.Nth(1), sandbox.SetField("data.*.folderId", nil), sandbox.SetField("data.0.name", nil), sandbox.SetField("nowhere.at.all", "x"))
	body := c.get(lists).ok(200)
	require.Equal(t, []string{"<nil>", "<nil>", "<nil>"}, names(body, "folderId"))
	require.Equal(t, []string{"<nil>", "Paris", "Berlin 100%"}, names(body, "name"))
	require.Len(t, body, 2)
}

func TestCutConnections(t *testing.T) {
	for name, tc := range map[string]struct {
		opts    []sandbox.FaultOption
		applied bool
		err     error
	}{
		"before":       {[]sandbox.FaultOption{sandbox.DropBefore()}, false, io.EOF},
		"after":        {[]sandbox.FaultOption{sandbox.DropAfter()}, true, io.EOF},
		"reset":        {[]sandbox.FaultOption{sandbox.Reset()}, false, errReset(t)},
		"reset after":  {[]sandbox.FaultOption{sandbox.Reset(), sandbox.DropAfter()}, true, errReset(t)},
		"after, reset": {[]sandbox.FaultOption{sandbox.DropAfter(), sandbox.Reset()}, true, errReset(t)},
	} {
		t.Run(name, func(t *testing.T) {
			onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
				t.Helper()
				sb.Fail("lists.create", append(tc.opts, sandbox.Nth(1))...)
				_, err := c.send(c.request("POST", lists, create("x")))
				require.ErrorIs(t, err, tc.err)
				require.Equal(t, tc.applied, len(sb.Lists()) == 1)
				require.Equal(t, 1, sb.Calls("lists.create"))
				want := 0
				if tc.applied {
					want = 201
				}
				require.Equal(t, want, sb.Journal()[0].Status)
				if tc.applied {
					c.do("POST", lists, create("x")).fails(409, "LIST_NAME_TAKEN")
				} else {
					c.do("POST", lists, create("x")).ok(201)
				}
			})
		})
	}
}

func TestRefusedConnections(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		sb.Fail("lists.create", sandbox.Refuse(), sandbox.First(1))
		_, err := c.send(c.request("POST", lists, create("x")))
		require.Error(t, err)
		if c.base == sb.BaseURL() { // over a socket the connection stands already, and is reset
			require.ErrorIs(t, err, errRefused(t))
		}
		require.Zero(t, sb.Calls("lists.create"))
		require.Empty(t, sb.Journal(), "it never arrived")
		c.do("POST", lists, create("x")).ok(201)
	})
}

func TestTruncatedBodies(t *testing.T) {
	for _, n := range []int{0, 1, 20} {
		onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
			t.Helper()
			sb.Fail("lists.create", sandbox.Truncate(n))
			r, err := c.send(c.request("POST", lists, create("x")))
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.Equal(t, 201, r.status)
			require.Len(t, r.raw, n)
			require.Len(t, sb.Lists(), 1)
		})
	}
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		sb.Fail("lists.list", sandbox.Truncate(1<<20))
		c.get(lists).ok(200)
	})
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		sb.Fail("lists.list", sandbox.Oversized(5000), sandbox.Truncate(4000))
		r, err := c.send(c.request("GET", lists, nil))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Len(t, r.raw, 4000)
	})
}

func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		c := inPlace(t, sb)
		sb.Fail("lists.create", sandbox.Latency(40*time.Second))
		before := time.Now()
		c.do("POST", lists, create("patient")).ok(201)
		require.Equal(t, 40*time.Second, time.Since(before))

		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		before = time.Now()
		_, err := c.send(c.request("POST", lists, create("hasty")).WithContext(ctx))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 30*time.Second, time.Since(before))
		require.Len(t, sb.Lists(), 2, "what was done on arrival stays done")

		sb.Fail("lists.list", sandbox.Latency(time.Minute), sandbox.DropBefore())
		before = time.Now()
		_, err = c.send(c.request("GET", lists, nil))
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, time.Minute, time.Since(before))
	})
}

func TestStalledBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb := sandbox.New(t)
		c := inPlace(t, sb)
		sb.Fail("account.me", sandbox.Stall(time.Minute), sandbox.Oversized(1000))
		before := time.Now()
		resp, err := c.client.Do(c.request("GET", "/business/me", nil))
		require.NoError(t, err)
		require.Zero(t, time.Since(before), "the headers are not late")
		raw, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Len(t, raw, 1000)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, time.Minute, time.Since(before))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = c.send(c.request("GET", "/business/me", nil).WithContext(ctx))
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestLateBodiesOverASocket(t *testing.T) {
	clock := sandbox.NewManualClock(start)
	sb := sandbox.New(t, sandbox.WithClock(clock))
	c := bySocket(t, sb)
	sb.Fail("account.me", sandbox.Latency(time.Hour), sandbox.Stall(time.Hour), sandbox.Oversized(300))
	require.Len(t, c.get("/business/me").raw, 300)
	require.Equal(t, start.Add(2*time.Hour), clock.Now())
}

func TestMistakenFaultsAreRefusedWhenSet(t *testing.T) {
	for name, tc := range map[string]struct {
		op   string
		opts []sandbox.FaultOption
		want string
	}{
		"unknown operation":  {"lists.rowz", []sandbox.FaultOption{sandbox.HTML(502)}, `no operation has the name "lists.rowz"`},
		"no path":            {"agents.pause", []sandbox.FaultOption{sandbox.HTML(502)}, "is undocumented"},
		"nothing":            {"lists.rows", nil, "does nothing"},
		"only a matcher":     {"lists.rows", []sandbox.FaultOption{sandbox.Nth(1)}, "does nothing"},
		"unknown code":       {"lists.rows", []sandbox.FaultOption{sandbox.Status(404, "LIST_LOST")}, "FutureCode"},
		"wrong status":       {"lists.rows", []sandbox.FaultOption{sandbox.Status(400, "LIST_NOT_FOUND")}, "has the status [404]"},
		"sparse 404":         {"lists.rows", []sandbox.FaultOption{sandbox.Status(404, "")}, "only 500 to 599"},
		"known future":       {"lists.rows", []sandbox.FaultOption{sandbox.FutureCode(404, "LIST_NOT_FOUND")}, "an undocumented code"},
		"future success":     {"lists.rows", []sandbox.FaultOption{sandbox.FutureCode(200, "FINE")}, "error status"},
		"two matchers":       {"lists.rows", []sandbox.FaultOption{sandbox.Nth(1), sandbox.Every(2), sandbox.HTML(502)}, "which requests are"},
		"zeroth":             {"lists.rows", []sandbox.FaultOption{sandbox.Nth(0), sandbox.HTML(502)}, "at least 1"},
		"first none":         {"lists.rows", []sandbox.FaultOption{sandbox.First(0), sandbox.HTML(502)}, "at least 1"},
		"every zeroth":       {"lists.rows", []sandbox.FaultOption{sandbox.Every(0), sandbox.HTML(502)}, "at least 1"},
		"nil condition":      {"lists.rows", []sandbox.FaultOption{sandbox.When(nil), sandbox.HTML(502)}, "no condition"},
		"two responses":      {"lists.rows", []sandbox.FaultOption{sandbox.HTML(502), sandbox.HTML(503)}, "set the response"},
		"two cuts":           {"lists.rows", []sandbox.FaultOption{sandbox.DropAfter(), sandbox.DropBefore()}, "how the connection ends"},
		"response and cut":   {"lists.rows", []sandbox.FaultOption{sandbox.HTML(502), sandbox.DropBefore()}, "has no response"},
		"altered and cut":    {"lists.rows", []sandbox.FaultOption{sandbox.Truncate(5), sandbox.Reset()}, "has no response"},
		"applied to nothing": {"lists.rows", []sandbox.FaultOption{sandbox.Applied(), sandbox.Latency(1)}, "needs a response in place"},
		"refused by reset":   {"lists.rows", []sandbox.FaultOption{sandbox.Refuse(), sandbox.Reset()}, "cannot be reset"},
		"no latency":         {"lists.rows", []sandbox.FaultOption{sandbox.Latency(0)}, "has to be positive"},
		"negative stall":     {"lists.rows", []sandbox.FaultOption{sandbox.Stall(-1)}, "has to be positive"},
		"negative cut":       {"lists.rows", []sandbox.FaultOption{sandbox.Truncate(-1)}, "negative"},
		"no size":            {"lists.rows", []sandbox.FaultOption{sandbox.Oversized(0)}, "at least 1"},
		"impossible status":  {"lists.rows", []sandbox.FaultOption{sandbox.RawBody(99, "")}, "there is no such response"},
		"body where none is": {"lists.rows", []sandbox.FaultOption{sandbox.RawBody(204, "x")}, "or it has no body"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := &recorder{}
			sb := sandbox.New(rec)
			sb.Fail(tc.op, tc.opts...)
			require.Len(t, rec.errors, 1)
			require.Contains(t, rec.errors[0], tc.want)
			inPlace(t, sb).get(lists).ok(200)
			rec.end()
			require.Len(t, rec.errors, 1, "reported once")
			require.Panics(t, func() { sandbox.New(nil).Fail(tc.op, tc.opts...) })
		})
	}
}

func TestUnfiredFaultsFailTheTest(t *testing.T) {
	rec := &recorder{}
	sb := sandbox.New(rec)
	sb.Fail("lists.rows", sandbox.Nth(2), sandbox.Status(429, "RATE_LIMITED"), sandbox.RetryAfter(3))
	c := inPlace(t, sb)
	c.get(rowsOf(id(1))).fails(404, "LIST_NOT_FOUND")
	rec.end()
	require.Len(t, rec.errors, 1)
	require.Contains(t, rec.errors[0], "fault 1, lists.rows: request 2, 429 RATE_LIMITED, Retry-After: 3 (faults_test.go:", "with the line that set it")
	require.Contains(t, rec.errors[0], "GET /api/v1/business/lists/"+id(1)+"/rows 404 LIST_NOT_FOUND", "with the end of the journal")
	c.get(lists).ok(200) // a late request does not speak to a test that is over
}

// A gateway gives up before the service does: the response is a failure, and the request was applied.
func TestAppliedAnswersInPlaceOfTheService(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.HTML(504), sandbox.Applied())
		r := c.do("POST", lists, create("Q1"))
		require.Equal(t, http.StatusGatewayTimeout, r.status)
		require.Equal(t, "text/html; charset=utf-8", r.header.Get("Content-Type"))
		require.Len(t, sb.Lists(), 1)
		require.Equal(t, http.StatusGatewayTimeout, sb.Journal()[0].Status)
		require.NotEmpty(t, sb.Journal()[0].Effects)
		r = c.do("POST", lists, create("Q1"))
		r.fails(409, "LIST_NAME_TAKEN")
		_, left, _ := r.rate()
		require.Equal(t, 118, left)
	})
}

// A gateway that repeats a request forwards the second response, and tells of itself.
func TestResent(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		sb.Fail("lists.create", sandbox.Nth(1), sandbox.Resent())
		r := c.do("POST", lists, create("Q1"))
		r.fails(409, "LIST_NAME_TAKEN")
		require.Equal(t, "1.1 gateway", r.header.Get("Via"))
		require.Len(t, sb.Lists(), 1)
		require.Equal(t, 2, sb.Calls("lists.create"))
		require.Empty(t, c.do("POST", lists, create("Q2")).header.Get("Via"))
	})
}

// Totals that are capped end before the records; a page that is emptied shows none once.
func TestTotalsThatAreWrong(t *testing.T) {
	onEachRoad(t, nil, func(t *testing.T, sb *sandbox.Sandbox, c caller) {
		t.Helper()
		sb.Do(func(tx *sandbox.Tx) {
			for i := range 5 {
				tx.CreateList(sandbox.List{Name: strconv.Itoa(i)})
			}
		})
		sb.Fail("lists.list", sandbox.CapTotals(2))
		page := func(number string) string {
			r := c.get(lists, "limit", "2", "pageNum", number)
			var p struct {
				Data       []any
				Pagination struct{ TotalPages, TotalRecords int }
			}
			require.NoError(t, json.Unmarshal(r.raw, &p))
			return fmt.Sprint(len(p.Data), p.Pagination)
		}
		require.Equal(t, "2 {1 2}", page("1"))
		require.Equal(t, "1 {1 2}", page("3"))
		require.Equal(t, "0 {1 2}", page("4"))
		sb.Clear()
		sb.Fail("lists.list", sandbox.Nth(1), sandbox.EmptyPage(), sandbox.Header("Age", "2"))
		require.Equal(t, "0 {0 0}", page("1"))
		require.Equal(t, "2 {3 5}", page("1"))
	})
}
