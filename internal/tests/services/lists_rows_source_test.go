package services_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

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
	t.Parallel()
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
	t.Parallel()
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
