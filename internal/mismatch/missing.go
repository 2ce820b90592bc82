package mismatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/redact"
)

// DecodeStrict decodes a JSON text into v. It is an error if either side misses anything, or if the text is one that
// jsonscan.Unmarshal refuses because it would take too much memory.
func DecodeStrict(text []byte, v any) error {
	if p := reflect.ValueOf(v); p.Kind() == reflect.Pointer && !p.IsNil() {
		t := jsonscan.Target(p).Type().Elem()
		if err := Missing(text, t); err != nil {
			return err
		}
		// encoding/json has no such bound. What else is wrong it says itself.
		if err := jsonscan.Unmarshal(text, reflect.New(t).Interface()); errors.Is(err, jsonscan.ErrTooMuch) {
			return err
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// Missing returns an error for the first field of a type that a JSON text has no key for. The tags
// omitempty and omitzero excuse a field, and a type that decodes itself is not examined.
func Missing(text []byte, t reflect.Type) error {
	s := search{Cursor: jsonscan.New(text)}
	return cmp.Or(s.value(t), s.End())
}

// search looks for missing members in one pass.
type search struct {
	jsonscan.Cursor

	path []string
}

// in reads a value under a name.
func (s *search) in(name string, t reflect.Type) error {
	s.path = append(s.path, name)
	err := s.value(t)
	s.path = s.path[:len(s.path)-1]
	return err
}

func (s *search) value(t reflect.Type) (err error) {
	mayBeNull := t.Kind() == reflect.Pointer
	for t.Kind() == reflect.Pointer && !jsonscan.ReadsItself(t) {
		t = t.Elem()
	}
	switch kind := t.Kind(); {
	case jsonscan.ReadsItself(t):
		s.Skip()
	case kind == reflect.Struct && (s.Is('{') || s.Is('n') && !mayBeNull):
		return s.object(t)
	case (kind == reflect.Slice || kind == reflect.Array) && s.Is('['):
		s.Array()
		for n := 0; err == nil && s.Element(); n++ {
			err = s.in(strconv.Itoa(n), t.Elem())
		}
	case kind == reflect.Map && s.Is('{'):
		s.Object()
		for key, ok := s.Member(); ok && err == nil; key, ok = s.Member() {
			err = s.in(redact.PlainName(string(key)), t.Elem())
		}
	default:
		s.Skip()
	}
	return cmp.Or(err, s.Err())
}

func (s *search) object(t reflect.Type) error {
	fields, _ := jsonscan.FieldsOf(t)
	start, seen := s.Mark(), make([]bool, len(fields))
	for in := s.Object(); in; { // null has no members
		key, more := s.Member()
		i := jsonscan.Find(fields, string(key))
		switch in = more; {
		case !in:
		case i < 0 || fields[i].Optional && s.Is('n'):
			s.Skip()
		default:
			if err := s.in(fields[i].Name, fields[i].Type); err != nil {
				return err
			}
		}
		if i >= 0 {
			seen[i] = true
		}
	}
	for i, f := range fields {
		if !f.Optional && !seen[i] && s.Err() == nil {
			return NotThere(strings.Join(append(s.path, f.Name), "."), strings.Join(s.path, "."), s.Since(start))
		}
	}
	return s.Err()
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
