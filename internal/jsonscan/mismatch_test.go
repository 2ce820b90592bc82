package jsonscan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The id of a row that does not fit is known wherever it stands in the row.
func TestMismatchKnowsTheID(t *testing.T) {
	type own struct {
		Name string
		N    int
		Any  map[string]any
	}
	type page struct {
		Data []Exact[own] `json:"data"`
	}
	for _, text := range []string{`{"id":"x","n":"one"}`, `{"n":"one","id":"x"}`, `{"name":1,"n":2,"any":{"id":"y"},"id":"x"}`, `{"any":{"id":"y"},"name":[],"id":"x","n":1}`} {
		got, err := decodeText[page]("{\"data\":[" + text + "]}")
		require.NoError(t, err, text)
		require.NotNil(t, got.Data[0].Unfit, text)
		require.Equal(t, "x", got.Data[0].ID, text)
	}
}

// The id of a row that is read into a map is known, too.
func TestMismatchOfAMapKnowsTheID(t *testing.T) {
	type page struct {
		Data []Exact[map[string]int] `json:"data"`
	}
	for _, text := range []string{`{"id":"x","n":"one"}`, `{"n":"one","id":"x"}`} {
		got, err := decodeText[page]("{\"data\":[" + text + "]}")
		require.NoError(t, err, text)
		require.NotNil(t, got.Data[0].Unfit, text)
		require.Equal(t, "x", got.Data[0].ID, text)
	}
}

// loud reads itself from a text, as a key and as an element.
type loud uint8

func (l *loud) UnmarshalText(text []byte) error {
	*l = loud(len(text))
	return nil
}

// shouted reads itself from a text, as a key.
type shouted string

func (s *shouted) UnmarshalText(text []byte) error {
	*s = shouted(strings.ToUpper(string(text)))
	return nil
}

// Keys and bytes that read themselves do so.
func TestKeysAndBytesThatReadThemselves(t *testing.T) {
	var keys map[shouted]int
	require.NoError(t, Unmarshal([]byte(`{"a":1,"b":2}`), &keys))
	require.Equal(t, map[shouted]int{"A": 1, "B": 2}, keys)
	var bytes []loud
	require.NoError(t, Unmarshal([]byte(`["a","bcd"]`), &bytes))
	require.Equal(t, []loud{1, 3}, bytes)
	type plain uint8
	var encoded []plain
	require.NoError(t, Unmarshal([]byte(`"AQI="`), &encoded))
	require.Equal(t, []plain{1, 2}, encoded)
	type blob []byte
	var text blob
	require.NoError(t, Unmarshal([]byte(`"AQI="`), &text))
	require.Equal(t, blob{1, 2}, text)
}
