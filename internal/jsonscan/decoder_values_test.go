package jsonscan

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is written as usual is read here: to leave it to encoding/json takes twice as long.
func TestUsualValuesAreReadDirectly(t *testing.T) {
	for _, c := range []struct {
		into any
		text string
	}{
		{new(flat), `{"id":"a","name":"b\n","WORD":"c","int":-1,"small":2147483647,"long":-9223372036854775808,"float":1.5e300,"single":0.1,"bool":true,"Plain":"p","hidden":"h","-":"d"}`},
		{new(flat), `{ "id" : null , "ID" : "a" , "name" : null , "int" : null , "float" : null , "single" : null , "bool" : null , "other" : [ { } ] }`},
		{new(deep), `{"flat":{"id":"x"},"when":"2026-11-22T10:00:00Z","raw":{"a":[1]},"number":12.5,"upper":"abc","any":{"a":[1,-2.5e3,"b",null,true,false,{}]},"map":{"a":"b"},"maps":{"a":1}}`},
		{new(deep), `{"names":["a","b"],"flats":[{"id":"a"},{}],"next":{"next":null},"name":"n","count":1,"share":-0.5,"known":false,"bytes":null,"byte":255,"array":[1,2],"do":null}`},
		{new(deep), `{"names":[],"flats":null,"map":{},"any":[],"array":[1,2,3],"raw":null,"number":null,"upper":null,"when":null,"bytes":null}`},
		{new(shelf), `{"label":"l","flag":true,"ratio":0.5,"all":["a"],"grid":[[1,-128],[127]]}`},
		{new(stamps), `{"at":"2026-11-22T10:00:00.5+01:00","until":null,"all":["2026-11-22T10:00:00Z"],"by":{"a":"2026-11-22T10:00:00Z"},"addr":"127.0.0.1","big":12,"big2":13}`},
		{new(Outer), `{"id":"i","name":1,"Tags":["t"],"deep":{"A":1,"B":null},"When":"2026-11-22T10:00:00Z","label":"x"}`},
		{new(odds), `{"named":{"a":1},"named2":[1],"raws":{"a":1},"praw":{"b":2},"num":1,"pp":"x","err":null,"maps":[{"a":1}],"Deal size":"s","a/b":"c"}`},
		{new(map[string]any), `{"a":{"b":[{"c":1}]},"id":"x"}`},
		{new(tree1), `{"kids":[{"name":"a"}],"next":{"next":{}},"by":{"a":{}},"ptr":{"b":{}},"deep":{"c":[{}]}}`},
		{new([]uint64), `[0,9999999999999999999]`},
		{new([]uintptr), `[0,1]`},
	} {
		of := reflect.TypeOf(c.into).Elem()
		d := borrow(planOf(of, false))
		for range 2 { // the second time by what was learnt
			got := reflect.New(of)
			d.Cursor = New([]byte(c.text))
			require.True(t, d.plan.root.read(d, got.UnsafePointer()), c.text)
			require.NoError(t, d.End(), c.text)
			want := reflect.New(of)
			require.NoError(t, json.Unmarshal([]byte(c.text), want.Interface()), c.text)
			require.Equal(t, want.Interface(), got.Interface(), c.text)
		}
		d.release()
	}
}

// Half of a pair of surrogates may be followed by what is no escape at all.
func TestBrokenPairs(t *testing.T) {
	for _, text := range []string{
		`{"name":"\ud83d\ude00"}`, `{"name":"\ud83d\u00e9"}`, `{"name":"\ud83d\ud83d\ude00"}`, `{"name":"\ude00\ud83d"}`, `{"name":"\ud83d"}`, `{"name":"\ud83dx"}`, `{"name":"\ud83d\n"}`,
		`{"name":"\ud83d\udeXX"}`, `{"name":"\ud83d\udeg0"}`, `{"name":"\ud83d\ude0"}`, `{"name":"\ud83d\u"}`, `{"name":"\ud83d\xde00"}`, `{"name":"\ud83d\"}`, `{"name":"\udXX"}`, `{"name":"\ud8`,
	} {
		sameForAll(t, []byte(text))
		require.Equal(t, json.Valid([]byte(text)), Valid([]byte(text)) == nil, text)
	}
}

// encoding/json puts the second value of a key into what is there from the first, in ways that differ from type to type.
func TestSecondValuesOfAKey(t *testing.T) {
	type twice struct {
		Pointer  *flat            `json:"pointer"`
		Deep     **flat           `json:"far"`
		Number   *int             `json:"number"`
		List     *[]flat          `json:"list"`
		Map      *map[string]flat `json:"map"`
		Slice    []flat           `json:"slice"`
		Slices   [][]int          `json:"slices"`
		Array    [3]flat          `json:"array"`
		Arrays   []*[2]*int       `json:"arrays"`
		Maps     map[string]*flat `json:"maps"`
		Any      any              `json:"any"`
		AnyPtr   *any             `json:"anyptr"`
		Struct   flat             `json:"struct"`
		Raw      json.RawMessage  `json:"raw"`
		RawPtr   *json.RawMessage `json:"rawptr"`
		Bytes    []byte           `json:"bytes"`
		BytesPtr *[]byte          `json:"bytesptr"`
		Text     upper            `json:"text"`
		TextPtr  *upper           `json:"textptr"`
		Quoted   *int             `json:"quoted,string"`
		*Wrapped
	}
	objects := []string{`null`, `{}`, `{"id":"a"}`, `{"name":"b","int":2}`}
	arrays := []string{`null`, `[]`, `[{"id":"a"},{"name":"b"}]`, `[{"int":3}]`, `[null]`}
	maps := []string{`null`, `{}`, `{"a":{"id":"a"}}`, `{"a":{"name":"b"},"b":{}}`, `{"a":null}`}
	texts := []string{`null`, `""`, `"aGk="`, `"aGVsbG8="`}
	anys := []string{`null`, `1`, `"x"`, `{"a":1}`, `{"b":2}`, `[1,2]`, `[{}]`}
	for key, values := range map[string][]string{
		"pointer": objects, "far": objects, "struct": objects, "number": {`null`, `1`, `2`, `"x"`}, "list": arrays, "slice": arrays, "array": arrays, "map": maps, "maps": maps,
		"slices": {`null`, `[]`, `[[1,2],[3]]`, `[[4]]`, `[null,[5]]`}, "arrays": {`null`, `[[1,2]]`, `[[3]]`, `[null,[null,4]]`},
		"any": anys, "anyptr": anys, "raw": anys, "rawptr": anys, "bytes": texts, "bytesptr": texts, "text": texts, "textptr": texts, "quoted": {`null`, `"1"`, `"2"`, `"null"`},
		"deep": {`null`, `{"A":1}`, `{"B":2}`}, "ID": {`null`, `1`},
	} {
		for _, first := range values {
			for _, second := range values {
				same[twice](t, []byte(`{"`+key+`":`+first+`,"`+key+`":`+second+`}`))
			}
		}
	}
}

// A text may end anywhere, and one byte may be another: in the first object, and in one that is read by what was learnt from it.
func TestTextsThatEndAnywhere(t *testing.T) {
	texts := []string{
		`{"id":"a","name":"b\u00e9\n","WORD":"ü","int":-1,"float":1.5e3,"bool":true,"other":[1,{"a":null}]}`, ` { "id" : "x" , "name" : null , "int" : 0.5 } `,
		`{"flat":{"id":"x"},"when":"2026-11-22T10:00:00Z","number":12.5,"any":{"a":[-1,"b",false]},"map":{"a":"b"},"array":[1,2]}`,
	}
	for _, text := range texts {
		for end := range len(text) + 1 {
			for _, cut := range []string{text[:end], text[:end] + "}", text[:end] + "," + text[end:], text[:end] + `"` + text[end:], text[:end] + text[min(end+1, len(text)):]} {
				sameInArray[flat](t, text, cut)
				sameInArray[deep](t, text, cut)
				sameInArray[map[string]any](t, text, cut)
			}
		}
	}
}

// sameInArray holds an array of two objects, of which the second may be broken, against encoding/json.
func sameInArray[T any](t *testing.T, first, second string) {
	t.Helper()
	text := []byte("[" + first + "," + second)
	if json.Valid(append(text, ']')) {
		text = append(text, ']')
	}
	var want, got []T
	wantErr := json.Unmarshal(text, &want)
	require.Equal(t, wantErr, Unmarshal(text, &got), string(text))
	require.Equal(t, want, got, string(text))
	c, d := New(text), NewDecoder[T]()
	defer d.Release()
	var err error
	for c.Array(); err == nil && c.Element(); {
		err = d.Decode(&c, new(T))
	}
	if err == nil {
		err = c.End()
	}
	require.Equal(t, wantErr == nil, err == nil, "%s: %v, %v", text, wantErr, err)

	c, err = New(text), nil
	x := NewRecordDecoder[indexedRow]()
	defer x.Release()
	for c.Array(); err == nil && c.Element(); {
		err = x.Decode(&c, new(indexedRow))
	}
	if err == nil {
		err = c.End()
	}
	require.Equal(t, json.Valid(text), err == nil || errors.Is(err, errNoObject) && json.Valid(text), string(text))
}
