package sandbox_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// FuzzHostileRequests sends anything to the sandbox: it returns the envelope or a success, and never with a 5xx other
// than the one that the document describes.
func FuzzHostileRequests(f *testing.F) {
	methods := []string{"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE", "get", "X"}
	fill := strings.NewReplacer("{listId}", id(1), "{campaignId}", drafted, "{stepId}", id(51), "{sendId}", id(60), "{factId}", fact,
		"{hubId}", ready, "{agentId}", id(422), "{savedSearchId}", id(431), "{", "", "}", "")
	for _, o := range op.All() {
		path := fill.Replace(o.Path)
		f.Add(uint8(0), path, "limit=1&pageNum=2", "")
		f.Add(uint8(1), path, "", `{"name":"x","crm":"crm-1","contactIds":["`+id(1)+`"],"contacts":[{}],"listName":"y","sourceListId":"`+id(1)+`"}`)
		f.Add(uint8(1), path, "", `{"name":"x","channels":["social"],"listIds":["`+id(1)+`"],"steps":[{"type":"social_message","body":"{{a.b}}","sequenceNumber":9e9}]}`)
		f.Add(uint8(1), path, "", `{"knowledgeHubId":"`+ready+`","listName":"y","entityType":"person","prompt":"x","start":true,"filters":{"a":["b"]},"size":1}`)
		f.Add(uint8(2), path, "", `{"folderId":null}`)
		f.Add(uint8(2), path, "", `{"name":"x","steps":[{"type":"email","topic":"x"}],"listIds":["`+id(1)+`"]}`)
		f.Add(uint8(2), path, "", `{"claim":"1(2)3-4 5/6.7 8 9 \u00a0","category":"faq"}`)
		f.Add(uint8(2), path, "", `{"subject":"","dueAt":"0001-01-01T00:00:00Z"}`)
	}
	for _, path := range []string{"", "/", "//", "/..", "/business/lists/../me", "/business/lists%2f", "/business/lists/%00/rows", "*", "/business/lists/" + id(1) + "/rows/"} {
		f.Add(uint8(0), path, "", "")
	}
	rows := "/business/lists/" + id(1) + "/rows"
	for _, filters := range []string{
		`{"numberOfEmployees":[5]}`, `{"numberOfEmployees":["1-2"]}`, `{"customColumns":{"a":{"dataType":"number","rangeMin":1e999}}}`,
		`{"name":{"include":["\ud800"]}}`, `{"otherLists":["people"]}`, `{`, `null`, strings.Repeat("[", 5000),
	} {
		f.Add(uint8(0), rows, "sortBy=company.name&sortOrder=desc&filters="+url.QueryEscape(filters), "")
	}
	f.Add(uint8(0), rows, "%zz;&=&limit=1e3&pageNum=-0&sortBy=....&sortOrder=asc", "")

	f.Add(uint8(1), campaignPath(drafted, "steps", id(51), "preview"), "", "")

	f.Fuzz(func(t *testing.T, method uint8, path, query, body string) {
		state := outreachState()
		state.Workspaces[0].Agents = []sandbox.Agent{{ID: id(422), Name: "draft", Type: "web-monitor", Config: json.RawMessage(`{"listName":"x","entityType":"person","prompt":"p"}`)}}
		state.Workspaces[0].SavedSearches = []sandbox.SavedSearch{{ID: id(431), Name: "broken", Filters: json.RawMessage(`{"nobody":1}`)}}
		for _, opts := range [][]sandbox.Option{{rowLists(), sandbox.WithClock(sandbox.NewManualClock(start))}, outreachOptions(sandbox.Seed(state))} {
			survives(t, sandbox.New(t, append(opts, sandbox.NoLimits())...), methods[int(method)%len(methods)], path, query, body)
		}
	})
}

// survives sends one request and looks at the form of the response.
func survives(t *testing.T, sb *sandbox.Sandbox, method, path, query, body string) {
	t.Helper()
	req := &http.Request{
		Method: method, URL: &url.URL{Path: "/api/v1" + path, RawQuery: query}, Host: "localhost",
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), RequestURI: "/api/v1" + path,
	}
	req.SetBasicAuth(sb.Token(), "")
	rec := httptest.NewRecorder()
	sb.Handler().ServeHTTP(rec, req)
	sb.Advance(48 * time.Hour) // whatever was scheduled
	if req.Method == http.MethodHead {
		require.Equal(t, 404, rec.Code)
		return
	}
	var response struct {
		Error *struct {
			Code      string  `json:"code"`
			Message   *string `json:"message"`
			RequestID string  `json:"request_id"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &response), "%d %s", rec.Code, rec.Body)
	if rec.Code < 300 {
		require.Nil(t, response.Error)
		return
	}
	require.NotNil(t, response.Error)
	require.NotNil(t, response.Error.Message)
	require.NotEmpty(t, response.Error.RequestID)
	code, known := op.CodeByName(response.Error.Code)
	require.True(t, known, response.Error.Code)
	require.Contains(t, code.Statuses, rec.Code)
	if rec.Code >= 500 {
		require.Contains(t, query, "numberOfEmployees", "the only 500 is the documented one")
	}
}

// FuzzImports throws anything at the reader of forms and files.
func FuzzImports(f *testing.F) {
	const head = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n"
	for _, body := range []string{
		"", "--b--", head, head + "a\nb\n\r\n--b--", head + "PK\x03\x04\r\n--b--", head + "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\r\n--b--",
		head + "\"a\nb,\"\"\r\n--b--", strings.Replace(head, "file", "importId", 1) + id(1) + "\r\n--b--",
	} {
		f.Add("multipart/form-data; boundary=b", body)
	}
	f.Add("multipart/form-data", head)
	f.Add("multipart/form-data; boundary=\"\x00\"", head)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		sb := sandbox.New(t)
		c := inPlace(t, sb)
		req := c.request("POST", imports, body)
		req.Header.Set("Content-Type", contentType)
		r, err := c.send(req)
		require.NoError(t, err)
		require.Less(t, r.status, 500)
		require.True(t, json.Valid(r.raw))
	})
}
