package jsonscan

import (
	"encoding/json"
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
		{new(deep), `{"names":["a","b"],"flats":[{"id":"a"},{}],"next":{"next":null},"name":"n","count":1,"share":-0.5,"known":false,"bytes":"aGk=","byte":255,"array":[1,2],"do":null}`},
		{new(deep), `{"names":[],"flats":null,"map":{},"any":[],"bytes":"","array":[1,2,3],"raw":null,"number":null,"upper":null,"when":null,"bytes":null}`},
		{new(shelf), `{"label":"l","flag":true,"count":"65535","ratio":0.5,"all":["a"],"grid":[[1,-128],[127]]}`},
		{new(stamps), `{"at":"2026-11-22T10:00:00.5+01:00","until":null,"all":["2026-11-22T10:00:00Z"],"by":{"a":"2026-11-22T10:00:00Z"},"addr":"127.0.0.1","big":12,"big2":13}`},
		{new(quotedKinds), `{"i":"-5","f":"1.5","b":"true","s":"\"x\"","u":"7"}`},
		{new(Outer), `{"id":"i","name":1,"Tags":["t"],"deep":{"A":1,"B":null},"When":"2026-11-22T10:00:00Z","label":"x"}`},
		{new(odds), `{"named":{"a":1},"named2":[1],"raws":{"a":1},"praw":{"b":2},"num":1,"pp":"x","err":null,"maps":[{"a":1}],"Deal size":"s","a/b":"c"}`},
		{new(map[string]any), `{"a":{"b":[{"c":1}]},"id":"x"}`},
		{new(tree1), `{"kids":[{"name":"a"}],"next":{"next":{}},"by":{"a":{}},"ptr":{"b":{}},"deep":{"c":[{}]}}`},
		{new([]uint64), `[0,18446744073709551615]`},
		{new([]uintptr), `[0,1]`},
	} {
		of := reflect.TypeOf(c.into).Elem()
		d := borrow(planOf(of, exact))
		for range 2 { // the second time by what was learnt
			got, cursor := reflect.New(of), New([]byte(c.text))
			d.c, d.top = &cursor, 1
			require.True(t, d.plan.root.read(d, got.UnsafePointer()), c.text)
			require.NoError(t, cursor.End(), c.text)
			want := reflect.New(of)
			require.NoError(t, json.Unmarshal([]byte(c.text), want.Interface()), c.text)
			require.Equal(t, want.Interface(), got.Interface(), c.text)
		}
		d.Release()
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
