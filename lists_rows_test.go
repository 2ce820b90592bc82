package prospectkit_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
)

func TestRowsPage(t *testing.T) {
	t.Parallel()
	page, err := exchange(t, "lists.rows/contacts").Lists.RowsPage(t.Context(), listID, prospectkit.RowsParams{})
	require.NoError(t, err)
	require.Equal(t, prospectkit.ContactList, page.Kind)
	require.Len(t, page.Items, 2)
	row := page.Items[0]
	require.Equal(t, columnID, row.ID())
	require.Equal(t, "Ada", row.Text("firstName"))
	require.Equal(t, "Berlin", row.Text("address.city"))
	require.Equal(t, 36, row.Int("age"))
	require.InDelta(t, 0.5, row.Float("score"), 0)
	require.True(t, row.Bool("vip"))
	require.Equal(t, time.Date(2026, 11, 21, 9, 30, 0, 123e6, time.UTC), row.Time("createdAt"))

	page, err = exchange(t, "lists.rows/every-parameter").Lists.RowsPage(t.Context(), listID, prospectkit.RowsParams{
		Limit: 5, PageNum: 2, Sort: prospectkit.Descending("address.city"),
		Filter: prospectkit.ContactFilter{Country: prospectkit.AnyOf("Germany")},
	})
	require.NoError(t, err)
	require.Empty(t, page.Items)
	require.False(t, page.TotalKnown)

	_, err = exchange(t, "lists.rows/bad-filters").Lists.RowsPage(t.Context(), listID, prospectkit.RowsParams{})
	require.ErrorIs(t, err, prospectkit.CodeInvalidRowFilters)
}

// A row may be kept as JSON, and read back into a variable that held another.
func TestRowReadBack(t *testing.T) {
	t.Parallel()
	page, err := newClient(t, always(http.StatusOK, `{"data":[{"id":"a"},{"id":"b"}]}`)).Lists.RowsPage(t.Context(), listID, prospectkit.RowsParams{})
	require.NoError(t, err)
	row := page.Items[0]
	kept, err := json.Marshal(page.Items[1])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(kept, &row))
	require.Equal(t, "b", row.ID())
	require.Equal(t, "b", row.Text("id"))
	require.Equal(t, "a", page.Items[0].ID())
}

// A filter that nobody asked for is not sent. One that came out empty is another thing: see TestAnEmptyFilterIsRefused.
func TestRowsEmptyFilter(t *testing.T) {
	t.Parallel()
	for _, f := range []prospectkit.RowFilter{
		nil,
		prospectkit.ContactFilter{},
		prospectkit.CompanyFilter{},
		prospectkit.RawFilter(nil),
		(*prospectkit.ContactFilter)(nil),
		&prospectkit.ContactFilter{},
	} {
		client := newClient(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			require.Empty(t, r.URL.RawQuery)
			return answer(http.StatusOK, `{"data":[]}`), nil
		}))
		_, err := client.Lists.RowsPage(t.Context(), listID, prospectkit.RowsParams{Filter: f})
		require.NoError(t, err)
	}
}

type contact struct {
	ID   string `json:"id"`
	Name string `json:"firstName"`
	Age  int    `json:"age"`
	Home struct {
		City string `json:"city"`
	} `json:"address"`
}

func TestRowsOf(t *testing.T) {
	t.Parallel()
	// the iterator asks for the largest page, the exchange has no query: so the answer only
	body := `{"data":[{"id":"a","firstName":"Ada","age":36,"address":{"city":"Berlin"},"new":1},{"id":"b","firstName":null}],
		"pagination":{"pageNum":1,"totalPages":1,"totalRecords":2}}`
	lists := newClient(t, always(http.StatusOK, body)).Lists
	got, err := prospectkit.Collect(prospectkit.RowsOf[contact](t.Context(), lists, listID, prospectkit.RowsParams{}), 10)
	require.NoError(t, err)
	ada := contact{ID: "a", Name: "Ada", Age: 36}
	ada.Home.City = "Berlin"
	require.Equal(t, []contact{ada, {ID: "b"}}, got)
}

// Records that move between requests are told by their id, also where the caller's struct has none.
func TestRowsOfWithoutID(t *testing.T) {
	t.Parallel()
	s := shelfOf("abcdef", nil, add("X"))
	var p prospectkit.Progress
	seq := prospectkit.RowsOf[struct{ Name string }](t.Context(), newClient(t, s).Lists, listID, prospectkit.RowsParams{Limit: 2}, prospectkit.WithProgress(&p))
	got, err := prospectkit.Collect(seq, 100)
	require.NoError(t, err)
	require.Len(t, got, 6)
	require.Equal(t, 1, p.Report().Repeats)
}

func TestRowsOfMismatchNamesTheRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		body := `{"data":[{"id":"a","age":36},{"id":"b","age":"old"}]}`
		lists := newClient(t, always(http.StatusOK, body)).Lists
		_, err := prospectkit.Collect(prospectkit.RowsOf[contact](t.Context(), lists, listID, prospectkit.RowsParams{}), 10)
		require.ErrorContains(t, err, "a row does not fit prospectkit_test.contact: field age: got string, want int")
		require.Equal(t, "b", asError(t, err).RowID)
		var mismatch *json.UnmarshalTypeError
		require.ErrorAs(t, err, &mismatch)
		require.Equal(t, "age", mismatch.Field)
	})
}

// An object reads what is missing, null or of another type as zero.
func TestObject(t *testing.T) {
	t.Parallel()
	var o prospectkit.Object
	require.True(t, o.IsZero())
	require.Error(t, o.Decode(new(any)))
	text, err := json.Marshal(o)
	require.NoError(t, err)
	require.Equal(t, "null", string(text))

	source := []byte(`{"s":"x\u00e9","i":1e3,"f":-2.5,"b":true,"n":null,"o":{"deep":{"i":7}},"t":"2026-11-21T10:00:00+01:00","a.b":1,"s":"y\u00e9"}`)
	require.NoError(t, json.Unmarshal(source, &o))
	want := string(source)
	clear(source)
	require.Equal(t, want, string(o.Raw()), "it keeps a copy")
	require.Equal(t, "yé", o.Text("s"), "the last of duplicate keys")
	require.Equal(t, 1000, o.Int("i"))
	require.Equal(t, 7, o.Int("o.deep.i"))
	require.InDelta(t, -2.5, o.Float("f"), 0)
	require.True(t, o.Bool("b"))
	require.Equal(t, time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC), o.Time("t"))
	for _, path := range []string{"missing", "n", "o", "o.missing", "s.x", "", "a.b", "o.deep.i.j"} {
		require.Empty(t, o.Text(path), path)
		require.Zero(t, o.Int(path), path)
		require.Zero(t, o.Float(path), path)
		require.False(t, o.Bool(path), path)
		require.True(t, o.Time(path).IsZero(), path)
	}
	require.Zero(t, o.Int("f"), "a fraction is no whole number")
	inner, ok := o.Get("o.deep")
	require.True(t, ok)
	require.Equal(t, 7, inner.Int("i"))
	null, ok := o.Get("n")
	require.True(t, ok)
	require.False(t, null.IsZero(), "null is there")
	_, ok = o.Get("nothing")
	require.False(t, ok)
	text, err = json.Marshal(struct{ Row prospectkit.Row }{prospectkit.Row{Object: o}})
	require.NoError(t, err)
	require.JSONEq(t, `{"Row":`+want+`}`, string(text))
}

// Whatever a page is made of: no panic, and either an error or what encoding/json reads.
func FuzzRowScan(f *testing.F) {
	for _, body := range []string{
		`{"data":[{"id":"a"},{"id":"b","x":[1,{}]}],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":2}}`,
		`{"entityType":"companyList","data":[],"pagination":null}`, `{"data":[1]}`, `{"data":{}}`, `[]`, ``, `{"data":[{}]`,
		"\ufeff" + `{"data":[{"\u0069d":"\ud83d\ude00"}]}`, `{"data":[{"id":"a"}],"data":[{"id":"b"}]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		client := newClient(t, always(http.StatusOK, string(body)), prospectkit.WithRetry(prospectkit.NoRetry))
		page, err := client.Lists.RowsPage(t.Context(), listID, prospectkit.RowsParams{})
		var top map[string]json.RawMessage
		var elements []json.RawMessage
		valid := json.Unmarshal([]byte(strings.TrimPrefix(string(body), "\ufeff")), &top) == nil &&
			json.Unmarshal(top["data"], &elements) == nil && elements != nil
		for _, e := range elements {
			valid = valid && e[0] == '{'
		}
		if !valid {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Len(t, page.Items, len(elements))
		for i, want := range elements {
			var fields map[string]any
			require.NoError(t, json.Unmarshal(want, &fields))
			id, _ := fields["id"].(string)
			require.Equal(t, id, page.Items[i].ID())
			require.Equal(t, string(want), string(page.Items[i].Raw()))
		}
	})
}

// What a first program prints is text, not the bytes inside.
func TestValuesPrintAsJSON(t *testing.T) {
	t.Parallel()
	const text = `{"id":"0123456789abcdef01234567", "name":"Q1", "new":1}`
	client := newClient(t, always(200, `{"list":`+text+`,"agent":`+text+`,"profiles":[`+text+`]}`), unpaced())
	list, err := client.Lists.Get(t.Context(), listID, prospectkit.GetListParams{})
	require.NoError(t, err)
	agent, err := client.Agents.Get(t.Context(), listID)
	require.NoError(t, err)
	found, err := client.Search.ProspectsPage(t.Context(), prospectkit.SearchParams{})
	require.NoError(t, err)
	var row prospectkit.Row
	require.NoError(t, json.Unmarshal([]byte(text), &row))
	for _, v := range []any{list, *list, agent, *agent, &found.Items[0], found.Items[0], row.Object, row, &row} {
		require.JSONEq(t, text, fmt.Sprint(v), "%T", v)
		require.JSONEq(t, "["+text+"]", fmt.Sprintf("%+v", []any{v}), "%T", v)
	}
	require.JSONEq(t, `{"id":"","name":"Q1","entityType":"","contactsCount":0,"companiesCount":0}`, prospectkit.List{Name: "Q1"}.String())
}
