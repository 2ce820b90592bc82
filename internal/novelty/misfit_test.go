package novelty

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

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

func TestMisfit(t *testing.T) {
	t.Parallel()
	type row struct{ A int }
	cause := json.Unmarshal([]byte(`{"A":"secret"}`), new(row))
	err := NewMisfit("a row", reflect.TypeFor[row](), "id-1", cause)
	require.EqualError(t, err, "a row does not fit novelty.row: field A: got string, want int")
	require.True(t, IsMisfit(fmt.Errorf("in a page: %w", err)))
	var misfit *MisfitError
	require.ErrorAs(t, err, &misfit)
	require.Equal(t, "id-1", misfit.RowID())
	require.NotContains(t, fmt.Sprintf("%+v", misfit), "id-1")

	require.Equal(t, jsonscan.ErrTooMuch, NewMisfit("a row", reflect.TypeFor[row](), "", jsonscan.ErrTooMuch))
	require.True(t, IsMisfit(jsonscan.ErrTooMuch))
	require.False(t, IsMisfit(cause))
	require.False(t, IsMisfit(nil))
}
