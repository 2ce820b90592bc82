package mismatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/jsonscan"
)

// A type that decodes itself may make an error of encoding/json that lacks what encoding/json always sets.
func TestReasonOfAnErrorWithoutAType(t *testing.T) {
	reason := Reason(reflect.TypeFor[struct{ F int }](), &json.UnmarshalTypeError{Value: "a secret", Field: "F"})
	require.Equal(t, "a field refused its value (*json.UnmarshalTypeError)", reason)
}

// Go 1.27 has the indexes of arrays in the path of a field, Go 1.26 has not.
func TestReasonOfAnElement(t *testing.T) {
	for _, path := range []string{"F.a", "F.0.a"} {
		err := &json.UnmarshalTypeError{Value: "string", Type: reflect.TypeFor[int](), Field: path}
		for _, of := range []reflect.Type{
			reflect.TypeFor[struct {
				F []*struct {
					A int `json:"a"`
				}
			}](),
			reflect.TypeFor[struct {
				F [2]struct {
					A int `json:"a"`
				}
			}](),
		} {
			require.Equal(t, "field F.a: got string, want int", Reason(of, err))
		}
	}
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	type row struct{ A int }
	cause := json.Unmarshal([]byte(`{"A":"secret"}`), new(row))
	err := New("a row", reflect.TypeFor[row](), nil, cause)
	require.EqualError(t, err, "a row does not fit mismatch.row: field A: got string, want int")
	require.True(t, Is(fmt.Errorf("in a page: %w", err)))
	var mismatch *Error
	require.ErrorAs(t, err, &mismatch)

	require.Equal(t, jsonscan.ErrTooMuch, New("a row", reflect.TypeFor[row](), nil, jsonscan.ErrTooMuch))
	require.True(t, Is(jsonscan.ErrTooMuch))
	require.False(t, Is(cause))
	require.False(t, Is(nil))
}

// A reason holds only what the type names: no value, and no key that is not of the type.
func TestReason(t *testing.T) {
	t.Parallel()
	type row struct {
		Name string `json:"name"`
		Rows []struct {
			Zero int `json:"0"`
			A    int
		} `json:"rows"`
		By map[string]int `json:"by"`
	}
	number := reflect.TypeFor[int]()
	_, notTime := time.Parse(time.RFC3339, "secret")
	_, notNumber := strconv.Atoi("secret")
	for want, err := range map[string]error{
		"field name: got another value, want int":         &json.UnmarshalTypeError{Value: "secret", Type: number, Field: "name"},
		"got number, want int":                            &json.UnmarshalTypeError{Value: "number 7", Type: number},
		"field rows.A: got bool, want int":                &json.UnmarshalTypeError{Value: "bool", Type: number, Field: "rows.7.A"},
		"field rows.0: got array, want int":               &json.UnmarshalTypeError{Value: "array", Type: number, Field: "rows.7.0"},
		"field rows: got object, want int":                &json.UnmarshalTypeError{Value: "object", Type: number, Field: "rows.secret.A"},
		"field by: got string, want int":                  &json.UnmarshalTypeError{Value: "string", Type: number, Field: "by.secret"},
		"a text is not a time as time.Time reads it":      notTime,
		"a text is not a number: invalid syntax":          notNumber,
		"a field refused its value (*errors.errorString)": errors.New("secret"),
	} {
		require.Equal(t, want, Reason(reflect.TypeFor[*row](), err))
	}
}

// What refuses its value does not say where it is.
func TestNew_NamesTheField(t *testing.T) {
	type row struct {
		N    int `json:"n,string"`
		Rows []*struct{ At time.Time }
	}
	for text, field := range map[string]string{
		`{"n":"5","x":"","rows":[{"at":"2026-01-01T00:00:00Z"},{"at":"secret"}]}`: "Rows.At",
		`{"n":"x","rows":[]}`: "n",
	} {
		err := New("a row", reflect.TypeFor[*row](), []byte(text), json.Unmarshal([]byte(text), new(row)))
		require.ErrorContains(t, err, ": field "+field+": ")
		require.NotContains(t, err.Error(), "secret")
	}
}
