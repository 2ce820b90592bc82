package shapes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes"
	"example.com/prospectkit/internal/shapes/names"
)

// whole is a file of package shapes in which nothing is left out.
func whole() *shapes.File {
	row := &shapes.Shape{Kinds: []string{shapes.Object}, Fields: map[string]*shapes.Shape{
		"known": {Kinds: []string{shapes.String}},
		"extra": {Kinds: []string{shapes.String}, Undocumented: true},
		"other": {Kinds: []string{shapes.String}, Moved: true},
		"state": {Kinds: []string{shapes.String}, Values: map[string]int{"asleep": 2, "gone": 0}},
		"tags":  {Kinds: []string{shapes.Array}, Items: &shapes.Shape{Kinds: []string{shapes.String}, Values: map[string]int{"red": 1}}},
	}}
	f := shapes.New()
	f.Operations["lists.rows"] = &shapes.Operation{
		Route: "GET /business/all-lists/{listId}/rows", Status: 200, Type: "text/json", Moves: map[string]string{"a": "b"}, Absent: []string{"c"},
		Body:   &shapes.Shape{Kinds: []string{shapes.Object}, Fields: map[string]*shapes.Shape{"data": {Kinds: []string{shapes.Array}, Items: row}}},
		Paging: &shapes.Paging{FromZero: true}, Ignored: []string{"sort"},
	}
	f.Operations["hubs.list"] = &shapes.Operation{Missing: true, Unsuccessful: &shapes.Response{Status: 404}}
	f.Errors = shapes.Errors{
		Type: "text/json", Absent: []string{"param"},
		Body:  &shapes.Shape{Kinds: []string{shapes.Object}, Fields: map[string]*shapes.Shape{"trace": {Kinds: []string{shapes.String}, Undocumented: true}}},
		Codes: map[string]*shapes.Response{"LIST_NOT_FOUND": {Status: 404, Code: "NO_SUCH_LIST"}, "RATE_LIMITED": nil},
	}
	f.Headers["RateLimit-Limit"] = &shapes.Header{Name: "X-Limit", Successes: shapes.Always}
	f.Others = []string{"X-Rate-Hint"}
	f.Windows["lists"] = &shapes.Window{Limits: []int{60}}
	f.Failures = &shapes.Failures{Requests: 9, Failed: 1, Status: 503}
	f.Behavior = map[string][]string{"paging": nil}
	return f
}

func TestParse_ReadsWhatShapesWrites(t *testing.T) {
	f, err := names.Parse(whole().Encode())
	require.NoError(t, err)
	require.Equal(t, map[string]string{"lists.rows": "GET /business/all-lists/{listId}/rows", "hubs.list": ""}, f.Routes)
	for _, known := range [][3]string{
		{"field", "data.extra"},
		{"field", "data.other"},
		{"field", "trace"},
		{"value", "data.state", "asleep"},
		{"value", "data.tags", "red"},
		{"code", "NO_SUCH_LIST"},
		{"header", "x-rate-hint"},
	} {
		require.True(t, f.Knows(known[0], known[1], known[2]), known)
	}
	for _, unknown := range [][3]string{
		{"field", "data.known"},
		{"field", "data.none"},
		{"field", "data.extra.more"},
		{"field", "extra"},
		{"field", "data"},
		{"value", "data.state", "gone"},
		{"value", "data.state"},
		{"value", "data.tags", "blue"},
		{"code", "LIST_NOT_FOUND"},
		{"code"},
		{"header", "X-Limit"},
		{"missing", "data.extra"},
	} {
		require.False(t, f.Knows(unknown[0], unknown[1], unknown[2]), unknown)
	}
	require.False(t, (*names.File)(nil).Knows("header", "X-Rate-Hint", ""))
}

// What package shapes refuses, a client refuses, too.
func TestParse_Refusals(t *testing.T) {
	for _, text := range []string{
		`{"format":"prospectkit-shapes/1","operations":{"lists.rows":{"body":7}}}`, `{"format":"prospectkit-shapes/1","operations":{"lists.rows":null}}`,
		`{"format":"prospectkit-shapes/1","errors":{"codes":7}}`, `{"format":"prospectkit-shapes/1","errors":7}`, `{"format":"prospectkit-shapes/1","more":7}`,
		`{"format":"prospectkit-shapes/1"} 7`, `{"format":"prospectkit-shapes/0"}`, ``,
	} {
		_, err := names.Parse([]byte(text))
		require.Error(t, err, text)
		_, err = shapes.Parse([]byte(text))
		require.Error(t, err, text)
	}
}

func TestPathOf(t *testing.T) {
	for route, want := range map[string]struct {
		path      string
		moved, ok bool
	}{
		"":                                 {"/business/lists/{listId}", false, true},
		"GET /business/lists/{listId}":     {"/business/lists/{listId}", false, true},
		"GET /business/all-lists/{listId}": {"/business/all-lists/{listId}", true, true},
		"GET /business/all-lists/{id}":     {"/business/all-lists/{id}", true, false},
		"PUT /business/lists/{listId}":     {"/business/lists/{listId}", false, false},
		"PUT /business/all-lists/{listId}": {},
		"GET /business/../{listId}":        {},
	} {
		path, moved, ok := names.PathOf(op.ListsGet, route)
		require.Equal(t, want.ok, ok, route)
		if ok {
			require.Equal(t, want.path, path, route)
			require.Equal(t, want.moved, moved, route)
		}
	}
	_, _, ok := names.PathOf(op.ListsCreate, "GET /business/lists")
	require.False(t, ok, "a write keeps its path")
	_, _, ok = names.PathOf(nil, "GET /business/lists")
	require.False(t, ok)
}
