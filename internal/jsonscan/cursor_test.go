package jsonscan

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTypedReaders(t *testing.T) {
	c := New([]byte("\ufeff" + ` {"s":"a\u00e9\n\ud83d\ude00","n":12,"f":1e3,"b":true,"null":null,"odd":[1,{"x":"}"}],"k\u0065y":"v"} `))
	got := map[string]any{}
	require.True(t, c.Object())
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		switch string(key) {
		case "s":
			got["s"] = c.String()
		case "n", "f":
			got[string(key)], _ = c.IntOK()
		case "b":
			got["b"] = c.Bool()
		case "null":
			got["null"] = c.Null()
		case "odd":
			got["odd"] = string(c.Value())
		case "key":
			got["key"] = c.String()
		}
	}
	require.NoError(t, c.End())
	require.Equal(t, map[string]any{
		"s": "aé\n😀", "n": 12, "f": 1000, "b": true, "null": true, "odd": `[1,{"x":"}"}]`, "key": "v",
	}, got)
}

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

// On 32 bits too, a whole number beyond int reads as none.
func TestIntegersBeyondInt(t *testing.T) {
	for text, want := range map[string]int64{
		"2147483647": math.MaxInt32, "2147483648": 1 << 31, "-2147483648": math.MinInt32, "-2147483649": math.MinInt32 - 1, "9999999999": 9999999999,
		"2147483648.0": 1 << 31, "2147483647.0": math.MaxInt32, "-2147483648.0": math.MinInt32, "-2147483649.0": math.MinInt32 - 1, "1e10": 1e10, "-1e10": -1e10,
		"9007199254740991.0": 1<<53 - 1, "1e9": 1e9,
	} {
		c := New([]byte(text))
		got, ok := c.IntOK()
		require.NoError(t, c.End())
		require.Equal(t, int64(int(want)) == want, ok, text)
		if !ok {
			want = 0
		}
		require.Equal(t, want, int64(got), text)
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

func TestSyntax(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	for _, bad := range []string{
		``, ` `, `{`, `[`, `"`, `"a`, `{"a"}`, `{"a":}`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `[1 2]`, `{"a":1 "b":2}`, `{a":1}`, `{"b":2,a":1}`, "\xEF1", "\xEF\xBB1", "\xEF\xBB{1", "\xEF\xBB\xBF", "\xEFab1", `{a:1}`, `{1:2}`,
		`tru`, `nul`, `falsey`, `01`, `-`, `1.`, `.5`, `1e`, `+1`, `1e+`, `0x1`, `NaN`, "\"\x01\"", `"\x"`, `"\u12g4"`, `"\u12"`, `1 2`, `{}x`, `'a'`, deep,
	} {
		require.Error(t, Valid([]byte(bad)), "%.40q", bad)
	}
	deepest := deep[1 : len(deep)-1]
	c := New([]byte(deepest))
	tree(&c)
	require.NoError(t, c.End())
	c = New([]byte(deep))
	tree(&c)
	require.Error(t, c.End())
	for _, good := range []string{deepest, strings.Repeat(`{"":`, maxDepth) + "1" + strings.Repeat("}", maxDepth), `0`, `-0.1e-5`, `[]`, `{}`, `[[],{}]`, ` null `, "\"\xff\"", `"\ud800"`, `{"":""}`} {
		require.NoError(t, Valid([]byte(good)), "%.40q", good)
	}
}

// Whoever reads an object or array member by member gets an error where there is none, too.
func TestSyntaxOfMembers(t *testing.T) {
	for _, bad := range []string{`{1:2}`, `{:1}`, `{a:1}`, `{"a":1,2:3}`, `{"a" 1}`, `{"a":1 "b":2}`, `{"a`, `{"a"`, `{`, `{"a":1,`} {
		c := New([]byte(bad))
		c.Object()
		for _, ok := c.Member(); ok; _, ok = c.Member() {
			c.Skip()
		}
		require.Error(t, c.Err(), bad)
	}
	c := New([]byte(strings.Repeat("[", maxDepth+1)))
	depth := 0
	for ; c.Array() && c.Element(); depth++ {
	}
	require.Equal(t, maxDepth, depth)
	require.ErrorContains(t, c.Err(), "nested too deeply")
}

// FuzzValid holds the scanner against encoding/json: same verdict on every text, same strings, same member boundaries.
func FuzzValid(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x\u00e9",null,true]}`, `"\ud83d\ude00\ud800x"`, `[1,]`, "\"\xc3\x28\"", `{"a":1,"a":{"b":2}}`, strings.Repeat("[", 100)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
			return // a documented difference: we skip one byte order mark
		}
		require.Equal(t, json.Valid(data), Valid(data) == nil)
		var s string
		if json.Unmarshal(data, &s) == nil {
			c := New(data)
			require.Equal(t, s, c.String())
		}
		var m map[string]json.RawMessage
		if json.Unmarshal(data, &m) == nil && m != nil {
			for k := range m {
				got, ok := Lookup(data, k)
				require.True(t, ok)
				require.Equal(t, string(m[k]), string(got))
			}
			_, ok := m["absent"]
			_, found := Lookup(data, "absent")
			require.Equal(t, ok, found)
			c, got := New(data), map[string]json.RawMessage{}
			if c.Object() {
				for key, ok := c.Member(); ok; key, ok = c.Member() {
					name := string(key)
					got[name] = c.Value()
				}
			}
			require.NoError(t, c.End())
			require.Len(t, got, len(m))
			for k, v := range m {
				require.Equal(t, string(v), string(got[k]))
			}
		}
	})
}
