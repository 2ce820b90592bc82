package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Numbers are read as encoding/json reads them, those too that are beyond what is quick to read.
func TestNumbersBeyondTheUsual(t *testing.T) {
	for _, text := range []string{
		"18446744073709551615", "18446744073709551616", "18446744073709551619", "18446744073709551620", "18446744073709551700", "20000000000000000000", "36893488147419103232", "-18446744073709551620", "184467440737095516150", "1844674407370955161.6",
		"1e+5", "1E+5", "-1.5E+2", "1e-5", "0e+0", "0.0000000000000000000001", "0.00000000000000000000001", "0.000000000000000000000000001", "1.00000000000000000000000", "9007199254740992.0",
		"54.01413917541504", "1.136315405368805", "65.83766555786133", "-65.83766555786133", // what float64 and float32 round twice
	} {
		sameNumber(t, text)
		for _, field := range []string{"single", "float", "int"} {
			same[flat](t, fmt.Appendf(nil, `{"%s":%s,"%[1]s":null}`, field, text))
			same[flat](t, fmt.Appendf(nil, `{"%s":1,"%[1]s":%s}`, field, text))
		}
		same[map[string]uint64](t, fmt.Appendf(nil, `{"a":%s}`, text))
		same[map[string]float32](t, fmt.Appendf(nil, `{"a":%s}`, text))
		same[map[string]any](t, fmt.Appendf(nil, `{"a":%s,"b":[%[1]s]}`, text))
	}
}

// demanding reads itself, and cannot do so of nothing.
type demanding struct{ first byte }

func (v *demanding) UnmarshalJSON(text []byte) error {
	v.first = bytes.TrimSpace(text)[0]
	return nil
}

// exacting reads itself from a text, and cannot do so of nothing.
type exacting struct{ first byte }

func (v *exacting) UnmarshalText(text []byte) error {
	calls.Add(1)
	v.first = text[0]
	return nil
}

// Methods are given whole values only.
func TestMethodsAreGivenWholeValues(t *testing.T) {
	type own struct {
		V  demanding             `json:"v"`
		By map[string]*demanding `json:"by"`
		T  exacting              `json:"t"`
	}
	for _, text := range []string{`{"v":`, `{"v":}`, `{"v":[1}`, `{"v":tru}`, `{"by":{"a":"x}}`, `{"t":"a`, `{"t":"\x"}`, `{"t":"a","v":`, `{"v":null,"by":{"a":null,"b":1}}`, `{"v":[1]}`} {
		same[own](t, []byte(text))
		same[map[string]json.RawMessage](t, []byte(text))
	}
	before := calls.Load()
	require.NoError(t, Unmarshal([]byte(`{"t":"abc"}`), &own{V: demanding{1}}))
	require.Equal(t, int32(1), calls.Load()-before, "once, also if the value is left to encoding/json")
}

// Whom the option "string" concerns is for encoding/json to say.
func TestQuotedValuesOfOtherTypes(t *testing.T) {
	type pointer *int
	type holder struct {
		Pointer pointer     `json:"pointer,string"`
		Number  json.Number `json:"number,string"`
		Upper   upper       `json:"upper,string"`
		Loud    loud        `json:"loud,string"`
		Int     *int        `json:"int,string"`
	}
	for _, field := range []string{"pointer", "number", "upper", "loud", "int"} {
		for _, value := range []string{`5`, `"5"`, `"\"5\""`, `"x"`, `"\"x\""`, `null`, `"null"`, `""`, `true`} {
			same[holder](t, fmt.Appendf(nil, `{"%s":%s}`, field, value))
		}
	}
}

// In records null is a value of another type, too: of duplicates the last one counts. Methods of their types are not called.
func TestRecordsTakeNullAsZero(t *testing.T) {
	type holder struct {
		Next  Text     `json:"next"`
		Name  string   `json:"name"`
		Kind  label    `json:"kind"`
		Upper upper    `json:"upper"`
		Float float64  `json:"float"`
		Small int8     `json:"small"`
		On    bool     `json:"on"`
		List  []string `json:"list"`
		By    map[string]int
		Any   any
		Array [2]int
	}
	const full = `"next": {"a":1} ,"name":"n","kind":"k","upper":"u","float":1.5,"small":3,"on":true,"list":["a"],"By":{"a":1},"Any":[1],"Array":[1,2]`
	require.Equal(t, holder{
		Text(`{"a":1}`), "n", "k", "u", 1.5, 3, true, []string{"a"}, map[string]int{"a": 1}, []any{1.0}, [2]int{1, 2},
	}, read[holder](t, "{"+full+"}"))
	for _, other := range []string{`null`, `{"x":1}`, `-99e99`} {
		got := read[holder](t, fmt.Sprintf(`{%s,"next":%s,"name":%[2]s,"kind":%[2]s,"upper":%[2]s,"float":null,"small":%[2]s,"on":%[2]s,"list":%[2]s,"By":null,"Any":null,"Array":%[2]s}`, full, other))
		require.Equal(t, holder{Next: Text(other)}, got, other)
	}
}

// Values are put into no interface but the empty one.
func TestInterfacesWithMethods(t *testing.T) {
	type holder struct {
		Err  error            `json:"err"`
		All  []fmt.Stringer   `json:"all"`
		By   map[string]error `json:"by"`
		Name string           `json:"name"`
	}
	for _, value := range []string{`null`, `1`, `"x"`, `{}`, `[null]`, `[{"a":1}]`, `{"a":null}`, `{"a":[]}`} {
		for _, field := range []string{"err", "all", "by"} {
			same[holder](t, fmt.Appendf(nil, `{"%s":%s,"name":"n"}`, field, value))
		}
	}
}
