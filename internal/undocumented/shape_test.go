package undocumented

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/event"
)

type color string

func (c color) Known() bool { return c == "red" || c == "blue" }

type rest json.RawMessage

type wheel struct {
	Size  int   `json:"size"`
	Color color `json:"color,omitempty"`
}

type car struct {
	Name    string    `json:"name"`
	Wheels  []*wheel  `json:"wheels"`
	Spare   *wheel    `json:"spare"`
	Colors  []color   `json:"colors"`
	Notes   any       `json:"notes"`
	Built   time.Time `json:"built"`
	Skipped string    `json:"-"`
	Untold  string
	unseen  string //nolint:unused // it is no member
}

type open struct {
	wheel

	Name string `json:"name"`
	raw  rest   //nolint:unused // it marks other members
}

var raw = reflect.TypeFor[rest]()

func news(t *testing.T, s *Shape, text string) []string {
	t.Helper()
	var got []string
	for _, f := range s.In([]byte(text)) {
		got = append(got, strings.Trim(string(f.Kind)+" "+f.Name+" "+f.Value, " "))
	}
	return got
}

func TestWhatIsNew(t *testing.T) {
	s := ShapeOf(reflect.TypeFor[*car](), raw, false)
	for text, want := range map[string][]string{
		`{"name":"a","wheels":[{"size":1,"color":"red"}],"spare":{"color":"blue"},"colors":["red"],"notes":{"x":1},"built":"now"}`: nil,
		`{"Name":"a"}`: {"field Name"},
		`{"name":1,"wheels":{"size":"x"},"colors":7,"spare":[]}`: nil, // of another type is not new
		`{"wheels":[{"hub":1},{"hub":2,"rim":3}]}`:               {"field wheels.hub", "field wheels.rim"},
		`{"spare":{"color":"green"},"colors":["red","pink","pink","gold"]}`: {
			"value spare.color green", "value colors pink", "value colors gold",
		},
		`{"Untold":1,"Skipped":2,"unseen":3,"raw":4}`:               {"field Untold", "field Skipped", "field unseen", "field raw"},
		`[{"a":1},{"a":{"b":2}},[{"c":3}]]`:                         {"field a", "field c"},
		`{"a":{"wheels":1,"name":2},"name":"x","spare":{"name":3}}`: {"field a", "field spare.name"},
		`{"64f0c0ffee64f0c0ffee64f0":1,"a b":2,"x@y.example":3}`:    {"field", "field", "field"},
		`{"spare":{"some words":1,"color":"somebody's words"}}`:     {"field spare", "value spare.color"},
		`{"colors":[{"x":1},[],null],"spare":{"color":{"y":2}}}`:    nil, // no value of an enumeration is an object
		`{"a":1`:          nil, // what is invalid tells nothing
		`{"a":1} x`:       nil,
		`"a"`:             nil,
		`{"colors":[""]}`: {"value colors"},
	} {
		require.Equal(t, want, news(t, s, text), text)
	}
	require.Empty(t, news(t, nil, `{"a":1}`))
}

func TestShapesOfTypes(t *testing.T) {
	s := ShapeOf(reflect.TypeFor[open](), raw, false)
	require.Equal(t, []string{"value color green"}, news(t, s, `{"size":1,"color":"green","name":"a","more":1}`), "it has other members")
	s = ShapeOf(reflect.TypeFor[open](), raw, true)
	require.Equal(t, []string{"field more"}, news(t, s, `{"size":1,"name":"a","more":1}`), "the type is complete")
	s = ShapeOf(reflect.TypeFor[[]color](), raw, false)
	require.Equal(t, []string{"value  pink"}, news(t, s, `["red","pink"]`))
	for _, t1 := range []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[time.Time](), reflect.TypeFor[map[string]car](), reflect.TypeFor[struct{ A int }](),
	} {
		require.Nil(t, ShapeOf(t1, raw, false), t1)
	}
}

func TestShapesWithin(t *testing.T) {
	s := ShapeOf(reflect.TypeFor[wheel](), raw, false)
	require.Equal(t, []string{"field wheel.hub", "field size"}, news(t, s.Within(false, "wheel"), `{"wheel":{"size":1,"hub":2},"size":1}`))
	require.Equal(t, []string{"field item.hub", "field rim"}, news(t, s.Within(true, "wheel", "item"), `{"item":{"hub":2},"size":1,"rim":1}`))
	require.Equal(t, []string{"field wheel"}, news(t, s, `{"wheel":{}}`), "the shape itself is as before")
	o := ShapeOf(reflect.TypeFor[open](), raw, false)
	require.Empty(t, news(t, o.Within(true, "open"), `{"more":1,"open":{"more":2}}`))
	require.Equal(t, []string{"field more"}, news(t, o.Within(false, "open"), `{"more":1,"open":{"more":2}}`))
}

func TestResponseShape(t *testing.T) {
	wheels := reflect.TypeFor[wheel]()
	s := ResponseShape("a.b", wheels, raw, false, "wheel")
	require.Same(t, s, ResponseShape("a.b", wheels, raw, false, "wheel"), "it is derived once")
	require.Equal(t, []string{"field wheel.hub"}, news(t, s, `{"size":1,"wheel":{"hub":1}}`))
	s = ResponseShape("a.c", wheels, raw, true, "wheel")
	require.Equal(t, []string{"field size"}, news(t, s, `{"size":1,"wheel":{"size":1}}`))
	s = ResponseShape("a.d", wheels, raw, false)
	require.Equal(t, []string{"field wheel"}, news(t, s, `{"size":1,"wheel":{"hub":1}}`))
	require.Nil(t, ResponseShape("a.b", reflect.TypeFor[string](), raw, false, "text"))
	require.NotSame(t, ResponseShape("a.b", reflect.TypeFor[car](), raw, false), s)
}

// However much is new in one text, only so much of it is noted.
func TestMuchThatIsNew(t *testing.T) {
	s := ShapeOf(reflect.TypeFor[wheel](), raw, false)
	var b strings.Builder
	for i := range 2 * maxReported {
		b.WriteString(`,"` + strings.Repeat("x", i+1) + `":1`)
	}
	require.Len(t, s.In([]byte("{"+b.String()[1:]+"}")), maxReported)
}

func TestIsHeader(t *testing.T) {
	for _, name := range []string{"Deprecation", "Sunset", "Ratelimit", "Ratelimit-Policy", "X-Ratelimit-Burst", "Rate-Limit-Left", "X-Rate-Limit"} {
		require.True(t, IsHeader(http.CanonicalHeaderKey(name)), name)
	}
	for _, name := range []string{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Server", "X-Sunset", "X-Frame-Options", "Via", "X-Deprecation"} {
		require.False(t, IsHeader(http.CanonicalHeaderKey(name)), name)
	}
}

// Of many similar texts, the first are examined, and then every so many of them; fewer of large ones.
func TestWhichTextsAreExamined(t *testing.T) {
	for size, want := range map[int][2]int{1: {smallFirst, smallEvery}, largeText - 1: {smallFirst, smallEvery}, largeText: {largeFirst, largeEvery}, 1 << 20: {largeFirst, largeEvery}} {
		var m Memory
		for n := 1; n <= 300; n++ {
			require.Equal(t, n <= want[0] || n%want[1] == 0, m.Due("op", size, false), "text %d of %d bytes", n, size)
		}
		require.True(t, m.Due("op", size, true), "unsuccessful ones are other ones")
		require.True(t, m.Due("other", size, false))
	}
}

func TestWhatIsReportedOnce(t *testing.T) {
	var m Memory
	for _, kind := range []event.UndocumentedKind{
		event.UndocumentedField, event.UndocumentedValue, event.UndocumentedCode, event.UndocumentedHeader,
	} {
		f := event.Undocumented{Kind: kind, Name: "name", Value: "value"}
		require.True(t, m.Report("a", f))
		require.False(t, m.Report("a", f))
		require.Equal(t, kind == event.UndocumentedField || kind == event.UndocumentedValue, m.Report("b", f), "%s of another operation", kind)
	}
	for len(m.reported) < maxReported {
		require.True(t, m.Report("a", event.Undocumented{Kind: event.UndocumentedCode, Name: strings.Repeat("x", len(m.reported))}))
	}
	require.False(t, m.Report("a", event.Undocumented{Kind: event.UndocumentedCode, Name: "one more"}))
	require.False(t, m.Report("a", event.Undocumented{Kind: event.UndocumentedCode, Name: "name", Value: "value"}))
}
