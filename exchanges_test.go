package prospectkit_test

import (
	"bufio"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

// exchange plays a file of testdata/http: a request as it has to go out, and behind it the answer. The request is checked in
// full: method, path, query, type of content, and body as JSON.
func exchange(t *testing.T, name string, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "http", filepath.FromSlash(name)+".http"))
	require.NoError(t, err)
	request, response, found := strings.Cut(string(text), "\nHTTP/1.1 ")
	require.True(t, found, "no answer in %s", name)
	reader := bufio.NewReader(strings.NewReader(request + "\n"))
	want, err := http.ReadRequest(reader)
	require.NoError(t, err)
	body, err := io.ReadAll(reader) // without a Content-Length, the body is left to us
	require.NoError(t, err)
	played := 0
	t.Cleanup(func() { require.Equal(t, 1, played, "requests") })
	return newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		played++
		require.Equal(t, want.Method+" "+want.Host+want.RequestURI, r.Method+" "+r.URL.Host+r.URL.RequestURI())
		kind, sent := sentBody(t, r)
		require.Equal(t, want.Header.Get("Content-Type"), kind)
		if wanted := strings.TrimSpace(string(body)); wanted == "" {
			require.Empty(t, sent)
		} else {
			require.JSONEq(t, wanted, sent)
		}
		return http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.1 "+response)), r)
	}), opts...)
}

// sentBody is the body of a request and its type. The fields of a form come as a JSON object, because their boundary is random.
func sentBody(t *testing.T, r *http.Request) (kind, body string) {
	t.Helper()
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != formType {
		return r.Header.Get("Content-Type"), bodyOf(t, r)
	}
	form, err := multipart.NewReader(strings.NewReader(bodyOf(t, r)), params["boundary"]).ReadForm(1 << 20)
	require.NoError(t, err)
	fields := make(map[string]string)
	for name, values := range form.Value {
		require.Len(t, values, 1)
		fields[name] = values[0]
	}
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return kind, string(text)
}

const formType = "multipart/form-data"

func bodyOf(t *testing.T, r *http.Request) string {
	t.Helper()
	if r.Body == nil {
		return ""
	}
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(body)
}

// script answers one request after the other and notes what was sent: method, path below the base URL, query and body.
type script struct {
	t     *testing.T
	steps []roundTrip
	sent  []string
}

func stage(t *testing.T, steps ...roundTrip) *script {
	t.Helper()
	return &script{t: t, steps: steps}
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	line := r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v1/business")
	if body := bodyOf(s.t, r); body != "" {
		line += " " + body
	}
	s.sent = append(s.sent, line)
	require.LessOrEqual(s.t, len(s.sent), len(s.steps), "one request too many: %s", line)
	return s.steps[len(s.sent)-1].RoundTrip(r)
}

// done demands that the whole script was played.
func (s *script) done() {
	s.t.Helper()
	require.Len(s.t, s.sent, len(s.steps), "requests: %q", s.sent)
}

// times repeats a step.
func times(n int, step roundTrip) []roundTrip {
	steps := make([]roundTrip, n)
	for i := range steps {
		steps[i] = step
	}
	return steps
}

// cutOff loses the answer to a request.
func cutOff(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

// untouched fails the test if anything is sent.
func untouched(t *testing.T) roundTrip {
	t.Helper()
	return func(r *http.Request) (*http.Response, error) {
		t.Errorf("sent %s %s", r.Method, r.URL.Path)
		return nil, io.ErrUnexpectedEOF
	}
}

// refusals demands a local refusal and returns its violations, as the parameter and the problem.
func refusals(t *testing.T, err error) []string {
	t.Helper()
	var refused *prospectkit.RefusedError
	require.ErrorAs(t, err, &refused)
	require.ErrorIs(t, err, prospectkit.CodeValidationFailed)
	require.ErrorIs(t, err, prospectkit.ErrRefusedLocally)
	var all []string
	for _, v := range refused.Violations {
		all = append(all, v.Param+" "+v.Problem)
	}
	return all
}
