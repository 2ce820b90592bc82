package services_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/filter"
	"example.com/prospectkit/internal/tests"
)

func TestRows_Page(t *testing.T) {
	page, err := tests.Exchange(t, "lists.rows/contacts").Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{})
	require.NoError(t, err)
	require.Equal(t, "contactList", page.Kind)
	require.Len(t, page.Items, 2)
	row := page.Items[0]
	require.Equal(t, tests.ColumnID, row.ID())
	require.Equal(t, "Ada", row.Text("firstName"))
	require.Equal(t, "Berlin", row.Text("address.city"))
	require.Equal(t, 36, row.Int("age"))
	require.InDelta(t, 0.5, row.Float("score"), 0)
	require.True(t, row.Bool("vip"))
	require.Equal(t, time.Date(2026, 11, 21, 9, 30, 0, 123e6, time.UTC), row.Time("createdAt"))

	page, err = tests.Exchange(t, "lists.rows/every-parameter").Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{
		Limit: 5, PageNum: 2, SortBy: "address.city", Descending: true,
		Filter: filter.Contact{Country: filter.AnyOf("Germany")},
	})
	require.NoError(t, err)
	require.Empty(t, page.Items)
	require.False(t, page.TotalKnown)

	_, err = tests.Exchange(t, "lists.rows/bad-filters").Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{})
	require.ErrorIs(t, err, prospectkit.CodeInvalidRowFilters)
}

// A row may be kept as JSON, and read back into a variable that held another.
func TestRows_ReadBack(t *testing.T) {
	page, err := tests.NewClient(t, tests.Always(http.StatusOK, `{"data":[{"id":"a"},{"id":"b"}]}`)).Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{})
	require.NoError(t, err)
	row := page.Items[0]
	kept, err := json.Marshal(page.Items[1])
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(kept, &row))
	require.Equal(t, "b", row.ID())
	require.Equal(t, "b", row.Text("id"))
	require.Equal(t, "a", page.Items[0].ID())
}

// A filter that nobody asked for is not sent. One that came out empty is another thing: see TestFilter_EmptyIsRefused.
func TestRows_EmptyFilter(t *testing.T) {
	for _, f := range []filter.Rows{
		nil,
		filter.Contact{},
		filter.Company{},
		filter.Raw(nil),
		(*filter.Contact)(nil),
		&filter.Contact{},
	} {
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			require.Empty(t, r.URL.RawQuery)
			return tests.Respond(http.StatusOK, `{"data":[]}`), nil
		}))
		_, err := client.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{Filter: f})
		require.NoError(t, err)
	}
}

// All pages of a range have the filter of its beginning, although the loop uses its map and its slice again.
func TestRows_FilterChangesMeanwhile(t *testing.T) {
	countries := []string{"Germany"}
	for _, f := range []filter.Rows{filter.Raw{"country": countries}, filter.Contact{Country: filter.Match{Include: countries}}} {
		countries[0] = "Germany"
		var asked []string
		client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.Query().Get("filters"))
			n := strconv.Itoa(len(asked))
			row := `{"id":"` + n + `"}`
			if len(asked) > 3 {
				row = ""
			}
			return tests.Respond(http.StatusOK, `{"data":[`+row+`],"pagination":{"pageNum":`+n+`,"totalPages":3,"totalRecords":3}}`), nil
		}))
		for _, err := range client.Lists.Rows(t.Context(), tests.ListID, prospectkit.RowsParams{Filter: f, Limit: 1}) {
			require.NoError(t, err)
			countries[0] = "" // which would be refused
			if raw, ok := f.(filter.Raw); ok {
				raw["name"] = []string{"Ada"}
			}
		}
		require.Equal(t, slices.Repeat([]string{`{"country":["Germany"]}`}, 4), asked)
	}
}

func TestRowsOf(t *testing.T) {
	// the iterator asks for the largest page, the exchange has no query: so the response only
	body := `{"data":[{"id":"a","firstName":"Ada","age":36,"address":{"city":"Berlin"},"new":1},{"id":"b","firstName":null}],
		"pagination":{"pageNum":1,"totalPages":1,"totalRecords":2}}`
	lists := tests.NewClient(t, tests.Always(http.StatusOK, body)).Lists
	got, err := prospectkit.Collect(prospectkit.RowsOf[tests.Contact](t.Context(), lists, tests.ListID, prospectkit.RowsParams{}), 10)
	require.NoError(t, err)
	ada := tests.Contact{ID: "a", Name: "Ada", Age: 36}
	ada.Home.City = "Berlin"
	require.Equal(t, []tests.Contact{ada, {ID: "b"}}, got)
}

// Records that move between requests are told by their id, also where the caller's struct has none.
func TestRowsOf_WithoutID(t *testing.T) {
	s := tests.ShelfOf("abcdef", nil, tests.Add("X"))
	var p prospectkit.Progress
	seq := prospectkit.RowsOf[struct{ Name string }](t.Context(), tests.NewClient(t, s).Lists, tests.ListID, prospectkit.RowsParams{Limit: 2}, prospectkit.WithProgress(&p))
	got, err := prospectkit.Collect(seq, 100)
	require.NoError(t, err)
	require.Len(t, got, 6)
	require.Equal(t, 1, p.Report().Repeats)
}

// A row that does not fit is told with its field and its id, after the rows before it, and a checkpoint can go on behind it.
func TestRowsOf_HandsOutTheRowsBefore(t *testing.T) {
	const late = "+010000-01-01T00:00:00.000Z" // as JavaScript writes it
	type person struct {
		Name string
		At   struct {
			Created time.Time `json:"createdAt"`
		} `json:"at"`
	}
	row := func(id, at string) string {
		return `{"id":"` + id + `","Name":"` + id + `","at":{"createdAt":"` + at + `"}}`
	}
	const plain = "2026-01-01T00:00:00Z"
	rows := strings.Join([]string{row("a", plain), row("b", plain), row("c", late), row("d", plain)}, ",")
	body := `{"data":[` + rows + `],"pagination":{"pageNum":1,"totalPages":1,"totalRecords":4}}`
	lists := tests.NewClient(t, tests.Always(http.StatusOK, body)).Lists
	var p prospectkit.Progress
	for _, source := range []prospectkit.RowSource{lists, struct{ prospectkit.RowSource }{lists}} {
		got, err := prospectkit.Collect(prospectkit.RowsOf[person](t.Context(), source, tests.ListID, prospectkit.RowsParams{}, prospectkit.WithProgress(&p)), 10)
		require.EqualError(t, err, "prospectkit: lists.rows: a row does not fit services_test.person: field at.createdAt: a text is not a time as time.Time reads it")
		require.Equal(t, "c", tests.AsError(t, err).RowID)
		require.Len(t, got, 2)
		require.Equal(t, "b", got[1].Name)
		got, err = prospectkit.Collect(prospectkit.RowsOf[person](t.Context(), source, tests.ListID, prospectkit.RowsParams{}, from(p.Checkpoint())), 10)
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.Equal(t, "d", got[0].Name)
	}

	lists = tests.NewClient(t, tests.Always(http.StatusOK, `{"data":[{"id":"a","age":36},{"id":"b","age":"old"}]}`)).Lists
	err := tests.Exhaust(prospectkit.RowsOf[tests.Contact](t.Context(), lists, tests.ListID, prospectkit.RowsParams{}))
	require.ErrorContains(t, err, "a row does not fit tests.Contact: field age: got string, want int")
	require.Equal(t, "b", tests.AsError(t, err).RowID)
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	require.True(t, ok)
	require.Equal(t, "age", mismatch.Field)
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
		client := tests.NewClient(t, tests.Always(http.StatusOK, string(body)), noRetry)
		page, err := client.Lists.RowsPage(t.Context(), tests.ListID, prospectkit.RowsParams{})
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

// stub is what a program puts in place of client.Lists in its tests.
type stub struct {
	rows  []string
	fails error
	asked []any
	ended bool // by the loop
}

func (s *stub) Rows(_ context.Context, id string, p prospectkit.RowsParams, _ ...prospectkit.PageOption) iter.Seq2[*prospectkit.Row, error] {
	s.asked = []any{id, p}
	return func(yield func(*prospectkit.Row, error) bool) {
		for _, text := range s.rows {
			row := new(prospectkit.Row)
			if err := json.Unmarshal([]byte(text), row); !yield(row, err) {
				s.ended = true
				return
			}
		}
		if s.fails != nil {
			yield(nil, s.fails)
		}
	}
}

type person struct {
	ID   string `json:"id"`
	Name string `json:"firstName"`
	Size int    `json:"size"`
}

func TestRowsOf_AnySource(t *testing.T) {
	s := &stub{rows: []string{`{"id":"1","firstName":"Ada","size":7}`, `{"id":"2","firstName":"Grace","other":true}`}}
	params := prospectkit.RowsParams{Limit: 3}
	got, err := prospectkit.Collect(prospectkit.RowsOf[person](t.Context(), s, tests.ListID, params), 9)
	require.NoError(t, err)
	require.Equal(t, []person{{"1", "Ada", 7}, {"2", "Grace", 0}}, got)
	require.Equal(t, []any{tests.ListID, params}, s.asked)

	s.fails = errors.New("out of rows")
	got, err = prospectkit.Collect(prospectkit.RowsOf[person](t.Context(), s, tests.ListID, params), 9)
	require.ErrorIs(t, err, s.fails)
	require.Len(t, got, 2)

	s.rows[1] = `{"id":"2","firstName":7}`
	got, err = prospectkit.Collect(prospectkit.RowsOf[person](t.Context(), s, tests.ListID, params), 9)
	require.ErrorContains(t, err, "does not fit services_test.person")
	require.Equal(t, "Ada", got[0].Name)
	require.True(t, s.ended, "the source is told that nobody reads on")

	s.ended = false
	for _, err := range prospectkit.RowsOf[person](t.Context(), s, tests.ListID, params) {
		require.NoError(t, err)
		break
	}
	require.True(t, s.ended)
}

// The results of an agent are rows, too.
func TestRowsOf_TakesAgents(t *testing.T) {
	s := tests.ShelfOf("abc")
	client := tests.NewClient(t, tests.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/api/v1/business/agents/"+tests.ColumnID {
			return tests.Respond(http.StatusOK, `{"agent":{"id":"`+tests.ColumnID+`","started":true,"status":"active","listId":"`+tests.ListID+`"}}`), nil
		}
		return s.RoundTrip(r)
	}))
	got, err := prospectkit.Collect(prospectkit.RowsOf[person](t.Context(), client.Agents, tests.ColumnID, prospectkit.RowsParams{}), 9)
	require.NoError(t, err)
	require.Equal(t, []person{{ID: "a"}, {ID: "b"}, {ID: "c"}}, got)
}
