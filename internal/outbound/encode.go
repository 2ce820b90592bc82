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
	"unicode/utf8"
)

// Field is a member that is added to a JSON object.
type Field struct {
	Name  string
	Value any
}

// Body is an encoded value.
type Body struct {
	Text    []byte
	Invalid []string // the paths of texts that are not valid UTF-8
}

// Encode encodes a value as JSON and adds members to it. It is an error if the value already has such a member, or its type defines one,
// whatever the letter case: a service may take one for the other. Invalid is also set beside an error.
func Encode(value any, more []Field) (Body, error) {
	text, err := json.Marshal(value)
	isMap := reflect.ValueOf(value).Kind() == reflect.Map
	if err == nil && (len(more) > 0 || isMap) {
		text, err = extend(text, value, more)
	}
	f := found{deep: err != nil || suspect(text)}
	f.look(reflect.ValueOf(value), "", 0)
	for _, field := range more {
		f.text(field.Name, field.Name)
		f.look(reflect.ValueOf(field.Value), field.Name, 0)
	}
	switch {
	case err != nil && f.looked >= mostAll: // it holds itself, and any path comes again and again
		f.invalid = nil
	case len(f.invalid) == 0 && !utf8.Valid(text): // a type that encodes itself has made it
		f.invalid = []string{""}
	}
	return Body{f.rewrite(text), f.invalid}, err
}

// extend adds members to an object, and demands that no two names are alike.
func extend(text []byte, value any, more []Field) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); (err != nil || members == nil) && len(more) > 0 {
		return nil, errors.New("WithField needs a body that is an object")
	}
	taken := make(map[string]string) // by the form without letter case
	take := func(name string) error {
		form := strings.ToLower(strings.ToUpper(name)) // equal for what encoding/json takes for the same
		switch old, is := taken[form]; {
		case is && old == name:
			return fmt.Errorf("field %q is set by the call itself", name)
		case is:
			return fmt.Errorf("field %q differs from %q in letter case only", name, old)
		}
		taken[form] = name
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if err := take(name); err != nil {
			return nil, err
		}
	}
	if v := reflect.Indirect(reflect.ValueOf(value)); v.Kind() == reflect.Struct {
		for _, name := range Names(v.Interface()) { // also those that are left out
			_ = take(name)
		}
	}
	for _, field := range more {
		err := take(field.Name)
		if err != nil {
			return nil, err
		}
		if members[field.Name], err = json.Marshal(field.Value); err != nil {
			return nil, fmt.Errorf("field %q: %w", field.Name, err)
		}
	}
	if len(more) == 0 {
		return text, nil
	}
	return json.Marshal(members)
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
