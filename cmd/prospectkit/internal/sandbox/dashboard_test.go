package sandbox

import (
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page reads the root of the control plane as a browser does.
func (p *process) page(t *testing.T) (text string, header http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.ControlURL, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	return string(body), resp.Header
}

func TestDashboardIsOnePageUnderAStrictPolicy(t *testing.T) {
	p := start(t)
	text, header := p.page(t)
	require.Equal(t, "text/html; charset=utf-8", header.Get("Content-Type"))
	require.Equal(t, "Accept", header.Get("Vary"))
	require.Equal(t, "no-store", header.Get("Cache-Control"))
	require.NotContains(t, text, p.Token)
	require.NotContains(t, text, "{{")

	policy := header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.NotContains(t, policy, "unsafe")
	for _, tag := range []string{"style", "script"} {
		_, rest, found := strings.Cut(text, "<"+tag+">")
		require.True(t, found)
		inline, rest, found := strings.Cut(rest, "</"+tag+">")
		require.True(t, found)
		require.Contains(t, policy, tag+"-src "+digest(inline)+";")
		require.NotContains(t, rest, "<"+tag, "one of each")
	}
	for _, outside := range []string{"http://", "https://", " src=", "@import", "url(", "style=\"", "innerHTML", "insertAdjacentHTML"} {
		require.NotContains(t, text, outside)
	}
}

func TestNewestRecords(t *testing.T) {
	p := start(t)
	for range 3 {
		p.ok(t, "GET", "/business/me", "")
	}
	newest := p.control(t, "GET", "journal?last=2", "").body["requests"].([]any)
	require.Len(t, newest, 2)
	require.Equal(t, "req_000003", newest[1].(map[string]any)["requestId"])
	require.Len(t, p.control(t, "GET", "journal?last=9", "").body["requests"], 3)
	require.Empty(t, p.control(t, "GET", "ledger?last=0", "").body["entries"])
	for range 2 {
		_, err := p.api(t, "GET", "/business/nothing", "")
		require.NoError(t, err)
	}
	p.ok(t, "GET", "/business/me", "")
	failed := p.control(t, "GET", "journal?last=1&failures=true", "").body
	require.Equal(t, []any{6.0, 2.0}, []any{failed["total"], failed["failures"]})
	require.Len(t, failed["requests"], 1, "of the whole journal, not of its end")
	require.Equal(t, "req_000005", failed["requests"].([]any)[0].(map[string]any)["requestId"])
	for _, path := range []string{"journal?last=-1", "ledger?last=x", "journal?last="} {
		require.Equal(t, http.StatusBadRequest, p.control(t, "GET", path, "").StatusCode, path)
	}
}

func TestOverview(t *testing.T) {
	p := start(t)
	o := p.control(t, "GET", "overview", "").body
	require.Equal(t, []any{"main", "neighbour"}, o["workspaces"])
	require.Equal(t, "small", o["seed"])
	require.Empty(t, o["problems"])
	require.NotEmpty(t, o["agents"])
	require.EqualValues(t, len(o["lists"].([]any)), o["listCount"])
	require.Len(t, o["lists"], len(p.Lists))
	require.EqualValues(t, 84, o["lists"].([]any)[len(p.Lists)-1].(map[string]any)["rows"])
	sends := map[string]any{}
	for _, c := range o["campaigns"].([]any) {
		maps.Copy(sends, c.(map[string]any)["sends"].(map[string]any))
	}
	require.Contains(t, sends, "scheduled")
	require.Equal(t, http.StatusNotFound, p.control(t, "GET", "overview?workspace=nobody", "").StatusCode)
}

func TestFaultsAreSwitched(t *testing.T) {
	p := start(t, "-fault", "account.me:html=502", "-fault", "account.me:key=secret-token:html=503")
	status := func() int {
		a, err := p.api(t, "GET", "/business/me", "")
		require.NoError(t, err)
		return a.StatusCode
	}
	require.Equal(t, http.StatusBadGateway, status())
	off := p.control(t, "POST", "faults/1", `{"on":false}`)
	require.Equal(t, http.StatusOK, off.StatusCode)
	require.Equal(t, http.StatusOK, status())
	faults := off.body["faults"].([]any)
	require.Equal(t, false, faults[0].(map[string]any)["on"])
	require.EqualValues(t, 1, faults[0].(map[string]any)["hits"])
	require.Equal(t, "account.me:key=...:html=503", faults[1].(map[string]any)["fault"], "a token is never returned")

	require.Equal(t, http.StatusOK, p.control(t, "POST", "faults/1", `{"on":true}`).StatusCode)
	require.Equal(t, http.StatusBadGateway, status())
	p.control(t, "POST", "faults/2", `{"on":false}`) // it never fired, and is forgiven

	for path, want := range map[string]int{"faults/3": 404, "faults/0": 404, "faults/one": 400} {
		require.Equal(t, want, p.control(t, "POST", path, `{"on":true}`).StatusCode, path)
	}
	require.Equal(t, http.StatusBadRequest, p.control(t, "POST", "faults/1", `{}`).StatusCode)
	p.stopped(t)
	require.Empty(t, p.stderr.String())
}
