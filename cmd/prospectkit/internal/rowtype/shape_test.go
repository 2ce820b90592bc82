package rowtype

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// typeOf is the Go type of a field that rows have these values in.
func typeOf(t *testing.T, values ...string) string {
	t.Helper()
	rows := make([]string, len(values))
	for i, v := range values {
		rows[i] = `{"x":` + v + `}`
	}
	for line := range strings.Lines(source(t, nil, rows...)) {
		if parts := strings.Fields(line); len(parts) > 1 && parts[0] == "X" {
			return parts[1]
		}
	}
	return ""
}

func TestTypes(t *testing.T) {
	for _, c := range []struct{ want, values string }{
		{"string", `"a" ""`},
		{"bool", `true false`},
		{"int64", `0 -1 9223372036854775807 -9223372036854775808`},
		{"float64", `1 1.5 -0.25`},
		{"float64", `1e+21 0.000001`},
		{"float64", `-0`},
		{"json.Number", `9223372036854775808`}, // a float64 writes it otherwise
		{"json.Number", `1.50`},
		{"json.Number", `9007199254740993 0.5`},
		{"json.Number", `0.12345678901234567890`},
		{"json.Number", `1e400`},
		{"ContactTime", `"2026-01-02T03:04:05.000Z" "2026-01-02T03:04:05.120Z"`},
		{"time.Time", `"2026-01-02T03:04:05Z" "2026-01-02T03:04:05.12+05:30"`},
		{"string", `"2026-01-02T03:04:05Z" "2026-01-02T03:04:05.120Z"`},
		{"string", `"2026-01-02T03:04:05.000Z" "soon"`},
		{"string", `"0001-01-01T00:00:00.000Z"`},
		{"string", `"2026-01-02"`},
		{"json.RawMessage", `null`},
		{"json.RawMessage", `1 "a"`},
		{"json.RawMessage", `1 {} null`},
		{"*int64", `1 null`},
		{"*ContactTime", `"2026-01-02T03:04:05.000Z" null`},
		{"[]json.RawMessage", `[] null`},
		{"[]string", `["a"] [] null`},
		{"[]*string", `["a",null]`},
		{"[][]int64", `[[1],[]]`},
		{"[]ContactX", `[{"a":1}]`},
		{"map[string]json.RawMessage", `{}`},
		{"map[string]int64", `{"a@mail.example":1}`},
		{"map[string]int64", `{"anna":1} {"bert":2}`},
		{"map[string]int64", `{"a":1,"b":2,"c":3} {"d":1} {"e":1} {"a":1} {}`},
		{"ContactX", `{"a":1,"b":2} {"a":1} {}`},
		{"map[string]json.RawMessage", `{"a@mail.example":1,"b@mail.example":"x"}`},
	} {
		require.Equal(t, c.want, typeOf(t, strings.Fields(c.values)...), c.values)
	}
}

func TestTypes_NestedTooDeep(t *testing.T) {
	text := source(t, nil, `{"x":`+strings.Repeat(`{"y":`, 40)+`1`+strings.Repeat("}", 40)+`}`)
	require.Equal(t, deepest-1, strings.Count(text, "is an object in a row"))
	require.Contains(t, text, "json.RawMessage `json:\"y\"` // nested too deep for a type")
	text = source(t, nil, `{"x":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`}`)
	require.Contains(t, text, " "+strings.Repeat("[]", deepest-1)+"json.RawMessage")
}

func TestKeepsFloat(t *testing.T) {
	for _, number := range []string{"0", "-0", "1", "1.50", "0.1", "1e2", "100", "1E+2", "12e-1", "1e21", "1.0e21", "5e-324", "0e5", "1e0", "123456789012"} {
		require.True(t, keepsFloat(number), number)
	}
	for _, number := range []string{
		"9007199254740993", "0.12345678901234567890", "1e400", "-1e400", "1e-400", "0.1000000000000000055", "1e99999999999999999999",
	} {
		require.False(t, keepsFloat(number), number)
	}
}

// A struct holds any number of keys: nothing is left out silently.
func TestTypes_ManyKeys(t *testing.T) {
	var members []string
	for i := range 500 {
		members = append(members, fmt.Sprintf(`"key%c%d":%d`, 'a'+i%26, i, i))
	}
	text := source(t, nil, "{"+strings.Join(members, ",")+"}")
	require.Equal(t, 500, strings.Count(text, "int64 "))
}

// Shapes of parts of some values add up to the shape of all of them.
func TestShapesAddUp(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`[`, deepest+2) + strings.Repeat(`]`, deepest+2)
	var values []any
	for _, text := range []string{
		`null`, `"x"`, `"2026-01-02T03:04:05.678Z"`, `7`, `1.50`, `true`, `[]`, `[1,"x",[null]]`, `{}`, `{"a":1}`, `{"a":"x","b":{"c":[{"d":1}]}}`, `{"b":{"c":[{"d":null,"e":2}]}}`, deep,
	} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		require.NoError(t, d.Decode(&v))
		values = append(values, v)
	}
	shapeOf := func(values []any) *shape {
		s := &shape{}
		for _, v := range values {
			s.add(v, 0)
		}
		return s
	}
	all := shapeOf(values)
	require.NotNil(t, all.elem.elem.elem)
	for n := range len(values) + 1 {
		sum := shapeOf(values[:n])
		sum.merge(shapeOf(values[n:]))
		require.Equal(t, all, sum, n)
	}
}

// A type keeps what it reads: the number, if not its text, and the instant with its text.
func TestWhatTypesKeep(t *testing.T) {
	t.Parallel()
	for number, keeps := range map[string][2]bool{ // as an integer, as a float
		"0": {true, true}, "-0": {false, true}, "7": {true, true}, "-7": {true, true}, "100": {true, true}, "1.50": {false, true}, "-1.50": {false, true}, "1e2": {false, true}, "1E+2": {false, true},
		"0.1": {false, true}, "1e-7": {false, true}, "0.30000000000000004": {false, true}, "0.3000000000000000444": {false, false}, "9007199254740992": {true, true}, "9007199254740993": {true, false},
		"9223372036854775807": {true, false}, "9223372036854775808": {false, false}, "12345678901234567890": {false, false}, "1e400": {false, false}, "-1e400": {false, false}, "1e99999999999999999999": {false, false},
	} {
		require.Equal(t, keeps[0], isInt(number), number)
		require.Equal(t, keeps[1], keepsFloat(number), number)
	}
	for text, keeps := range map[string][2]bool{ // as a timestamp of the documented form, as a time.Time
		"2026-01-02T03:04:05.678Z": {true, true}, "2026-01-02T03:04:05.000Z": {true, false}, "2026-01-02T03:04:05Z": {false, true}, "2026-01-02T03:04:05+02:00": {false, true}, "2026-01-02T03:04:05.67Z": {false, true},
		"0001-01-01T00:00:00.000Z": {false, false}, "0001-01-01T00:00:00Z": {false, false}, "2026-01-02": {false, false}, "": {false, false}, "2026-02-30T03:04:05.678Z": {false, false}, "2026-01-02T3:04:05.678Z": {false, false},
	} {
		require.Equal(t, keeps[0], isStamp(text), text)
		require.Equal(t, keeps[1], isTime(text), text)
	}
}
