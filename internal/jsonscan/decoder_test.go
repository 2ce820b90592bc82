package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
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

// same holds the decoder against encoding/json: of a value, of what is there already, and of rows, which show whether anything is left over.
func same[T any](t *testing.T, data []byte) {
	t.Helper()
	if c := New(data); !c.Is('{') || bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return
	}
	sameAs(t, reflect.TypeFor[T](), string(data))
	var there, want T
	_, _ = json.Unmarshal(data, &there), json.Unmarshal(data, &want)
	require.Equal(t, json.Unmarshal([]byte(`{"name":"y","next":{"count":1}}`), &want), Unmarshal([]byte(`{"name":"y","next":{"count":1}}`), &there))
	require.Equal(t, want, there, "what was there before stays")
	if !json.Valid(data) {
		return
	}
	want = *new(T)
	wantErr := json.Unmarshal(data, &want)
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &fields))
	var id string
	_ = json.Unmarshal(fields["id"], &id)
	var rows []Exact[T]
	text := fmt.Appendf(nil, `[%s,{"id":"x"},%[1]s]`, data)
	require.NoError(t, DecodeRecord(text, 0, &rows))
	var kept []indexedRow
	require.NoError(t, DecodeRecord(text, 0, &kept))
	require.Len(t, rows, 3)
	require.Equal(t, []string{id, "x", id}, []string{rows[0].ID, rows[1].ID, rows[2].ID})
	require.Equal(t, []ID{ID(id), "x", ID(id)}, []ID{kept[0].id, kept[1].id, kept[2].id})
	for _, got := range []Exact[T]{rows[0], rows[2]} {
		require.Equal(t, wantErr == nil, got.Unfit == nil, "%s: %v, %v", data, wantErr, got.Unfit)
		if got.Unfit != nil {
			require.Equal(t, wantErr.Error(), got.Unfit.Err.Error())
			continue
		}
		require.Equal(t, want, got.Value, string(data))
	}
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

// What a value is read into is for encoding/json to say, also where that is an error.
func TestTargets(t *testing.T) {
	for _, text := range []string{`1`, `"x"`, `{"id":"a"}`, `null`, " null\n", `nul`, `[`, "\ufeff1"} {
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
	require.Len(t, d.of.learnt[0].keys.known, maxKeys)
	d.Release()
	require.Zero(t, d.of.learnt[0].keys)
}

// What is written as usual is read here: to leave it to encoding/json takes twice as long.
func TestUsualValuesAreReadDirectly(t *testing.T) {
	for _, c := range []struct {
		into any
		text string
	}{
		{new(flat), `{"id":"a","name":"b\n","WORD":"c","int":-1,"small":2147483647,"long":-999999999999999999,"float":1.5e300,"single":0.1,"bool":true,"Plain":"p","hidden":"h","-":"d"}`},
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
		{new([]uint64), `[0,999999999999999999]`},
		{new([]uintptr), `[0,1]`},
	} {
		of := reflect.TypeOf(c.into).Elem()
		d := borrow(planKey{of, false})
		for range 2 { // the second time by what was learnt
			got := reflect.New(of)
			d.Cursor = New([]byte(c.text))
			require.True(t, d.root.read(d, got.UnsafePointer()), c.text)
			require.NoError(t, d.End(), c.text)
			want := reflect.New(of)
			require.NoError(t, json.Unmarshal([]byte(c.text), want.Interface()), c.text)
			require.Equal(t, want.Interface(), got.Interface(), c.text)
		}
		d.release()
	}
}

// A text may end anywhere, and one byte may be another: in the first object, and in one that is read by what was learnt from it.
func TestTextsThatEndAnywhere(t *testing.T) {
	check := func(first, second string) {
		sameInArray[flat](t, first, second)
		sameInArray[deep](t, first, second)
		sameInArray[map[string]any](t, first, second)
	}
	for _, text := range []string{
		`{"id":"a","name":"b\u00e9\n","WORD":"ü","int":-1,"float":1.5e3,"bool":true,"other":[1,{"a":null}]}`, ` { "id" : "x" , "name" : null , "int" : 0.5 } `,
		`{"flat":{"id":"x"},"when":"2026-11-22T10:00:00Z","number":12.5,"any":{"a":[-1,"b",false]},"map":{"a":"b"},"array":[1,2],"names":["a"],"count":1}`,
	} {
		for end := range len(text) + 1 {
			for _, cut := range []string{text[:end], text[:end] + "}", text[:end] + "," + text[end:], text[:end] + `"` + text[end:], text[:end] + text[min(end+1, len(text)):]} {
				check(text, cut)
			}
		}
	}
	const good = `{"int":1,"name":"x","names":[1]}`
	for _, last := range []string{ // commas and brackets count, whatever was learnt
		`{,"int":1}`, `{"int":1,}`, `{"int":1,,"name":"x"}`, `{"int":1 "name":"x"}`, `{"int":1;"name":"x"}`, `{,}`, `{"int"1}`, `{"int":,"name":"x"}`, `{"int":1,"name":"x","names":[1],}`,
		`{"int":1,"name":"x","names":[,1]}`, `{"int":1,"name":"x","names":[1,]}`, `{"int":1,"name":"x","names":[1 2]}`, `{"int":1]`, `["int":1}`, `{"int":1,"name":"x","names":[1}]`,
	} {
		check(good, last)
	}
}

// sameInArray holds an array of two objects, of which the second may be broken, against encoding/json.
func sameInArray[T any](t *testing.T, first, second string) {
	t.Helper()
	text := "[" + first + "," + second
	if json.Valid([]byte(text + "]")) {
		text += "]"
	}
	sameAs(t, reflect.TypeFor[[]T](), text)
	var rows []indexedRow
	err := DecodeRecord([]byte(text), 0, &rows)
	require.Equal(t, json.Valid([]byte(text)), err == nil || errors.Is(err, errNoObject) && json.Valid([]byte(text)), text)
}

type (
	nameless = struct{ Nameless int }
	early    struct {
		Early string `json:"ab"`
	}
	name struct {
		Name string `json:"name"`
	}
	// Promoting is embedded by its pointer.
	Promoting struct {
		N    int
		Wide [64]int64
		Text string
	}
)

type (
	// Name is embedded by another name.
	Name = name
	one  struct{ X, L int }
	two  struct {
		X int
		R int `json:"r"`
	}
	holder struct{ one }
	lefty  struct{ holder }
	righty struct{ holder }
)

// otherFields are structs whose fields are not what they seem, and whether encoding/json reads them as a whole.
var otherFields = []struct {
	of   any
	left bool
}{
	{new(struct { // of two fields with one name it fills neither
		one
		two
		Y int
	}), false},
	{new(struct { // of two in one type that a type embeds which is embedded twice, it fills the first
		lefty
		righty
		Y int
	}), true},
	{new(struct {
		early
		Second string `json:"AB"`
		nameless
		Kept
	}), true},
	{new(struct {
		Odd   string `json:"it's"` //nolint:staticcheck // encoding/json takes the name of the field
		Price string `json:"p$"`
	}), true},
	{new(struct {
		*name
		Other float64 `json:"NAME"`
	}), true},
	{new(struct {
		Name
		Other string `json:"NAME"`
	}), true},
	{new(struct {
		A int `json:"a,odd"` //nolint:staticcheck // it leaves the type to encoding/json
		B int `json:"b"`
	}), true},
	{new(struct {
		A int `json:"a,string"`
	}), false},
	{new(struct {
		A int `json:"a,string,string"` //nolint:staticcheck // versions differ in what it means
	}), true},
	{new(struct {
		A int `json:"a,omitempty"`
		*Promoting
		B int `json:"b b.c:d,omitzero"`
	}), true},
	{new(struct {
		A int `json:"a!"`
		Kept
	}), true},
	{new(struct {
		early `json:"early"`
		B     int `json:"b"`
	}), true},
	{new(struct {
		*early `json:"early"`
		B      int `json:"b"`
	}), true},
	{new(struct{ *early }), true},
	{new(struct{ shouting }), true},
	{new(struct{ upper }), true},
	{new(struct{ flat }), false},
	{new(indexedRow), false},
	{new(Exact[flat]), false},
}

// Which field a key goes to, and what versions of encoding/json differ in, is for encoding/json to say.
func TestFieldsAreThoseOfEncodingJSON(t *testing.T) {
	texts := []string{
		`{"aB":"x"}`, `{"ab":"x"}`, `{"AB":"x"}`, `{"Ab":"x","ab":"y"}`, `{"AB":"x","Ab":"y"}`, `{"early":"x"}`, `{"Nameless":1,"nameless":2}`, `{"it's":"x"}`, `{"Odd":"x"}`, `{"p$":"x"}`, `{"Price":"x"}`,
		`{"Name":"x"}`, `{"name":"x","NAME":1}`, `{"nAme":1}`, `{"b":1}`, `{"a":1,"b":2}`, `{"a":"1"}`, `{"a!":1}`, `{"early":{"ab":"x"},"b":2}`, `{"ab":"x","N":1}`, `{"b b.c:d":1}`,
		`{"X":1,"L":2,"l":3,"Y":4}`, `{"x":1,"r":2,"y":3}`, `{"R":1}`, `{"l":null}`, `{"id":"a","text":"b","value":{"id":"b","int":1},"int":2}`,
	}
	for _, c := range otherFields {
		of := reflect.TypeOf(c.of).Elem()
		require.Equal(t, c.left, left(of), of.String())
		for _, text := range texts {
			want, wantErr := tried(json.Unmarshal, text, of)
			got, err := tried(Unmarshal, text, of)
			require.Equal(t, wantErr, err, "%s %s", text, of)
			require.Equal(t, want, got, "%s %s", text, of)
		}
	}
}

// tried reads a text into a new value of a type, which may make encoding/json panic.
func tried(unmarshal func([]byte, any) error, text string, of reflect.Type) (value any, err error) {
	p := reflect.New(of)
	defer func() {
		if recover() != nil {
			err = errors.New("it panics")
		}
	}()
	err = unmarshal([]byte(text), p.Interface())
	return p.Interface(), err
}

// demanding reads itself, and cannot do so of nothing.
type demanding struct{ first byte }

func (v *demanding) UnmarshalJSON(text []byte) error {
	v.first = bytes.TrimSpace(text)[0]
	return nil
}

// Methods are given whole values only.
func TestMethodsAreGivenWholeValues(t *testing.T) {
	type own struct {
		V  demanding             `json:"v"`
		By map[string]*demanding `json:"by"`
	}
	for _, text := range []string{`{"v":`, `{"v":}`, `{"v":[1}`, `{"v":tru}`, `{"by":{"a":"x}}`, `{"v":null,"by":{"a":null,"b":1}}`, `{"v":[1]}`} {
		same[own](t, []byte(text))
		same[map[string]json.RawMessage](t, []byte(text))
	}
}

// What one reader has learnt serves others, and does not mislead them.
func TestReadersAreHandedOn(t *testing.T) {
	texts := [][]byte{
		[]byte(`{"id":"a","name":"b","int":1,"float":1.5,"bool":true,"extra":[1]}`),
		[]byte(`{"extra":"x","bool":false,"name":"\u00e9","id":"c"}`),
		[]byte(`{"int":7,"count":3,"flat":{"id":"in","name":"n"},"map":{"k":"v"},"name":"p"}`),
	}
	var wants []deep
	for _, text := range texts {
		var want deep
		require.NoError(t, json.Unmarshal(text, &want))
		wants = append(wants, want)
	}
	var all sync.WaitGroup
	var wrong atomic.Int32
	for worker := range 4 {
		all.Go(func() {
			for i := range 50 {
				text, want := texts[(worker+i)%len(texts)], wants[(worker+i)%len(texts)]
				var got, whole deep
				c, d := New(text), NewDecoder[deep]()
				failed := errors.Join(d.Decode(&c, &got), Unmarshal(text, &whole))
				d.Release()
				if failed != nil || !reflect.DeepEqual(want, got) || !reflect.DeepEqual(want, whole) {
					wrong.Add(1)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, wrong.Load())
}
