package tests

import (
	"bufio"
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

// Exchange plays a file of testdata/http: a request as it has to go out, and the response. The request is checked in
// full: method, path, query, type of content, and body as JSON.
func Exchange(t *testing.T, name string, opts ...prospectkit.ClientOption) *prospectkit.Client {
	t.Helper()
	text, err := os.ReadFile(Path("testdata", "http", filepath.FromSlash(name)+".http"))
	require.NoError(t, err)
	request, response, found := strings.Cut(string(text), "\nHTTP/1.1 ")
	require.True(t, found, "no response in %s", name)
	reader := bufio.NewReader(strings.NewReader(request + "\n"))
	want, err := http.ReadRequest(reader)
	require.NoError(t, err)
	body, err := io.ReadAll(reader) // without a Content-Length, the body is left to us
	require.NoError(t, err)
	played := 0
	t.Cleanup(func() { require.Equal(t, 1, played, "requests") })
	return NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
		played++
		require.Equal(t, want.Method+" "+want.Host+want.RequestURI, r.Method+" "+r.URL.Host+r.URL.RequestURI())
		kind, sent := SentBody(t, r)
		require.Equal(t, want.Header.Get("Content-Type"), kind)
		if wanted := strings.TrimSpace(string(body)); wanted == "" {
			require.Empty(t, sent)
		} else {
			require.JSONEq(t, wanted, sent)
		}
		return http.ReadResponse(bufio.NewReader(strings.NewReader("HTTP/1.1 "+response)), r)
	}), opts...)
}

// SentBody is the body of a request and its type. The fields of a form come as a JSON object, because their boundary is random.
func SentBody(t *testing.T, r *http.Request) (kind, body string) {
	t.Helper()
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != FormType {
		return r.Header.Get("Content-Type"), BodyOf(t, r)
	}
	form, err := multipart.NewReader(strings.NewReader(BodyOf(t, r)), params["boundary"]).ReadForm(1 << 20)
	require.NoError(t, err)
	fields := make(map[string]string)
	for name, values := range form.Value {
		require.Len(t, values, 1)
		fields[name] = values[0]
	}
	return kind, JSONText(fields)
}

// FormType is the content type of a form with a file.
const FormType = "multipart/form-data"

// BodyOf reads the body of a request.
func BodyOf(t *testing.T, r *http.Request) string {
	t.Helper()
	if r.Body == nil {
		return ""
	}
	body, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(body)
}

// Untouched fails the test if anything is sent.
func Untouched(t *testing.T) RoundTrip {
	t.Helper()
	return func(r *http.Request) (*http.Response, error) {
		t.Errorf("sent %s %s", r.Method, r.URL.Path)
		return nil, io.ErrUnexpectedEOF
	}
}

// NotRepeatable is the refusal of AllowRetryUnknown.
const NotRepeatable = "AllowRetryUnknown is not for this operation, whose effect a second request may repeat: omit it, and resolve an unknown outcome"

// Refusals demands a local refusal and returns its violations, as the parameter and the problem.
func Refusals(t *testing.T, err error) []string {
	t.Helper()
	var refused *prospectkit.RefusedError
	require.ErrorAs(t, err, &refused)
	require.ErrorIs(t, err, prospectkit.CodeValidationFailed)
	require.ErrorAs(t, err, new(*prospectkit.RefusedError))
	var all []string
	for _, v := range refused.Violations {
		all = append(all, v.Param+" "+v.Problem)
	}
	return all
}
