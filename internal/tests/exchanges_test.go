package tests

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/golden"
	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// TestExchanges plays testdata/http/OPERATION/sandbox.http from both ends: the client sends that request and reads that
// response, and the sandbox gives that response to that request. So client and sandbox, which share no wire type, agree on each
// operation. go generate writes the files.
func TestExchanges(t *testing.T) {
	begin := time.Date(2026, time.March, 1, 9, 0, 0, 0, time.UTC)
	EachOperation(t, func(t *testing.T, row *op.Op, call AnyCall) {
		sb := EverySandbox(t, begin, sandbox.WithClock(sandbox.NewManualClock(begin)))
		name := row.Name + "/sandbox"
		file := Path("testdata", "http", filepath.FromSlash(name)+".http")
		golden.Equal(t, file, recorded(t, sb, row))
		result, err := call(t.Context(), Exchange(t, name)) // it checks the request
		require.NoError(t, err)
		require.False(t, reflect.ValueOf(result).IsZero(), "something was read")
	})
}

// recorded is the exchange of the call of an operation with the sandbox.
func recorded(t *testing.T, sb *sandbox.Sandbox, row *op.Op) string {
	t.Helper()
	var story string
	client := NewClient(t, RoundTrip(func(r *http.Request) (*http.Response, error) {
		request := fmt.Sprintf("%s %s HTTP/1.1\nHost: %s\n", r.Method, r.URL.RequestURI(), r.URL.Host)
		if kind, body := SentBody(t, r); body != "" {
			request += fmt.Sprintf("Content-Type: %s\n\n%s\n", kind, body)
		}
		got := replayed(t, sb, request)
		keepsConventions(t, row, got)
		response := "HTTP/1.1 " + got.status + "\n"
		for _, key := range slices.Sorted(maps.Keys(got.header)) {
			response += key + ": " + got.header.Get(key) + "\n"
		}
		response += "\n" + got.body + "\n"
		story = request + "\n" + response
		return http.ReadResponse(bufio.NewReader(strings.NewReader(response)), r)
	}))
	_, err := EveryCall[row.Name](t.Context(), client)
	require.NoError(t, err)
	return story
}

// replayed sends a request, as a file holds it, to the sandbox.
func replayed(t *testing.T, sb *sandbox.Sandbox, text string) whole {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head + "\n\n")))
	require.NoError(t, err)
	if r.Header.Get("Content-Type") == FormType {
		var fields map[string]string
		require.NoError(t, json.Unmarshal([]byte(body), &fields))
		var form strings.Builder
		w := multipart.NewWriter(&form)
		for name, value := range fields {
			require.NoError(t, w.WriteField(name, value))
		}
		require.NoError(t, w.Close())
		r.Header.Set("Content-Type", w.FormDataContentType())
		body = form.String()
	}
	again, err := http.NewRequestWithContext(t.Context(), r.Method, strings.Replace(r.RequestURI, "/api/v1", sb.BaseURL(), 1), strings.NewReader(body))
	require.NoError(t, err)
	again.Header = r.Header
	again.SetBasicAuth(sb.Token(), "")
	return wholeResponse(t, func() (*http.Response, error) { return sb.Client().Do(again) })
}

// whole is a response, read to its end.
type whole struct {
	status string
	header http.Header
	body   string
}

func wholeResponse(t *testing.T, get func() (*http.Response, error)) whole {
	t.Helper()
	resp, err := get()
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return whole{resp.Status, resp.Header, string(body)}
}

// keepsConventions checks what holds for every successful response: "data" comes with "pagination" and never without, unless the row
// says so, and three whole numbers tell how the limits stand.
func keepsConventions(t *testing.T, row *op.Op, got whole) {
	t.Helper()
	var top map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(got.body), &top))
	if (top["data"] != nil) != (top["pagination"] != nil || row.Entity == "data") {
		require.Fail(t, "\"data\" comes with \"pagination\" and never alone (convention 4 of the API description, C-0008)",
			"the sandbox responds %s; if the section of %s shows \"data\" alone, its row in internal/op/table.go has Entity: \"data\"", got.body, row.Name)
	}
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		_, err := strconv.Atoi(got.header.Get(name))
		require.NoError(t, err, name)
	}
}
