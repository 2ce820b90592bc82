package jsonscan

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
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

// The id of a row that does not fit is known wherever it stands in the row.
func TestMisfitKnowsTheID(t *testing.T) {
	type own struct {
		Name string
		N    int
		Any  map[string]any
	}
	type page struct {
		Data []Exact[own] `json:"data"`
	}
	for _, text := range []string{`{"id":"x","n":"one"}`, `{"n":"one","id":"x"}`, `{"name":1,"n":2,"any":{"id":"y"},"id":"x"}`, `{"any":{"id":"y"},"name":[],"id":"x","n":1}`} {
		_, err := decodeText[page]("{\"data\":[" + text + "]}")
		var misfit *MisfitError
		require.ErrorAs(t, err, &misfit, text)
		require.Equal(t, "x", misfit.ID, text)
	}
}
