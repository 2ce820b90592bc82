// Package mismatch says why a JSON text does not fit a Go type, or an expectation of the caller, in words that quote no value.
package mismatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/redact"
)

// Error is a response that does not fit the user's type. Retrying cannot fix that. Its text
// names only type and field, because errors of encoding/json and of unmarshal methods quote values.
type Error struct{ redact.OpaqueError }

// New returns the error of something, such as "a row", that does not fit a type.
func New(what string, t reflect.Type, text []byte, err error) error {
	if errors.Is(err, jsonscan.ErrTooMuch) { // which quotes nothing
		return err
	}
	const levels = 32 // of structs: each is read once more
	reason := reasonOf(err)
	if field := culprit(t, text, levels); field != "" {
		reason = "field " + field + ": " + reason
	}
	words := func() string { return fmt.Sprintf("%s does not fit %s: %s", what, nameOf(t), reason) }
	return &Error{*redact.Opaque(err, words, words)}
}

// Is reports whether a response did not fit the type, or holds too much, so that a retry is not tried.
func Is(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok || errors.Is(err, jsonscan.ErrTooMuch)
}

// reasonOf says why a value does not fit a type. Errors of encoding/json, and of types that decode
// themselves, quote values; a reason holds only what the type names.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Type != nil {
		kind, _, _ := strings.Cut(e.Value, " ") // what follows is the value
		if !slices.Contains([]string{"array", "bool", "number", "object", "string"}, kind) {
			kind = "another value"
		}
		return fmt.Sprintf("got %s, want %s", kind, nameOf(e.Type))
	}
	if _, ok := errors.AsType[*time.ParseError](err); ok {
		return "a text is not a time as time.Time reads it"
	}
	if e, ok := errors.AsType[*strconv.NumError](err); ok {
		return "a text is not a number: " + e.Err.Error()
	}
	return fmt.Sprintf("a field refused its value (%T)", err)
}

// culprit is the path of the first field, by its names in a type, whose value the field does not take.
func culprit(t reflect.Type, text []byte, levels int) string {
	for t.Kind() == reflect.Pointer && !jsonscan.ReadsItself(t) {
		t = t.Elem()
	}
	c := jsonscan.New(text)
	if (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && c.Is('[') {
		for c.Array(); c.Element(); {
			if path := culprit(t.Elem(), c.Span(), levels); path != "" {
				return path
			}
		}
	}
	if jsonscan.ReadsItself(t) || t.Kind() != reflect.Struct || !c.Object() || levels == 0 {
		return ""
	}
	fields, _ := jsonscan.FieldsOf(t)
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		i, value := jsonscan.Find(fields, string(key)), c.Span()
		if i < 0 || json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", fields[i].Name, value), reflect.New(t).Interface()) == nil {
			continue
		}
		if inner := culprit(fields[i].Type, value, levels-1); inner != "" {
			return fields[i].Name + "." + inner
		}
		return fields[i].Name
	}
	return ""
}

// nameOf is the name of a type, as far as a line has room for it.
func nameOf(t reflect.Type) string {
	const most = 64
	name := t.String()
	return strings.ToValidUTF8(name[:min(len(name), most)], "")
}
