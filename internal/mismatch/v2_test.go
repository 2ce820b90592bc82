//go:build go1.27

package mismatch

import (
	"encoding/json/jsontext"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// streamed reads itself by the method of encoding/json/v2, which encoding/json calls, too.
type streamed struct {
	Name string `json:"name"`
}

func (s *streamed) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := d.ReadValue()
	s.Name = string(text)
	return err
}

func TestMissing_ATypeThatReadsItselfFromAStream(t *testing.T) {
	t.Parallel()
	require.NoError(t, Missing([]byte(`{}`), reflect.TypeFor[streamed]()))
	var out struct{ Pair [2]*streamed }
	require.NoError(t, DecodeStrict([]byte(`{"Pair":[{"other":1},{}]}`), &out))
	require.Equal(t, `{"other":1}`, out.Pair[0].Name)
}
