package rowtype

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// secret is in every text that a test has as a value, and secretAddress is a key that is data.
const (
	secret        = "CANARY"
	secretAddress = "CANARY@mail.example"
)

// oddKeys are names that Go, its tags or its field names cannot have as they are.
var oddKeys = []string{
	"", "-", " ", ".", ",", ",omitzero", "a b", "a  b", "a-b", "A b", "aB", "AB", "ab", "Ab", "func", "type", "string", "Other", "MarshalJSON", "UnmarshalJSON",
	"2024 revenue", "1", "!", "it's", `say "hi"`, "back`tick", `back\slash`, "a,b", "a.b", "company.name", "🎯", "🎯 goal", "goal 🎯", "größe", "Größe",
	"名前", "имя", "e\u0301te", "\u202eltr", "tab\tkey", "new\nline", "\u0000", "ǆ", "ßx", "K", "k", "\u212a", "customColumns", "customColumns_", "null", "*", "id",
	"JSON", "json", "url id", "%s", "%!d", "x/y", "//", "*/", "$x", "_", "_x", "é", strings.Repeat("very long ", 40), strings.Repeat("x", 300), strings.Repeat("名", 90),
}

// randomRows makes a few rows of the same random shape, with differences.
func randomRows(r *rand.Rand, columns []Column) []string {
	return randomList(r, columns)(1 + r.IntN(8))
}

// randomList returns a function that makes rows of the same random shape, with differences.
func randomList(r *rand.Rand, columns []Column) func(n int) []string {
	var keys []string
	for range 1 + r.IntN(12) {
		keys = append(keys, oddKeys[r.IntN(len(oddKeys))])
	}
	for _, c := range columns {
		keys = append(keys, []string{c.ID, columnPrefix + c.ID, c.Name}[r.IntN(3)])
	}
	if r.IntN(3) == 0 {
		keys = append(keys, secretAddress, "65f0c0ffee65f0c0ffee65f0")
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	makers := make([]func() string, len(keys))
	for i := range keys {
		makers[i] = randomMaker(r, 3, columns)
	}
	return func(n int) []string {
		rows := make([]string, n)
		for n := range rows {
			var members []string
			for i, key := range keys {
				if value := makers[i](); value != "" {
					members = append(members, quoteJSON(key)+":"+value)
				}
			}
			rows[n] = "{" + strings.Join(members, ",") + "}"
		}
		return rows
	}
}

func quoteJSON(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}

var randomNumbers = [][]string{
	{"0", "1", "-7", "9007199254740993", "9223372036854775807", "-9223372036854775808"},
	{"1.5", "-2.25", "3", "1e+21", "0.1"},
	{"1.0", "1e2", "-0", "12345678901234567890", "0.12345678901234567890", "1e400", "1E-7"},
}

// randomMaker returns a function that makes values that are alike: mostly of one type, perhaps null, perhaps absent, which is "".
func randomMaker(r *rand.Rand, depth int, columns []Column) func() string {
	null, absent := r.IntN(3) == 0, r.IntN(3) == 0
	value := randomValues(r, depth, columns)
	if r.IntN(8) == 0 {
		other, first := randomValues(r, depth, columns), value
		value = func() string { return []func() string{first, other}[r.IntN(2)]() }
	}
	return func() string {
		switch {
		case null && r.IntN(3) == 0:
			return "null"
		case absent && r.IntN(3) == 0:
			return ""
		}
		return value()
	}
}

func randomValues(r *rand.Rand, depth int, columns []Column) func() string {
	pick := func(of ...string) func() string { return func() string { return of[r.IntN(len(of))] } }
	simple := []func() string{
		pick(`"`+secret+`"`, `""`, `"\u00e9<&>\u2028`+secret+`"`),
		pick("true", "false"),
		pick(randomNumbers[r.IntN(len(randomNumbers))]...),
		pick(`"2026-01-02T03:04:05.000Z"`, `"2026-12-31T23:59:59.120Z"`),
		pick(`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:05+02:00"`),
		pick(`"2026-01-02T03:04:05.120Z"`, `"0001-01-01T00:00:00.000Z"`, `"2026-01-02"`, `"2026-01-02T03:04:05Z"`),
		pick("null"), pick("{}"), pick("[]"), pick("[]", "{}"),
	}
	kind := r.IntN(len(simple) + 4)
	switch {
	case kind < len(simple) || depth == 0:
		return simple[kind%len(simple)]
	case kind == len(simple):
		element := randomMaker(r, depth-1, columns)
		return func() string {
			var list []string
			for range r.IntN(4) {
				if e := element(); e != "" {
					list = append(list, e)
				}
			}
			return "[" + strings.Join(list, ",") + "]"
		}
	case kind == len(simple)+1: // by somebody's data
		element := randomMaker(r, depth-1, columns)
		return func() string {
			var list []string
			for i := range r.IntN(3) {
				if e := element(); e != "" {
					list = append(list, fmt.Sprintf(`"%d%d%s":%s`, i, r.IntN(1000), secretAddress, e))
				}
			}
			return "{" + strings.Join(list, ",") + "}"
		}
	}
	return func(row []string) func() string { return func() string { return row[r.IntN(len(row))] } }(randomRowsBelow(r, depth, columns))
}

// randomRowsBelow makes objects in a row.
func randomRowsBelow(r *rand.Rand, depth int, columns []Column) []string {
	keys := []string{"a", "b", "c d", "Größe", "name", "Name"}[r.IntN(3):]
	if r.IntN(2) == 0 {
		for _, c := range columns {
			keys = append(keys, c.ID)
		}
	}
	makers := make([]func() string, len(keys))
	for i := range keys {
		makers[i] = randomMaker(r, depth-1, columns)
	}
	objects := make([]string, 4)
	for n := range objects {
		var members []string
		for i, key := range keys {
			if value := makers[i](); value != "" {
				members = append(members, quoteJSON(key)+":"+value)
			}
		}
		objects[n] = "{" + strings.Join(members, ",") + "}"
	}
	return objects
}

var testColumns = []Column{
	{"a5f0c0ffee65f0c0ffee65f0", "Lead score", "number"},
	{"b5f0c0ffee65f0c0ffee65f0", "lead-score", "string"},
	{"c5f0c0ffee65f0c0ffee65f0", "", "boolean"},
	{"d5f0c0ffee65f0c0ffee65f0", "🎯", "string"},
	{"e5f0c0ffee65f0c0ffee65f0", "func", "some\nthing"},
	{"f5f0c0ffee65f0c0ffee65f0", strings.Repeat("Long name ", 30), ""},
}

var testDocumented = []string{"firstName", "createdAt", "address.city", "company.name", "company.domain", "company.address.city"}

func newRows(t *testing.T, typ string, columns []Column, rows ...string) *Rows {
	t.Helper()
	r := &Rows{Package: "main", Type: typ, ListID: "65f0c0ffee65f0c0ffee65f1", ListKind: "contactList", Documented: testDocumented, Columns: columns}
	for _, row := range rows {
		require.NoError(t, r.Add([]byte(row)), row)
	}
	require.Equal(t, len(rows), r.Count())
	return r
}

// source is the written file of rows.
func source(t *testing.T, columns []Column, rows ...string) string {
	t.Helper()
	text, err := newRows(t, "Contact", columns, rows...).Source()
	require.NoError(t, err, rows)
	importsWhatItUses(t, text)
	return string(text)
}

func importsWhatItUses(t *testing.T, text []byte) {
	t.Helper()
	for path, name := range map[string]string{"encoding/json": "json.", "time": "time.", "fmt": "fmt."} {
		require.Equal(t, regexp.MustCompile(`[^\w"]`+regexp.QuoteMeta(name)+`[A-Z]`).Match(text), bytes.Contains(text, []byte(`"`+path+`"`)), "it imports what it uses:\n%s", text)
	}
}

// A file imports what it uses, whatever alone uses it.
func TestSource_Imports(t *testing.T) {
	for rows, want := range map[string]string{
		`{"x":"a"}`: "", `{"x":1.50}`: "encoding/json", `{"x":["a",1]}`: "encoding/json", `{"x":"2026-01-02T03:04:05.120Z"}`: "time", `{"x":"2026-01-02T03:04:05Z"}`: "time",
		`{"x":"a"} {"x":null} {}`: "encoding/json", `{"x":{"a":1}}`: "", `{"x":{"a@b.example":1,"c":2}}`: "encoding/json",
	} {
		r := &Rows{Package: "main", Type: "Contact"}
		for row := range strings.FieldsSeq(rows) {
			require.NoError(t, r.Add([]byte(row)))
		}
		text, err := r.Source()
		require.NoError(t, err)
		importsWhatItUses(t, text)
		if want == "" {
			require.NotContains(t, string(text), "import", rows)
		} else {
			require.Contains(t, string(text), `"`+want+`"`, rows)
		}
	}
}

// However rows are ordered, the file is the same, holds no value, and its type fits them.
func TestRows_Random(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 0))
		columns := testColumns[:r.IntN(len(testColumns)+1)]
		rows := randomRows(r, columns)
		text := source(t, columns, rows...)
		require.NotContains(t, text, secret, "seed %d: %q", seed, rows)

		f, err := ReadFile([]byte(text), "")
		require.NoError(t, err, "seed %d:\n%s", seed, text)
		fits := NewFits(f, nil)
		for _, row := range rows {
			require.NoError(t, fits.Add([]byte(row)))
		}
		require.Empty(t, fits.Mismatches(), "seed %d: %q\n%s", seed, rows, text)

		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		columns = slices.Clone(columns)
		slices.Reverse(columns)
		require.Equal(t, text, source(t, columns, rows...), "seed %d", seed)
	}
}

func TestRows_AddRefusesWhatIsNoObject(t *testing.T) {
	var r Rows
	for _, row := range []string{"", "null", "[]", `"` + secret + `"`, `{"` + secret} {
		require.EqualError(t, r.Add([]byte(row)), "a row is not a JSON object")
	}
	require.Zero(t, r.Count())
}

func TestCheckNames(t *testing.T) {
	for _, ok := range [][2]string{{"main", "Contact"}, {"crm", "contact"}, {"größe", "Größe"}, {"p2", "名"}} {
		require.NoError(t, CheckNames(ok[0], ok[1]))
	}
	for _, pkg := range []string{"", "_", "func", "a b", "2a", "a.b"} {
		require.ErrorContains(t, CheckNames(pkg, "Contact"), "the package needs a name", pkg)
	}
	for _, typ := range []string{"", "_", "_x", "type", "string", "int", "rune", "iota", "append", "json", "main", "init", "a b", "2a", "[]int", "err"} {
		require.ErrorContains(t, CheckNames("main", typ), "the type needs a name", typ)
	}
}
