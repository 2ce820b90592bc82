package outbound_test

import (
	"encoding"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/outbound"
)

// boxed encodes itself by encoding/json, whatever it holds.
type boxed struct{ held any }

func (b boxed) MarshalJSON() ([]byte, error) { return json.Marshal(b.held) }

// addressed encodes itself only where it has an address.
type addressed struct{ text string }

func (a *addressed) MarshalJSON() ([]byte, error) { return json.Marshal(a.text) }

// constant encodes itself as the same text, whatever it holds.
type constant struct{ text, held string }

func (c constant) MarshalJSON() ([]byte, error) { return []byte(c.text), nil }

// ring holds itself.
type ring struct{ next *ring }

func (r *ring) MarshalJSON() ([]byte, error) { return []byte(`"\ufffd"`), nil }

// failing cannot encode itself.
type failing struct{ text string }

func (f failing) MarshalJSON() ([]byte, error) { return []byte(f.text), errors.New("cannot") }

func TestTypesThatEncodeThemselves(t *testing.T) {
	text := bad
	for name, v := range map[string]any{
		"a string": boxed{bad}, "a pointer": boxed{&text}, "a slice": boxed{[]string{"", bad}}, "an array": boxed{[2]string{"", bad}},
		"a key": boxed{map[string]int{bad: 1}}, "a value": boxed{map[int]string{1: bad}}, "a struct": boxed{struct{ A, B string }{"", bad}},
		"unexported": boxed{inner{hidden: bad, Note: bad}}, "bytes": constant{`"\ufffd"`, bad}, "raw bytes": constant{`"` + bad + `"`, ""}, "deep": boxed{[]any{map[string]any{"x": &text}}},
		"bytes, as text": texted{b: []byte(bad)}, "made up": made{1},
		"with an address": &[]addressed{{bad}}, "in a box": boxed{boxed{bad}}, "raw": boxed{[]json.RawMessage{json.RawMessage(`"` + bad + `"`)}},
	} {
		want := "at"
		if name == "with an address" {
			want = "at.0"
		}
		require.Equal(t, []string{want}, outbound.Inspect(map[string]any{"at": v}, "").Invalid, name)
	}
	for name, v := range map[string]any{
		"meant":          boxed{"\uFFFD"},
		"numbers alone":  texted{a: [4]byte{0xe9}}, // an array of bytes is numbers for encoding/json
		"meant, deeper":  boxed{[]any{[]string{"\uFFFD"}, map[string]string{"\uFFFD": "\uFFFD"}, struct{ A string }{"\uFFFD"}}},
		"not encoded":    constant{`"x"`, bad},
		"nothing":        boxed{nil},
		"numbers":        boxed{[]int{1}},
		"a ring":         func() *ring { r := &ring{}; r.next = r; return r }(),
		"cannot encode":  failing{bad},
		"valid, by hand": constant{`"\ufffd"`, "\uFFFD"},
	} {
		require.Empty(t, outbound.Inspect(map[string]any{"at": v}, "").Invalid, name)
	}
}

// level encodes itself as a text, zero too.
type level int

func (l level) MarshalText() ([]byte, error) { return []byte([]string{bad, "high"}[l]), nil }

// A zero value that encodes itself is searched, unless it is left out.
func TestZeroValuesThatEncodeThemselves(t *testing.T) {
	type options struct {
		Sent    level            `json:"sent"`
		Left    level            `json:"left,omitzero"`
		Empty   level            `json:"empty,omitempty"`
		Pointer *level           `json:"pointer"`
		Box     json.Marshaler   `json:"box"`
		Fixed   constant         `json:"fixed"`
		Levels  [2]level         `json:"levels"`
		Map     map[string]level `json:"map"`
	}
	require.Equal(t, []string{"sent", "levels.0", "levels.1", "map.x"}, outbound.Inspect(options{Map: map[string]level{"x": 0}}, "").Invalid)
	require.Equal(t, []string{"a"}, outbound.Inspect(map[string]any{"a": level(0), "b": level(1), "c": (*level)(nil), "d": nil}, "").Invalid)
	require.Equal(t, []string{strings.ToValidUTF8(bad, "\uFFFD")}, outbound.Inspect(map[level]int{0: 1, 1: 2}, "").Invalid, "a key")
	require.Empty(t, outbound.Inspect(map[*level]int{nil: 1}, "").Invalid)
	require.Equal(t, []string{"zero"}, outbound.Inspect(map[string]any{"zero": invalid{}}, "").Invalid)
}

// The value counts, whatever methods the type of its place has.
func TestInstantsInPlacesOfAnInterface(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))
	for _, v := range []any{
		map[string]json.Marshaler{"at": at},
		map[string]encoding.TextMarshaler{"at": &at},
		[1]json.Marshaler{at},
		struct{ At json.Marshaler }{at},
		&struct{ At encoding.TextMarshaler }{at},
		[]json.Marshaler{&at},
	} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.Contains(t, string(outbound.Inspect(v, "").Rewrite(text)), `"2026-01-02T02:04:05.678Z"`, "%T", v)
	}
	require.Empty(t, outbound.Inspect(map[string]json.Marshaler{"at": (*time.Time)(nil)}, "").Times)
}

// invalid encodes itself as what is no text.
type invalid struct{}

func (invalid) MarshalJSON() ([]byte, error) { return []byte(`"` + bad + `"`), nil }

// An embedded struct with a name of its own is a member of that name.
func TestEmbeddedWithAName(t *testing.T) {
	type outer struct {
		Pointed `json:"p"`
	}
	require.Equal(t, []string{"p.Deep.0"}, outbound.Inspect(outer{Pointed{[]string{bad}}}, "").Invalid)
}

// texted encodes its bytes as a text.
type texted struct {
	a [4]byte
	b []byte
}

func (b texted) MarshalJSON() ([]byte, error) {
	return json.Marshal(string(append(b.a[:], b.b...)))
}

// made holds nothing and encodes itself as a text that is no UTF-8.
type made struct{ n int }

func (made) MarshalJSON() ([]byte, error) { return []byte(`"` + bad + `"`), nil }

// A struct that embeds two types that encode themselves does not encode itself, and neither do they in it: they are unexported.
func TestEmbeddedTypesThatEncodeThemselves(t *testing.T) {
	type both struct {
		constant
		failing
		Own string
	}
	v := both{constant{`"x"`, bad}, failing{bad}, bad}
	_, err := json.Marshal(v)
	require.NoError(t, err)
	require.Equal(t, []string{"Own"}, outbound.Inspect(v, "").Invalid)
}

// Whatever a value holds itself through, the search ends.
func TestEveryCycleEnds(t *testing.T) {
	type (
		slice  []any
		mapped map[string]any
		chain  struct{ Next *chain }
		linked struct{ *linked }
		keyed  map[any]int
	)
	inSlice, inMap, inChain, inLinked := make(slice, 1), mapped{}, &chain{}, &linked{}
	inSlice[0], inMap["x"], inChain.Next, inLinked.linked = inSlice, inMap, inChain, inLinked
	inKey := &struct{ m keyed }{keyed{}}
	inKey.m[inKey] = 1
	for name, v := range map[string]any{"slice": inSlice, "map": inMap, "struct": inChain, "embedded": inLinked, "key": inKey} {
		require.Empty(t, outbound.Inspect(v, "").Invalid, name)
		require.Empty(t, outbound.Inspect(map[string]any{"x": cyclic{v}}, "").Invalid, name)
	}
}

// cyclic may hold itself, and encodes itself as a text that asks for a search.
type cyclic struct{ held any }

func (cyclic) MarshalJSON() ([]byte, error) { return []byte(`"\ufffd"`), nil }

// pair may hold itself twice.
type pair struct {
	left, right *pair
	text        string
}

func (*pair) MarshalJSON() ([]byte, error) { return []byte(`"\ufffd"`), nil }

// The search of what encodes itself also ends where each step has two ways on, and finds what stands after a cycle.
func TestEveryTangleEnds(t *testing.T) {
	p := new(pair)
	p.left = p
	p.text = bad
	require.Equal(t, []string{"x"}, outbound.Inspect(map[string]any{"x": p}, "").Invalid)
	p.right, p.text = p, ""
	require.Empty(t, outbound.Inspect(map[string]any{"x": p}, "").Invalid)
}

// otherCoder encodes itself by a method of another library, of which encoding/json knows nothing.
type otherCoder struct {
	At   time.Time
	Text string
}

func (otherCoder) MarshalJSONTo(*strings.Builder) error { return nil }

func TestAMethodOfAnotherLibrary(t *testing.T) {
	at := time.Date(2026, time.January, 31, 10, 30, 0, 0, time.FixedZone("", 3600))
	body, err := outbound.Encode(map[string]any{"own": otherCoder{At: at, Text: bad}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"own.Text"}, body.Invalid)
	require.Contains(t, string(body.Text), `"2026-01-31T09:30:00.000Z"`)
}
