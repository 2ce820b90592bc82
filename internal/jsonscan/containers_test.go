package jsonscan

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// In records a value that does not fit reads as zero where it stands, and of duplicates the last one counts whatever the first was like.
func TestMismatchesAndDuplicatesInContainersOfRecords(t *testing.T) {
	type holder struct {
		List  []string
		Many  []part
		Count int
		Ptr   *part
		text  Text
	}
	for text, want := range map[string]holder{
		`{"List":["a","b"],"List":[],"Count":2.0}`:                     {List: []string{}, Count: 2},
		`{"List":["a","b"],"List":["c"],"count":7,"Count":1e1}`:        {List: []string{"c"}, Count: 10},
		`{"Many":[{"n":1},{"n":2}],"Count":3.0,"Many":[{"name":"a"}]}`: {Many: []part{{Name: "a"}}, Count: 3},
		`{"Ptr":{"n":1},"ptr":{"n":3},"Ptr":{"name":"a"},"Count":5.0}`: {Ptr: &part{Name: "a"}, Count: 5},
	} {
		want.text = Text(text)
		require.Equal(t, want, read[holder](t, text), text)
		require.Equal(t, []holder{want, want}, read[[]holder](t, "["+text+","+text+"]"), text)
	}
}

// twig has maps of its own kind.
type twig struct {
	Name string
	By   map[string]twig
	Last int
}

// What is read of a value stays while a map of the same kind is read inside.
func TestMapsInsideMapsOfTheirKind(t *testing.T) {
	for _, text := range []string{
		`{"name":"a","by":{"b":{"name":"c","by":{"d":{"name":"e","last":1},"f":{"last":2}},"last":3},"g":{"name":"h"}},"last":4}`,
		`{"by":{"a":{"name":"x","by":{}},"b":{"name":"y","by":null},"c":{"last":1}}}`,
	} {
		same[twig](t, []byte(text))
		same[map[string]twig](t, []byte(`{"one":`+text+`,"two":{"name":"z"}}`))
	}
}

// What a value is read into is for encoding/json to say, also where that is an error.
func TestTargets(t *testing.T) {
	for _, text := range []string{`1`, `"x"`, `{"id":"a"}`, `null`, " null\n", `nul`, `[`} {
		targets := func() []any {
			var box, empty any = new(flat), (*flat)(nil)
			var deeper any = &box
			return []any{nil, flat{}, 1, (*flat)(nil), new(flat), &box, &empty, &deeper, new(*flat), new(any), map[string]any{}}
		}
		wants, gots := targets(), targets()
		for i := range wants {
			require.Equal(t, json.Unmarshal([]byte(text), wants[i]), Unmarshal([]byte(text), gots[i]), "%s into %T", text, wants[i])
			require.Equal(t, wants[i], gots[i], "%s into %T", text, wants[i])
		}
	}
}

// At finds an element by its number.
func TestAt(t *testing.T) {
	for _, c := range []struct{ array, position, want string }{
		{`[1,2,3]`, "0", "1"},
		{`[1,2,3]`, "2", "3"},
		{`[1,2,3]`, "3", ""},
		{`[1,2,3]`, "01", "2"},
		{`[1,2,3]`, "-1", ""},
		{`[1,2,3]`, "+1", ""},
		{`[1,2,3]`, "", ""},
		{`[1,2,3]`, "x", ""},
		{`[1,2,3]`, "9999999999", ""},
		{`[0,1,2,3,4,5,6,7,8,9,10,11]`, "10", "10"},
		{`[0,1,2,3,4,5,6,7,8,9,10,11]`, "0xa", ""},
		{` [ {"a":1} , [2] ]`, "1", "[2]"},
		{`{"0":1}`, "0", ""},
		{`"x"`, "0", ""},
		{`[]`, "0", ""},
		{`[1,`, "1", ""},
		{`[1,tru]`, "1", ""},
	} {
		got, ok := At([]byte(c.array), c.position)
		require.Equal(t, c.want, string(got), "%s of %s", c.position, c.array)
		require.Equal(t, c.want != "", ok, "%s of %s", c.position, c.array)
	}
}

// Only arrays of records are bounded without being asked.
func TestLongArraysInside(t *testing.T) {
	var got map[string]map[string][]int
	require.NoError(t, Unmarshal([]byte(repeated(`{"a":{"b":[`, `1`, `]}}`, 2*mostElements+4)), &got))
	require.Greater(t, len(got["a"]["b"]), mostElements)
}
