package outbound_test

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
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

// latin encodes itself through encoding/json.
type latin struct{ text string }

func (l latin) MarshalJSON() ([]byte, error) { return json.Marshal(l.text) }

// raw encodes itself, and checks nothing.
type raw string

func (r *raw) MarshalJSON() ([]byte, error) { return []byte(`"` + string(*r) + `"`), nil }

// wordy encodes itself as a text.
type wordy struct{ text string }

func (w wordy) MarshalText() ([]byte, error) { return []byte(w.text), nil }

// kept holds a text as it came.
type kept struct{ json.RawMessage }

func (k kept) Raw() json.RawMessage { return k.RawMessage }

func TestTextThatIsNoUTF8(t *testing.T) {
	odd, fine := raw(bad), raw("x")
	for want, v := range map[string]any{
		"":                 bad,
		"a.b.1":            map[string]any{"a": map[string][]string{"b": {"x", bad}}},
		"a.1.Own":          map[string]any{"a": []any{1, embedded{Own: bad}}},
		"note":             embedded{inner: inner{Note: bad}},
		"-":                inner{Dash: bad},
		"Deep.0":           &embedded{Pointed: &Pointed{Deep: []string{bad}}},
		"caf\uFFFD":        map[string]int{bad: 1},
		"by encoding":      map[string]any{"by encoding": latin{bad}},
		"by pointer":       map[string]any{"by pointer": &odd},
		"by text":          map[string]any{"by text": wordy{bad}},
		"raw message":      map[string]any{"raw message": json.RawMessage(`"` + bad + `"`)},
		"In.0":             struct{ In []json.RawMessage }{[]json.RawMessage{[]byte(bad)}},
		"kept":             map[string]any{"kept": kept{json.RawMessage(bad)}},
		"array.0.1":        map[string][1][2]string{"array": {{"", bad}}},
		"named":            map[string]any{"named": netName(bad)},
		"pointer to a map": map[string]any{"pointer to a map": &map[int]string{1: bad}},
	} {
		got := outbound.Inspect(v, "").Invalid
		if want == "pointer to a map" {
			want += "."
		}
		require.Equal(t, []string{want}, got, "%#v", v)
	}
	for _, v := range []any{
		nil, "", "é\uFFFD", `\ufffd`, []byte(bad),
		map[string]any{"a": nil, "b": (*string)(nil), "c": []any(nil)},
		latin{"é \\ufffd \uFFFD"},
		&fine,
		inner{hidden: bad, Left: bad},
		wordy{"é"},
		json.RawMessage(`"\ufffd"`),
		kept{json.RawMessage(`"\ufffd"`)},
		[]latin{{`\`}},
		netip.MustParseAddr("10.0.0.1"),
		[]float64{1},
		struct{ P *latin }{},
		func() {},
	} {
		require.Empty(t, outbound.Inspect(v, "").Invalid, "%#v", v)
	}
	require.Equal(t, []string{"filters.a"}, outbound.Inspect(map[string]string{"a": bad}, "filters").Invalid)
}

type netName string

func TestSuspect(t *testing.T) {
	for v, want := range map[string]bool{bad: true, "é": false, "\uFFFD": true, `\ufffd`: true} {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, want, outbound.Suspect(string(text)), v)
	}
	require.True(t, outbound.Suspect(bad))
}

// A value that holds itself ends the search; encoding/json says what is wrong.
func TestACycleEnds(t *testing.T) {
	loop := map[string]any{"bad": bad}
	loop["loop"], loop["more"] = loop, []any{loop, loop}
	require.NotEmpty(t, outbound.Inspect(loop, "").Invalid)
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
		"text": "said at 2026-01-31T10:30:00+01:00", "quoted": `"2026-01-31T10:30:00+01:00"`,
	}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	found := outbound.Inspect(in, "")
	require.Len(t, found.Times, 7)
	var got map[string]any
	require.NoError(t, json.Unmarshal(found.Rewrite(text), &got))
	const whole, part = "2026-01-31T09:30:00.000Z", "2026-01-31T09:30:00.250Z"
	require.Equal(t, map[string]any{
		"plain": whole, "pointer": part, "slice": []any{whole, part}, "struct": map[string]any{"at": whole, "later": part},
		"any": []any{map[string]any{"x": whole}}, "text": in["text"], "quoted": in["quoted"],
	}, got)
	require.ElementsMatch(t, slices.Collect(maps.Keys(in)), slices.Collect(maps.Keys(got)))

	far := outbound.Inspect(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), "")
	require.Equal(t, "{}", string(far.Rewrite([]byte("{}"))), "what cannot be encoded is refused elsewhere")
}

func TestText(t *testing.T) {
	text, err := outbound.Text(map[string]string{"a": "<&>"})
	require.NoError(t, err)
	require.Contains(t, text, "<&>", "not \\u003c")
	_, err = outbound.Text(func() {})
	require.Error(t, err)
}
