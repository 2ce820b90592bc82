package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/cli"
	"example.com/prospectkit/sandbox"
)

// process is a running command.
type process struct {
	announcement

	stop   func() (code int, rest string) // rest is what came on stdout behind the announcement
	stderr *lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// start runs the command until the test ends or stops it.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, out := io.Pipe()
	p := &process{stderr: &lockedBuffer{}}
	done := make(chan int, 1)
	go func() {
		code := run(ctx, append([]string{"-json"}, args...), out, p.stderr)
		_ = out.Close() // never fails
		done <- code
	}()
	dec := json.NewDecoder(stdout)
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&p.announcement), "stderr: %s", p.stderr)
	p.stop = sync.OnceValues(func() (int, string) {
		cancel()
		rest, err := io.ReadAll(io.MultiReader(dec.Buffered(), stdout))
		require.NoError(t, err)
		return <-done, string(rest)
	})
	t.Cleanup(func() { p.stop() })
	return p
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return New().Main(ctx, cli.Std{Out: stdout, Err: stderr}, args)
}

func (p *process) stopped(t *testing.T) {
	t.Helper()
	code, rest := p.stop()
	require.Equal(t, cli.OK, code, "stderr: %s", p.stderr)
	require.Empty(t, strings.TrimSpace(rest), "one JSON object and nothing more")
}

// response is the response of a call.
type response struct {
	*http.Response
	body map[string]any
}

func (a response) code() any {
	envelope, _ := a.body["error"].(map[string]any)
	return envelope["code"]
}

// api calls the API with the token of the announcement.
func (p *process) api(t *testing.T, method, path, body string) (response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.BaseURL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.SetBasicAuth(p.Token, "")
	return send(t, req)
}

// control calls the control plane.
func (p *process) control(t *testing.T, method, path, body string) response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.ControlURL+path, strings.NewReader(body))
	require.NoError(t, err)
	a, err := send(t, req)
	require.NoError(t, err)
	return a
}

func send(t *testing.T, req *http.Request) (response, error) {
	t.Helper()
	if req.ContentLength > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // net/http would repeat a read on a connection that was cut
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return response{Response: resp}, err
	}
	a := response{Response: resp}
	if resp.Header.Get("Content-Type") == "application/json" && len(raw) > 0 {
		require.NoError(t, json.Unmarshal(raw, &a.body), "%s", raw)
	}
	return a, nil
}

func (p *process) ok(t *testing.T, method, path, body string) response {
	t.Helper()
	a, err := p.api(t, method, path, body)
	require.NoError(t, err)
	require.Less(t, a.StatusCode, 300, "%v", a.body)
	return a
}

func listNames(t *testing.T, p *process) (names []string) {
	t.Helper()
	for _, l := range p.ok(t, "GET", "/business/lists?limit=1000", "").body["data"].([]any) {
		names = append(names, l.(map[string]any)["name"].(string))
	}
	return names
}

func TestEverythingAnnouncedCanBeCalled(t *testing.T) {
	p := start(t)
	require.Len(t, p.Lists, 4)
	for _, l := range p.Lists[1:] { // the first one is a system list
		rows := p.ok(t, "GET", "/business/lists/"+l.ID+"/rows?limit=1", "")
		require.Equal(t, l.EntityType, rows.body["entityType"])
		require.NotEmpty(t, l.Columns)
	}
	require.Len(t, listNames(t, p), 3)
	for _, f := range p.Folders[:2] {
		require.Contains(t, p.ok(t, "GET", "/business/folders?type="+f.Type, "").body["folders"], map[string]any{
			"id": f.ID, "name": f.Name, "type": f.Type,
		})
	}
	foreign, err := p.api(t, "GET", "/business/lists/"+p.Others[0].Lists[1].ID, "")
	require.NoError(t, err)
	require.Equal(t, "LIST_NOT_FOUND", foreign.code())

	for _, key := range p.Keys {
		q := *p
		q.Token = key.Token
		a, err := q.api(t, "GET", "/business/lists", "")
		require.NoError(t, err)
		want := map[string]int{"full access": 200, "lists only": 200, "everything but lists": 403, "revoked": 401, "expired": 401}
		require.Equal(t, want[key.Name], a.StatusCode, key.Name)
	}
	p.stopped(t)
}

func TestTextTellsWhatToExport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stdout, out := io.Pipe()
	done := make(chan int, 1)
	go func() { done <- run(ctx, []string{"-seed", "large:30"}, out, io.Discard) }()
	buf := make([]byte, 1<<16)
	n, err := stdout.Read(buf)
	require.NoError(t, err)
	text := string(buf[:n])

	find := func(pattern string) string {
		match := regexp.MustCompile(pattern).FindStringSubmatch(text)
		require.Len(t, match, 2, "%s in:\n%s", pattern, text)
		return match[1]
	}
	p := process{announcement: announcement{
		BaseURL: find(`(?m)^export PROSPECTKIT_BASE_URL=(http://127\.0\.0\.1:\d+/api/v1)$`),
		Token:   find(`(?m)^export PROSPECTKIT_TOKEN=(\S+)$`),
	}}
	require.Contains(t, p.ok(t, "GET", "/business/me", "").body, "user")
	p.ok(t, "GET", "/business/lists/"+find(`(?m)^list ([0-9a-f]{24}) .* 10 rows `), "")
	cancel()
	require.Equal(t, cli.OK, <-done)
}

// What the start text says goes to a terminal, and through eval into a shell: names and tokens are no more than text there.
func TestTheStartTextIsSafe(t *testing.T) {
	const token, name = `x$(touch /tmp/no)y"'` + "`id`; z", "A\nexport PROSPECTKIT_TOKEN=evil\x1b[2J\u202e"
	h := newTestHost(t, "-seed", seedFile(t, sandbox.State{Workspaces: []sandbox.Workspace{{
		Name: "main", Keys: []sandbox.Key{{Token: token}}, Lists: []sandbox.List{{Name: name}, {Name: "Ménage à trois, 日本"}},
	}}}))
	var text bytes.Buffer
	require.NoError(t, h.announce(&text, "http://127.0.0.1:1"))
	require.Contains(t, text.String(), "export PROSPECTKIT_TOKEN='x$(touch /tmp/no)y\"'\\''`id`; z'\n")
	require.Contains(t, text.String(), `rows  "A\nexport PROSPECTKIT_TOKEN=evil\x1b[2J\u202e"`)
	require.Contains(t, text.String(), "rows  Ménage à trois, 日本\n")
	require.Equal(t, 2, strings.Count(text.String(), "\nexport "), "the base URL and the token")
	require.Contains(t, text.String(), "-clock x60")
	for _, r := range text.String() {
		require.True(t, r == '\n' || unicode.IsPrint(r), "%q", r)
	}
	require.Equal(t, "''", cli.Quoted(""))
}

func TestForeignHostNames(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want int
	}{{nil, http.StatusMisdirectedRequest}, {[]string{"-allow-remote"}, http.StatusOK}} {
		p := start(t, tc.args...)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+"/business/me", nil)
		require.NoError(t, err)
		req.Host = "evil.example"
		req.SetBasicAuth(p.Token, "")
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, tc.want, resp.StatusCode)
	}
}

func seedFile(t *testing.T, state sandbox.State) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seed.json")
	text, err := json.Marshal(state)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// A program that starts the command learns of everything that has an id, and moves what it wants.
func TestEverythingIsAnnouncedAndCanBeSet(t *testing.T) {
	p := start(t, "-limits", "off", "-credits", "50", "-route", "agents.pause=POST /business/agents/{agentId}/pause")
	require.NotEmpty(t, p.Facts)
	require.NotEmpty(t, p.Hubs)
	require.NotEmpty(t, p.SavedSearches)
	require.NotEmpty(t, p.CRM.Connected)
	for _, a := range p.Agents {
		if a.Status == "active" {
			p.ok(t, "POST", "/business/agents/"+a.ID+"/pause", "")
		}
	}
	require.Equal(t, "999999", p.ok(t, "GET", "/business/me", "").Header.Get("RateLimit-Remaining"))
	p.ok(t, "POST", "/business/prospects/search", `{"filters":{},"size":10}`)
	require.EqualValues(t, 40, p.control(t, "GET", "ledger", "").body["balance"])

	for _, args := range [][]string{
		{"-route", "agents.pause"},
		{"-route", "lists.list=GET /x"},
		{"-route", "agents.pause=POST /x"},
		{"-route", "agents.pause=POST /a/{agentId}", "-route", "contacts.timeline=POST /a/{agentId}"},
	} {
		var stderr lockedBuffer
		require.Equal(t, cli.Failed, run(t.Context(), args, io.Discard, &stderr), args)
		require.Contains(t, stderr.String(), "WithRoute")
	}
}

func TestFlagsShapeTheSandbox(t *testing.T) {
	t.Run("credits", func(t *testing.T) {
		require.EqualValues(t, 7, start(t, "-credits", "7").Credits)
		require.EqualValues(t, 5_000, start(t).Credits)
	})
	t.Run("limits", func(t *testing.T) {
		require.Equal(t, "120", start(t).ok(t, "GET", "/business/me", "").Header.Get("RateLimit-Limit"))
		raised := start(t, "-limits", "off").ok(t, "GET", "/business/me", "").Header
		require.Equal(t, "999999", raised.Get("RateLimit-Remaining"), "raised, and still told")
	})
	t.Run("empty", func(t *testing.T) {
		require.Empty(t, start(t, "-seed", "empty").Lists)
	})
}

func TestUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"lists":[]}`), 0o600))
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"unknown flag":   {[]string{"-adr", "x"}, "-adr"},
		"argument":       {[]string{"serve"}, `"serve"`},
		"address":        {[]string{"-addr", "8080"}, "-addr"},
		"remote":         {[]string{"-addr", "0.0.0.0:0"}, "-allow-remote"},
		"all interfaces": {[]string{"-addr", ":0"}, "-allow-remote"},
		"name":           {[]string{"-addr", "sandbox.example:0"}, "-allow-remote"},
		"limits":         {[]string{"-limits", "maybe"}, "on or off"},
		"credits":        {[]string{"-credits", "many"}, "-credits"},
		"clock":          {[]string{"-clock", "sundial"}, "manual"},
		"clock factor":   {[]string{"-clock", "x0"}, "at most a million"},
		"seed":           {[]string{"-seed", "medium"}, "large:N"},
		"seed rows":      {[]string{"-seed", "large:all"}, "rows"},
		"seed file":      {[]string{"-seed", file}, `unknown field "lists"`},
		"fault":          {[]string{"-fault", "lists.rows:status=418"}, "status=418"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.Equal(t, cli.Failed, run(t.Context(), tc.args, &stdout, &stderr))
			require.Contains(t, stderr.String(), tc.want)
			require.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line: %s", stderr.String())
			require.Empty(t, stdout.String())
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, cli.OK, run(t.Context(), []string{"-help"}, &stdout, &stderr))
	require.Empty(t, stderr.String())
	for _, want := range []string{"-addr", "-fault", "drop-after", "-allow-remote"} {
		require.Contains(t, stdout.String(), want)
	}
}

func TestAssumptions(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.Equal(t, cli.OK, run(t.Context(), []string{"-assumptions"}, &stdout, &stderr))
	require.Empty(t, stderr.String())
	require.Equal(t, sandbox.Assumptions(), stdout.String())
	require.Contains(t, stdout.String(), "\naccount.credits: GET credits returns credits.balance\n")
}

func TestPortInUse(t *testing.T) {
	p := start(t)
	addr := strings.TrimSuffix(strings.TrimPrefix(p.BaseURL, "http://"), "/api/v1")
	var stderr bytes.Buffer
	require.Equal(t, cli.Failed, run(t.Context(), []string{"-addr", addr}, io.Discard, &stderr))
	_, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr)
	require.Error(t, err)
	require.Contains(t, stderr.String(), err.Error(), "each system has its own words")
}
