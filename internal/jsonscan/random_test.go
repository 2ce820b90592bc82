package jsonscan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Types that reflect.StructOf cannot make: with names, methods, embedded fields and themselves inside.
type (
	tree1 struct {
		Name string             `json:"name"`
		Kids []tree1            `json:"kids"`
		Next *tree1             `json:"next,omitempty"`
		By   map[string]tree1   `json:"by"`
		Ptr  map[string]*tree1  `json:"ptr"`
		Deep map[string][]tree1 `json:"deep"`
	}
	links  []links
	nested map[string]nested
	flag   bool
	count  uint16
	ratio  float32
	label  string
	labels []label
	shelf  struct {
		Label label     `json:"label"`
		Flag  *flag     `json:"flag"`
		Count count     `json:"count,string"`
		Ratio ratio     `json:"ratio"`
		All   labels    `json:"all"`
		Grid  [][2]int8 `json:"grid"`
	}
	inner struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Tags []string
	}
	Outer struct {
		inner
		*Wrapped
		Name int `json:"name"`
		When time.Time
	}
	Wrapped struct {
		Deep struct{ A, B *int } `json:"deep"`
		ID   int                 `json:"ID"`
		shelf
	}
	stamps struct {
		At    time.Time              `json:"at"`
		Until *time.Time             `json:"until"`
		All   []time.Time            `json:"all"`
		By    map[string]time.Time   `json:"by"`
		Addr  netip.Addr             `json:"addr"`
		Big   *big.Int               `json:"big"`
		Big2  big.Int                `json:"big2"`
		URL   *url.URL               `json:"url"`
		Keys  map[count]string       `json:"keys"`
		Addrs map[netip.Addr]float64 `json:"addrs"`
	}
	quotedKinds struct {
		I   int         `json:"i,string"`
		P   *int64      `json:"p,string"`
		F   float64     `json:"f,string"`
		B   bool        `json:"b,string"`
		S   string      `json:"s,string"`
		N   []int       `json:"n,string"` //nolint:staticcheck // its result is the question
		U   uint8       `json:"u,string,omitempty"`
		T   upper       `json:"t,string"`
		Num json.Number `json:"num,string"`
	}
	withMethods struct {
		A struct{ When struct{ time.Time } }
		B string
	}
	odds struct {
		Any    any                        `json:"any"`
		Anys   []any                      `json:"anys"`
		Map    map[string]any             `json:"map"`
		Maps   []map[string]any           `json:"maps"`
		Named  map[label]int              `json:"named"`
		Err    error                      `json:"err"`
		Chan   chan int                   `json:"chan"`
		Func   func()                     `json:"func"`
		Cplx   complex128                 `json:"cplx"`
		Bytes  []byte                     `json:"bytes"`
		Named2 []count                    `json:"named2"`
		Raw    json.RawMessage            `json:"raw"`
		Raws   map[string]json.RawMessage `json:"raws"`
		PRaw   *json.RawMessage           `json:"praw"`
		Num    json.Number                `json:"num"`
		PP     **string                   `json:"pp"`
		Spaced string                     `json:"Deal size"`
		Dash   string                     `json:"-,"` //nolint:staticcheck // likewise
		Slash  string                     `json:"a/b"`
	}
)

var named = []reflect.Type{
	reflect.TypeFor[tree1](), reflect.TypeFor[links](), reflect.TypeFor[nested](), reflect.TypeFor[shelf](), reflect.TypeFor[Outer](), reflect.TypeFor[stamps](),
	reflect.TypeFor[quotedKinds](), reflect.TypeFor[withMethods](), reflect.TypeFor[odds](), reflect.TypeFor[deep](), reflect.TypeFor[embedding](),
	reflect.TypeFor[map[string]any](), reflect.TypeFor[any](), reflect.TypeFor[[]Outer](), reflect.TypeFor[map[string]Outer](), reflect.TypeFor[*tree1](),
}

// leaves are what random structs are made of.
var leaves = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
	reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](), reflect.TypeFor[uintptr](),
	reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[any](), reflect.TypeFor[time.Time](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[json.Number](),
	reflect.TypeFor[label](), reflect.TypeFor[flag](), reflect.TypeFor[upper](), reflect.TypeFor[whole](), reflect.TypeFor[[]byte](), reflect.TypeFor[shelf](), reflect.TypeFor[inner](),
}

func randomType(r *rand.Rand, depth int) reflect.Type {
	if depth > 3 {
		return leaves[r.IntN(len(leaves))]
	}
	switch r.IntN(10) {
	case 0:
		return reflect.PointerTo(randomType(r, depth+1))
	case 1:
		return reflect.SliceOf(randomType(r, depth+1))
	case 2:
		return reflect.ArrayOf(r.IntN(4), randomType(r, depth+1))
	case 3:
		return reflect.MapOf(reflect.TypeFor[string](), randomType(r, depth+1))
	case 4:
		return randomStruct(r, depth+1)
	}
	return leaves[r.IntN(len(leaves))]
}

func randomStruct(r *rand.Rand, depth int) reflect.Type {
	var fields []reflect.StructField
	for i := range r.IntN(8) {
		f := reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: randomType(r, depth)}
		name := []string{"id", "name", "a", "A", "b c", "x", "", "f1", "ID", "ü"}[r.IntN(10)]
		switch r.IntN(5) {
		case 0:
			f.Tag = reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty"`, name))
		case 1, 2:
			f.Tag = reflect.StructTag(fmt.Sprintf(`json:"%s"`, name))
		case 3:
			f.Tag = reflect.StructTag(fmt.Sprintf(`json:"%s,string"`, name))
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// randomText writes a value that often fits a type.
func randomText(r *rand.Rand, t reflect.Type, depth int) string {
	if r.IntN(12) == 0 || depth > 7 {
		return anyText(r, depth)
	}
	switch t {
	case timeType:
		return pickText(r, `"2026-11-22T10:00:00Z"`, `"2026-11-22T10:00:00.123Z"`, `"2024-02-29T23:59:59.999999999Z"`, `"2026-02-29T00:00:00Z"`, `"2026-11-22T10:00:00+01:00"`, `"2026-11-22t10:00:00z"`, `"x"`)
	case reflect.TypeFor[json.RawMessage]():
		return anyText(r, depth)
	case numberType:
		return pickText(r, "1", "-2.5e3", `"7"`, `""`, `"x"`, "1e999")
	}
	switch t.Kind() {
	case reflect.String:
		return stringText(r)
	case reflect.Bool:
		return pickText(r, "true", "false")
	case reflect.Float32, reflect.Float64:
		return pickText(r, "0", "-0", "1.5", "-2e3", "0.1", "1e39", "1e400", "16777217")
	case reflect.Pointer:
		return randomText(r, t.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && r.IntN(3) > 0 {
			return pickText(r, `"aGk="`, `""`, `"?"`, `"aG\nk="`, `"aGk"`)
		}
		var all []string
		for range r.IntN(5) {
			all = append(all, randomText(r, t.Elem(), depth+1))
		}
		return "[" + strings.Join(all, ",") + "]"
	case reflect.Map:
		var all []string
		for range r.IntN(5) {
			all = append(all, keyText(r)+":"+randomText(r, t.Elem(), depth+1))
		}
		return "{" + strings.Join(all, ",") + "}"
	case reflect.Struct:
		return structText(r, t, depth)
	case reflect.Interface:
		return anyText(r, depth)
	default:
		return pickText(r, "0", "1", "-1", "127", "128", "-129", "255", "256", "65536", "2147483648", "4294967296", "9223372036854775807", "18446744073709551616", "1.0", "1e2", "-0")
	}
}

func structText(r *rand.Rand, t reflect.Type, depth int) string {
	var all []string
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() != reflect.Interface {
			e := f.Type
			if e.Kind() == reflect.Pointer {
				e = e.Elem()
			}
			if inside := strings.Trim(structText(r, e, depth+1), "{}"); inside != "" {
				all = append(all, inside)
			}
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		switch r.IntN(12) {
		case 0:
			continue
		case 1:
			name = strings.ToUpper(name)
		case 2:
			all = append(all, `"other":`+anyText(r, depth))
		}
		text := randomText(r, f.Type, depth+1)
		if strings.Contains(options, "string") && r.IntN(4) > 0 {
			text = strconv.Quote(text)
		}
		all = append(all, strconv.Quote(name)+":"+text)
		if r.IntN(20) == 0 {
			all = append(all, strconv.Quote(name)+":"+randomText(r, f.Type, depth+1))
		}
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return "{" + strings.Join(all, pickText(r, ",", ",", ",", " , ")) + "}"
}

func anyText(r *rand.Rand, depth int) string {
	if depth > 8 {
		return "null"
	}
	switch r.IntN(8) {
	case 0:
		return "{" + keyText(r) + ":" + anyText(r, depth+1) + "," + keyText(r) + ":" + anyText(r, depth+1) + "}"
	case 1:
		return "[" + anyText(r, depth+1) + ", " + anyText(r, depth+1) + "]"
	case 2:
		return stringText(r)
	}
	return pickText(r, "null", "null", "true", "1", "-2.5", "{}", "[]", `"x"`, "1e400")
}

func keyText(r *rand.Rand) string {
	return pickText(r, `"id"`, `"name"`, `"a"`, `"A"`, `"k1"`, `"k2"`, `"\u0061"`, `""`, `"1"`, `"ü"`, `"127.0.0.1"`)
}

func stringText(r *rand.Rand) string {
	return pickText(r, `""`, `"a"`, `"Ada Lovelace"`, `"é\u00e9\n\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", `"5"`, `"true"`, `"null"`, `"!"`, `"\"q\""`)
}

func pickText(r *rand.Rand, texts ...string) string { return texts[r.IntN(len(texts))] }

// sameAs holds two values in a row, of which the decoder learns, against encoding/json.
func sameAs(t *testing.T, of reflect.Type, texts ...string) {
	t.Helper()
	d := borrow(planKey{of, false})
	defer d.release()
	for _, text := range texts {
		want, got, again := reflect.New(of), reflect.New(of), reflect.New(of)
		wantErr := json.Unmarshal([]byte(text), want.Interface())
		d.Cursor = New([]byte(text))
		err := cmp.Or(d.exactly(d.root, got.UnsafePointer()), d.End())
		require.Equal(t, wantErr == nil, err == nil, "%s\n%s\n%v\n%v", of, text, wantErr, err)
		if wantErr == nil {
			require.Equal(t, want.Interface(), got.Interface(), "%s\n%s", of, text)
		}
		require.Equal(t, wantErr, Unmarshal([]byte(text), again.Interface()), "%s\n%s", of, text)
		require.Equal(t, want.Interface(), again.Interface(), "%s\n%s", of, text)
	}
}

func TestRandomTypes(t *testing.T) {
	for seed := range uint64(150) {
		sameRandomly(t, seed)
	}
}

func FuzzTypes(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(sameRandomly)
}

func sameRandomly(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	of := randomStruct(r, 0)
	if r.IntN(3) == 0 {
		of = named[r.IntN(len(named))]
	}
	var texts, fitting []string
	for range 8 {
		text := randomText(r, of, 0)
		if json.Unmarshal([]byte(text), reflect.New(of).Interface()) == nil {
			fitting = append(fitting, text)
		}
		if r.IntN(10) == 0 && len(text) > 2 {
			at := r.IntN(len(text))
			text = text[:at] + pickText(r, "", ",", "}", `"`, "x", " ") + text[at+r.IntN(2):]
		}
		texts = append(texts, text)
	}
	sameAs(t, of, texts...)
	page := "[" + strings.Join(slices.Concat(fitting, fitting, fitting), ",") + "]" // neighbours share memory
	sameAs(t, reflect.SliceOf(of), page, page)
}
