package sandbox_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/sandbox"
)

// FuzzHostileRequests throws anything at the sandbox: it answers in the envelope or with a success, and never with a 5xx other
// than the one that the document describes.
func FuzzHostileRequests(f *testing.F) {
	methods := []string{"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE", "get", "X"}
	for _, o := range op.All() {
		path := strings.NewReplacer("{listId}", id(1), "{", "", "}", "").Replace(o.Path)
		f.Add(uint8(0), path, "limit=1&pageNum=2", "")
		f.Add(uint8(1), path, "", `{"name":"x","crm":"crm-1","contactIds":["`+id(1)+`"],"contacts":[{}],"listName":"y","sourceListId":"`+id(1)+`"}`)
		f.Add(uint8(2), path, "", `{"folderId":null}`)
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

	f.Fuzz(func(t *testing.T, method uint8, path, query, body string) {
		sb := sandbox.New(t, rowLists(), sandbox.NoLimits())
		req := &http.Request{
			Method: methods[int(method)%len(methods)], URL: &url.URL{Path: "/api/v1" + path, RawQuery: query}, Host: "sandbox.invalid",
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), RequestURI: "/api/v1" + path,
		}
		req.SetBasicAuth(sb.Token(), "")
		rec := httptest.NewRecorder()
		sb.Handler().ServeHTTP(rec, req)
		require.Empty(t, sb.Problems())
		if req.Method == http.MethodHead {
			require.Equal(t, 404, rec.Code)
			return
		}
		var answer struct {
			Error *struct {
				Code      string  `json:"code"`
				Message   *string `json:"message"`
				RequestID string  `json:"request_id"`
			} `json:"error"`
		}
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &answer), "%d %s", rec.Code, rec.Body)
		if rec.Code < 300 {
			require.Nil(t, answer.Error)
			return
		}
		require.NotNil(t, answer.Error)
		require.NotNil(t, answer.Error.Message)
		require.NotEmpty(t, answer.Error.RequestID)
		code, known := op.CodeByName(answer.Error.Code)
		require.True(t, known, answer.Error.Code)
		require.Contains(t, code.Statuses, rec.Code)
		if rec.Code >= 500 {
			require.Contains(t, query, "numberOfEmployees", "the only 500 is the documented one")
		}
	})
}
