package services_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

func objectOf(t *testing.T, text string) (o prospectkit.Object) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &o))
	return o
}

const manyKinds = ` {"s":"x","empty":"","i":0,"f":2.5,"big":1e400,"yes":true,"no":false,"n":null,"t":"2026-11-21T10:00:00+01:00",
	"a":[{"id":"p"},{"id":"q","in":[[7,8]]},"z"],"o":{"0":"key","deep":{"i":7}}} `

// A reader that says whether there was something tells zero from nothing.
func TestObject_ReadersThatReportAbsence(t *testing.T) {
	o := objectOf(t, manyKinds)
	for _, test := range []struct {
		path                            string
		text, whole, float, truth, time bool
	}{
		{path: "s", text: true},
		{path: "empty", text: true},
		{path: "i", whole: true, float: true},
		{path: "f", float: true},
		{path: "big"},
		{path: "yes", truth: true},
		{path: "no", truth: true},
		{path: "n"},
		{path: "t", text: true, time: true},
		{path: "a"},
		{path: "o"},
		{path: ""},
		{path: "missing"},
		{path: "o.missing.i"},
		{path: "o.deep.i", whole: true, float: true},
		{path: "a.0.id", text: true},
		{path: "a.1.in.0.1", whole: true, float: true},
		{path: "a.2", text: true},
		{path: "a.3"},
		{path: "a.-1"},
		{path: "a.+1"},
		{path: "a.id"},
		{path: "o.0", text: true},
		{path: "s.0"},
		{path: "a.99999999999999999999"},
	} {
		text, ok := o.TextOK(test.path)
		require.Equal(t, test.text, ok, test.path)
		require.Equal(t, o.Text(test.path), text)
		whole, ok := o.IntOK(test.path)
		require.Equal(t, test.whole, ok, test.path)
		require.Equal(t, o.Int(test.path), whole)
		float, ok := o.FloatOK(test.path)
		require.Equal(t, test.float, ok, test.path)
		require.InDelta(t, o.Float(test.path), float, 0)
		truth, ok := o.BoolOK(test.path)
		require.Equal(t, test.truth, ok, test.path)
		require.Equal(t, o.Bool(test.path), truth)
		at, ok := o.TimeOK(test.path)
		require.Equal(t, test.time, ok, test.path)
		require.Equal(t, o.Time(test.path), at)
	}
	require.Equal(t, 8, o.Int("a.1.in.0.1"))
	require.Equal(t, "q", o.Text("a.1.id"))
	require.Equal(t, "key", o.Text("o.0"), "a key that looks like a position")
	require.Equal(t, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), o.Time("t"))
	one, n := objectOf(t, "7"), 0
	require.Equal(t, 7, one.Int(""))
	require.NoError(t, one.Decode(&n), "also the shortest value")
	require.Equal(t, 7, n)
	_, ok := prospectkit.Object{}.Get("")
	require.False(t, ok)
}

func TestObject_Elements(t *testing.T) {
	o := objectOf(t, manyKinds)
	read := func(path string) (all []string) {
		for v := range o.All(path) {
			all = append(all, v.String())
		}
		return all
	}
	require.Equal(t, []string{`{"id":"p"}`, `{"id":"q","in":[[7,8]]}`, `"z"`}, read("a"))
	require.Equal(t, []string{"7", "8"}, read("a.1.in.0"))
	for _, path := range []string{"", "o", "s", "n", "missing", "a.0"} {
		require.Empty(t, read(path), path)
		var all []prospectkit.Object
		v, err := o.Find(path)
		require.Equal(t, path == "n", err == nil && v.Decode(&all) == nil, "of what is silent, Decode takes null: %s", path)
	}
	require.Len(t, slices.Collect(objectOf(t, `[1,2]`).All("")), 2)
	for v := range o.All("a") {
		require.Equal(t, "p", v.Text("id"))
		break
	}
}

// The error of a wrong guess says what there is, as far as it is no data of somebody.
func TestObject_Find(t *testing.T) {
	o := objectOf(t, manyKinds)
	for _, path := range []string{"", "s", "n", "a", "a.1.in", "o.deep.i"} {
		v, err := o.Find(path)
		require.NoError(t, err, path)
		want, _ := o.Get(path)
		require.Equal(t, want.String(), v.String())
	}
	for path, want := range map[string]string{
		"balance":    `prospectkit: "balance" is not there: the value is an object with s, empty, i, f, big, yes, no, n, t, a, o`,
		"o.deep.j":   `prospectkit: "o.deep.j" is not there: o.deep is an object with i`,
		"o.x.j":      `prospectkit: "o.x.j" is not there: o is an object with deep`,
		"a.3":        `prospectkit: "a.3" is not there: a is an array of 3`,
		"a.1.in.5.x": `prospectkit: "a.1.in.5.x" is not there: a.1.in is an array of 1`,
		"s.x":        `prospectkit: "s.x" is not there: s is not an object`,
		"n.x":        `prospectkit: "n.x" is not there: n is null`,
	} {
		_, err := o.Find(path)
		require.EqualError(t, err, want)
	}
	_, err := prospectkit.Object{}.Find("x")
	require.EqualError(t, err, `prospectkit: "x" is not there: the value is empty`)
	_, err = objectOf(t, `{"ada@engines.example":1}`).Find("x")
	require.EqualError(t, err, `prospectkit: "x" is not there: the value is an object without plain keys`)
	_, err = objectOf(t, `{"k`+strings.Repeat(`":1,"k`, 500)+`":1}`).Find("x")
	require.Less(t, len(err.Error()), 200)
}

// It goes where encoding/json goes with it, and ends.
func TestDecode_AnInterfaceThatPointsToItself(t *testing.T) {
	for _, decode := range []func(prospectkit.Object, any) error{prospectkit.Object.Decode, prospectkit.Object.DecodeStrict} {
		var v any
		v = &v
		require.NoError(t, decode(objectOf(t, `{"a":1}`), v))
		require.Equal(t, map[string]any{"a": 1.0}, v)
	}
}

func TestDecodeStrict(t *testing.T) {
	type send struct{ ID, State string }
	type sends struct {
		Data       []send
		Pagination struct{ PageNum int }
		Note       string `json:",omitempty"`
		Zero       int    `json:",omitzero"`
		ignored    string
		Skipped    string `json:"-"`
	}
	var got sends
	require.NoError(t, objectOf(t, `{"data":[{"id":"a","state":"sent"},{"id":"b","state":null}],"pagination":{"pageNum":1}}`).DecodeStrict(&got))
	require.Equal(t, []send{{"a", "sent"}, {ID: "b"}}, got.Data)
	require.Empty(t, got.ignored+got.Skipped+got.Note)
	for body, want := range map[string]string{
		`{"scheduledSends":[]}`:               `prospectkit: "Data" is not there: the value is an object with scheduledSends`,
		`{"data":[]}`:                         `prospectkit: "Pagination" is not there: the value is an object with data`,
		`{"data":[],"pagination":{"page":1}}`: `prospectkit: "Pagination.PageNum" is not there: Pagination is an object with page`,
		`{"data":[{"id":"a","state":""},{"id":"b","status":"x"}]}`:   `prospectkit: "Data.1.State" is not there: Data.1 is an object with id, status`,
		`{"data":[],"pagination":{"pageNum":1},"more":1}`:            `prospectkit: json: unknown field "more"`,
		`{"data":[],"pagination":{"pageNum":1,"totalPages":2}}`:      `prospectkit: json: unknown field "totalPages"`,
		`{"data":[],"pagination":{"pageNum":"1"},"note":"optional"}`: `prospectkit: json: cannot unmarshal string into Go struct field .Pagination.PageNum of type int`,
	} {
		var s sends
		err := objectOf(t, body).DecodeStrict(&s)
		require.Error(t, err)
		if !strings.Contains(want, "cannot unmarshal") {
			require.EqualError(t, err, want)
		}
	}
	byKey := make(map[string]*struct{ N int })
	require.EqualError(t, objectOf(t, `{"a":{"n":1},"b":{"m":1}}`).DecodeStrict(&byKey), `prospectkit: "b.N" is not there: b is an object with m`)
	require.NoError(t, objectOf(t, `{"a":{"n":1},"b":null}`).DecodeStrict(&byKey))
	var when struct{ At time.Time }
	require.NoError(t, objectOf(t, `{"at":"2026-11-21T10:00:00.000Z"}`).DecodeStrict(&when), "a type that reads itself")
	var dash struct {
		Dash string `json:"-,"` //nolint:staticcheck // a field of that name is meant
	}
	require.EqualError(t, objectOf(t, `{"b":1}`).DecodeStrict(&dash), `prospectkit: "-" is not there: the value is an object with b`)
	require.EqualError(t, prospectkit.Object{}.DecodeStrict(&when), "prospectkit: nothing to decode")
	require.Error(t, objectOf(t, `{}`).DecodeStrict(nil))
	require.Error(t, objectOf(t, `{}`).DecodeStrict(when))
	var hubs []send
	require.EqualError(t, objectOf(t, `[null]`).DecodeStrict(&hubs), `prospectkit: "0.ID" is not there: 0 is null`)
	var n int
	require.NoError(t, objectOf(t, `7`).DecodeStrict(&n))
	require.Equal(t, 7, n)
}

// An object reads what is missing, null or of another type as zero.
func TestObject(t *testing.T) {
	var o prospectkit.Object
	require.True(t, o.IsZero())
	require.EqualError(t, o.Decode(new(any)), "prospectkit: nothing to decode")
	text, err := json.Marshal(o)
	require.NoError(t, err)
	require.Equal(t, "null", string(text))

	source := []byte(`{"s":"x\u00e9","i":1e3,"f":-2.5,"b":true,"n":null,"o":{"deep":{"i":7}},"t":"2026-11-21T10:00:00+01:00","a.b":1,"s":"y\u00e9"}`)
	require.NoError(t, json.Unmarshal(source, &o))
	want := string(source)
	clear(source)
	require.Equal(t, want, string(o.Raw()), "it keeps a copy")
	require.Equal(t, "yé", o.Text("s"), "the last of duplicate keys")
	require.Equal(t, 1000, o.Int("i"))
	require.InDelta(t, -2.5, o.Float("f"), 0)
	require.True(t, o.Bool("b"))
	for _, path := range []string{"missing", "n", "o", "o.missing", "s.x", "", "o.deep.i.j"} {
		zero := []any{o.Text(path), o.Int(path), o.Float(path), o.Bool(path), o.Time(path)}
		require.Equal(t, []any{"", 0, 0.0, false, time.Time{}}, zero, path)
	}
	require.Zero(t, o.Int("f"), "a fraction is no whole number")
	inner, ok := o.Get("o.deep")
	require.True(t, ok)
	require.Equal(t, 7, inner.Int("i"))
	null, ok := o.Get("n")
	require.True(t, ok)
	require.False(t, null.IsZero(), "null is there")
	_, ok = o.Get("nothing")
	require.False(t, ok)
	text, err = json.Marshal(struct{ Row prospectkit.Row }{prospectkit.Row{Object: o}})
	require.NoError(t, err)
	require.JSONEq(t, `{"Row":`+want+`}`, string(text))
}

// A key may have dots: what is left of a path that leads nowhere is tried as one.
func TestObject_KeysWithDots(t *testing.T) {
	var row prospectkit.Object
	require.NoError(t, json.Unmarshal([]byte(`{"company.name":"E","customColumns":{"Lead v1.2":"x","a":{"b":1}},"company":{"id":"c"},"all":[{"x.y":{"z":3}}]}`), &row))
	require.Equal(t, "E", row.Text("company.name"), "beside an object of that name without the key")
	require.Equal(t, "c", row.Text("company.id"))
	require.Equal(t, "x", row.Text("customColumns.Lead v1.2"))
	require.Equal(t, 1, row.Int("customColumns.a.b"))
	found, err := row.Find("all.0.x.y")
	require.NoError(t, err)
	require.JSONEq(t, `{"z":3}`, found.String())
	_, err = row.Find("customColumns.Lead v1.3")
	require.ErrorContains(t, err, `"customColumns.Lead v1.3" is not there`)
	_, ok := row.Get("company.city")
	require.False(t, ok)
}

// What a first program prints is text, not the bytes inside.
func TestObject_ValuesPrintAsJSON(t *testing.T) {
	const text = `{"id":"` + tests.ListID + `", "name":"Q1", "new":1}`
	client := tests.NewClient(t, tests.Always(200, `{"list":`+text+`,"agent":`+text+`,"profiles":[`+text+`]}`))
	list, err := client.Lists.Get(t.Context(), tests.ListID)
	require.NoError(t, err)
	agent, err := client.Agents.Get(t.Context(), tests.ListID)
	require.NoError(t, err)
	found, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{})
	require.NoError(t, err)
	var row prospectkit.Row
	require.NoError(t, json.Unmarshal([]byte(text), &row))
	for _, v := range []any{list, *list, agent, *agent, &found.Items[0], found.Items[0], row.Object, row, &row} {
		require.JSONEq(t, text, fmt.Sprint(v), "%T", v)
		require.JSONEq(t, "["+text+"]", fmt.Sprintf("%+v", []any{v}), "%T", v)
	}
	require.JSONEq(t, `{"id":"","name":"Q1","entityType":"","contactsCount":0,"companiesCount":0}`, prospectkit.List{Name: "Q1"}.String())
}

func TestObject_AllOfNoArray(t *testing.T) {
	for _, text := range []string{`1,2`, `{},3`, `null,[4]`, `"a" , "b"`, ``} {
		var o prospectkit.Object
		require.NoError(t, o.UnmarshalJSON([]byte(text)))
		require.Empty(t, slices.Collect(o.All("")), text)
	}
}

// A record that a caller made shows its JSON, or why it has none.
func TestRecord_StringOfOnesOwn(t *testing.T) {
	require.JSONEq(t, `{"id":"","name":"x","type":""}`, prospectkit.Folder{Name: "x"}.String())
	require.Contains(t, prospectkit.List{CreatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}.String(), "year outside of range")
}
