package rowtype

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

const handWritten = `package p

type A struct {
	Text  string                ` + "`json:\"text,omitzero\"`" + `
	Whole int64                 ` + "`json:\"whole,omitzero\"`" + `
	Float float64               ` + "`json:\"float,omitzero\"`" + `
	Num   json.Number           ` + "`json:\"num,omitzero\"`" + `
	Bool  bool                  ` + "`json:\"bool,omitzero\"`" + `
	Raw   json.RawMessage       ` + "`json:\"raw,omitzero\"`" + `
	Time  time.Time             ` + "`json:\"time,omitzero\"`" + `
	Stamp ATime                 ` + "`json:\"stamp,omitzero\"`" + `
	Maybe AOptional[string]     ` + "`json:\"maybe,omitzero\"`" + `
	Point *bool                 ` + "`json:\"point,omitzero\"`" + `
	List  []*string             ` + "`json:\"list,omitzero\"`" + `
	Dict  map[string][]int64    ` + "`json:\"dict,omitzero\"`" + `
	Inner *B                    ` + "`json:\"inner,omitzero\"`" + `
	Items []B                   ` + "`json:\"items,omitzero\"`" + `
}

type B struct {
	C string ` + "`json:\"c\"`" + `

	Other map[string]json.RawMessage ` + "`json:\"-\"`" + `
}

type ATime struct{ time.Time }

type AOptional[T any] struct{ Value T }
`

func TestFits(t *testing.T) {
	file, err := ReadFile([]byte(handWritten), "A")
	require.NoError(t, err)
	for row, want := range map[string]string{
		`{}`: "",
		`{"text":"","whole":-5,"float":1.50,"num":1e400,"bool":false,"raw":null,"maybe":null,"list":[],"dict":{},"inner":{"c":""},"items":[]}`: "",
		`{"time":"2026-01-02T03:04:05Z","stamp":"2026-01-02T03:04:05.120Z","maybe":"x","list":["x",null],"dict":{"k":null}}`:                   "",

		`{"text":1}`:                          "text: a number, but the type expects text",
		`{"text":null}`:                       "text: null, but the type expects text",
		`{"whole":1.5}`:                       "whole: a number that int64 does not hold",
		`{"whole":"1"}`:                       "whole: text, but the type expects a whole number",
		`{"float":0.12345678901234567890}`:    "float: a number whose digits float64 does not keep",
		`{"float":[]}`:                        "float: an array, but the type expects a number",
		`{"num":"1"}`:                         "num: text, but the type expects a number",
		`{"bool":"true"}`:                     "bool: text, but the type expects true or false",
		`{"time":"2026-01-02T03:04:05.120Z"}`: "time: text that is not a timestamp as time.Time writes it",
		`{"time":true}`:                       "time: true or false, but the type expects a timestamp",
		`{"stamp":"2026-01-02"}`:              "stamp: text that is not a timestamp in UTC with milliseconds",
		`{"stamp":{}}`:                        "stamp: an object, but the type expects a timestamp",
		`{"maybe":1}`:                         "maybe: a number, but the type expects text",
		`{"point":null}`:                      "point: null, but the type only expects it to be absent",
		`{"list":null}`:                       "list: null, but the type only expects it to be absent",
		`{"list":[1]}`:                        "list[]: a number, but the type expects text",
		`{"list":{}}`:                         "list: an object, but the type expects an array",
		`{"dict":{"CANARY":["x"]}}`:           "dict{}[]: text, but the type expects a whole number",
		`{"dict":[]}`:                         "dict: an array, but the type expects an object",
		`{"inner":{}}`:                        "inner.c: missing, but the type expects it in every row",
		`{"inner":{"c":"","CANARY x":1}}`:     "", // Other keeps it
		`{"inner":{"c":"","d":1}}`:            "inner.d: new: the type has no such field; it is a number",
		`{"items":[{"c":"","65f0c0ffee65f0c0ffee65f0":1}]}`: "",
		`{"Text":""}`:                                   "Text: new: the type has no such field; it is text",
		`{"a b":null}`:                                  `"a b": new: the type has no such field; it is null`,
		`{"CANARY@mail.example":{}}`:                    "(a key that may be data): new: the type has no such field; it is an object",
		`{"a5f0c0ffee65f0c0ffee65f0":true}`:             `a5f0c0ffee65f0c0ffee65f0 (column "Lead score"): new: the type has no such field; it is true or false`,
		`{"customColumns_A5F0C0FFEE65F0C0FFEE65F0":[]}`: `customColumns_A5F0C0FFEE65F0C0FFEE65F0 (column "Lead score"): new: the type has no such field; it is an array`,
	} {
		fits := NewFits(file, testColumns)
		for range 2 {
			require.NoError(t, fits.Add([]byte(row)), row)
		}
		if want == "" {
			require.Empty(t, fits.Mismatches(), row)
			continue
		}
		require.Len(t, fits.Mismatches(), 1, row)
		m := fits.Mismatches()[0]
		require.Equal(t, want, m.Field+": "+m.Problem, row)
		require.Equal(t, 2, m.Rows, "each row once")
	}
}

// What does not fit is listed by field and problem, with the number of rows that have it.
func TestFits_Mismatches(t *testing.T) {
	t.Parallel()
	file, err := ReadFile([]byte(handWritten), "A")
	require.NoError(t, err)
	fits := NewFits(file, nil)
	for _, row := range []string{`{"list":[1,2],"whole":"1","text":1}`, `{"list":[1],"whole":1.5,"bool":1}`, `{"list":["x"],"float":"1","num":true}`, `{"list":[true]}`, `{"text":2}`} {
		require.NoError(t, fits.Add([]byte(row)))
	}
	var got []string
	for _, m := range fits.Mismatches() {
		got = append(got, fmt.Sprintf("%s: %s (%d)", m.Field, m.Problem, m.Rows))
	}
	require.Equal(t, []string{
		"bool: a number, but the type expects true or false (1)",
		"float: text, but the type expects a number (1)",
		"list[]: a number, but the type expects text (2)",
		"list[]: true or false, but the type expects text (1)",
		"num: true or false, but the type expects a number (1)",
		"text: a number, but the type expects text (2)",
		"whole: a number that int64 does not hold (1)",
		"whole: text, but the type expects a whole number (1)",
	}, got)
}
