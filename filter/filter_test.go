package filter_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/filter"
)

// Except leaves the match it is called on alone, also when there is room after its values.
func TestMatch_Except(t *testing.T) {
	t.Parallel()
	base := filter.Match{Exclude: make([]string, 0, 4)}
	a, b := base.Except("a"), base.Except("b")
	require.Equal(t, []string{"a"}, a.Exclude)
	require.Equal(t, []string{"b"}, b.Exclude)
	require.Empty(t, base.Exclude)
	require.True(t, filter.Match{}.IsZero())
	require.False(t, a.IsZero())
}

// A column filter is sent as the document shows it.
func TestColumn(t *testing.T) {
	t.Parallel()
	for want, column := range map[string]filter.Column{
		`{"dataType":"string","include":["a","b"]}`:         filter.Text("a", "b"),
		`{"dataType":"boolean","value":false}`:              filter.Bool(false),
		`{"dataType":"number","rangeMin":0,"rangeMax":2.5}`: filter.Number(0, 2.5),
	} {
		text, err := json.Marshal(column)
		require.NoError(t, err)
		require.JSONEq(t, want, string(text))
	}
}
