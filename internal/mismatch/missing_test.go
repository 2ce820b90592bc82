package mismatch

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/jsonscan"
)

type engine struct {
	Power  int  `json:"power"`
	Liters *int `json:"liters,omitempty"`
}

type vehicle struct {
	engine

	Name   string            `json:"name"`
	Plain  int               //
	Parts  []engine          `json:"parts,omitempty"`
	Pair   [2]engine         `json:"pair,omitzero"`
	ByName map[string]engine `json:"byName,omitempty"`
	Next   *engine           `json:"next,omitempty"`
	Built  time.Time         `json:"built,omitzero"`
	Self   tuned             `json:"self,omitzero"`
	Named  engine            `json:"engine,omitzero"`
	Left   string            `json:"-"`
	hidden string            //nolint:unused // it is no member
}

// tuned decodes itself.
type tuned struct{ Power int }

func (t *tuned) UnmarshalJSON([]byte) error { return nil }

type wide struct {
	S []*[1 << 16]byte `json:"s,omitempty"`
}

// A short text takes no more memory than it does without strictness, and one that is nested deeply no more than its length many times.
func TestDecodeStrict_Takes(t *testing.T) {
	taken := func(text string, v any) (bytes uint64, err error) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = DecodeStrict([]byte(text), v)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc, err
	}
	short := `{"s":[` + strings.Repeat("[],", 8000) + `[]]}`
	var inner any = new(wide)
	for _, v := range []any{new(wide), &inner} {
		n, err := taken(short, v)
		require.ErrorIs(t, err, jsonscan.ErrTooMuch)
		require.Less(t, n, uint64(64<<20))
	}
	deep := strings.Repeat(`{"n":`, 2000) + `{"m":1}` + strings.Repeat("}", 2000)
	n, err := taken(deep, new(nested))
	require.ErrorContains(t, err, `unknown field "m"`)
	require.Less(t, n, uint64(8<<20))
	_, err = taken(strings.Repeat(`{"n":`, 3)+`{"m":1}`+strings.Repeat("}", 3), new(struct {
		N struct{ N struct{ N struct{ X int } } }
	}))
	require.EqualError(t, err, `"N.N.N.X" is not there: N.N.N is an object with m`)
}

type nested struct {
	N *nested `json:"n,omitempty"`
}

func TestMissing(t *testing.T) {
	const head = `{"power":1,"name":"a","Plain":2`
	for text, want := range map[string]string{
		head + `}`:                                               "",
		`{"POWER":1,"Name":"a","plain":2}`:                       "",
		`{"power":1,"Plain":2}`:                                  `"name" is not there: the value is an object with power, Plain`,
		`{"name":"a","Plain":2}`:                                 `"power" is not there: the value is an object with name, Plain`,
		`{"power":null,"name":null,"Plain":{}}`:                  "",
		head + `,"parts":[{"power":1},{"liters":2,"power":3}]}`:  "",
		head + `,"parts":[{"power":1},{"liters":2}]}`:            `"parts.1.power" is not there: parts.1 is an object with liters`,
		head + `,"pair":[{"power":1},{}]}`:                       `"pair.1.power" is not there: pair.1 is an object without plain keys`,
		head + `,"byName":{"a":{"power":1},"b":{}}}`:             `"byName.b.power" is not there: byName.b is an object without plain keys`,
		head + `,"byName":{"somebody's name":{"liters":1}}}`:     `"byName..power" is not there: byName. is an object with liters`,
		head + `,"next":{}}`:                                     `"next.power" is not there: next is an object without plain keys`,
		head + `,"next":null,"parts":null,"byName":null}`:        "",
		head + `,"engine":{"liters":1}}`:                         `"engine.power" is not there: engine is an object with liters`,
		head + `,"parts":{},"pair":3,"byName":[{}],"next":[{}]}`: "", // of another type is not missing
		head + `,"built":"now","self":{}}`:                       "",
		head + `,"parts":[null]}`:                                `"parts.0.power" is not there: parts.0 is null`,
		head + `,"byName":{"a":null}}`:                           `"byName.a.power" is not there: byName.a is null`,
		head + `,"engine":null,"pair":null,"built":null}`:        "", // the tag excuses it
		`[]`:   "",
		`null`: `"power" is not there: the value is null`,
	} {
		err := Missing([]byte(text), reflect.TypeFor[vehicle]())
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.EqualError(t, err, want, text)
		}
	}
	require.EqualError(t, Missing([]byte(`[{"power":1},{}]`), reflect.TypeFor[[]*engine]()), `"1.power" is not there: 1 is an object without plain keys`)
	require.Error(t, Missing([]byte(`{"power":`), reflect.TypeFor[engine]()))
	type alike struct {
		A int `json:"id"`
		B int `json:"Id"`
	}
	require.ErrorContains(t, Missing([]byte(`{"ID":1}`), reflect.TypeFor[alike]()), `"Id" is not there`, "one key fills one field")
	require.NoError(t, Missing([]byte(`{}`), reflect.TypeFor[tuned]()))
	require.NoError(t, Missing([]byte(`{}`), reflect.TypeFor[*tuned]()))
	require.NoError(t, Missing([]byte(`[null,{"power":1}]`), reflect.TypeFor[[]*engine]()), "a pointer may mean null")
	require.NoError(t, Missing([]byte(`null`), reflect.TypeFor[struct{}]()))
	require.EqualError(t, Missing([]byte(`{"first":null,"next":{}}`), reflect.TypeFor[struct {
		First struct {
			ID string `json:"id,omitzero"`
		} `json:"first"`
		Next engine `json:"next"`
	}]()), `"next.power" is not there: next is an object without plain keys`, "null ends no more than its own value")
}

func TestMissingOfAnEmbeddedStructWithAName(t *testing.T) {
	type outer struct {
		engine `json:"engine"`
		Wheel  `json:"wheel"`
	}
	require.NoError(t, Missing([]byte(`{"wheel":{"size":1},"engine":{"power":1}}`), reflect.TypeFor[outer]()))
	require.EqualError(t, Missing([]byte(`{"wheel":{"size":1}}`), reflect.TypeFor[outer]()),
		`"engine" is not there: the value is an object with wheel`, "encoding/json fills it")
	require.EqualError(t, Missing([]byte(`{"size":1,"engine":{"power":1}}`), reflect.TypeFor[outer]()), `"wheel" is not there: the value is an object with size, engine`)
	require.EqualError(t, Missing([]byte(`{"wheel":{},"engine":{"power":1}}`), reflect.TypeFor[outer]()), `"wheel.size" is not there: wheel is an object without plain keys`)
}

// Wheel is embedded.
type Wheel struct {
	Size int `json:"size"`
}

func TestOutline(t *testing.T) {
	many := `{"k":0`
	for i := range 30 {
		many += `,"` + strings.Repeat("x", i+1) + `":[1]`
	}
	for text, want := range map[string]string{
		``: "empty", `{}`: "an object without plain keys", `{"a b":1,"":2}`: "an object without plain keys", `{"a":{"b":1},"c d":2,"e":[]}`: "an object with a, e",
		`[]`: "an array of 0", `[1,[2,3],{}]`: "an array of 3", `null`: "null", `"text"`: "not an object", `7`: "not an object", `false`: "not an object",
	} {
		require.Equal(t, want, Outline([]byte(text)), text)
	}
	require.Equal(t, 19, strings.Count(Outline([]byte(many+"}")), ","), "twenty of them")
}

func TestNotThere(t *testing.T) {
	require.EqualError(t, NotThere("a.b", "", []byte(`[1]`)), `"a.b" is not there: the value is an array of 1`)
	require.EqualError(t, NotThere("a.b", ".a", []byte(`1`)), `"a.b" is not there: a is not an object`)
	require.EqualError(t, NotThere("a.b", "a", nil), `"a.b" is not there: a is empty`)
}

// Engine is embedded without a name: its members are those of the outer struct.
type Engine struct{ Power int }

// What is of another kind than the type is not missing, whatever it is.
func TestMissingOfOtherKinds(t *testing.T) {
	for _, of := range []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool](), reflect.TypeFor[any](), reflect.TypeFor[[]Engine](), reflect.TypeFor[[1]Engine](),
		reflect.TypeFor[map[string]Engine](), reflect.TypeFor[*[]Engine](), reflect.TypeFor[**int](), reflect.TypeFor[Engine](),
	} {
		for _, text := range []string{`"x"`, `{"Power":1}`, `[{"Power":1}]`, `{"a":{"Power":1}}`, `1`, `true`, `null`} {
			if of == reflect.TypeFor[Engine]() && (text == `{"a":{"Power":1}}` || text == `null`) || of == reflect.TypeFor[map[string]Engine]() && text == `{"Power":1}` {
				continue // TestMissing
			}
			require.NoError(t, Missing([]byte(text), of), "%s: %s", of, text)
		}
	}
	type outer struct {
		Engine
		Name string
	}
	require.NoError(t, Missing([]byte(`{"Power":1,"Name":"a"}`), reflect.TypeFor[outer]()))
	require.EqualError(t, Missing([]byte(`{"Name":"a"}`), reflect.TypeFor[outer]()), `"Power" is not there: the value is an object with Name`)
}

// otherCoder reads itself by a method of another library, of which encoding/json knows nothing.
type otherCoder struct{ Name string }

func (*otherCoder) UnmarshalJSONFrom(*strings.Reader) error { return nil }

func TestMissing_AMethodOfAnotherLibrary(t *testing.T) {
	require.ErrorContains(t, Missing([]byte(`{}`), reflect.TypeFor[otherCoder]()), "Name")
}
