package jsonscan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
		_, err := LookupWhole([]byte(c.text), "a")
		require.EqualError(t, err, want, c.text)
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
