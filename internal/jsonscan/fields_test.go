package jsonscan

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type (
	spare struct {
		N int `json:"x"`
		Z int
	}
	second struct {
		N int `json:"z"`
		Z int
	}
	again struct {
		spare

		M int
	}
	// Loop embeds itself.
	Loop struct {
		*Loop

		Next int
	}
	// Texts is embedded, and no struct.
	Texts []string
	// Pointed is embedded by its pointer.
	Pointed struct{ P, M int }
)

func withTags(tags ...string) reflect.Type {
	var fields []reflect.StructField
	for i, tag := range tags {
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("F", i), Type: reflect.TypeFor[int](), Tag: reflect.StructTag(`json:"` + tag + `"`)})
	}
	return reflect.StructOf(fields)
}

// The names are those that encoding/json writes.
func TestFieldsOf(t *testing.T) {
	for _, of := range []reflect.Type{
		reflect.TypeFor[struct{ spare }](),
		reflect.TypeFor[struct {
			spare
			second
		}](),
		reflect.TypeFor[struct {
			spare
			again

			M int `json:"x"`
		}](),
		reflect.TypeFor[struct {
			spare `json:"s"`
			Texts
			fmt.Stringer
			*Pointed

			hidden int
			M      int `json:"P"`
		}](),
		reflect.TypeFor[Loop](),
		withTags("a", "a", "F0", "-", "-,", "a@b", `\\`, "é", " ", ",string", "A"),
	} {
		value := reflect.New(of).Elem()
		for _, f := range reflect.VisibleFields(of) {
			if len(f.Index) == 1 && f.Type == reflect.TypeFor[*Pointed]() {
				value.FieldByIndex(f.Index).Set(reflect.ValueOf(new(Pointed)))
			}
		}
		text, err := json.Marshal(value.Interface())
		require.NoError(t, err)
		var written map[string]any
		require.NoError(t, json.Unmarshal(text, &written))
		fields, _ := FieldsOf(of)
		var names []string
		for _, f := range fields {
			names = append(names, f.Name)
		}
		require.ElementsMatch(t, slices.Collect(maps.Keys(written)), names, of)
	}
}

// Go 1.27 takes the part before such a character.
func TestOf_UnusualName(t *testing.T) {
	fields, agreed := FieldsOf(withTags("it's"))
	require.False(t, agreed)
	require.Equal(t, "F0", fields[0].Name, "as Go 1.26")
}

func TestFind(t *testing.T) {
	fields, agreed := FieldsOf(withTags("id", "Id", "other,omitempty"))
	require.False(t, agreed, "which one is ID?")
	for key, want := range map[string]int{"id": 0, "Id": 1, "ID": 0, "OTHER": 2, "none": -1} {
		require.Equal(t, want, Find(fields, key), key)
	}
	require.True(t, fields[2].Optional)
}
