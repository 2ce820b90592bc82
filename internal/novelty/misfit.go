package novelty

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Reason says why a value does not fit a type. Errors of encoding/json, and of types that decode
// themselves, quote values; a reason holds only what the type names.
func Reason(t reflect.Type, err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Type != nil {
		kind, _, _ := strings.Cut(e.Value, " ") // what follows is the value
		if !slices.Contains([]string{"array", "bool", "number", "object", "string"}, kind) {
			kind = "another value"
		}
		reason := fmt.Sprintf("got %s, want %s", kind, TypeName(e.Type))
		if field := fieldPath(t, e.Field); field != "" {
			reason = "field " + field + ": " + reason
		}
		return reason
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return "a text is not a time as time.Time reads it"
	}
	if e, ok := errors.AsType[*strconv.NumError](err); ok {
		return "a text is not a number: " + e.Err.Error()
	}
	return fmt.Sprintf("a field refused its value (%T)", err)
}

// TypeName is the name of a type, as far as a line has room for it.
func TypeName(t reflect.Type) string {
	const most = 64
	name := t.String()
	return strings.ToValidUTF8(name[:min(len(name), most)], "")
}

// fieldPath is the part of a path of keys that a type has names for: other keys are the peer's. Go 1.27 has
// the indexes of arrays in the path, too.
func fieldPath(t reflect.Type, path string) string {
	var names []string
	for name := range strings.SplitSeq(path, ".") {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			break
		}
		i := -1
		for n := range t.NumField() {
			key, _, _ := strings.Cut(t.Field(n).Tag.Get("json"), ",")
			if key == name || t.Field(n).Name == name {
				i = n
			}
		}
		if _, err := strconv.Atoi(name); i < 0 && err == nil {
			continue
		}
		if i < 0 {
			break
		}
		names, t = append(names, name), t.Field(i).Type
	}
	return strings.Join(names, ".")
}
