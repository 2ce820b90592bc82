package shapes_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/cmd/prospectkit/internal/shapes"
)

// compared is what one description and what was seen differ in. The texts are separated by " & ".
type compared struct{ description, seen, want string }

const (
	hexID, otherID = `"64f0a1b2c3d4e5f607182930"`, `"64f0a1b2c3d4e5f607182931"`
	instant        = `"2026-01-02T03:04:05.678Z"`
)

var comparisons = []compared{
	// What is there, and what is not.
	{`{"id":"id","n":"integer"}`, `{"id":ID,"n":1}`, ``},
	{`{"id":"id","n":"integer"}`, `{"id":ID,"n":1,"more":true}`, `more is undocumented (boolean)`},
	{`{"id":"id","n":"integer"}`, `{"id":ID,"n":1,"more":{"a":1,"b":{"c":2}}}`, `more is undocumented (object)`},
	{`{"id":"id","n":"integer","...":""}`, `{"id":ID,"n":1,"more":{"a":1}}`, ``},
	{`{"a":{"id":"id","...":""},"n":"integer"}`, `{"a":{"id":ID,"x":1},"n":1,"y":"z"}`, `y is undocumented (string)`},
	{`{"a":{"id":"id"},"...":""}`, `{"a":{"id":ID,"x":1},"y":"z"}`, `a.x is undocumented (integer)`},
	{`{"id":"id","n":"integer"}`, `{"id":ID}`, `n is missing (integer)`},
	{`{"id":"id","n?":"integer"}`, `{"id":ID}`, ``},
	{`{"id":"id","n~":"integer"}`, `{"id":ID}`, `n is missing (integer) / lenient: `},
	{`{"id":"id","a":{"b":"integer","c":"boolean"}}`, `{"id":ID}`, `a is missing (object)`},
	{`{"id":"id","a?":{"b":"integer","c":"boolean"}}`, `{"id":ID}`, ``},
	{`{"id":"id","a":{"b":"integer","c":{"d":"boolean"}}}`, `{"id":ID,"a":{"b":1}}`, `a.c is missing (object)`},
	{`{"id":"id","n":"integer"}`, `{"id":ID,"n":1} & {"id":ID}`, `n is missing from some of the objects`},
	{`{"id":"id","n?":"integer"}`, `{"id":ID,"n":1} & {"id":ID}`, ``},
	{`{"id":"id","n~":"integer"}`, `{"id":ID,"n":1} & {"id":ID}`, `n is missing from some of the objects / lenient: `},
	{`{"id":"id","a":{"b":"integer"}}`, `{"id":ID,"a":{"b":1}} & {"id":ID}`, `a is missing from some of the objects`},
	{`{"id":"id","a":{"b":"integer"}}`, `{"id":ID,"a":7} & {"id":ID}`, `a is integer instead of object; a is missing from some of the objects`},
	{`{"id":"id"}`, `null`, `id has no wrapper: its content stands at the top; id is null instead of string (id)`},
	{`{"id":"id"}`, `[]`, `id is missing (string (id)); the whole response is undocumented (array)`},
	{`{"id":"id"}`, `{}`, `id is missing (string (id))`},
	// What has moved.
	{`{"firstName":"string","n":"integer"}`, `{"first_name":"Ada","n":1}`, `firstName is now first_name`},
	{`{"list":{"id":"id","n":"integer"}}`, `{"id":ID,"n":1}`, `list has no wrapper: its content stands at the top`},
	{`{"id":"id","n":"integer"}`, `{"list":{"id":ID,"n":1}}`, `the whole response is now list`},
	{`{"list":{"id":"id","n":"integer"}}`, `{"data":{"id":ID,"n":1}}`, `list is now data`},
	{`{"a":{"list":{"id":"id","n":"integer"},"m":"boolean"}}`, `{"a":{"data":{"id":ID,"n":1},"m":true}}`, `a.list is now a.data`},
	{`{"a":{"total":"integer","id":"id"}}`, `{"a":{"id":ID},"meta":{"total":1}}`, `a.total is now meta.total`},
	{`{"total":"integer","id":"id"}`, `{"totalCount":7,"id":ID}`, `total is now totalCount`},
	{`{"total":"integer","id":"id"}`, `{"count":7,"id":ID}`, `total is now count`},
	{`{"total":"integer","kind":"string","id":"id"}`, `{"count":7,"sort":"x","id":ID}`, `kind is missing (string); total is missing (integer); count is undocumented (integer); sort is undocumented (string)`},
	{`{"at":"timestamp","id":"id","n":"integer"}`, `{"when":TIME,"id":ID,"x":true}`, `at is now when; n is missing (integer); x is undocumented (boolean)`},
	{`{"rows":[{"id":"id","n":"integer"}],"x":"boolean"}`, `{"data":[{"id":ID,"n":1}],"x":true}`, `rows is now data`},
	{`{"rows":[{"id":"id","n":"integer"}],"x":"boolean"}`, `{"data":[{"a":ID,"b":1}],"x":true}`, `rows is now data; rows[].id is now a; rows[].n is missing (integer); rows[].b is undocumented (integer)`},
	{`{"p":{"a?":"integer","b?":"integer","c?":"integer"},"id":"id"}`, `{"id":ID,"q":{"a":1,"b":2,"c":3}}`, `p is now q`},
	{`{"p":{"a?":"integer","b?":"integer"},"id":"id"}`, `{"id":ID,"q":{"a":1,"b":2}}`, `q is undocumented (object)`},
	{`{"id":"id","p":{"x":"boolean","...":""}}`, `{"id":ID,"p":{"xs":true,"y":1}}`, `p.x is missing (boolean)`},
	// Other types.
	{`{"n":"integer"}`, `{"n":"7"}`, `n is string instead of integer`},
	{`{"n":"number"}`, `{"n":7}`, ``},
	{`{"n":"integer"}`, `{"n":7.5}`, `n is number instead of integer`},
	{`{"n":"integer"}`, `{"n":7} & {"n":null}`, `n is sometimes null instead of integer`},
	{`{"n":"integer null"}`, `{"n":7} & {"n":null}`, ``},
	{`{"n":"null"}`, `{"n":7}`, ``},
	{`{"n":"any"}`, `{"n":{"a":1}}`, ``},
	{`{"n":"string"}`, `{"n":7} & {"n":true} & {"n":"x"}`, `n is sometimes boolean or integer instead of string`},
	{`{"n":"boolean"}`, `{"n":"2026-01-02"} & {"n":null}`, `n is string (date) or null instead of boolean`},
	{`{"a":{"b":"integer"},"n":"integer"}`, `{"a":"x","n":1}`, `a is string instead of object`},
	{`{"a":"string","n":"integer"}`, `{"a":{"b":1,"c":2},"n":1}`, `a is object instead of string`},
	{`{"a":["string"]}`, `{"a":"x"}`, `a is string instead of array`},
	// Forms.
	{`{"id":"id"}`, `{"id":"x"}`, `id has the form "text" instead of "id"`},
	{`{"id":"id"}`, `{"id":ID} & {"id":"x"} & {"id":"2026-01-02"}`, `id has the form "date, text" instead of "id"`},
	{`{"at":"timestamp"}`, `{"at":"2026-01-02T03:04:05Z"}`, `at has the form "timestamp without milliseconds" instead of "timestamp"`},
	{`{"at":"timestamp"}`, `{"at":7}`, `at is integer instead of string (timestamp)`},
	// Enumerations.
	{`{"k":"a-list|b-list"}`, `{"k":"a-list"}`, ``},
	{`{"k":"a-list|b-list"}`, `{"k":"c-list"} & {"k":"a-list"}`, `k has the undocumented value c-list`},
	{`{"k":"a-list|b-list"}`, `{"k":"A_LIST"}`, `k has the undocumented value A_LIST`},
	{`{"k":"a-list|b-list"}`, `{"k":"somebody's own words"}`, `k has the undocumented value (one that is no plain name)`},
	{`{"k":"a|*list"}`, `{"k":"any-list-there-is"} & {"k":"x"}`, `k has the undocumented value x`},
	{`{"k":"a|b"}`, `{"k":"ab"}`, `k has the undocumented value ab`},
	{`{"p":{"a?":"integer","b?":"integer","c?":"integer"},"id":"id"}`, `{"id":ID,"q":{"a":1}}`, `q is undocumented (object)`},
	{`{"p":{"a?":"integer","b?":"integer","c?":"integer","d?":"integer"},"id":"id"}`, `{"id":ID,"q":{"a":1,"b":2}}`, `q is undocumented (object)`},
	{`{"k":"a|b"}`, `{"k":7}`, `k is integer instead of string`},
	// Arrays, and keys that are data.
	{`{"a":[{"id":"id"}]}`, `{"a":[]}`, `untold a[]`},
	{`{"a":[{"id":"id"}]}`, `{"a":[{"id":ID,"x":1},{"id":ID}]}`, `a[].x is undocumented (integer)`},
	{`{"a":[{"id":"id","n":"integer"}]}`, `{"a":[{"id":ID},{"id":ID,"n":1}]}`, `a[].n is missing from some of the objects`},
	{`{"a":["string"]}`, `{"a":["x",7]}`, `a[] is sometimes integer instead of string`},
	{`{"a":["id"]}`, `{"a":["x"]}`, `a[] has the form "text" instead of "id"`},
	{`{"a":[{"id":"id"}]}`, `{"a":["x"]}`, `a[] is string instead of object`},
	{`{"a":[["integer"]]}`, `{"a":[["x"]]}`, `a[][] is string instead of integer`},
	{`{"a":[["integer"]]}`, `{"a":[[]]}`, `untold a[][]`},
	{`{"by":{"*":"integer"}}`, `{"by":{ID:1,OTHER:"x"}}`, `by.* is sometimes string instead of integer`},
	{`{"by":{"*":{"n":"integer"}}}`, `{"by":{ID:{"n":1,"m":2}}}`, `by.*.m is undocumented (integer)`},
	{`{"id":"id"}`, `{"id":ID,ID:1,OTHER:2}`, `* is undocumented (under keys that are data: integer)`},
	{`{"*":"integer"}`, `{ID:1,OTHER:2}`, ``},
	{`{"n":"integer"}`, `{ID:1,OTHER:2}`, `n is missing (integer); the whole response is undocumented (object)`},
	{`[{"id":"id"}]`, `[{"id":"x"}]`, `[].id has the form "text" instead of "id"`},
}

func TestCompare(t *testing.T) {
	t.Parallel()
	values := strings.NewReplacer("OTHER", otherID, "ID", hexID, "TIME", instant)
	for _, c := range comparisons {
		want := describe(t, c.description)
		texts := strings.Split(values.Replace(c.seen), " & ")
		var told []string
		for _, lenient := range []bool{false, true} {
			got := shapes.Comparison{Lenient: lenient}
			got.Compare(want, see(t, want, texts...))
			all := got.Differences
			for _, place := range got.Untold {
				all = append(all, "untold "+place)
			}
			if text := strings.Join(all, "; "); !lenient {
				told = append(told, text)
			} else if text != told[0] {
				told = append(told, "lenient: "+text)
			}
		}
		require.Equal(t, c.want, strings.Join(told, " / "), "%s: %s", c.description, c.seen)
	}
}

// Moves are kept with their places.
func TestCompare_Moves(t *testing.T) {
	t.Parallel()
	want := describe(t, `{"id":"id","a":{"total":"integer"}}`)
	var c shapes.Comparison
	c.Compare(want, see(t, want, `{"id":`+hexID+`,"meta":{"total":1}}`))
	require.Equal(t, map[string]string{"a.total": "meta.total"}, c.Moves)
}
