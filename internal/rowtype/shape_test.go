package rowtype

import (
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
