package outbound

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime/multipart"
	"reflect"
	"slices"
	"strings"
)

// Field is a member that is added to a JSON object.
type Field struct {
	Name  string
	Value any
}

// Encode encodes a value as JSON and adds members to it. It is an error if the value already has such a member, or its type defines one,
// whatever the letter case: a service may take one for the other. Invalid are the paths of texts that are not valid UTF-8.
func Encode(value any, more []Field) (text []byte, invalid []string, err error) {
	if text, err = json.Marshal(value); err == nil && len(more) > 0 {
		text, err = extend(text, value, more)
	}
	if err != nil {
		return nil, nil, err
	}
	all := []any{value, more}
	return rewrite(text, all), Invalid("", text, all), nil
}

// extend adds members to an object.
func extend(text []byte, value any, more []Field) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil || members == nil {
		return nil, errors.New("WithField needs a body that is an object")
	}
	taken := slices.Sorted(maps.Keys(members))
	if v := reflect.Indirect(reflect.ValueOf(value)); v.Kind() == reflect.Struct {
		taken = append(taken, Names(v.Interface())...) // also those that are left out
	}
	for _, field := range more {
		if i := slices.IndexFunc(taken, func(name string) bool { return strings.EqualFold(name, field.Name) }); i >= 0 {
			return nil, fmt.Errorf("field %q is set by the call itself%s", field.Name, unlike(taken[i], field.Name))
		}
		var err error
		if members[field.Name], err = json.Marshal(field.Value); err != nil {
			return nil, fmt.Errorf("field %q: %w", field.Name, err)
		}
		taken = append(taken, field.Name)
	}
	return json.Marshal(members)
}

func unlike(taken, name string) string {
	if taken == name {
		return ""
	}
	return fmt.Sprintf(", as %q", taken)
}

// Names returns the names that struct types give their fields in JSON.
func Names(values ...any) (all []string) {
	for _, value := range values {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(value)) {
			tag := f.Tag.Get("json")
			name, _, _ := strings.Cut(tag, ",")
			if name = cmp.Or(name, f.Name); tag != "-" && f.IsExported() && (!f.Anonymous || name != f.Name) && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// Text returns the JSON of a value without escapes for HTML, which would make it longer.
func Text(value any) (string, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSpace(text.String()), err
}

// Form makes a multipart form of a JSON object: strings as they are, anything else as JSON.
func Form(object []byte) (form []byte, contentType string) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &fields) // it was just made
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text := string(fields[name])
		_ = json.Unmarshal(fields[name], &text) // anything else leaves it as it is
		_ = w.WriteField(name, text)            // a buffer takes everything
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}
