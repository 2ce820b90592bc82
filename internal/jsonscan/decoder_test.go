package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type (
	word    string
	upper   string
	base    struct{ Base, Shadowed string }
	unknown func()

	flat struct {
		ID     string  `json:"id"`
		Name   string  `json:"name"`
		Word   word    `json:"WORD"`
		Int    int     `json:"int"`
		Small  int32   `json:"small"`
		Long   int64   `json:"long"`
		Float  float64 `json:"float"`
		Single float32 `json:"single"`
		Bool   bool    `json:"bool,omitempty"`
		Plain  string
		Kelvin string `json:"k"`
		Skip   string `json:"-"`
		hidden string //nolint:unused // that it stays empty is what is tested
	}
	deep struct {
		Flat   flat              `json:"flat"`
		When   time.Time         `json:"when"`
		Raw    json.RawMessage   `json:"raw"`
		Number json.Number       `json:"number"`
		Upper  upper             `json:"upper"`
		Any    any               `json:"any"`
		Map    map[string]string `json:"map"`
		Maps   map[string]int    `json:"maps"`
		Names  []string          `json:"names"`
		Flats  []flat            `json:"flats"`
		Next   *deep             `json:"next"`
		Name   *string           `json:"name"`
		Count  *int              `json:"count"`
		Share  *float64          `json:"share"`
		Known  *bool             `json:"known"`
		Bytes  []byte            `json:"bytes"`
		Byte   uint8             `json:"byte"`
		Array  [2]int            `json:"array"`
		Do     unknown           `json:"do"`
	}
	embedding struct {
		base
		*flat
		Shadowed string
	}
	quoted struct {
		Int  int    `json:"int,string"`
		Name string `json:"name"`
	}
	odd struct {
		Odd string `json:"a.b ünïcode"`
	}
	whole struct{ text string }

	// The struct types without a name have the methods of what they embed. Go 1.26 ignores them there, Go 1.27 does not.
	shouting struct{ Text string }
	unnamed  struct {
		Own struct {
			shouting
			Name string `json:"name"`
		} `json:"own"`
		When  struct{ time.Time }   `json:"when"`
		Upper struct{ upper }       `json:"upper"`
		Whens []struct{ time.Time } `json:"flats"`
	}
	tagged struct { // encoding/json fills it, although it is not exported
		base `json:"base"`
		ID   string `json:"id"`
	}
	formatted struct { // Go 1.27 refuses it
		ID   string    `json:"id"`
		When time.Time `json:"when,format:unix"`
	}
)

func (s *shouting) UnmarshalJSON(text []byte) error {
	s.Text = strings.ToUpper(string(text))
	return nil
}

func (u *upper) UnmarshalText(text []byte) error {
	if bytes.Contains(text, []byte("!")) {
		return errSyntax
	}
	*u = upper(bytes.ToUpper(text))
	return nil
}

func (w *whole) UnmarshalJSON(text []byte) error {
	w.text = string(text)
	return nil
}

// same holds the decoder against encoding/json. Two objects in a row show whether anything is left over from the first.
func same[T any](t *testing.T, data []byte) {
	t.Helper()
	if c := New(data); !c.Is('{') || bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return
	}
	var want, whole T
	wantErr, wholeErr := json.Unmarshal(data, &want), Unmarshal(data, &whole)
	require.Equal(t, wantErr, wholeErr, string(data))
	require.Equal(t, want, whole, string(data))
	require.Equal(t, json.Unmarshal([]byte(`{"name":"y","next":{"count":1}}`), &want), Unmarshal([]byte(`{"name":"y","next":{"count":1}}`), &whole))
	require.Equal(t, want, whole, "what was there before stays")
	want = *new(T)
	_ = json.Unmarshal(data, &want)
	if !json.Valid(data) {
		var got T
		c := New(data)
		_ = NewDecoder[T]().Decode(&c, &got)
		require.Error(t, c.End(), string(data))
		return
	}
	c, d, n := New(fmt.Appendf(nil, `[%s,{"id":"x"},%[1]s]`, data)), NewDecoder[T](), 0
	for c.Array(); c.Element(); n++ {
		var got T
		err := d.Decode(&c, &got)
		named := d.of.name()
		if n == 1 {
			require.Equal(t, "x", named)
			continue
		}
		require.Equal(t, wantErr == nil, err == nil, "%s: %v, %v", data, wantErr, err)
		if err != nil {
			require.Equal(t, wantErr.Error(), err.Error())
			continue
		}
		require.Equal(t, want, got, string(data))
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(data, &fields))
		var id string
		_ = json.Unmarshal(fields["id"], &id)
		require.Equal(t, id, named)
		again := New(data)
		var indexed indexedRow
		require.NoError(t, NewRecordDecoder[indexedRow]().Decode(&again, &indexed))
		require.Equal(t, id, string(indexed.id))
	}
	require.NoError(t, c.End())
	require.Equal(t, 3, n)
}

func sameForAll(t *testing.T, data []byte) {
	t.Helper()
	same[flat](t, data)
	same[deep](t, data)
	same[embedding](t, data)
	same[quoted](t, data)
	same[tagged](t, data)
	same[odd](t, data)
	same[struct{}](t, data)
	same[unnamed](t, data)
	same[formatted](t, data)
	same[map[string]any](t, data)
	same[map[string]string](t, data)
	same[*flat](t, data)
	same[any](t, data)
	same[json.RawMessage](t, data)
	same[[]string](t, data)
	same[string](t, data)
	if json.Valid(data) {
		var got whole
		c := New(data)
		if err := NewDecoder[whole]().Decode(&c, &got); err == nil {
			require.Equal(t, strings.TrimSpace(string(data)), got.text)
		}
	}
}

var objects = []string{
	`{}`, ` { } `, `{"id":"a","name":"b","WORD":"c","int":1,"small":2,"long":3,"float":1.5,"single":0.1,"bool":true,"Plain":"p","hidden":"h","-":"d"}`,
	`{"id":null,"name":null,"int":null,"float":null,"bool":null,"WORD":null}`, `{"ID":"a","Name":"b","word":"c","plain":"p","INT":7}`,
	`{"id":"a","ID":"b"}`, `{"ID":"b","id":"a"}`, `{"name":"a","name":null}`, `{"name":"a","name":"b","int":1,"int":2}`, "{\"\u212a\":\"kelvin\",\"K\":\"k\"}",
	`{"i\u0064":"x","n\u0061me":"y\n\u00e9\ud83d\ude00\ud800"}`, "{\"name\":\"\xff\xfe\"}", "{\"\xff\":1}", "{\"000\":0,\"00\xff\":", `{"int":1e3}`, `{"int":1.0}`, `{"int":-0}`, `{"int":99999999999999999999}`,
	`{"small":2147483648}`, `{"small":-2147483648}`, `{"long":9223372036854775807}`, `{"float":1e400}`, `{"single":1e39}`, `{"float":-0.0}`, `{"float":123456789012345678901234567890123456789}`,
	`{"int":"1"}`, `{"name":1}`, `{"bool":"true"}`, `{"name":{}}`, `{"name":[]}`, `{"name":true,"id":"late"}`, `{"bool":1}`, `{"WORD":[1]}`,
	`{"flat":{"id":"in","int":3,"other":[1,{"a":2}]},"id":"out"}`, `{"flat":null}`, `{"flat":[]}`, `{"flat":{"int":"x"}}`, `{"flat":{"name":"a"},"flat":{"id":"b"}}`,
	`{"when":"2026-11-21T10:00:00Z"}`, `{"when":"yesterday"}`, `{"when":null}`, `{"raw":{"a":[1, 2]},"raw":null}`, `{"number":"12"}`, `{"number":12e1}`, `{"number":"x"}`,
	`{"upper":"abc"}`, `{"upper":"!"}`, `{"upper":1}`, `{"upper":null}`, `{"any":{"a":[1,"b",null]}}`, `{"any":1e999}`, `{"map":{"a":"b","c":null,"a":"d"}}`, `{"map":{"a":1}}`,
	`{"map":null}`, `{"map":{"a":"b"},"map":{"c":"d"}}`, `{"map":{"a":"b"},"map":null}`, `{"map":[]}`, `{"maps":{"a":1},"maps":{"b":2}}`, `{"names":["a",null]}`, `{"names":["a","b"],"names":[null]}`,
	`{"flats":[{"id":"a"},{"id":1}]}`, `{"next":{"next":{"count":1}}}`, `{"name":"a","count":1,"share":2.5,"known":true}`, `{"name":null,"count":null}`, `{"name":"a","name":null}`,
	`{"count":"x"}`, `{"count":1.5}`, `{"known":0}`, `{"bytes":"aGk="}`, `{"bytes":"?"}`, `{"byte":255}`, `{"byte":256}`, `{"array":[1,2,3]}`, `{"do":null}`, `{"do":1}`,
	`{"own":{"name":"x","Text":"t"}}`, `{"own":{"name":1}}`, `{"own":null}`, `{"own":[],"name":"x"}`, `{"when":{},"id":"x"}`, `{"upper":{}}`, `{"flats":["2026-11-21T10:00:00Z"]}`,
	`{"base":{"Base":"b"},"id":"e"}`, `{"base":null}`, `{"base":{"Shadowed":1}}`, `{"bytes":"aGk=","bytes":null}`,
	`{"int":"\ufeff5"}`, "{\"int\":\"\xef\xbb\xbf5\"}",
	`{"Base":"b","Shadowed":"s","id":"e"}`, `{"int":"5"}`, `{"int":"x"}`, `{"a.b ünïcode":"o"}`,
	`{"a":1,}`, `{"a"}`, `{"a":}`, `{"a":1`, `{"a":1}}`, `{"a":01}`, `{"a":tru}`, `{a:1}`, `{"a" : 1 , "id" : "x"}`, "{\"a\":\"\x01\"}", `{"a":"\x"}`, `{"a":"\u12"}`,
	`{"a": 1,"b": [2],"id": "c","name": "d","int": 3,"bool": true}`,
	`{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
}

func TestDecoderIsEncodingJSON(t *testing.T) {
	for _, text := range objects {
		sameForAll(t, []byte(text))
	}
}

func FuzzDecoder(f *testing.F) {
	for _, text := range objects {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { sameForAll(t, data) })
}

// A byte order mark may stand before a response, and nowhere else.
func TestUnmarshalTakesNoByteOrderMark(t *testing.T) {
	const marked = "\xef\xbb\xbf1"
	var want, got int
	require.Equal(t, json.Unmarshal([]byte(marked), &want), Unmarshal([]byte(marked), &got))
	require.Zero(t, got)
}

// Of two fields with one name encoding/json fills neither.
func TestNamesakes(t *testing.T) {
	type left struct{ X, L int }
	type right struct {
		X int
		R int `json:"l"`
	}
	type both struct {
		left
		*right
		Y int
	}
	for _, text := range []string{`{"X":1,"L":2,"l":3,"Y":4}`, `{"x":1,"r":2,"y":3}`, `{"R":1}`, `{"l":null}`} {
		same[both](t, []byte(text))
	}
}

// A page may have other keys in every object, and keys in another order.
func TestDecoderWithOtherKeysEveryTime(t *testing.T) {
	var page bytes.Buffer
	page.WriteString("[")
	for i := range 3 * maxKeys {
		if i > 0 {
			page.WriteString(",")
		}
		fmt.Fprintf(&page, `{"k%d":%d,"int":%d,"z%d":0,"name":"n%d"}`, i, i, i, i%7, i)
	}
	page.WriteString("]")
	c, d := New(page.Bytes()), NewDecoder[flat]()
	i := 0
	for c.Array(); c.Element(); i++ {
		var got flat
		require.NoError(t, d.Decode(&c, &got))
		require.Equal(t, flat{Int: i, Name: fmt.Sprint("n", i)}, got)
	}
	require.NoError(t, c.End())
	require.Len(t, d.of.learnt[0].keys, maxKeys)
	d.Release()
	require.Empty(t, d.of.learnt[0].keys)
}

// What is handed out survives its page, and small things do not keep large ones alive.
func TestNothingIsShared(t *testing.T) {
	data := []byte(`[{"id":"abc","raw":{"a":1},"name":"xyz","map":{"k":"v"}}]`)
	c, d := New(data), NewDecoder[deep]()
	var got deep
	c.Array()
	c.Element()
	require.NoError(t, d.Decode(&c, &got))
	c = New(data)
	c.Array()
	c.Element()
	var row indexedRow
	require.NoError(t, NewRecordDecoder[indexedRow]().Decode(&c, &row))
	raw, index, id := row.text, row.index, string(row.id)
	clear(data)
	require.Equal(t, "abc", id)
	require.Equal(t, `{"a":1}`, string(got.Raw))
	require.Equal(t, "xyz", *got.Name)
	require.Equal(t, map[string]string{"k": "v"}, got.Map)
	value, ok := index.Lookup(raw, "raw")
	require.True(t, ok)
	require.Equal(t, `{"a":1}`, string(value))

	require.Equal(t, len(got.Raw), cap(got.Raw), "an append must not reach a neighbour")
	long := New([]byte(`"` + strings.Repeat("x", 100_000) + `"`))
	require.Len(t, long.String(), 100_000)
	require.Zero(t, cap(long.chunk), "a long string has memory of its own")
	short := New(bytes.Repeat([]byte(`"abc" `), 100_000))
	require.Equal(t, "abc", short.String())
	require.LessOrEqual(t, cap(short.chunk), chunkSize)
}
