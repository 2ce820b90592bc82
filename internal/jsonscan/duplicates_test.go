package jsonscan_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/jsonscan"
)

// Left is embedded.
type Left struct{ X, Y int }

// Right is embedded, and has a tag.
type Right struct {
	X int
	Y int `json:"Y"`
}

// Of two embedded fields of the same name, encoding/json takes the one with a tag, or else none.
func TestFieldsOfTheSameName(t *testing.T) {
	type one struct {
		Left
		Right
	}
	type other struct {
		Right
		Left
	}
	for _, text := range []string{`{"X":1,"Y":2}`, `{"Y":2,"X":1}`} {
		var a, wantA one
		var b, wantB other
		require.NoError(t, json.Unmarshal([]byte(text), &wantA))
		require.NoError(t, json.Unmarshal([]byte(text), &wantB))
		require.NoError(t, jsonscan.Unmarshal([]byte(text), &a))
		require.NoError(t, jsonscan.Unmarshal([]byte(text), &b))
		require.Equal(t, wantA, a)
		require.Equal(t, wantB, b)
		require.Zero(t, a.Left)
		require.Equal(t, Right{Y: 2}, a.Right)
	}
}

// Of several members of the same name, a record has the last, also behind a pointer.
func TestDuplicatesBehindAPointer(t *testing.T) {
	type record struct {
		P *int `json:"p"`
	}
	for text, want := range map[string]int{`{"p":1,"p":2}`: 2, `{"p":null,"p":3}`: 3} {
		var got record
		c, d := jsonscan.New([]byte(text)), jsonscan.NewRecordDecoder[record]()
		require.NoError(t, d.Decode(&c, &got))
		require.NotNil(t, got.P, text)
		require.Equal(t, want, *got.P, text)
	}
}
