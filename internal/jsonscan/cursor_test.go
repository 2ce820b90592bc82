package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOtherTypesReadAsZero(t *testing.T) {
	for _, text := range []string{`null`, `[1]`, `{"a":1}`, `true`, `1.5`, `"12"`} {
		c := New([]byte(text))
		n, ok := c.IntOK()
		require.Zero(t, n, text)
		require.False(t, ok, text)
		require.NoError(t, c.End(), text)
	}
	for _, text := range []string{`null`, `[1]`, `{"a":1}`, `true`, `7`} {
		c := New([]byte(text))
		require.Empty(t, c.String(), text)
		require.NoError(t, c.End(), text)
		c = New([]byte(text))
		require.Equal(t, text[0] == '{', c.Object(), text)
	}
	for _, text := range []string{`99999999999999999999999`, `1e18`, `12345678901234567.0`, `9007199254740993.0`, `9007199254740992.0`} { // a float64 does not hold all digits of such
		c := New([]byte(text))
		_, ok := c.IntOK()
		require.False(t, ok, text)
	}
}

func TestLookup(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":{"b":2},"b":3}`:        "3",
		`{"a":{"b":2}}`:              "",
		`{"b":{"b":2}}`:              `{"b":2}`,
		`{"b":1,"b":2}`:              "2",
		`{"b":1,"\u0062":2}`:         "2",
		`{"\u0062":2}`:               "2",
		`{"a":"b","b" : null}`:       "null",
		`{"a":"b"}`:                  "",
		`{"a":"\"b\":1"}`:            "",
		`{"a\"b":1}`:                 "",
		`{"a":["b",{"b":1}]}`:        "",
		`{"a":["b",{"b":1}],"b":[]}`: "[]",
		"\ufeff" + `{"b":[1,2]}`:     "[1,2]",
		`["b"]`:                      "",
		`"b"`:                        "",
		`{"b"`:                       "",
		`{"b":`:                      "",
		``:                           "",
	} {
		got, ok := Lookup([]byte(text), "b")
		require.Equal(t, want, string(got), text)
		require.Equal(t, want != "", ok, text)
		if c := New([]byte(text)); c.Is('{') && Valid([]byte(text)) == nil {
			var row indexedRow
			require.NoError(t, NewRecordDecoder[indexedRow]().Decode(&c, &row))
			got, ok = row.index.Lookup(row.text, "b")
			require.Equal(t, want, string(got), text)
			require.Equal(t, want != "", ok, text)
		}
	}
	for _, cut := range []string{`{"b":1`, `{"b":1 x`, `{"b":1,2:3}`} {
		_, ok := Lookup([]byte(cut), "b")
		require.False(t, ok, cut)
	}
	got, ok := Lookup([]byte(`{"a":"x",":":1}`), ":")
	require.True(t, ok)
	require.Equal(t, "1", string(got))
}

// At finds an element by its number.
func TestAt(t *testing.T) {
	for _, c := range []struct{ array, position, want string }{
		{`[1,2,3]`, "0", "1"},
		{`[1,2,3]`, "2", "3"},
		{`[1,2,3]`, "3", ""},
		{`[1,2,3]`, "01", "2"},
		{`[1,2,3]`, "-1", ""},
		{`[1,2,3]`, "+1", ""},
		{`[1,2,3]`, "", ""},
		{`[1,2,3]`, "x", ""},
		{`[1,2,3]`, "9999999999", ""},
		{`[0,1,2,3,4,5,6,7,8,9,10,11]`, "10", "10"},
		{`[0,1,2,3,4,5,6,7,8,9,10,11]`, "0xa", ""},
		{` [ {"a":1} , [2] ]`, "1", "[2]"},
		{`{"0":1}`, "0", ""},
		{`"x"`, "0", ""},
		{`[]`, "0", ""},
		{`[1,`, "1", ""},
		{`[1,tru]`, "1", ""},
	} {
		got, ok := At([]byte(c.array), c.position)
		require.Equal(t, c.want, string(got), "%s of %s", c.position, c.array)
		require.Equal(t, c.want != "", ok, "%s of %s", c.position, c.array)
	}
}

// texts are JSON, nearly.
var texts = []string{
	``, ` `, `{`, `[`, `"`, `"a`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `[1 2]`, `{"a":1 "b":2}`, `{a":1}`, `{"b":2,a":1}`, "\xEF1", "\xEF\xBB1", "\xEF\xBB{1", "\xEFab1", `{a:1}`, `{1:2}`, `{:1}`,
	`tru`, `nul`, `falsey`, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `1e+`, `0x1`, `NaN`, "\"\x01\"", `"\x"`, `"\u12g4"`, `"\u12"`, `1 2`, `{}x`, `'a'`, `{"a":1,2:3}`, `{"a`, `{"a"`, `{"a":1,`, "\"\xc3\x28\"",
	`{"a":[1,2.5e3,"x\u00e9",null,true]}`, `"\ud83d\ude00\ud800x"`, `0`, `-0.1e-5`, `[]`, `{}`, `[[],{}]`, ` null `, "\"\xff\"", `"\ud800"`, `{"":""}`, `{"a":1,"a":{"b":2}}`, `{"a":1,"c":3,"b":2}`,
	`{"\u0061":1,"b":2}`, `{"a":1 , "b":2}`, `{"a": 1,"b" :2}`, `{"a":1,"b":2`, `{"a":1,"b"2}`, `{"a":1,,"b":2}`, `{"a":1},{,"a":1}`, `{"id":"x","name":{"id":"y","name":"z"}}`,
	`{"a":{"a":{"a":[{"a":1},{"a":2}]},"b":3}}`, `{"":1,"":2}`, `{"a":[{}],"b":[{"b":1}]}`, "{\"\xff\":1,\"a\":2}", `{"a":tru,"b":1}`, `{"a":1}}`, `{"a":1]`, `"x"`, `{"a":"b\n","b":"ü"}`,
	`"\ud83d\ude00"`, `"\ud83d\u00e9"`, `"\ud83d\ud83d\ude00"`, `"\ude00\ud83d"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\udeXX"`, `"\ud83d\udeg0"`, `"\ud83d\ude0"`, `"\ud83d\u"`, `"\ud83d\xde00"`, `"\ud83d\"`, `"\udXX"`, `"\ud8`, `"\u+123"`, `"\u-123"`, `"\u1_23"`,
	strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), strings.Repeat(`{"":`, maxDepth) + "1" + strings.Repeat("}", maxDepth),
}

func TestScanner(t *testing.T) {
	for _, text := range append(texts, objects...) {
		sameScan(t, []byte(text))
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range append(texts, objects...) {
		f.Add([]byte(text))
	}
	f.Fuzz(sameScan)
}

// sameScan holds the scanner against encoding/json: same verdict on every text, same values, same boundaries of members.
func sameScan(t *testing.T, data []byte) {
	t.Helper()
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return // a documented difference: we skip one byte order mark
	}
	c := New(data)
	got := tree(&c)
	require.Equal(t, json.Valid(data), Valid(data) == nil, "%.40q", data)
	require.Equal(t, json.Valid(data), c.End() == nil, "%.40q", data)
	if c.Err() != nil {
		return
	}
	var want any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	require.NoError(t, d.Decode(&want))
	require.Equal(t, want, got)
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return
	}
	for name, value := range members {
		got, ok := Lookup(data, name)
		require.True(t, ok)
		require.Equal(t, string(value), string(got))
	}
	_, ok := members["absent"]
	_, found := Lookup(data, "absent")
	require.Equal(t, ok, found)
}

// walk reads a text value by value.
func walk(text []byte) error {
	c := New(text)
	tree(&c)
	return c.End()
}

// Every byte counts, wherever it stands: each is replaced by others, and others are put before it.
func TestEveryByteCounts(t *testing.T) {
	const others = "\x00\b\t\n\v\r\x0e\x1f !\"+,-./019:;AEFGZ[\\]_`aefgnuz{|}\x7f\x80\xc3\xff"
	for _, text := range []string{
		"{ \"a\" :\t[ 1 ,\n-2.5e+3\r, 0 ] , \"b\":{\"c\":null,\"\":false} }", `["é\u00e9\n",{"d":true},[],{}]`, `[1E-5,-0.0,"\ud83d\ude00x"]`,
	} {
		for i := range text {
			for _, other := range []byte(others) {
				for _, changed := range []string{text[:i] + string([]byte{other}) + text[i+1:], text[:i] + string([]byte{other}) + text[i:]} {
					changed := []byte(changed)
					if valid := json.Valid(changed); valid != (Valid(changed) == nil) || valid != (walk(changed) == nil) {
						require.Failf(t, "another verdict", "%q is valid: %t", changed, valid)
					}
				}
			}
		}
	}
}

// wrongs are texts that are not JSON.
var wrongs = []struct {
	text, wrong string
	at          int
}{
	{``, "expected a value", 0},
	{` `, "expected a value", 1},
	{`{`, "unexpected end", 1},
	{`{ `, "unexpected end", 2},
	{`[`, "unexpected end", 1},
	{`[ `, "unexpected end", 2},
	{`{"a`, "unterminated string", 3},
	{`{"a"`, "expected ':'", 4},
	{`{"a" `, "expected ':'", 5},
	{`{"a":`, "expected a value", 5},
	{`{"a": `, "expected a value", 6},
	{`{"a":1`, "unexpected end", 6},
	{`{"a":1 `, "unexpected end", 7},
	{`{"a":1,`, "expected a key", 7},
	{`{"a":1, `, "expected a key", 8},
	{`[1,`, "expected a value", 3},
	{`[1, `, "expected a value", 4},
	{`[1 `, "unexpected end", 3},
	{`{a:1}`, "expected a key", 1},
	{`{1:2}`, "expected a key", 1},
	{`{"a" 1}`, "expected ':'", 5},
	{`{"a";1}`, "expected ':'", 4},
	{`{"a\x":1}`, "invalid escape", 3},
	{`{"a":1 "b":2}`, "expected ',' or the end", 7},
	{`{"a":1,,"b":2}`, "expected a key", 7},
	{`{"a":1,2:3}`, "expected a key", 7},
	{`{,}`, "expected a key", 1},
	{`[,1]`, "expected a value", 1},
	{`[1,,2]`, "expected a value", 3},
	{`[1,]`, "expected a value", 3},
	{`{"a":1,}`, "expected a key", 7},
	{`[1 2]`, "expected ',' or the end", 3},
	{`{"a":1]`, "expected ',' or the end", 6},
	{`[1}`, "expected ',' or the end", 2},
	{`{"a":[1,2}`, "expected ',' or the end", 9},
	{`{"a":{"b":[1,{"c":tru}]}}`, "expected a value", 18},
	{`[truex]`, "expected ',' or the end", 5},
	{`[-x]`, "expected a digit", 2},
	{`[-`, "expected a digit", 2},
	{`[1.]`, "expected a digit", 3},
	{`[1.`, "expected a digit", 3},
	{`[1e]`, "expected a digit", 3},
	{`[1e+`, "expected a digit", 4},
	{`[1e-x]`, "expected a digit", 4},
	{`[-01]`, "expected ',' or the end", 3},
	{`["a`, "unterminated string", 3},
	{`["a\`, "invalid escape", 3},
	{`["a\x"]`, "invalid escape", 3},
	{`["\u12g4"]`, "invalid escape", 2},
	{`["\ud83d\x"]`, "invalid escape", 8},
	{"[\"a\x01\"]", "control character in a string", 3},
	{"{\"a\x1f\":1}", "control character in a string", 3},
	{"[1, 2\x00]", "expected ',' or the end", 5},
	{strings.Repeat("[", maxDepth+1), "nested too deeply", maxDepth},
	{`['a']`, "expected a value", 1},
	{"\xef\xbb1", "expected a value", 0},
	{"\xefa\xbf1", "expected a value", 0},
	{"a\xbb\xbf1", "expected a value", 0},
	{`[] 2`, "trailing data", 3},
	{`{}}`, "trailing data", 2},
}

// An error says what is wrong and where, however the text is read.
func TestErrorsSayWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range wrongs {
		want := fmt.Sprintf("invalid JSON at byte %d: %s", c.at, c.wrong)
		require.EqualError(t, Valid([]byte(c.text)), want, c.text)
		require.EqualError(t, walk([]byte(c.text)), want, c.text)
		for range 2 { // the second time by what was learnt
			var value any
			require.EqualError(t, DecodeRecord([]byte(c.text), 0, &value), want, c.text)
			var row record
			require.EqualError(t, DecodeRecord([]byte(c.text), 0, &row), want, c.text)
		}
		if c.wrong == "trailing data" {
			continue
		}
		marked := `[{"x":{"c":1},"names":["a"]},{"id":"b","names":` + c.text
		var rows []record
		require.EqualError(t, DecodeRecord([]byte(marked), 0, &rows), deeper(marked, c.text, c.wrong, c.at), c.text)
	}
}

// A byte order mark is no value.
func TestByteOrderMarkAlone(t *testing.T) {
	require.EqualError(t, Valid([]byte("\xef\xbb\xbf")), "invalid JSON at byte 3: expected a value")
	require.EqualError(t, Valid([]byte("\xef\xbb\xbf\xef\xbb\xbf1")), "invalid JSON at byte 3: expected a value")
	require.NoError(t, Valid([]byte("\xef\xbb\xbf1")))
}

// deeper is the error that a part of a text leads to.
func deeper(text, part, wrong string, at int) string {
	if wrong == "nested too deeply" {
		at -= 2
	}
	return fmt.Sprintf("invalid JSON at byte %d: %s", len(text)-len(part)+at, wrong)
}

// Text is read as encoding/json reads it, whatever stands beside what: escapes, other alphabets, what is no UTF-8.
func TestStringsOfAllParts(t *testing.T) {
	parts := []string{"", "a", "0123456789abcdef", `\n`, `\"`, `\\`, `\u00e9`, `\u00A0`, `\uabCD`, `\ud83d\ude00`, `\ud83d`, `\u0000`, "é", "\u2028", "😀", "\xff", "\x80", "\xc3", "\x7f"}
	for _, one := range parts {
		for _, two := range parts {
			for _, three := range parts {
				text := []byte(`"` + one + two + three + `"`)
				var want string
				require.NoError(t, json.Unmarshal(text, &want))
				c := New(text)
				require.Equal(t, want, c.String(), "%q", text)
				require.NoError(t, c.End())
			}
		}
	}
}

// tree reads any value with the cursor alone.
func tree(c *Cursor) any {
	switch {
	case c.Is('{'):
		m := map[string]any{}
		c.Object()
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			name := string(key)
			m[name] = tree(c)
		}
		return m
	case c.Is('['):
		list := []any{}
		for c.Array(); c.Element(); {
			list = append(list, tree(c))
		}
		return list
	case c.Is('"'):
		return c.String()
	case c.Is('t'), c.Is('f'):
		return c.Bool()
	case c.Null():
		return nil
	}
	return json.Number(c.Copy(c.Span()))
}

// After an error nothing is read, even if it looks like what is expected.
func TestErrorsAreFinal(t *testing.T) {
	data := []byte(`[{"a":1,"b":[],"c":2},{"a":1,"b":[,"c":2}]`)
	c, d := New(data), NewDecoder[flat]()
	for c.Array(); c.Element(); {
		_ = d.Decode(&c, new(flat))
	}
	require.Error(t, c.End())

	x := NewRecordDecoder[indexedRow]()
	for _, text := range []string{`{"a":1`, `{"a":[,"c":2}`} {
		c = New([]byte(text))
		var row indexedRow
		require.Error(t, x.Decode(&c, &row))
		require.Zero(t, row)
		require.Error(t, c.End())
	}
	for _, text := range []string{`{"a" "b"}`, `{"a" 7}`, `{"a" true}`} {
		c = New([]byte(text))
		c.Object()
		c.Member()
		require.Empty(t, c.String(), text)
		_, ok := c.IntOK()
		require.False(t, ok, text)
		require.False(t, c.Bool(), text)
		require.Empty(t, c.Span(), text)
		require.Error(t, c.Err(), text)
	}
}

func TestCompleted(t *testing.T) {
	const whole = `{"a":[{"b":"c\\","d":[1.5,true,null]},{}],"e":{"f":"},{"}}`
	for text, want := range map[string]string{
		``: ``, `{`: `{}`, `[`: `[]`, `{"a"`: `{}`, `{"a":"b`: `{}`, `{"a":"b"`: `{}`, `{"a":"b",`: `{"a":"b"}`,
		`[{"a":[1,2`: `[{"a":[1]}]`, `{"a":{"b":1}`: `{"a":{"b":1}}`, `{"a":{"b":[]},"c`: `{"a":{"b":[]}}`,
		`{"a":",{\"[",2`: `{"a":",{\"["}`, `{"a":1}`: `{"a":1}`, ` {"a":1} `: ` {"a":1}`, `}]`: ``, `text`: ``, whole: whole,
	} {
		require.Equal(t, want, string(Completed([]byte(text))), text)
	}
	for i := strings.Index(whole, "{") + 1; i <= len(whole); i++ {
		require.True(t, json.Valid(Completed([]byte(whole[:i]))), whole[:i])
		require.True(t, Begins([]byte(whole[:i])), whole[:i])
	}
}

func TestBegins(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, `{"a`: true, `{"a":tr`: true, `[1.`: true, "up": false, "[er": false, "{{": false, `{"a":1]`: false, `{"a"}`: false, `{"a":1} text`: false,
	} {
		require.Equal(t, want, Begins([]byte(text)), text)
	}
}
