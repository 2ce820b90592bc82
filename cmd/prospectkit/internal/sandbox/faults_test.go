package sandbox

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
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
	require.Equal(t, http.StatusOK, a.StatusCode)

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

func TestFaultOfAnOperationWithARoute(t *testing.T) {
	p := start(t, "-fault", "agents.pause:html=502", "-route", "agents.pause=POST /business/agents/{agentId}/stop")
	path := "/business/agents/65f0c0ffee65f0c0ffee65f0/stop"
	a, err := p.api(t, "POST", path, "")
	require.NoError(t, err)
	require.Equal(t, http.StatusBadGateway, a.StatusCode)
	require.Empty(t, p.control(t, "DELETE", "faults", "").body["faults"])
	added := p.control(t, "POST", "faults", `{"fault":"agents.pause:html=503"}`)
	require.Equal(t, http.StatusOK, added.StatusCode)
	a, err = p.api(t, "POST", path, "")
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, a.StatusCode)
}

func TestCallsAreCounted(t *testing.T) {
	p := start(t, "-fault", "lists.create:nth=1:applied:html=502", "-fault", "lists.create:nth=2:drop-before", "-fault", "lists.create:nth=3:drop-after")
	for _, name := range []string{"applied", "lost", "response lost", "unhindered", "unhindered"} {
		_, _ = p.api(t, "POST", "/business/lists", `{"name":"`+name+`"}`) // two have no response
	}
	p.ok(t, "GET", "/business/me", "")
	require.Equal(t, map[string]any{
		"lists.create": map[string]any{"requests": 5., "processed": 3.},
		"account.me":   map[string]any{"requests": 1., "processed": 1.},
	}, p.control(t, "GET", "calls", "").body["calls"])
}
