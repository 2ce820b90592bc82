package mismatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/redact"
)

// DecodeStrict decodes a JSON text into v. It is an error if either side misses anything.
func DecodeStrict(text []byte, v any) error {
	if t := reflect.TypeOf(v); t != nil && t.Kind() == reflect.Pointer {
		if err := Missing(text, t.Elem()); err != nil {
			return err
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Missing returns an error for the first field of a type that a JSON text has no key for. The tags
// omitempty and omitzero excuse a field, and a type that decodes itself is not examined.
func Missing(text []byte, t reflect.Type) error { return missing(text, t, "") }

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func missing(text []byte, t reflect.Type, path string) error {
	c := jsonscan.New(text)
	switch {
	case reflect.PointerTo(t).Implements(unmarshaler):
		return nil
	case t.Kind() == reflect.Pointer:
		return missing(text, t.Elem(), path)
	case t.Kind() == reflect.Struct && c.Is('{'):
		return missingField(text, t, path)
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && c.Is('['):
		c.Array()
		for n := 0; c.Element(); n++ {
			if err := missing(c.Span(), t.Elem(), path+"."+strconv.Itoa(n)); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Map && c.Is('{'):
		c.Object()
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			inner := path + "." + redact.PlainName(string(key))
			if err := missing(c.Span(), t.Elem(), inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func missingField(text []byte, t reflect.Type, path string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return err
	}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || tag == "-" || f.Anonymous && name == "" || withinMember(t, f.Index) {
			continue
		}
		if name == "" {
			name = f.Name
		}
		value, ok := members[name]
		for key, other := range members {
			if !ok && strings.EqualFold(key, name) {
				value, ok = other, true
			}
		}
		inner := path + "." + name
		if !ok && !strings.Contains(options, "omit") {
			return NotThere(inner[1:], path, text)
		}
		if err := missing(value, f.Type, inner); err != nil {
			return err
		}
	}
	return nil
}

// withinMember reports whether a promoted field belongs to an embedded struct that is a member, or
// none, by its own tag.
func withinMember(t reflect.Type, index []int) bool {
	for n := 1; n < len(index); n++ {
		if name, _, _ := strings.Cut(t.FieldByIndex(index[:n]).Tag.Get("json"), ","); name != "" {
			return true
		}
	}
	return false
}

// NotThere returns an error that says that a path leads nowhere, and what is at the last place that
// it leads to. The path to that place begins with a dot, unless it is the whole value.
func NotThere(path, place string, at []byte) error {
	place = strings.TrimPrefix(place, ".")
	if place == "" {
		place = "the value"
	}
	return fmt.Errorf("%q is not there: %s is %s", path, place, Outline(at))
}

// Outline says what a JSON value is, and which keys an object has, as far as they are plain names:
// others may be somebody's data.
func Outline(text []byte) string {
	const most = 20
	c := jsonscan.New(text)
	switch {
	case len(text) == 0:
		return "empty"
	case c.Is('{'):
		var names []string
		c.Object()
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			if name := redact.PlainName(string(key)); name != "" && len(names) < most {
				names = append(names, name)
			}
			c.Skip()
		}
		if len(names) == 0 {
			return "an object without plain keys"
		}
		return "an object with " + strings.Join(names, ", ")
	case c.Is('['):
		n := 0
		for c.Array(); c.Element(); n++ {
			c.Skip()
		}
		return "an array of " + strconv.Itoa(n)
	case c.Is('n'):
		return "null"
	}
	return "not an object"
}
