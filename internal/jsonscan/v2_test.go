//go:build go1.27

package jsonscan

import (
	"encoding/json"
	"encoding/json/jsontext"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Types that read themselves by the method of encoding/json/v2, which encoding/json calls, too.
type (
	streamed struct {
		Name string `json:"name"`

		read string
	}
	streamedName string
	streaming    struct {
		One    streamed                `json:"one"`
		Name   streamedName            `json:"name"`
		Names  []streamedName          `json:"names"`
		ByName map[string]streamedName `json:"byName"`
		Next   *streamed               `json:"next"`
	}
	carrier struct {
		streamed

		More int
	}
	// both has the older method, too, which loses.
	both struct{ streamed }
)

func (s *streamed) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := d.ReadValue()
	s.read = string(text)
	return err
}

func (s *streamedName) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	text, err := d.ReadValue()
	*s = streamedName("read " + string(text))
	return err
}

func (b *both) UnmarshalJSON([]byte) error { return nil }

func TestTypesThatReadThemselvesFromAStream(t *testing.T) {
	t.Parallel()
	const text = `{"name":"a","one":{"name":"b"},"names":["c",null],"byName":{"d":"e"},"next":{"name":"f"}}`
	for _, of := range []reflect.Type{
		reflect.TypeFor[streamed](), reflect.TypeFor[*streamed](), reflect.TypeFor[streaming](), reflect.TypeFor[carrier](), reflect.TypeFor[both](),
		reflect.TypeFor[struct{ streamed }](), reflect.TypeFor[map[string]streamed](), reflect.TypeFor[map[streamedName]any](),
	} {
		want, got := reflect.New(of), reflect.New(of)
		wantErr := json.Unmarshal([]byte(text), want.Interface())
		require.Equal(t, wantErr, Unmarshal([]byte(text), got.Interface()), of)
		require.Equal(t, want.Interface(), got.Interface(), of)
	}
	page := []byte(`{"data":[` + text + `]}`)
	var rows struct {
		Data []Exact[streaming] `json:"data"`
	}
	require.NoError(t, DecodeRecord(page, 0, &rows))
	require.Equal(t, streamedName(`read "a"`), rows.Data[0].Value.Name)
	require.Equal(t, `{"name":"b"}`, rows.Data[0].Value.One.read)
}
