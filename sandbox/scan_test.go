package sandbox

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

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
