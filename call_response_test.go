package prospectkit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/jsonscan"
)

// What is known of a result stands in for what the response does not say, not for a false or a zero that it says.
func TestFillIn(t *testing.T) {
	type result struct {
		partial

		Name     string `json:"name"`
		Archived bool   `json:"archived"`
		Rows     int    `json:"rows"`
	}
	for text, want := range map[string]result{
		`{}`: {Name: "Q1", Archived: true, Rows: 3},
		`{"name":"","archived":null,"rows":null}`:   {Name: "Q1", Archived: true, Rows: 3},
		`{"name":"Q2","archived":false,"rows":0}`:   {Name: "Q2"},
		`{"archived":true,"rows":7,"other":"more"}`: {Name: "Q1", Archived: true, Rows: 7},
	} {
		var got result
		require.NoError(t, jsonscan.Unmarshal(jsonscan.Text(text), &got))
		got.raw = Object{raw: jsonscan.Text(text)}
		c := new(call)
		c.want = expected{out: &got, known: result{Name: "Q1", Archived: true, Rows: 3}}
		c.fillIn()
		got.raw = Object{}
		require.Equal(t, want, got, text)
	}
}
