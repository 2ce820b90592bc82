package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Kept keeps the text of the struct that it is embedded in.
type Kept struct{ text Text }

// The text of a record is kept wherever the field for it is, beside fields that are none of it.
func TestTextsOfRecordsAreKeptWhereverTheFieldIs(t *testing.T) {
	type inner struct{ text Text }
	type holder struct {
		Kept
		held  inner
		also  Source
		count int       //nolint:unused // it stays as it is
		when  time.Time //nolint:unused // it stays as it is
		at    *int      //nolint:unused // it stays as it is
		Name  string
	}
	const text = `{"Name":"a", "count":1}`
	got := read[holder](t, text)
	require.Equal(t, holder{Kept: Kept{Text(text)}, held: inner{Text(text)}, also: text, Name: "a"}, got)
	all := read[[]holder](t, "["+text+" , {}]")
	require.Equal(t, holder{Kept: Kept{Text(`{}`)}, held: inner{Text(`{}`)}, also: `{}`}, all[1])
	require.Equal(t, Text(text), all[0].text)
}

// A row may have no room for an index.
func TestRowsWithoutAnIndex(t *testing.T) {
	type row struct {
		text Text
		id   ID
	}
	got := read[[]row](t, `[{"id":"a"},{"n":{"id":"c"},"i\u0064":"b"},{}]`)
	require.Equal(t, []row{{Text(`{"id":"a"}`), "a"}, {Text(`{"n":{"id":"c"},"i\u0064":"b"}`), "b"}, {text: Text(`{}`)}}, got)
}

// Every row of a page has its own text, id and index, whatever the rows before it were like.
func TestRowsHaveTheirOwnIndex(t *testing.T) {
	texts := []string{
		`{"id":"a","n":1,"deep":{"id":"no","n":2}}`, `{"n":3}`, `{}`, `{"\u006e":4,"id":"d"}`, `{"deep":[{"id":"no"}],"id":"e","n":5}`, `{"id":7,"n":null}`, `{"id":"f","id":"g","n":1,"n":6}`, `{"n":7,"no":8}`,
	}
	want := []struct{ id, n string }{{"a", "1"}, {"", "3"}, {"", ""}, {"d", "4"}, {"e", "5"}, {"", "null"}, {"g", "6"}, {"", "7"}}
	page := `{"first":{"id":"no"},"rows":[` + "\n"
	for i, text := range texts {
		page += text + []string{" , ", ",", "\n]"}[min(i/(len(texts)-1)*2, 2)]
	}
	got := read[struct {
		Rows []indexedRow `json:"rows"`
	}](t, page+`,"id":"no","last":[{"id":"no","n":0}]}`)
	require.Len(t, got.Rows, len(texts))
	for i, row := range got.Rows {
		require.Equal(t, texts[i], string(row.text))
		require.Equal(t, want[i].id, string(row.id), texts[i])
		value, ok := row.index.Lookup(row.text, "n")
		require.Equal(t, want[i].n, string(value), texts[i])
		require.Equal(t, want[i].n != "", ok, texts[i])
		for i := range texts[i] { // longer ones than the row, too
			_, ok = row.index.Lookup(row.text, strings.Repeat("x", i))
			require.False(t, ok)
		}
		for _, key := range []string{"", "i", "idx", "d", "none", `"`, `n":1`, `id":"a","n`, `n":7,"no`, `id\`} {
			_, ok = row.index.Lookup(row.text, key)
			require.False(t, ok, "%s %s", key, texts[i])
		}
	}
}

// The bound on rows is one on rows: what follows them may have as many elements as always.
func TestBoundOnRowsIsOneOnRows(t *testing.T) {
	type exact struct {
		Rows []Exact[map[string]any] `json:"rows"`
		More struct {
			List  []int            `json:"list"`
			Lists map[string][]int `json:"lists"`
		} `json:"more"`
	}
	type indexed struct {
		Rows []indexedRow `json:"rows"`
		More struct {
			List  []int            `json:"list"`
			Lists map[string][]int `json:"lists"`
		} `json:"more"`
	}
	const more = `"more":{"list":[1,2],"lists":{"a":[1,2,3]}}`
	for _, text := range []string{`{"rows":[{"n":[1,2]}],` + more + `}`, `{` + more + `,"rows":[{"n":[1,2]}]}`} {
		var one exact
		require.NoError(t, DecodeRecord([]byte(text), 1, &one), text)
		require.Equal(t, []int{1, 2}, one.More.List)
		var other indexed
		require.NoError(t, DecodeRecord([]byte(text), 1, &other), text)
		require.Equal(t, []int{1, 2, 3}, other.More.Lists["a"])
	}
	const two = `{"rows":[{},{}]}`
	require.ErrorIs(t, DecodeRecord([]byte(two), 1, new(exact)), ErrTooMuch)
	require.ErrorIs(t, DecodeRecord([]byte(two), 1, new(indexed)), ErrTooMuch)
	require.NoError(t, DecodeRecord([]byte(two), 2, new(indexed)))
	require.EqualError(t, DecodeRecord([]byte(two), 1, new(indexed)), "the response holds too much at byte 12: more elements than a page may have")
}

// A row that does not fit is told wherever the rows are, and as what it is.
func TestMismatchesAreToldWhereverTheyAre(t *testing.T) {
	type own struct{ N int }
	type page struct {
		Inner struct {
			Rows []Exact[own] `json:"rows"`
		} `json:"inner"`
		Rest []string `json:"rest"`
	}
	type indexed struct {
		Inner []struct {
			Rows []indexedRow `json:"rows"`
		} `json:"inner"`
	}
	text := `{"inner":{"rows":[{"N":1,"id":"a"},{"id":"b","N":"x","id":"c"}]},"rest":["a"]}`
	var got page
	require.NoError(t, DecodeRecord([]byte(text), 0, &got))
	rows := got.Inner.Rows
	require.Equal(t, []string{"a", "c"}, []string{rows[0].ID, rows[1].ID})
	require.Equal(t, []own{{1}, {}}, []own{rows[0].Value, rows[1].Value})
	require.Nil(t, rows[0].Unfit)
	var typeError *json.UnmarshalTypeError
	require.ErrorAs(t, rows[1].Unfit.Err, &typeError)
	require.Equal(t, json.Unmarshal([]byte(`{"id":"b","N":"x","id":"c"}`), new(own)), rows[1].Unfit.Err)
	require.ErrorIs(t, DecodeRecord([]byte(`{"inner":{"rows":[{},1]},"rest":["a"]}`), 0, new(page)), errNoObject)
	require.ErrorIs(t, DecodeRecord([]byte(`{"inner":[{"rows":[{},null]},{"rows":[]}]}`), 0, new(indexed)), errNoObject)
	broken := `{"inner":{"rows":[{"N":1},{"N":"x","id":}]},"rest":["a"]}`
	require.EqualError(t, DecodeRecord([]byte(broken), 0, new(page)), "invalid JSON at byte 40: expected a value")
}

// A row that is left to encoding/json is so from the first one on.
func TestFirstRowIsLeftToEncodingJSON(t *testing.T) {
	type own struct {
		Odd string `json:"its' "` //nolint:staticcheck // the versions of encoding/json read this name differently
	}
	const row = `{"id":"a","its' ":"no","Odd":"yes"}`
	var want own
	_ = json.Unmarshal([]byte(row), &want)
	require.Equal(t, []Exact[own]{{ID: "a", Value: want}}, read[[]Exact[own]](t, "["+row+"]"))
}
