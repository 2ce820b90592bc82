package jsonscan

import (
	"encoding/json"
	"fmt"
	"reflect"
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

func read[T any](t *testing.T, text string) T {
	t.Helper()
	d := NewRecordDecoder[T]()
	defer d.Release()
	var out T
	c := New([]byte(text))
	require.NoError(t, d.Decode(&c, &out), text)
	require.NoError(t, c.End(), text)
	return out
}

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
	got := read[record](t, `{"ID":"no","id":"first","Count":9,"count":1,"inner":{"name":"a","n":1},"parts":[{"n":1},{"n":2}],"maybe":1,"names":["a","b"],"id":"last","count":2,"inner":{"n":2},"parts":[{"n":3}],"maybe":null,"names":7}`)
	got.hidden = note{}
	require.Equal(t, record{ID: "last", Count: 2, Inner: part{N: 2}, Parts: []part{{N: 3}}}, got)
	require.Zero(t, read[record](t, `{"count":1,"count":"x"}`).Count)
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

func decodeText[T any](text string) (out T, err error) {
	d := NewRecordDecoder[T]()
	defer d.Release()
	c := New([]byte(text))
	if err = d.Decode(&c, &out); err == nil {
		err = c.End()
	}
	return out, err
}

// A little text must not become a lot of memory, whatever reads it.
func TestRoomIsBounded(t *testing.T) {
	type wide struct {
		Name string
		Fill [4096]byte
	}
	type outer struct {
		Wide   []wide
		Ptrs   []*wide
		By     map[string]wide
		Any    any
		Foul   chan int
		Deep   [][]wide
		Others []struct{ Wide *wide }
	}
	many := func(elem string) string { return strings.Repeat(elem+",", 8000) + elem }
	for _, text := range []string{
		`{"Wide":[` + many("{}") + `]}`, `{"Ptrs":[` + many("{}") + `]}`, `{"Deep":[[` + many("{}") + `]]}`, `{"Others":[` + many(`{"Wide":{}}`) + `]}`,
		`{"Foul":1,"Wide":[` + many("{}") + `]}`, `{"Deep":[` + many("[{}]") + `]}`,
	} {
		for _, of := range []reflect.Type{reflect.TypeFor[outer](), reflect.TypeFor[Exact[outer]](), reflect.TypeFor[[]outer]()} {
			lenient := of == reflect.TypeFor[Exact[outer]]()
			d, out := borrow(planOf(of, lenient)), reflect.New(of)
			d.Cursor = New([]byte(text))
			var err error
			if !lenient {
				err = d.strictly(d.plan.root, out.UnsafePointer())
			} else if !d.plan.root.read(d, out.UnsafePointer()) {
				err = d.Err()
			}
			if of.Kind() == reflect.Slice {
				require.Error(t, err)
				continue
			}
			require.ErrorIs(t, err, ErrTooMuch, "%.30s %s", text, of)
			require.ErrorIs(t, Unmarshal([]byte(text), new(outer)), ErrTooMuch)
		}
	}
	var entries []string
	for i := range 8000 {
		entries = append(entries, fmt.Sprintf(`"%d":{}`, i))
	}
	require.ErrorIs(t, Unmarshal([]byte(`{"By":{`+strings.Join(entries, ",")+`}}`), new(outer)), ErrTooMuch)
	require.NoError(t, Unmarshal([]byte(`{"Any":[`+many(`{"a":1}`)+`]}`), new(outer)))
}

func TestTimes(t *testing.T) {
	for _, text := range times {
		sameTime(t, text)
	}
}

var times = []string{
	"2026-11-22T10:00:00Z", "2026-11-22T10:00:00.1Z", "2026-11-22T10:00:00.123456789Z", "2026-11-22T10:00:00.1234567890Z", "2026-11-22T10:00:00.Z", "2026-11-22T10:00:00,5Z",
	"2024-02-29T00:00:00Z", "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2100-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-13-01T00:00:00Z",
	"2026-00-10T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T23:60:00Z", "2026-01-01T23:59:60Z", "2026-11-22t10:00:00z", "2026-11-22 10:00:00Z",
	"2026-11-22T10:00:00+00:00", "2026-11-22T10:00:00-23:59", "2026-11-22T10:00:00+24:00", "2026-11-22T1:00:00Z", "2026-11-22T10:00Z", "", "Z", "null", "-2026-11-22T10:00:00Z", "20261-1-22T10:00:00Z",
}

func FuzzTime(f *testing.F) {
	for _, text := range times {
		f.Add(text)
	}
	f.Fuzz(sameTime)
}

func sameTime(t *testing.T, text string) {
	t.Helper()
	data, err := json.Marshal(text)
	require.NoError(t, err)
	var want, got struct{ T time.Time }
	data = fmt.Appendf(nil, `{"T":%s}`, data)
	wantErr := json.Unmarshal(data, &want)
	require.Equal(t, wantErr, Unmarshal(data, &got), text)
	require.Equal(t, want, got, text)

	lenient, _ := time.Parse(time.RFC3339Nano, text)
	if !lenient.IsZero() {
		lenient = lenient.UTC()
	}
	require.Equal(t, lenient, Time([]byte(text)), text)
}
