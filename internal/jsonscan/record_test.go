package jsonscan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type (
	note   struct{ raw Text }
	record struct {
		ID     string    `json:"id"`
		Kind   label     `json:"kind"`
		Count  int       `json:"count"`
		Share  float64   `json:"share"`
		On     bool      `json:"on"`
		At     time.Time `json:"at"`
		Inner  part      `json:"inner"`
		Parts  []part    `json:"parts"`
		Names  []string  `json:"names"`
		Any    note      `json:"any"`
		Maybe  *int      `json:"maybe"`
		hidden note
	}
	indexedRow struct {
		text  Text
		index Index
		id    ID
	}
	part struct {
		Name string `json:"name"`
		N    int    `json:"n"`
	}
)

func TestRecords(t *testing.T) {
	at := time.Date(2026, 11, 22, 10, 0, 0, 5e6, time.UTC)
	text := `{"id":"a","kind":"k","count":1e3,"share":2.5,"on":true,"at":"2026-11-22T11:00:00.005+01:00","inner":{"name":"n","n":2.0},"parts":[{"n":1},{"name":"x"}],"names":["p",7,null],"any":[1, 2],"maybe":3}`
	got := read[record](t, text)
	require.Equal(t, text, string(got.hidden.raw))
	require.Equal(t, "[1, 2]", string(got.Any.raw))
	got.hidden, got.Any = note{}, note{}
	three := 3
	require.Equal(t, record{
		ID: "a", Kind: "k", Count: 1000, Share: 2.5, On: true, At: at, Inner: part{"n", 2}, Parts: []part{{N: 1}, {Name: "x"}}, Names: []string{"p", "", ""}, Maybe: &three,
	}, got)

	for _, wrong := range []string{"null", "{}", "[]", `"x"`, "1.5", "true", `["x",{"id":1}]`, `{"name":[]}`} {
		if wrong == "true" || wrong == "1.5" || wrong == `"x"` || wrong == "null" {
			require.Equal(t, wrong, string(read[record](t, wrong).hidden.raw))
		}
		text := fmt.Sprintf(`{"at":%[1]s,"inner":%[1]s,"parts":%[1]s,"names":%[1]s,"maybe":%[1]s,"other":%[1]s,"count":%[1]s}`, wrong)
		got := read[record](t, text)
		require.Equal(t, text, string(got.hidden.raw))
		require.Zero(t, got.Count)
		require.Zero(t, got.At)
		require.Zero(t, got.Inner)
	}
	require.Error(t, NewRecordDecoder[record]().Decode(new(Cursor), new(record)))
}

// A struct that keeps its text as a Source can be compared.
func TestRecordsThatCanBeCompared(t *testing.T) {
	type embedded struct{ text Source }
	type small struct {
		Name string `json:"name"`
		embedded
	}
	texts := []string{`{"name":"a"}`, `{"name":"a","x":1}`, `{"name":"a"}`, `null`}
	got := read[[]small](t, `[`+strings.Join(texts, ` , `)+`]`)
	require.Len(t, got, len(texts))
	for i, text := range texts {
		require.Equal(t, text, string(got[i].text))
	}
	require.Len(t, map[small]bool{got[0]: true, got[1]: true, got[2]: true}, 2)
}

func TestRecordsTakeTheLastDuplicateOfTheExactName(t *testing.T) {
	got := read[record](t, `{"ID":"no","id":"first","Count":9,"count":1,"NAMES":["x"],"Inner":{"n":1},"inner":{"name":"a","n":1,"N":2},"parts":[{"n":1},{"n":2}],"maybe":1,"names":["a","b"],"id":"last","count":2,"inner":{"n":2},"parts":[{"n":3}],"maybe":null,"names":7}`)
	got.hidden = note{}
	require.Equal(t, record{ID: "last", Count: 2, Inner: part{N: 2}, Parts: []part{{N: 3}}}, got)
	require.Zero(t, read[record](t, `{"count":1,"count":"x"}`).Count)
}

// Of a row that comes twice nothing is left, whatever it was like.
func TestRowsTakeTheLastDuplicate(t *testing.T) {
	type own struct {
		A, B int
		P    *int
	}
	type page struct {
		Row Exact[own] `json:"row"`
	}
	for _, first := range []string{`{"id":"x","A":1}`, `{"A":1}`, `{"id":"x","P":1}`, `{"A":"no"}`, `{"A":1,"A":"no"}`} {
		want := page{Exact[own]{ID: "y", Value: own{B: 2}}}
		require.Equal(t, want, read[page](t, `{"row":`+first+`,"row":{"id":"y","B":2}}`), first)
	}
}

// In records a value that does not fit reads as zero where it stands, and of duplicates the last one counts whatever the first was like.
func TestMismatchesAndDuplicatesInContainersOfRecords(t *testing.T) {
	type holder struct {
		List  []string
		Many  []part
		Count int
		Ptr   *part
		text  Text
	}
	for text, want := range map[string]holder{
		`{"List":["a","b"],"List":[],"Count":2.0}`:                     {List: []string{}, Count: 2},
		`{"List":["a","b"],"List":["c"],"count":7,"Count":1e1}`:        {List: []string{"c"}, Count: 10},
		`{"Many":[{"n":1},{"n":2}],"Count":3.0,"Many":[{"name":"a"}]}`: {Many: []part{{Name: "a"}}, Count: 3},
		`{"Ptr":{"n":1},"ptr":{"n":3},"Ptr":{"name":"a"},"Count":5.0}`: {Ptr: &part{Name: "a"}, Count: 5},
	} {
		want.text = Text(text)
		require.Equal(t, want, read[holder](t, text), text)
		require.Equal(t, []holder{want, want}, read[[]holder](t, "["+text+","+text+"]"), text)
	}
}

// In records null is a value of another type, too: of duplicates the last one counts. Methods of their types are not called.
func TestRecordsTakeNullAsZero(t *testing.T) {
	type holder struct {
		Next  Text     `json:"next"`
		Name  string   `json:"name"`
		Kind  label    `json:"kind"`
		Upper upper    `json:"upper"`
		Float float64  `json:"float"`
		Small int8     `json:"small"`
		On    bool     `json:"on"`
		List  []string `json:"list"`
		By    map[string]int
		Any   any
		Array [2]int
	}
	const full = `"next": {"a":1} ,"name":"n","kind":"k","upper":"u","float":1.5,"small":3,"on":true,"list":["a"],"By":{"a":1},"Any":[1],"Array":[1,2]`
	require.Equal(t, holder{
		Text(`{"a":1}`), "n", "k", "u", 1.5, 3, true, []string{"a"}, map[string]int{"a": 1}, []any{1.0}, [2]int{1, 2},
	}, read[holder](t, "{"+full+"}"))
	for _, other := range []string{`null`, `{"x":1}`, `-99e99`} {
		got := read[holder](t, fmt.Sprintf(`{%s,"next":%s,"name":%[2]s,"kind":%[2]s,"upper":%[2]s,"float":null,"small":%[2]s,"on":%[2]s,"list":%[2]s,"By":null,"Any":null,"Array":%[2]s}`, full, other))
		require.Equal(t, holder{Next: Text(other)}, got, other)
	}
}

// A page holds rows of the caller's own type, which are as strict as encoding/json.
func TestRowsOfAPage(t *testing.T) {
	type own struct {
		ID    int
		Name  string
		Extra map[string]any
	}
	type page[R any] struct {
		Data  []R `json:"data"`
		Total int `json:"total"`
	}
	text := `{"data":[{"id":"x","name":"a"},{"name":"b","extra":{"id":"deep","n":1},"ID":7}],"total":"2"}`
	got, err := decodeText[page[Exact[own]]](text)
	require.NoError(t, err)
	require.Equal(t, "x", got.Data[0].ID)
	require.Equal(t, &Misfit{Text(`{"id":"x","name":"a"}`), json.Unmarshal([]byte(`{"id":"x","name":"a"}`), new(own))}, got.Data[0].Unfit)
	require.Zero(t, got.Data[0].Value)

	got, err = decodeText[page[Exact[own]]](strings.Replace(text, `"x"`, `5`, 1))
	require.NoError(t, err)
	require.Equal(t, []Exact[own]{
		{Value: own{ID: 5, Name: "a"}, sum: got.Data[0].sum}, {Value: own{ID: 7, Name: "b", Extra: map[string]any{"id": "deep", "n": 1.0}}, sum: got.Data[1].sum},
	}, got.Data)
	require.NotEqual(t, got.Data[0].sum, got.Data[1].sum)
	indexed, err := decodeText[page[indexedRow]](text)
	require.NoError(t, err)
	require.Len(t, indexed.Data, 2)
	require.Equal(t, ID("x"), indexed.Data[0].id)
	require.Empty(t, indexed.Data[1].id)
	raw, ok := indexed.Data[1].index.Lookup(indexed.Data[1].text, "extra")
	require.True(t, ok)
	require.JSONEq(t, `{"id":"deep","n":1}`, string(raw))
	for _, text := range []string{`{"data":[1]}`, `{"data":[null]}`, `{"data":[[]]}`} {
		_, err := decodeText[page[Exact[own]]](text)
		require.ErrorIs(t, err, errNoObject)
		_, err = decodeText[page[indexedRow]](text)
		require.ErrorIs(t, err, errNoObject)
	}
	maps, err := decodeText[page[Exact[map[string]any]]](text)
	require.NoError(t, err)
	require.Equal(t, "x", maps.Data[0].ID)
}

// Kept keeps the text of the struct that it is embedded in.
type Kept struct{ text Text }

// The text of a record is kept wherever the field for it is, beside fields that are none of it.
func TestTextsOfRecordsAreKeptWhereverTheFieldIs(t *testing.T) {
	type holder struct {
		Kept
		also  Source
		count int       //nolint:unused // it stays as it is
		when  time.Time //nolint:unused // it stays as it is
		at    *int      //nolint:unused // it stays as it is
		Name  string
	}
	const text = `{"Name":"a", "count":1}`
	got := read[holder](t, text)
	require.Equal(t, holder{Kept: Kept{Text(text)}, also: text, Name: "a"}, got)
	all := read[[]holder](t, "["+text+" , {}]")
	require.Equal(t, holder{Kept: Kept{Text(`{}`)}, also: `{}`}, all[1])
	require.Equal(t, Text(text), all[0].text)
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
	for _, text := range []string{`{"id":"x","n":"one"}`, `{"n":"one","id":"x"}`, `{"name":1,"n":2,"any":{"id":"y"},"id":"x"}`, `{"any":{"id":"y"},"name":[],"id":"x","n":1}`, `{"id":"y","n":"one", "i\u0064" : "\u0078"}`} {
		got, err := decodeText[page]("{\"data\":[" + text + "]}")
		require.NoError(t, err, text)
		require.NotNil(t, got.Data[0].Unfit, text)
		require.Equal(t, "x", got.Data[0].ID, text)
		maps, err := decodeText[[]Exact[map[string]int]]("[" + text + "]")
		require.NoError(t, err, text)
		require.NotNil(t, maps[0].Unfit, text)
		require.Equal(t, "x", maps[0].ID, text)
	}
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
