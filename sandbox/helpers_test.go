package sandbox_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/sandbox"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

type object = map[string]any

// caller talks to a sandbox over one of its roads, as somebody with a token.
type caller struct {
	t      testing.TB
	client *http.Client
	base   string
	token  string
	sb     *sandbox.Sandbox
}

// result is a response, read to its end.
type result struct {
	t      testing.TB
	status int
	header http.Header
	raw    []byte
}

// onEachRoad runs a test over the transport and over a real socket. Each gets its own sandbox.
func onEachRoad(t *testing.T, opts []sandbox.Option, test func(t *testing.T, sb *sandbox.Sandbox, c caller)) {
	t.Helper()
	t.Run("transport", func(t *testing.T) {
		sb := sandbox.New(t, opts...)
		test(t, sb, inPlace(t, sb))
	})
	t.Run("socket", func(t *testing.T) {
		sb := sandbox.New(t, opts...)
		test(t, sb, bySocket(t, sb))
	})
}

func inPlace(tb testing.TB, sb *sandbox.Sandbox) caller {
	tb.Helper()
	tb.Cleanup(func() { remember(sb) })
	return caller{tb, sb.Client(), sb.BaseURL(), sb.Token(), sb}
}

func bySocket(tb testing.TB, sb *sandbox.Sandbox) caller {
	tb.Helper()
	srv := httptest.NewServer(sb.Handler())
	tb.Cleanup(srv.Close)
	tb.Cleanup(func() { remember(sb) })
	client := srv.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return caller{tb, client, srv.URL + "/api/v1", sb.Token(), sb}
}

func (c caller) as(token string) caller {
	c.token = token
	return c
}

// api is the client of this project on the same road and with the same token, for tests that hold both sides: it agrees with what the
// raw requests beside it show.
func (c caller) api() *prospectkit.Client {
	c.t.Helper()
	client, err := prospectkit.New(c.base, c.token, prospectkit.WithHTTPClient(c.client))
	require.NoError(c.t, err)
	return client
}

func (c caller) request(method, path string, body any) *http.Request {
	c.t.Helper()
	var r io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(body)
	default:
		raw, err := json.Marshal(body)
		require.NoError(c.t, err)
		r = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, r)
	require.NoError(c.t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.SetBasicAuth(c.token, "")
	}
	return req
}

func (c caller) send(req *http.Request) (result, error) {
	resp, err := c.client.Do(req)
	if err != nil {
		return result{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return result{c.t, resp.StatusCode, resp.Header, raw}, err
}

// do makes a request. One that is refused by a rule changes nothing.
func (c caller) do(method, path string, body any) result {
	c.t.Helper()
	before := c.sb.Snapshot()
	r, err := c.send(c.request(method, path, body))
	require.NoError(c.t, err)
	if r.status >= 400 && !reflect.DeepEqual(before, c.sb.Snapshot()) {
		made := c.sb.Journal()
		if last := made[len(made)-1]; last.Fault == "" {
			c.t.Errorf("%s: the rule changes the state before it refuses the request: check first", last)
			sameState(c.t, before, c.sb.Snapshot())
		}
	}
	return r
}

// sameState demands that two states are equal, and shows the lines that are not.
func sameState(tb testing.TB, want, got sandbox.State) {
	tb.Helper()
	if reflect.DeepEqual(want, got) {
		return
	}
	var texts [2][]byte
	for i, state := range []sandbox.State{want, got} {
		var err error
		texts[i], err = json.MarshalIndent(state, "", " ")
		require.NoError(tb, err)
	}
	require.Fail(tb, "the state differs", golden.Difference(string(texts[0]), string(texts[1])))
}

func (c caller) get(path string, query ...string) result {
	c.t.Helper()
	values := url.Values{}
	for i := 0; i < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	return c.do("GET", path, nil)
}

func (r result) json() object {
	r.t.Helper()
	var v object
	require.NoError(r.t, json.Unmarshal(r.raw, &v), "%s", r.raw)
	return v
}

// ok asserts a success and returns the body.
func (r result) ok(status int) object {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "%s", r.raw)
	require.Equal(r.t, "application/json", r.header.Get("Content-Type"))
	return r.json()
}

// fails asserts an error envelope and returns its param and message.
func (r result) fails(status int, code string) (param, message string) {
	r.t.Helper()
	require.Equal(r.t, status, r.status, "%s", r.raw)
	e, ok := r.json()["error"].(object)
	require.True(r.t, ok, "%s", r.raw)
	require.Equal(r.t, code, e["code"])
	require.Len(r.t, e, 5, "%s", r.raw)
	require.Contains(r.t, e, "doc_url")
	require.NotEmpty(r.t, e["request_id"])
	param, _ = e["param"].(string)
	message, _ = e["message"].(string)
	return param, message
}

// at reads a dotted path.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(object)[p]
		case int:
			v = v.([]any)[p]
		}
	}
	return v
}

// names are the names, or ids, of a page.
func names(body object, field string) []string {
	out := []string{}
	for _, row := range body["data"].([]any) {
		out = append(out, word(fmt.Sprint(row.(object)[field])))
	}
	return out
}

// id makes a valid id.
func id(n int) string { return fmt.Sprintf("%024x", n) }

// rid makes the id of a row that a test calls by a word, and word reads it.
func rid(word string) string { return fmt.Sprintf("ff%022x", word) }

func word(id string) string {
	letters, marked := strings.CutPrefix(id, "ff")
	raw, err := hex.DecodeString(letters)
	if !marked || err != nil || len(id) != 24 {
		return id
	}
	return string(bytes.TrimLeft(raw, "\x00"))
}

func oneList(l sandbox.List) sandbox.Option {
	return sandbox.Seed(sandbox.State{Workspaces: []sandbox.Workspace{{Name: "main", Credits: 100, Lists: []sandbox.List{l}}}})
}

// bound is a value of a query parameter, and whether it is allowed.
type bound struct {
	param, value string
	valid        bool
}

func holdBounds(t *testing.T, opts []sandbox.Option, path string, bounds []bound) {
	t.Helper()
	for _, b := range bounds {
		t.Run(b.param+"="+b.value[:min(8, len(b.value))], func(t *testing.T) {
			onEachRoad(t, opts, func(t *testing.T, _ *sandbox.Sandbox, c caller) {
				t.Helper()
				r := c.get(path, b.param, b.value)
				if b.valid {
					r.ok(200)
					return
				}
				param, message := r.fails(422, "VALIDATION_FAILED")
				require.Equal(t, b.param, param)
				require.Contains(t, message, b.param)
			})
		})
	}
}

// altered sends a request that a test has changed.
func (c caller) altered(method, path string, body any, change func(*http.Request)) result {
	c.t.Helper()
	req := c.request(method, path, body)
	change(req)
	r, err := c.send(req)
	require.NoError(c.t, err)
	return r
}

// asForm sends parts of a multipart form, in their order: names and texts. A name with a dot is that of a file.
func (c caller) asForm(parts ...string) result {
	c.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for i := 0; i < len(parts); i += 2 {
		out, err := w.CreateFormField(parts[i])
		if strings.Contains(parts[i], ".") {
			out, err = w.CreateFormFile("file", parts[i])
		}
		require.NoError(c.t, err)
		_, err = out.Write([]byte(parts[i+1]))
		require.NoError(c.t, err)
	}
	require.NoError(c.t, w.Close())
	return c.altered("POST", imports, form.String(), func(r *http.Request) { r.Header.Set("Content-Type", w.FormDataContentType()) })
}

// mixed is an id that has letters.
const mixed = "00000000000000000000abcd"

// recorder is a test that may fail.
type recorder struct {
	errors   []string
	cleanups []func()
}

func (r *recorder) Name() string     { return "Test of a (sweep)/it's" }
func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}
