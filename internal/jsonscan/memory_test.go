package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type (
	wide   struct{ A [128]int64 }
	inside struct{ Wides []wide }
	leaf   struct {
		Leaves []leaf
		N      [14]int // or 32 bits have room
	}
	chain  struct{ Chain *chain }
	manner struct{ Wide *wide }
	strung struct { // all of it is left to encoding/json
		Strung  []wide                 `json:"strung,string"` //nolint:staticcheck // it has no effect
		Numbers map[int]wide           `json:"numbers"`
		Texts   map[upper]wide         `json:"texts"`
		Unnamed struct{ stamped }      `json:"unnamed"`
		Deep    []struct{ stamped }    `json:"deep"`
		Own     map[int]map[int][]wide `json:"own"`
	}
	stamped struct {
		shouting
		Wides []wide
	}
	large struct {
		ID     string                  `json:"id"`
		Name   string                  `json:"name"`
		Slice  []wide                  `json:"slice"`
		Kelvin []wide                  `json:"kelvins"`
		Slices [][4][]int              `json:"slices"` // of [][]int, 32 bits have room
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
		inside
	}
)

// repeated is a text of so many bytes: the same unit again and again.
func repeated(head, unit, tail string, bytes int) string {
	return head + strings.TrimSuffix(strings.Repeat(unit+",", bytes/(len(unit)+1)), ",") + tail
}

// What is made of a text is bounded whatever the type, and wherever the type stands.
func TestWhatIsMadeIsBounded(t *testing.T) {
	const size = 2 << 20
	for name, text := range map[string]string{
		"slice of structs":           repeated(`"slice":[`, `{}`, `]`, size),
		"of numbers, which mismatch": repeated(`"slice":[`, `1`, `]`, size),
		"of null":                    repeated(`"slice":[`, `null`, `]`, size),
		"key of another case":        repeated(`"SLice":[`, `{}`, `]`, size),
		"key of another alphabet":    repeated("\"\u212aelvin\u017f\":[", `{}`, `]`, size),
		"escaped key":                repeated(`"\u0073lice":[`, `{}`, `]`, size),
		"slices of slices":           repeated(`"slices":[`, `[]`, `]`, size),
		"map of large values":        repeated(`"map":{`, `"":{}`, `}`, size),
		"maps in any":                repeated(`"any":[`, `{"":0}`, `]`, size),
		"maps in slices of any":      repeated(`"anys":[`, `{"":0}`, `]`, size),
		"pointers":                   repeated(`"ptrs":[`, `{}`, `]`, size),
		"promoted":                   repeated(`"wides":[`, `{}`, `]`, size),
		"deep":                       repeated(`"struct":{"deep":[`, `{"wide":{}}`, `]}`, size),
		"of itself":                  repeated(`"leaf":{"leaves":[{"leaves":[`, `{}`, `]}]}`, size),
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
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(7*(allowance+8*len(text))), "of four reads; what grows is copied")
		})
	}
}

// An empty object or array is a value of its own, too: its header is larger than its text.
func TestEmptyValuesAreWeighed(t *testing.T) {
	for name, unit := range map[string]string{"objects": `{}`, "arrays": `[]`, "arrays in arrays": `[[]]`} {
		text := repeated(`[`, unit, `]`, 4<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var values any
		require.ErrorIs(t, Unmarshal([]byte(text), &values), ErrTooMuch, name)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(3*(allowance+perByte*len(text))), "%s: what grows is copied", name)
	}
}

// What only encoding/json can read is bounded, too.
func TestWhatIsLeftToEncodingJSONIsBounded(t *testing.T) {
	numbered := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"%d":{}`, i))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	const many = 40_000
	for name, text := range map[string]string{
		"an option without effect":     repeated(`"strung":[`, `{}`, `]`, 3*many),
		"keys that are numbers":        `"numbers":` + numbered(many),
		"keys that read themselves":    `"texts":` + numbered(many),
		"maps in maps":                 `"own":{"1":{"2":` + repeated(`[`, `{}`, `]`, 3*many) + `}}`,
		"a struct without a name":      repeated(`"unnamed":{"wides":[`, `{}`, `]}`, 3*many),
		"structs without a name, many": repeated(`"deep":[{"wides":[`, `{}`, `]}]`, 3*many),
	} {
		require.ErrorIs(t, Unmarshal([]byte(`{`+text+`}`), new(strung)), ErrTooMuch, name)
	}
}

// What is there already stays, and the error names a place in the text.
func TestWhatIsThereIsBounded(t *testing.T) {
	text := repeated(`{"slice":[`, `{}`, `]}`, 2<<20)
	there := large{Name: "there"}
	err := Unmarshal([]byte(text), &there)
	require.ErrorIs(t, err, ErrTooMuch)
	require.NotContains(t, err.Error(), "byte -")
	require.Equal(t, large{Name: "there"}, there)
	require.NoError(t, Unmarshal([]byte(`{"id":"x","leaf":{"n":[1]}}`), &there))
	require.Equal(t, "there", there.Name)
	require.Equal(t, "x", there.ID)
}

// A method of a value that is left to encoding/json is called once.
func TestMethodsAreCalledOnce(t *testing.T) {
	var got struct {
		ID    string
		Count *counted
	}
	got.ID, got.Count = "there", new(counted)
	before := calls.Load()
	require.NoError(t, Unmarshal([]byte(`{"count":{"a":1}}`), &got))
	require.Equal(t, int32(1), calls.Load()-before)
}

var calls atomic.Int32

type counted struct{}

func (*counted) UnmarshalJSON([]byte) error {
	calls.Add(1)
	return nil
}

// On 32 bits, what is left of a large response is more than an int.
func TestMuchIsLeft(t *testing.T) {
	for _, left := range []int64{1 << 31, 1 << 32, 3 << 31} {
		c, d := New([]byte(`["a","b","c"]`)), NewDecoder[[]string]()
		c.left = left
		var got []string
		require.NoError(t, d.Decode(&c, &got))
		require.Equal(t, []string{"a", "b", "c"}, got)
	}
}

// Where little is left, a slice has room for what it holds.
func TestLittleIsLeft(t *testing.T) {
	text := repeated("[", `"some text"`, "]", 12*500)
	want := make([]string, 500)
	require.NoError(t, json.Unmarshal([]byte(text), &want))
	for left := range int64(16 * 540) {
		c, d := New([]byte(text)), NewDecoder[[]string]()
		c.left = left
		var got []string
		if err := d.Decode(&c, &got); err == nil {
			require.Equal(t, want, got)
		} else {
			require.ErrorIs(t, err, ErrTooMuch)
		}
		d.Release()
	}
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
	require.NoError(t, Unmarshal([]byte(repeated("[", "0.125", "]", 8<<20)), &vector))
	var boxed any
	require.NoError(t, Unmarshal([]byte(repeated("[", "0.125", "]", 8<<20)), &boxed))
}

// Not every value of a row counts for a large struct that the row points to or holds, if it is left to encoding/json: for a field that is
// embedded by its pointer, or for a long number.
func TestRowsWithALargeStructAreNotTooMuch(t *testing.T) {
	row := `{"id":1234567890123456789,"n":1,"large":{"n":1},"all":[{"n":1}]` + strings.Repeat(`,"other":"a value"`, 40) + `}`
	page := []byte(repeated("[", row, "]", 1000*len(row)))
	for _, rows := range []any{
		new([]struct {
			*Promoting

			ID uint64
		}),
		new([]struct {
			ID    int64
			Large *Promoting
			All   []Promoting
		}),
	} {
		require.NoError(t, Unmarshal(page, rows))
	}
	row = repeated(`{"id":1234567890123456789,"large":{"n":1},"lines":[`, `[1]`, `]}`, 400)
	require.NoError(t, Unmarshal([]byte(repeated("[", row, "]", 1000*len(row))), new([]struct {
		ID    int64
		Large *Promoting
		Lines [][]int
	})))
}

// After a null, encoding/json makes again what a field points to.
func TestWhatNullTakesAwayIsWeighed(t *testing.T) {
	for _, unit := range []string{`"wide":1,"wide":null`, `"wide":[],"wide":null`, `"wide":{},"wide":null`} {
		text := repeated(`{`, unit, `}`, 1<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.ErrorIs(t, Unmarshal([]byte(text), new(manner)), ErrTooMuch, unit)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(allowance+perByte*len(text)), unit)
	}
}

// Short slices of changing lengths are made once each.
func TestShortSlicesAreMadeOnce(t *testing.T) {
	type row struct {
		Tags  []string `json:"tags"`
		Parts []part   `json:"parts"`
	}
	var all []string
	for i := range 100 {
		all = append(all, `{"tags":[`+strings.Repeat(`"a",`, i*7%6)+`"b"],"parts":[`+strings.Repeat(`{},`, i*5%4)+`{}]}`)
	}
	data := []byte("[" + strings.Join(all, ",") + "]")
	d := NewDecoder[row]()
	read := func() {
		c := New(data)
		for c.Array(); c.Element(); {
			var r row
			require.NoError(t, d.Decode(&c, &r))
		}
	}
	read()
	require.LessOrEqual(t, testing.AllocsPerRun(20, read), 100+110.0, "the rows, and what their slices share")
}

// Slices in slices of their own type are open all at once: none has room for more than it holds.
func TestSlicesInSlicesAreBounded(t *testing.T) {
	type tree struct {
		Kids []tree
		Pad  [125]int64
	}
	const deep = 400
	after := `{"Kids":[` + repeated(`{"Kids":[`, `{}`, `]},`, 3*maxUsual) + strings.Repeat(`{"Kids":[`, deep) + strings.Repeat(`]}`, deep) + `]}`
	chain := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	comb := strings.Repeat("[[],", 1000) + "[]" + strings.Repeat("]", 1000)
	for text, out := range map[string]any{
		after: new(tree), repeated("[", chain, "]", 1<<20): new(links), repeated("[", comb, "]", 1<<20): new(links),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, Unmarshal([]byte(text), out), "%.20s", text)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(allowance+2*perByte*len(text)), "%.20s: what grows is copied", text)
	}
}

// How many rows a page has is guessed once: short arrays in an array have no room for many.
func TestGuessesAreBounded(t *testing.T) {
	text := []byte(repeated("[", "[],[1,1,1]", "]", 1<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var got [][]int
	require.NoError(t, DecodeRecord(text, 1<<20, &got))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(allowance+2*perByte*len(text)), "what grows is copied")
}

// Rows are bounded as other values are, and what is in any for what it is.
func TestRowsAreBounded(t *testing.T) {
	type own struct {
		Slice []wide
		By    map[string]wide
		Any   any
	}
	for _, text := range []string{repeated(`"Slice":[`, `{}`, `]`, 1<<20), repeated(`"By":{`, `"":{}`, `}`, 1<<20), repeated(`"Any":[`, `{"":0}`, `]`, 1<<20)} {
		_, err := decodeText[[]Exact[own]]("[{" + text + "}]")
		require.ErrorIs(t, err, ErrTooMuch, "%.20s", text)
	}
	require.NoError(t, Unmarshal([]byte(repeated(`{"Any":[`, `{"a":1}`, `]}`, 64<<10)), new(own)))
	var got []Exact[own]
	var rows []string
	for range 5000 {
		rows = append(rows, `{"Any":{"name":"some text, with commas, and more of them","n":[1,2,3]}}`)
	}
	require.NoError(t, DecodeRecord([]byte("["+strings.Join(rows, ",")+"]"), 5000, &got))
	require.Len(t, got, 5000)
}

// Short slices, and what pointers point to, share memory: nobody writes to a neighbour, and a value that does not fit leaves nothing behind.
func TestNeighboursInMemory(t *testing.T) {
	type own struct {
		Tags  []string
		Count *int
		Kids  []own
	}
	rows := read[[]Exact[own]](t, `[{"Tags":["a","b"],"Count":1,"Kids":[{"Tags":["c"],"Kids":[{"Tags":["d"],"Count":2}]},{"Tags":[]}]},
		{"Tags":["left","behind"],"Count":7,"Kids":[{"Tags":["x"]},{"Count":"no"}]},{"Tags":["e",null],"Count":null,"Kids":[{},{"Count":3}]},{"Tags":["f"]}]`)
	one, two, three := 1, 2, 3
	want := []own{
		{[]string{"a", "b"}, &one, []own{{Tags: []string{"c"}, Kids: []own{{[]string{"d"}, &two, nil}}}, {Tags: []string{}}}},
		{},
		{[]string{"e", ""}, nil, []own{{}, {Count: &three}}},
		{Tags: []string{"f"}},
	}
	require.NotNil(t, rows[1].Unfit)
	for i := range rows {
		require.Equal(t, want[i], rows[i].Value, i)
		rows[i].Value.Tags = append(rows[i].Value.Tags, "more")
		rows[i].Value.Kids = append(rows[i].Value.Kids, own{Tags: []string{"more"}})
	}
	for i := range rows {
		require.Equal(t, append(want[i].Tags, "more"), rows[i].Value.Tags, i)
		require.Equal(t, want[i].Count, rows[i].Value.Count, i)
	}
	long := read[[]Exact[own]](t, repeated(`[{"Tags":[`, `"a"`, `]},{"Tags":["b"]}]`, 4<<10))
	require.Equal(t, len(long[0].Value.Tags), cap(long[0].Value.Tags))
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

	require.Equal(t, len(raw), cap(raw), "an append must not reach a neighbour")
	long := New([]byte(`"` + strings.Repeat("x", 100_000) + `"`))
	require.Len(t, long.String(), 100_000)
	require.Zero(t, cap(long.chunk), "a long string has memory of its own")
	short := New(bytes.Repeat([]byte(`"abc" `), 100_000))
	require.Equal(t, "abc", short.String())
	require.LessOrEqual(t, cap(short.chunk), chunkSize)
}

// A decoder that nobody uses keeps nothing of what was read but the names of keys.
func TestReleasedDecodersAreEmpty(t *testing.T) {
	text := []byte(`{"id":"a","name":"secret","count":3,"flat":{"id":"secret","name":"sec\u0072et"},"map":{"k":"secret"},"raw":{"a":1},"any":{"b":["secret"]}}`)
	c, d := New(text), NewDecoder[deep]()
	var got deep
	require.NoError(t, d.Decode(&c, &got))
	require.Equal(t, "secret", *got.Name)
	require.Equal(t, map[string]any{"b": []any{"secret"}}, got.Any)
	d.Release()
	require.Zero(t, d.of.Cursor)
	for _, l := range d.of.learnt {
		require.Zero(t, l.room)
	}
	require.NotContains(t, fmt.Sprint(d.of.learnt), "secret")

	long := fmt.Appendf(nil, `[{"id":"x","%s":2,"int":3},{"%[1]s":2,"%[1]s":{},"int":4}]`, strings.Repeat("k", maxShared))
	for range 3 { // a key that is too long to be known misleads nobody
		c, x := New(long), NewDecoder[flat]()
		c.Array()
		for n := 3; c.Element(); n++ {
			var row flat
			require.NoError(t, x.Decode(&c, &row))
			require.Equal(t, n, row.Int)
		}
		require.NoError(t, c.End())
		x.Release()
		for _, l := range x.of.learnt {
			require.NotContains(t, fmt.Sprint(l.keys), "kkkk")
		}
	}
}
