// Package outbound encodes bodies. It finds what encoding/json would not send as meant: text that
// is not valid UTF-8, which it changes silently, and instants, which it writes with any offset and
// number of digits.
package outbound

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/prospectkit/internal/jsonfields"
)

// Found is what Inspect finds in a value.
type Found struct {
	Invalid []string    // the paths of texts that are not valid UTF-8, in JSON names
	Times   []time.Time // the instants

	endless bool // the value is cyclic
	inside  bool // of a type that encodes itself: all that it holds counts, also in unexported fields
	looked  int  // values
}

// These end the search in a cyclic value, which encoding/json refuses unless a type encodes itself.
const (
	maxDepth   = 1000
	mostInside = 1 << 20
)

// Inspect searches a value as encoding/json encodes it: maps, slices, structs and pointers at any
// depth. Of a type that encodes itself, it searches the text.
func Inspect(v any, path string) *Found {
	f := new(Found)
	f.value(reflect.ValueOf(v), path, 0)
	return f
}

// Suspect reports whether encoding/json may have replaced invalid UTF-8 in a text: by an escape in
// Go 1.26, by the character in Go 1.27. Inspect tells.
func Suspect(text string) bool {
	return strings.Contains(text, `\ufffd`) || strings.ContainsRune(text, utf8.RuneError) // which also stands for invalid bytes
}

// Rewrite rewrites the instants in the JSON text of the value as the service writes them: in UTC,
// with milliseconds.
func (f *Found) Rewrite(text []byte) []byte {
	for _, t := range f.Times {
		if old, err := t.MarshalJSON(); err == nil {
			text = bytes.ReplaceAll(text, old, []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)))
		}
	}
	return text
}

func (f *Found) value(v reflect.Value, path string, depth int) {
	f.looked++
	f.endless = f.endless || depth > maxDepth && !f.inside || f.looked > mostInside && f.inside
	kind := v.Kind() // of an invalid value, too
	if f.endless || depth > maxDepth || (kind == reflect.Interface || kind == reflect.Pointer) && v.IsNil() || !v.IsValid() || f.selfMade(v, path) {
		return
	}
	switch kind {
	case reflect.String:
		f.text(v.String(), path)
	case reflect.Interface, reflect.Pointer:
		f.value(v.Elem(), path, depth+1)
	case reflect.Slice, reflect.Array:
		elem := v.Type().Elem()
		if f.inside && kind == reflect.Slice && elem.Kind() == reflect.Uint8 {
			f.text(string(v.Bytes()), path)
			return
		}
		if reflect.Bool <= elem.Kind() && elem.Kind() < reflect.Complex64 && reflect.PointerTo(elem).NumMethod() == 0 {
			return // numbers, and bytes, which become base64
		}
		for i := range v.Len() {
			f.value(v.Index(i), join(path, strconv.Itoa(i)), depth+1)
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			name := keyName(key)
			f.text(name, join(path, name))
			if f.inside {
				f.value(key, path, depth+1)
			}
			f.value(value, join(path, name), depth+1)
		}
	case reflect.Struct:
		f.fields(v, path, depth)
	default: // no text
	}
}

func (f *Found) fields(v reflect.Value, path string, depth int) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag := field.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case f.inside:
			f.value(v.Field(i), path, depth+1)
			continue
		case tag == "-", !field.IsExported() && !field.Anonymous, leftOut(v.Field(i), tag):
			continue
		case field.Anonymous && name == "":
			f.value(v.Field(i), path, depth+1)
			continue
		case name == "":
			name = field.Name
		}
		f.value(v.Field(i), join(path, name), depth+1)
	}
}

// keyName is the text of a key, unless it is a number.
func keyName(key reflect.Value) string {
	if key.Kind() == reflect.String {
		return key.String()
	}
	if key.CanInterface() && (key.Kind() != reflect.Pointer || !key.IsNil()) {
		if self, ok := reflect.TypeAssert[encoding.TextMarshaler](key); ok {
			text, _ := self.MarshalText()
			return string(text)
		}
	}
	return ""
}

// leftOut reports whether encoding/json leaves a zero field out.
func leftOut(v reflect.Value, tag string) bool {
	_, options, _ := strings.Cut(tag, ",")
	return strings.Contains(options, "omitzero") && v.IsZero() ||
		strings.Contains(options, "omitempty") && v.Kind() != reflect.Struct && v.Kind() != reflect.Array && v.IsZero()
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// selfMade reports whether a value encodes itself, and searches its text.
func (f *Found) selfMade(v reflect.Value, path string) bool {
	if f.inside || v.Kind() == reflect.Interface || !v.CanInterface() { // what is in an interface comes next, by its own type
		return false
	}
	if v.CanAddr() {
		v = v.Addr() // with all its methods
	}
	t := v.Type()
	if jsonfields.OfStreams(t.MethodByName("MarshalJSONTo")) { // encoding/json calls it before the others
		text, err := json.Marshal(v.Interface())
		f.encoded(text, err, v, path)
		return true
	}
	if !t.Implements(marshaler) && !t.Implements(textMarshaler) {
		return false
	}
	if at := reflect.Indirect(v); at.Type() == timeType {
		f.Times = append(f.Times, at.Interface().(time.Time)) //nolint:forcetypeassert // it is one
		return true
	}
	switch self := v.Interface().(type) {
	case interface {
		Raw() json.RawMessage
		json.Marshaler
	}:
		f.text(string(self.Raw()), path)
	case *json.RawMessage:
		f.text(string(*self), path)
	case json.RawMessage:
		f.text(string(self), path)
	case json.Marshaler:
		text, err := self.MarshalJSON()
		f.encoded(text, err, v, path)
	case encoding.TextMarshaler:
		if text, err := self.MarshalText(); err == nil {
			f.text(string(text), path)
		}
	}
	return true
}

// encoded looks at the text that a value encodes itself as.
func (f *Found) encoded(text []byte, err error, v reflect.Value, path string) {
	if err == nil && (!utf8.Valid(text) || Suspect(string(text)) && holdsInvalid(v)) {
		f.Invalid = append(f.Invalid, plain(path))
	}
}

func (f *Found) text(s, path string) {
	if !utf8.ValidString(s) {
		f.Invalid = append(f.Invalid, plain(path))
	}
}

// holdsInvalid reports whether a value holds invalid UTF-8. The text of a type that encodes itself cannot show it: Go 1.27 writes
// replacement characters, which may have been intended.
func holdsInvalid(v reflect.Value) bool {
	f := Found{inside: true}
	f.value(v, "", 0)
	return len(f.Invalid) > 0
}

// plain returns a path as valid UTF-8.
func plain(path string) string { return strings.ToValidUTF8(path, "\uFFFD") }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
