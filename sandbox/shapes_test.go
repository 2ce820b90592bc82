package sandbox_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
)

// shown makes a sandbox with a file, and a function that reads from it.
func shown(t *testing.T, file string) (sb *sandbox.Sandbox, get func(path string) (int, http.Header, map[string]any)) {
	t.Helper()
	sb = sandbox.New(t, sandbox.WithShapes([]byte(`{"format": "prospectkit-shapes/1", `+file+`}`)))
	sb.Do(func(tx *sandbox.Tx) { tx.CreateList(sandbox.List{Name: "Berlin", CompletionStatus: "processing"}) })
	return sb, func(path string) (int, http.Header, map[string]any) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sb.BaseURL()+path, nil)
		require.NoError(t, err)
		req.SetBasicAuth(sb.Token(), "")
		resp, err := sb.Client().Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		var body map[string]any
		require.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
		return resp.StatusCode, resp.Header, body
	}
}

func TestShapes_Body(t *testing.T) {
	_, get := shown(t, `"operations": {"lists.list": {
		"route": "GET /business/all-lists", "status": 203,
		"moved": {"data": "items", "pagination.pageNum": "meta.page", "data[].contactsCount": "counts.contacts"},
		"absent": ["pagination.totalPages"],
		"body": {"kinds": ["object"], "fields": {
			"meta": {"kinds": ["object"], "fields": {"page": {"kinds": ["string"]}}},
			"items": {"kinds": ["array"], "items": {"kinds": ["object"], "fields": {
				"id": {"kinds": ["string"], "format": "uuid", "differs": true},
				"createdAt": {"kinds": ["integer"], "format": "seconds since 1970", "differs": true},
				"counts": {"kinds": ["object"], "fields": {"contacts": {"kinds": ["integer"]}}},
				"ownerId": {"kinds": ["string"], "format": "id", "undocumented": true}}}}}}}}`)
	status, _, body := get("/business/all-lists")
	require.Equal(t, 203, status)
	require.Equal(t, "1", body["meta"].(map[string]any)["page"])
	require.NotContains(t, body["pagination"], "totalPages")
	item := body["items"].([]any)[0].(map[string]any)
	require.Len(t, item["id"], 36)
	require.Greater(t, item["createdAt"], 1e8)
	require.Equal(t, map[string]any{"contacts": 0.0}, item["counts"])
	require.Equal(t, strings.Repeat("0", 24), item["ownerId"])
	require.Equal(t, "Berlin", item["name"], "what the file does not tell stays as it is")

	_, _, one := get("/business/lists/" + item["id"].(string)) // the sandbox knows the ids that it has shown
	require.Equal(t, "processing", one["list"].(map[string]any)["completionStatus"])
	status, _, body = get("/business/lists")
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, "ENDPOINT_NOT_FOUND", body["error"].(map[string]any)["code"])
}

func TestShapes_ErrorsAndHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sb, get := shown(t, `"operations": {"agents.list": {"missing": true}},
			"errors": {
				"moved": {"error.code": "code", "error.message": "message", "error.param": "param", "error.doc_url": "doc_url", "error.request_id": "request_id"},
				"body": {"kinds": ["object"], "fields": {"code": {"kinds": ["string"]}, "message": {"kinds": ["string"]}, "param": {"kinds": ["null"]},
					"doc_url": {"kinds": ["string"]}, "request_id": {"kinds": ["string"]}}},
				"codes": {"LIST_NOT_FOUND": {"status": 410, "code": "LIST_GONE"}}},
			"headers": {"RateLimit-Limit": {"name": "X-Ratelimit-Limit", "successes": "always", "errors": "never"}},
			"windows": {"lists": {"limits": [5, 50], "seconds": 30}, "account": {"limits": [120], "instant": true}}`)
		status, header, body := get("/business/lists/ffffffffffffffffffffffff")
		require.Equal(t, 410, status)
		require.Equal(t, "LIST_GONE", body["code"])
		require.Empty(t, header.Get("RateLimit-Limit"))
		_, header, _ = get("/business/lists")
		require.Equal(t, "5", header.Get("X-RateLimit-Limit"))
		require.Empty(t, header.Get("RateLimit-Limit"))
		require.Equal(t, "30", header.Get("RateLimit-Reset"))
		require.Equal(t, 50, sb.Windows("lists")[1].Limit)
		_, header, _ = get("/business/me")
		require.Len(t, header.Get("RateLimit-Reset"), 9) // of the year 2000, in which the bubble begins
		status, _, body = get("/business/agents")
		require.Equal(t, http.StatusNotFound, status)
		require.Equal(t, "ENDPOINT_NOT_FOUND", body["code"])

		sb.Fail("account.me", sandbox.Status(500, "UNEXPECTED_ERROR"))
		_, _, body = get("/business/me")
		require.Equal(t, "UNEXPECTED_ERROR", body["code"], "faults look like the service, too")
	})
}

func TestShapes_Paging(t *testing.T) {
	const rows = "/business/lists/%s/rows?limit=1000"
	sb, get := shown(t, `"operations": {"lists.list": {"ignored": ["search"], "paging": {"fromZero": true, "showsZero": true, "default": 2, "largest": 3, "refused": true},
		"body": {"kinds": ["object"], "fields": {"pagination": {"kinds": ["object"], "fields": {"pageNum": {"kinds": ["integer"]}}}}}},
		"lists.rows": {"paging": {"largest": 1}}}`)
	var id string
	sb.Do(func(tx *sandbox.Tx) {
		for _, name := range []string{"a", "b", "c", "d"} {
			id = tx.CreateList(sandbox.List{Name: name, Rows: sandbox.Rows(sandbox.Row{}, sandbox.Row{})})
		}
	})
	size := func(path string) (n int, page any) {
		_, _, body := get(path)
		items, _ := body["data"].([]any)
		return len(items), body["pagination"].(map[string]any)["pageNum"]
	}
	for path, want := range map[string]struct {
		size int
		page float64
	}{
		"/business/lists": {2, 0}, "/business/lists?pageNum=0&search=nothing": {2, 0}, "/business/lists?pageNum=2": {1, 2}, "/business/lists?pageNum=1&limit=3": {2, 1},
		fmt.Sprintf(rows, id): {1, 1}, fmt.Sprintf(rows+"&pageNum=2", id): {1, 2},
	} {
		n, page := size(path)
		require.Equal(t, want.size, n, path)
		require.InDelta(t, want.page, page, 0, path)
	}
	for _, path := range []string{"/business/lists?limit=4", "/business/lists?limit=1001", "/business/lists?pageNum=-1"} {
		status, _, _ := get(path)
		require.Equal(t, 422, status, path)
	}
}

func TestShapes_Failures(t *testing.T) {
	_, get := shown(t, `"operations": {"agents.list": {"unsuccessful": {"status": 502}}, "campaigns.list": {"unsuccessful": {"status": 403, "code": "INSUFFICIENT_SCOPE"}}},
		"failures": {"requests": 45, "failed": 5, "status": 503},
		"errors": {"codes": {"VALIDATION_FAILED": {"status": 200}}, "body": {"kinds": ["object"], "fields": {
			"errors": {"kinds": ["array"], "undocumented": true, "items": {"kinds": ["object"], "fields": {"errorCode": {"kinds": ["string"]}, "detail": {"kinds": ["string"]}, "meta": {"kinds": ["object"]}}}},
			"status": {"kinds": ["integer"], "undocumented": true}}}}`)
	status, _, body := get("/business/agents")
	require.Equal(t, 502, status)
	require.InDelta(t, 502, body["status"], 0)
	status, _, _ = get("/business/campaigns")
	require.Equal(t, 200, status, "what one key may not read, another one may")
	status, _, body = get("/business/lists?limit=1001")
	require.Equal(t, 422, status)
	require.Equal(t, map[string]any{"errorCode": "VALIDATION_FAILED", "detail": "limit has to be at most 1000.", "meta": map[string]any{}}, body["errors"].([]any)[0])
	failed := 0
	for range 45 {
		if status, _, _ = get("/business/me"); status == 503 {
			failed++
		}
	}
	require.Equal(t, 5, failed)

	_, get = shown(t, `"operations": {"agents.list": {"unsuccessful": {"status": 502}}}`)
	_, _, body = get("/business/agents")
	require.NotEmpty(t, body["error"].(map[string]any)["request_id"], "as in every other error")
}

// The keys of rows are anything, also what looks like a path.
func TestShapes_OddKeysOfRows(t *testing.T) {
	row := sandbox.Row{
		"firstName": "Ada", "Revenue p.a.": 1.0, "a..b": true, ".": "dot", "": "none",
		"company": map[string]any{"name": "Firm", "x.y": map[string]any{"p.q": 1.0}},
	}
	want := maps.Clone(map[string]any(row))
	sb := sandbox.New(t, sandbox.WithShapes([]byte(`{"format": "prospectkit-shapes/1", "operations": {"lists.rows": {
		"moved": {"data": "rows", "data[].firstName": "first"},
		"body": {"kinds": ["object"], "fields": {"rows": {"kinds": ["array"], "items": {"kinds": ["object"], "fields": {
			"first": {"kinds": ["string"]}, "company": {"kinds": ["object"], "fields": {"name": {"kinds": ["string"]}}}}}}}}}}}`)),
		sandbox.Seed(sandbox.State{Format: sandbox.Format, Workspaces: []sandbox.Workspace{{
			Lists: []sandbox.List{{ID: strings.Repeat("a", 24), Name: "x", Rows: sandbox.Rows(row)}},
		}}}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, sb.BaseURL()+"/business/lists/"+strings.Repeat("a", 24)+"/rows", nil)
	require.NoError(t, err)
	req.SetBasicAuth(sb.Token(), "")
	resp, err := sb.Client().Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var body struct{ Rows []map[string]any }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&body))
	require.Len(t, body.Rows, 1)
	want["first"], want["id"] = want["firstName"], body.Rows[0]["id"]
	delete(want, "firstName")
	require.Equal(t, want, body.Rows[0])
}
