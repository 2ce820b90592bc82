package jsonscan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type (
	wide   struct{ A [128]int64 }
	inside struct{ Wides []wide }
	leaf   struct {
		Leaves []leaf
		Pad    [8]int64
	}
	chain   struct{ Chain *chain }
	hanging struct {
		*inside
		*hanging //nolint:unused // encoding/json does not look into a struct twice
		Name     string
	}
	manner struct{ Wide *wide }
	large  struct {
		ID     string                  `json:"id"`
		Name   string                  `json:"name"`
		Slice  []wide                  `json:"slice"`
		Kelvin []wide                  `json:"kelvins"`
		Slices [][]wide                `json:"slices"`
		Array  [2]*wide                `json:"array"`
		Map    map[string]wide         `json:"map"`
		Small  map[int]int8            `json:"small"`
		Texts  map[string]string       `json:"texts"`
		Any    any                     `json:"any"`
		Anys   []any                   `json:"anys"`
		Struct struct{ Deep []manner } `json:"struct"`
		Ptr    ***int                  `json:"ptr"`
		Ptrs   []*wide                 `json:"ptrs"`
		Leaf   leaf                    `json:"leaf"`
		Chain  chain                   `json:"chain"`
		Raw    json.RawMessage         `json:"raw"`
		Raws   []json.RawMessage       `json:"raws"`
		When   []time.Time             `json:"when"`
		Bytes  []byte                  `json:"bytes"`
		Odd    struct {
			shouting
			Wides []wide
		} `json:"odd"`
		inside
		hidden []wide //nolint:unused // that nothing is made of it is what is tested
	}
)

// repeated is a text of so many bytes: the same unit again and again.
func repeated(head, unit, tail string, bytes int) string {
	return head + strings.TrimSuffix(strings.Repeat(unit+",", bytes/(len(unit)+1)), ",") + tail
}

// What is made of a text is bounded whatever the type, and wherever the type stands.
func TestWhatIsMadeIsBounded(t *testing.T) {
	const size = 1 << 20
	for name, text := range map[string]string{
		"slice of structs":           repeated(`"slice":[`, `{}`, `]`, size),
		"of numbers, which misfit":   repeated(`"slice":[`, `1`, `]`, size),
		"of null":                    repeated(`"slice":[`, `null`, `]`, size),
		"key of another case":        repeated(`"SLice":[`, `{}`, `]`, size),
		"key of another alphabet":    repeated("\"\u212aelvin\u017f\":[", `{}`, `]`, size),
		"escaped key":                repeated(`"\u0073lice":[`, `{}`, `]`, size),
		"slices of slices":           repeated(`"slices":[`, `[{}]`, `]`, size),
		"map of large values":        repeated(`"map":{`, `"":{}`, `}`, size),
		"maps in any":                repeated(`"any":[`, `{"":0}`, `]`, size),
		"maps in slices of any":      repeated(`"anys":[`, `{"":0}`, `]`, size),
		"pointers":                   repeated(`"ptrs":[`, `{}`, `]`, size),
		"promoted":                   repeated(`"wides":[`, `{}`, `]`, size),
		"deep":                       repeated(`"struct":{"deep":[`, `{"wide":{}}`, `]}`, size),
		"of itself":                  repeated(`"leaf":{"leaves":[{"leaves":[`, `{}`, `]}]}`, size),
		"in a struct without a name": repeated(`"odd":{"wides":[`, `{}`, `]}`, size),
		"one array for another":      strings.Repeat(`"slice":[{},{},{},{},{},{},{},{}],`, size/32) + `"id":""`,
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"id":"x",` + text + `}`
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var whole large
			require.ErrorIs(t, Unmarshal([]byte(text), &whole), ErrTooMuch)
			var box any = &whole
			require.ErrorIs(t, Unmarshal([]byte(text), &box), ErrTooMuch)
			c, d := New([]byte(text)), NewDecoder[large]()
			require.ErrorIs(t, d.Decode(&c, &whole), ErrTooMuch)
			c, e := New([]byte(`{"a":`+text+`}`)), NewDecoder[map[string]large]()
			require.ErrorIs(t, e.Decode(&c, new(map[string]large)), ErrTooMuch)
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*(allowance+8*len(text))))
		})
	}
}

// What is spent is what is made: neither much less, or it were no bound, nor much more, or plain texts were refused.
func TestWhatIsSpentIsWhatIsMade(t *testing.T) {
	for _, text := range []string{
		`{"slice":[{},{"A":[1,2]},{}]}`, `{"slices":[[{},{}],[],[{}]]}`, `{"array":[{},{},{},{}]}`, `{"map":{"a":{},"b":{}}}`,
		`{"small":{"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9}}`, `{"texts":{"a":"b","c":"d"}}`, `{"any":{"a":[1,"b",null,true,{}]}}`,
		`{"anys":["a",1,[],{}]}`, `{"struct":{"deep":[{"wide":{}},{},{"wide":null}]}}`, `{"ptr":1}`, `{"ptr":null}`, `{"ptrs":[{},null]}`,
		`{"leaf":{"leaves":[{"leaves":[{}]}]}}`, `{"chain":{"chain":{"chain":{}}}}`, `{"raws":[1,2,3]}`, `{"when":["2026-11-21T10:00:00Z"]}`, `{"bytes":[1,2,3]}`,
		`{"anys":[{},{},{},{}]}`, `{"hidden":[{},{}]}`, `{"Wides":[{}]}`, `{"unknown":[{},{}],"raw":[{},{}]}`, `{"slice":null,"any":null,"map":null}`, `{"slice":"","any":"x","map":7}`,
	} {
		var v large
		_ = json.Unmarshal([]byte(text), &v)
		c := New([]byte(text))
		growthOf(reflect.TypeFor[large]()).weigh(&c)
		require.NoError(t, c.End(), text)
		spent, made := allowanceFor([]byte(text))-c.left, memoryIn(reflect.ValueOf(v))
		require.InDelta(t, made, spent, float64(made)/4+32, text)
	}
	text := `{"wides":[{},{}],"name":"x"}`
	c := New([]byte(text))
	growthOf(reflect.TypeFor[hanging]()).weigh(&c)
	require.NoError(t, c.End())
	require.Equal(t, int64(2*reflect.TypeFor[wide]().Size()+reflect.TypeFor[inside]().Size()), allowanceFor([]byte(text))-c.left)
}

// memoryIn counts what a value points to. Maps are reckoned by the groups that they are made of.
func memoryIn(v reflect.Value) (n int64) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = int64(v.Type().Elem().Size()) + memoryIn(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			if n = memoryIn(v.Elem()); v.Elem().Kind() != reflect.Map {
				n += int64(v.Elem().Type().Size())
			}
		}
	case reflect.Slice:
		n = int64(v.Len()) * int64(v.Type().Elem().Size())
		fallthrough
	case reflect.Array:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			return 0 // text
		}
		for i := range v.Len() {
			n += memoryIn(v.Index(i))
		}
	case reflect.Map:
		if v.IsNil() {
			return 0
		}
		n = mapHeader
		slot, elem := int64(v.Type().Key().Size()), int64(v.Type().Elem().Size())
		if elem > mapDirect {
			n += int64(v.Len()) * elem
			elem = wordSize
		}
		n += int64((v.Len()+mapGroup-1)/mapGroup) * mapGroup * (slot + elem + 1)
		for it := v.MapRange(); it.Next(); {
			n += memoryIn(it.Value())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return 0
		}
		for _, f := range v.Fields() {
			n += memoryIn(f)
		}
	default:
	}
	return n
}

// Types that are left to encoding/json are so for values of the usual size, too.
func TestAPlainPageIsNotTooMuch(t *testing.T) {
	page := rows(1000)
	var anys []map[string]any
	require.NoError(t, Unmarshal(page, &anys))
	require.Len(t, anys, 1000)
	var want []map[string]any
	require.NoError(t, json.Unmarshal(page, &want))
	require.Equal(t, want, anys)
	n := 0
	c, d := New(page), NewDecoder[map[string]any]()
	for c.Array(); c.Element(); n++ {
		var row map[string]any
		require.NoError(t, d.Decode(&c, &row))
	}
	require.NoError(t, c.End())
	require.Equal(t, 1000, n)

	var vector []float64
	require.NoError(t, Unmarshal([]byte(repeated("[", "0.125", "]", 4<<20)), &vector))
	var boxed any
	require.NoError(t, Unmarshal([]byte(repeated("[", "0.125", "]", 4<<20)), &boxed))
}

// An object with more members than any table has columns gets no index, and is looked through.
func TestIndexOfManyMembers(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"id":"x"`)
	for i := range mostMembers {
		fmt.Fprintf(&text, `,"k%d":%[1]d`, i)
	}
	for _, more := range []string{"", `,"one":1`} {
		data := []byte(text.String()[:text.Len()-len(`,"k4095":4095`)] + more + `}`)
		c, x := New(data), NewIndexer()
		raw, index, id := x.Read(&c)
		require.NoError(t, c.End())
		require.Equal(t, "x", id)
		require.Equal(t, more == "", index != nil)
		value, ok := index.Lookup(raw, "k4094")
		require.True(t, ok)
		require.Equal(t, "4094", string(value))
		x.Release()
	}
}

// Who is stopped says why, and that the text is none the worse.
func TestRefuse(t *testing.T) {
	c := New([]byte(`[1,2]`))
	c.Array()
	require.True(t, c.Element())
	require.Equal(t, 1, c.Int())
	require.True(t, c.Element())
	c.Refuse()
	require.False(t, c.Element())
	require.EqualError(t, c.End(), "the response holds too much at byte 3: more elements than were asked for")
	c = New([]byte(`[1`))
	c.Array()
	c.Element()
	c.Int()
	c.Element()
	c.Refuse()
	c.Spend(1 << 30)
	require.ErrorIs(t, c.Err(), errSyntax, "the first error counts")

	c = New([]byte(`[1,2]`))
	require.Equal(t, (allowance+5*perByte)/8, c.Affords(8))
	require.True(t, c.Spend(allowance+5*perByte))
	require.Zero(t, c.Affords(1))
	require.False(t, c.Spend(1))
	require.Zero(t, c.Affords(1))
	require.EqualError(t, c.Err(), "the response holds too much at byte 0: its values take more memory than 16 MiB and four times its length")
}
