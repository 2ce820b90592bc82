// Package batch decodes rows into written types, and encodes them again. The test of the types adds them to it.
package batch

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit"
	"example.com/prospectkit/internal/tests"
)

// checks are those of each type, by its name.
var checks = map[string]func(t *testing.T, rows, fitting []json.RawMessage){}

func TestTypes(t *testing.T) {
	var input struct{ Rows, Fitting map[string][]json.RawMessage }
	text, err := os.ReadFile(os.Getenv("ROWTYPE_ROWS"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &input))
	decoded := 0
	for name, check := range checks {
		t.Run(name, func(t *testing.T) { check(t, input.Rows[name], input.Fitting[name]) })
		decoded += len(input.Rows[name])
	}
	t.Logf("%d types, %d rows", len(checks), decoded)
}

// try decodes rows in the ways that forbid a loss.
func try[T any](t *testing.T, rows, fitting []json.RawMessage) {
	t.Helper()
	for _, row := range fitting {
		value := new(T)
		require.NoError(t, json.Unmarshal(row, value), "a row that fits")
		text, err := json.Marshal(value)
		require.NoError(t, err)
		require.Equal(t, exact(parse(t, row)), exact(parse(t, text)), "a row that fits: %s became %s", row, text)
	}
	for _, row := range rows {
		value, strict := new(T), new(T)
		d := json.NewDecoder(bytes.NewReader(row))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(value))
		same(t, row, value)
		var object prospectkit.Object
		require.NoError(t, object.UnmarshalJSON(row))
		require.NoError(t, object.DecodeStrict(strict))
		same(t, row, strict)
	}
}

// iterate reads rows with RowsOf.
func iterate[T any](t *testing.T, rows []json.RawMessage) {
	t.Helper()
	page := tests.JSONText(map[string]any{
		"entityType": "contactList", "data": rows, "pagination": map[string]int{"pageNum": 1, "totalPages": 1, "totalRecords": len(rows)},
	})
	client := tests.NewClient(t, tests.Always(200, page))
	n := 0
	for value, err := range prospectkit.RowsOf[T](t.Context(), client.Lists, tests.ListID, prospectkit.RowsParams{}) {
		require.NoError(t, err)
		same(t, rows[n], value)
		n++
	}
	require.Len(t, rows, n)
}

// same compares a row with what a value is encoded as. Numbers have to keep their digits.
func same(t *testing.T, row []byte, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	require.Equal(t, parse(t, row), parse(t, text), "%s became %s", row, text)
}

func parse(t *testing.T, text []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
}

// exact replaces numbers by what does not depend on how they are written.
func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(string(v))
		return r.RatString()
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = exact(v[key])
		}
	}
	return v
}
