package mismatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/prospectkit/internal/jsonscan"
)

// A type that decodes itself may make an error of encoding/json that lacks what encoding/json always sets.
func TestReasonOfAnErrorWithoutAType(t *testing.T) {
	require.Equal(t, "a field refused its value (*json.UnmarshalTypeError)", reasonOf(&json.UnmarshalTypeError{Value: "a secret", Field: "F"}))
}

// Go 1.27 has the indexes of arrays in the path of a field, Go 1.26 has not.
func TestNew_OfAnElement(t *testing.T) {
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
		text := []byte(`{"F":[{"a":1},{"a":"secret"}]}`)
		require.ErrorContains(t, New("a row", of, text, json.Unmarshal(text, reflect.New(of).Interface())), ": field F.a: got string, want int")
	}
}

// However deep the text is nested, it takes no longer than some readings of it.
func TestNew_OfManyLevels(t *testing.T) {
	type level struct {
		N  *level
		At int
	}
	text := []byte(strings.Repeat(`{"N":`, 5000) + `{"At":"x"}` + strings.Repeat("}", 5000))
	err := New("a row", reflect.TypeFor[level](), text, json.Unmarshal(text, new(level)))
	require.ErrorContains(t, err, ": field N"+strings.Repeat(".N", 31)+": got string, want int")
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	type row struct{ A int }
	cause := json.Unmarshal([]byte(`{"A":"secret"}`), new(row))
	err := New("a row", reflect.TypeFor[row](), []byte(`{"A":"secret"}`), cause)
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
	for text, want := range map[string]string{
		`{"name":7,"secret":"x"}`:                  "field name: got number, want string",
		`{"rows":[{"A":1},{"secret":1,"a":true}]}`: "field rows.A: got bool, want int",
		`{"rows":[{"0":["secret"]}]}`:              "field rows.0: got array, want int",
		`{"rows":{"secret":{"A":1}}}`:              "field rows: got object, want []struct",
		`{"by":{"secret":"x"}}`:                    "field by: got string, want int",
		`"secret"`:                                 "got string, want mismatch.row",
	} {
		err := New("a row", reflect.TypeFor[*row](), []byte(text), json.Unmarshal([]byte(text), new(row)))
		require.ErrorContains(t, err, "a row does not fit *mismatch.row: "+want, text)
		require.NotContains(t, err.Error(), "secret")
	}
	_, notTime := time.Parse(time.RFC3339, "secret")
	_, notNumber := strconv.Atoi("secret")
	for want, err := range map[string]error{
		"got another value, want int":                     &json.UnmarshalTypeError{Value: "secret", Type: reflect.TypeFor[int](), Field: "name"},
		"got number, want int":                            &json.UnmarshalTypeError{Value: "number 7", Type: reflect.TypeFor[int]()},
		"a text is not a time as time.Time reads it":      notTime,
		"a text is not a number: invalid syntax":          notNumber,
		"a field refused its value (*errors.errorString)": errors.New("secret"),
	} {
		require.Equal(t, want, reasonOf(err))
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
