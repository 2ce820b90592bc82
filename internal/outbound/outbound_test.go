package outbound_test

import (
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/outbound"
)

const bad = "caf\xe9"

type inner struct {
	Note   string `json:"note,omitempty"`
	hidden string
	Left   string `json:"-"`
	Dash   string `json:"-,"` //nolint:staticcheck // a field of that name is meant
}

type embedded struct {
	inner
	*Pointed
	Own string
}

// Pointed is embedded by pointer.
type Pointed struct{ Deep []string }

// boxed encodes itself by encoding/json, whatever it holds.
type boxed struct{ held any }

func (b boxed) MarshalJSON() ([]byte, error) { return json.Marshal(b.held) }

// raw encodes itself, and checks nothing.
type raw string

func (r *raw) MarshalJSON() ([]byte, error) { return []byte(`"` + string(*r) + `"`), nil }

// wordy encodes itself as a text.
type wordy struct{ text string }

func (w wordy) MarshalText() ([]byte, error) { return []byte(w.text), nil }

// kept holds a text as it came.
type kept struct{ json.RawMessage }

// constant encodes itself as the same text, whatever it holds.
type constant struct{ text, held string }

func (c constant) MarshalJSON() ([]byte, error) { return []byte(c.text), nil }

// made encodes itself as what it does not hold.
type made struct{}

func (made) MarshalJSON() ([]byte, error) { return []byte(`"` + bad + `"`), nil }

// ring holds itself.
type ring struct{ Next, Other *ring }

func (r *ring) MarshalJSON() ([]byte, error) { return []byte(`"\ufffd"`), nil }

type netName string

func TestTextThatIsNoUTF8(t *testing.T) {
	odd, text := raw(bad), bad
	for want, v := range map[string]any{
		"":         bad,
		"a.b[1]":   map[string]any{"a": map[string][]string{"b": {"x", bad}}},
		"a[1].Own": map[string]any{"a": []any{1, embedded{Own: bad}}},
		"note":     embedded{inner: inner{Note: bad}},
		"-":        inner{Dash: bad},
		"Deep[0]":  &embedded{Pointed: &Pointed{Deep: []string{bad}}},
		"p.Deep[0]": struct {
			Pointed `json:"p"`
		}{Pointed{[]string{bad}}},
		"caf\uFFFD":       map[string]int{bad: 1},
		"by encoding[0].": map[string]any{"by encoding": boxed{[]any{map[string]any{"": &text}}}},
		"key.caf\uFFFD":   map[string]any{"key": boxed{map[string]int{bad: 1}}},
		"by pointer":      map[string]any{"by pointer": &odd},
		"by text":         map[string]any{"by text": wordy{bad}},
		"raw message":     map[string]any{"raw message": json.RawMessage(`"` + bad + `"`)},
		"kept":            map[string]any{"kept": kept{json.RawMessage(`"` + bad + `"`)}},
		"array[0][1]":     map[string][1][2]string{"array": {{"", bad}}},
		"named":           map[string]any{"named": netName(bad)},
		"map by number.1": map[string]any{"map by number": &map[int]string{1: bad}},
		"held":            map[string]any{"held": constant{`"\ufffd"`, bad}},
		"made":            map[string]any{"made": made{}},
	} {
		_, invalid, err := outbound.Encode(v, nil)
		require.NoError(t, err)
		require.Equal(t, []string{want}, invalid, "%#v", v)
	}
	_, invalid, err := outbound.Encode(map[string]any{"a": bad}, []outbound.Field{{Name: "more", Value: []any{"x", bad}}, {Name: bad, Value: 1}})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "caf\uFFFD", "more[1]"}, invalid, "added fields are searched, too")
	for _, v := range []any{
		nil, "", "é\uFFFD", `\ufffd`, []byte(bad),
		map[string]any{"a": nil, "b": (*string)(nil), "c": []any(nil), "\uFFFD": "x"},
		boxed{"é \\ufffd \uFFFD"},
		inner{hidden: bad, Left: bad},
		constant{`"x"`, bad},
		json.RawMessage(`"\ufffd"`),
		[]float64{1},
	} {
		_, invalid, err := outbound.Encode(v, nil)
		require.NoError(t, err)
		require.Empty(t, invalid, "%#v", v)
	}
	require.Equal(t, []string{"filters.a"}, outbound.Invalid("filters", []byte(`{"a":"caf\ufffd"}`), map[string]string{"a": bad}))
	require.Empty(t, outbound.Invalid("filters", []byte(`{"a":"caf\ufffd"}`), map[string]string{"a": "caf\uFFFD"}))
}

// A value that holds itself ends the search; encoding/json says what is wrong.
func TestACycleEnds(t *testing.T) {
	loop := map[string]any{"bad": bad}
	loop["loop"], loop["more"] = loop, []any{loop, loop}
	_, invalid, err := outbound.Encode(loop, nil)
	require.Error(t, err)
	require.Empty(t, invalid)
	r := new(ring)
	r.Next, r.Other = r, r
	_, invalid, err = outbound.Encode(map[string]any{"ring": r}, nil)
	require.NoError(t, err)
	require.Empty(t, invalid)
}

func TestInstants(t *testing.T) {
	berlin := time.FixedZone("", 3600)
	at := time.Date(2026, time.January, 31, 10, 30, 0, 0, berlin)
	type event struct {
		At    time.Time  `json:"at"`
		Later *time.Time `json:"later,omitempty"`
		Never time.Time  `json:"never,omitzero"`
	}
	later := at.Add(250*time.Millisecond + 999*time.Microsecond)
	in := map[string]any{
		"plain": at, "pointer": &later, "slice": []time.Time{at, later.UTC()}, "struct": event{At: at, Later: &later}, "any": []any{map[string]time.Time{"x": at}},
		"interface": map[string]json.Marshaler{"y": at},
		"text":      "said at 2026-01-31T10:30:00+01:00", "quoted": `"2026-01-31T10:30:00+01:00"`,
	}
	sent, _, err := outbound.Encode(in, []outbound.Field{{"more", at}})
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(sent, &got))
	const whole, part = "2026-01-31T09:30:00.000Z", "2026-01-31T09:30:00.250Z"
	require.Equal(t, map[string]any{
		"plain": whole, "pointer": part, "slice": []any{whole, part}, "struct": map[string]any{"at": whole, "later": part}, "interface": map[string]any{"y": whole},
		"any": []any{map[string]any{"x": whole}}, "text": in["text"], "quoted": in["quoted"], "more": whole,
	}, got)
	_, _, err = outbound.Encode(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), nil)
	require.Error(t, err)
}

// What many instants take grows with the text, not with its square.
func TestManyInstants(t *testing.T) {
	at := make([]time.Time, 2000)
	for i := range at {
		at[i] = time.Date(2026, time.January, 31, 10, i, 0, 0, time.UTC)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sent, _, err := outbound.Encode(at, nil)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Contains(t, string(sent), `,"2026-02-01T19:19:00.000Z"]`)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100*len(sent)))
}

func TestText(t *testing.T) {
	text, err := outbound.Text(map[string]string{"a": "<&>"})
	require.NoError(t, err)
	require.Contains(t, text, "<&>", "not \\u003c")
	_, err = outbound.Text(func() {})
	require.Error(t, err)
}

func TestNames(t *testing.T) {
	type other struct {
		Name string `json:"name"`
		More string `json:"more,omitzero"`
		Out  string `json:"-"`
	}
	require.Equal(t, []string{"name", "left", "Plain", "Empty", "more"}, outbound.Names(shape{}, other{}))
}
