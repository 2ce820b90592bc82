package outbound

import (
	"bytes"
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

// Body is an encoded value.
type Body struct {
	Text    []byte
	Invalid []string // the paths of texts that are not valid UTF-8
}

// Encode encodes a value as JSON and adds members to it. It is an error if the value already
// has such a member, or its type defines one, whatever the letter case: a service may take one for the
// other. Invalid is also set beside an error.
func Encode(value any, more []Field) (Body, error) {
	found := Inspect(value, "")
	for _, field := range more {
		found.text(field.Name, field.Name)
		found.value(reflect.ValueOf(field.Value), field.Name, 0)
	}
	text, err := marshal(value, more)
	return Body{found.Rewrite(text), found.Invalid}, err
}

func marshal(value any, more []Field) ([]byte, error) {
	text, err := json.Marshal(value)
	taken := make(names)
	if err == nil {
		err = taken.ofMap(value)
	}
	if err != nil || len(more) == 0 {
		return text, err
	}
	var merged map[string]json.RawMessage
	if err := json.Unmarshal(text, &merged); err != nil || merged == nil {
		return nil, errors.New("WithField needs a body that is an object")
	}
	var known []string
	if v := reflect.Indirect(reflect.ValueOf(value)); v.Kind() == reflect.Struct {
		known = Names(v.Interface()) // also those that are left out
	}
	for _, name := range slices.AppendSeq(known, maps.Keys(merged)) {
		taken[folded(name)] = name
	}
	for _, field := range more {
		if err := taken.add(field.Name); err != nil {
			return nil, err
		}
		if merged[field.Name], err = json.Marshal(field.Value); err != nil {
			return nil, fmt.Errorf("field %q: %w", field.Name, err)
		}
	}
	return json.Marshal(merged)
}

// names are those of the members of an object, by their form without letter case.
type names map[string]string

// folded is equal for names that differ in letter case only, as encoding/json reads them.
func folded(name string) string { return strings.ToLower(strings.ToUpper(name)) }

func (n names) add(name string) error {
	switch old, taken := n[folded(name)]; {
	case taken && old == name:
		return fmt.Errorf("field %q is set by the call itself", name)
	case taken:
		return fmt.Errorf("field %q differs from %q in letter case only", name, old)
	}
	n[folded(name)] = name
	return nil
}

// ofMap adds the keys of a map, if the value is one.
func (n names) ofMap(value any) error {
	m := reflect.ValueOf(value)
	if m.Kind() != reflect.Map || m.Type().Key().Kind() != reflect.String {
		return nil
	}
	keys := make([]string, 0, m.Len())
	for _, key := range m.MapKeys() {
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	for _, key := range keys {
		if err := n.add(key); err != nil {
			return err
		}
	}
	return nil
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
