package sandbox

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLookup compares the scanner with the decoder of the standard library.
func FuzzLookup(f *testing.F) {
	for _, seed := range []struct{ raw, path string }{
		{`{"a":1}`, "a"},
		{` { "a" : { "b" : [ 1 , "}" ] } , "c" : null } `, "a.b"},
		{`{"a":"x","a":"y"}`, "a"},
		{`{"a\u0062":true,"é":"\\\""}`, "ab"},
		{`{"":{"":-1.5e3}}`, "."},
		{`{"a":{},"b":[]}`, "b"},
		{`[{"a":1}]`, "a"},
		{"{\"\xff\":0}", "\xff"},
		{"{\"\xff\":0}", "\ufffd"},
		{`{"a":[{"b":1},{"b":2}],"b":3}`, "b"},
	} {
		f.Add([]byte(seed.raw), seed.path)
	}
	f.Fuzz(func(t *testing.T, raw []byte, path string) {
		if !json.Valid(raw) {
			return
		}
		got, found := lookup(raw, path)
		want, expected := slowLookup(raw, path)
		require.Equal(t, expected, found, "%s in %s", path, raw)
		if found {
			require.JSONEq(t, string(want), string(got))
			require.Equal(t, bytes.TrimSpace(got), got)
		}
	})
}

func slowLookup(raw json.RawMessage, path string) (json.RawMessage, bool) {
	for name := range strings.SplitSeq(path, ".") {
		var o map[string]json.RawMessage
		if !isObject(raw) || json.Unmarshal(raw, &o) != nil {
			return nil, false
		}
		value, ok := o[name]
		if !ok {
			return nil, false
		}
		raw = value
	}
	return raw, true
}

func TestRowIDs(t *testing.T) {
	for raw, want := range map[string]string{`{"id":"0123456789abcdef01234567"}`: "0123456789abcdef01234567", `{"a":1}`: "", `{}`: "", ` {"a":{"id":"y"}}`: ""} {
		id, err := rowID([]byte(raw))
		require.NoError(t, err)
		require.Equal(t, want, id)
		if want == "" {
			got, ok := fieldString(withID([]byte(raw), "new"), "id")
			require.True(t, ok)
			require.Equal(t, "new", got)
			require.True(t, json.Valid(withID([]byte(raw), "new")))
		}
	}
	for _, raw := range []string{`[]`, `{`, `1`, ``, `{"id":1}`, `{"id":null}`} {
		_, err := rowID([]byte(raw))
		require.Error(t, err, raw)
	}
}

func TestIDs(t *testing.T) {
	require.True(t, isID("0123456789abcdefABCDEF00"))
	for _, s := range []string{"", "0123456789abcdefABCDEF0", "0123456789abcdefABCDEF000", "0123456789abcdefABCDEF0g", "0123456789abcdefABCDEF0é"} {
		require.False(t, isID(s), s)
	}
}
