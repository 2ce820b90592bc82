package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

func TestFaultByFlag(t *testing.T) {
	p := start(t, "-fault", "lists.rows:nth=2:status=429:code=RATE_LIMITED:retry-after=2", "-fault", "lists.create:first=1:drop-after",
		"-fault", "lists.create:nth=2:html=504:applied",
		"-fault", "lists.create:nth=3:drop-before:reset")
	path := "/business/lists/" + p.Lists[0].ID + "/rows?limit=1"
	p.ok(t, "GET", path, "")
	a, err := p.api(t, "GET", path, "")
	require.NoError(t, err)
	require.Equal(t, http.StatusTooManyRequests, a.StatusCode)
	require.Equal(t, "RATE_LIMITED", a.code())
	require.Equal(t, "2", a.Header.Get("Retry-After"))
	p.ok(t, "GET", path, "")

	_, err = p.api(t, "POST", "/business/lists", `{"name":"lost response"}`)
	require.Error(t, err)
	require.Contains(t, listNames(t, p), "lost response")

	a, err = p.api(t, "POST", "/business/lists", `{"name":"gateway gave up"}`)
	require.NoError(t, err)
	require.Equal(t, http.StatusGatewayTimeout, a.StatusCode)
	require.Contains(t, listNames(t, p), "gateway gave up")

	_, err = p.api(t, "POST", "/business/lists", `{"name":"lost request"}`)
	require.Error(t, err)
	require.NotContains(t, listNames(t, p), "lost request")
	p.stopped(t)
	require.Empty(t, p.stderr.String())
}

func TestFaultByControlPlane(t *testing.T) {
	p := start(t)
	a := p.control(t, "POST", "faults", `{"fault":"account.me:html=502"}`)
	require.Equal(t, http.StatusCreated, a.StatusCode)

	bad, err := p.api(t, "GET", "/business/me", "")
	require.NoError(t, err)
	require.Equal(t, http.StatusBadGateway, bad.StatusCode)
	require.Equal(t, "1", bad.Header.Get("X-Sandbox-Fault"))

	faults := p.control(t, "GET", "faults", "").body["faults"].([]any)
	require.Len(t, faults, 1)
	require.Equal(t, "account.me:html=502", faults[0].(map[string]any)["fault"])
	require.EqualValues(t, 1, faults[0].(map[string]any)["hits"])

	refused := p.control(t, "POST", "faults", `{"fault":"account.you:html=502"}`)
	require.Equal(t, http.StatusBadRequest, refused.StatusCode)
	require.Contains(t, refused.body["error"], "account.you")

	require.Empty(t, p.control(t, "DELETE", "faults", "").body["faults"])
	p.ok(t, "GET", "/business/me", "")
}

func TestFaultThatNeverFiredIsReported(t *testing.T) {
	p := start(t, "-fault", "lists.rows:nth=2:status=500")
	p.stopped(t)
	require.Contains(t, p.stderr.String(), "never fired")
}

func TestFaultWords(t *testing.T) {
	for spec, want := range map[string]string{
		"lists.rows:nth=3:status=429:code=RATE_LIMITED:retry-after=2": "fault 1, lists.rows: request 3, Retry-After: 2, 429 RATE_LIMITED",
		"lists.create:nth=2:drop-after":                               "fault 1, lists.create: request 2, dropped after",
		"lists.create:drop-before:reset":                              "fault 1, lists.create: dropped before, reset",
		"*:every=10:refuse":                                           "fault 1, *: every 10, refused",
		"account.me:always:status=429":                                "fault 1, account.me: always, 429 RATE_LIMITED",
		"account.me:code=INSUFFICIENT_SCOPE":                          "fault 1, account.me: 403 INSUFFICIENT_SCOPE",
		"account.me:status=422:code=INSUFFICIENT_CREDITS":             "fault 1, account.me: 422 INSUFFICIENT_CREDITS",
		"account.me:status=500":                                       "fault 1, account.me: 500 UNEXPECTED_ERROR",
		"account.me:sparse=503":                                       "fault 1, account.me: 503",
		"account.me:status=409:future-code=NEW":                       "fault 1, account.me: 409 NEW",
		"account.me:key=t:latency=1.5s":                               "fault 1, account.me: latency 1.5s",
		"account.me:stall=1s:slow-body=9":                             "fault 1, account.me: stall 1s, 9 bytes per second",
		"account.me:truncate=0":                                       "fault 1, account.me: truncated after 0",
		"account.me:oversized=9":                                      "fault 1, account.me: oversized to 9",
		"account.me:empty-body:content-type=a/b":                      "fault 1, account.me: empty body, Content-Type: a/b",
		"account.me:extra-fields:null=user.id:enum=user.name=x=y":     `fault 1, account.me: extra fields, user.id = null, user.name = "x=y"`,
		`account.me:body={"user":{}}`:                                 "fault 1, account.me: 200 application/json",
		"account.me:status=500:body=":                                 "fault 1, account.me: 500 application/json",
		"account.me:location=http://elsewhere.example:1/x":            "fault 1, account.me: 302 to http://elsewhere.example:1/x",
		"account.me:status=429:retry-after-raw=12:00":                 "fault 1, account.me: Retry-After: 12:00, 429 RATE_LIMITED",
	} {
		f, err := parseFault(spec)
		require.NoError(t, err, spec)
		require.Equal(t, want, sandbox.New(&trial{}).Fail(f.operation, f.opts...).String(), spec)
	}
}

func TestFaultMistakes(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                          "no operation",
		"lists.row:status=500":                      `"lists.row"`,
		"agents.pause:status=500":                   "is undocumented",
		"lists.rows":                                "does nothing",
		"lists.rows:nth=1":                          "does nothing",
		"lists.rows:nth=x:status=500":               "nth=x: not a number",
		"lists.rows:nth=0:status=500":               "at least 1",
		"lists.rows:nth=1:first=1:refuse":           "two options",
		"lists.rows:wait=1s":                        "wait=1s",
		"lists.rows:drop":                           `"drop"`,
		"lists.rows:drop-after=1":                   "drop-after=1",
		"lists.rows:latency=5":                      "duration",
		"lists.rows:latency":                        "needs a value",
		"lists.rows:status=":                        "needs a value",
		"lists.rows:status=404":                     "without a code",
		"lists.rows:status=404:code=LIST_LOST":      "LIST_LOST is undocumented",
		"lists.rows:code=LIST_LOST":                 "LIST_LOST is undocumented",
		"lists.rows:status=500:code=NOTE_NOT_FOUND": "NOTE_NOT_FOUND",
		"lists.rows:future-code=NEW":                "FutureCode",
		"lists.rows:enum=path":                      "enum=PATH=VALUE",
		"lists.rows:html=502:code=RATE_LIMITED":     "two options",
		"lists.rows:drop-after:status=500":          "a cut connection",
	} {
		_, err := parseFault(spec)
		require.ErrorContains(t, err, want, spec)
	}
}

func FuzzParseFault(f *testing.F) {
	for _, spec := range []string{"lists.rows:nth=3:status=429:retry-after=2", "*:body={}", "account.me:null=a.*.b:enum=a=b", ":=:", "a.b:html=-1"} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		fault, err := parseFault(spec)
		if err == nil {
			require.NotEmpty(t, fault.operation)
			require.NotEmpty(t, fault.opts)
		}
	})
}
