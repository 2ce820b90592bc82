// Package outbound encodes bodies, and finds in them what encoding/json would not send as meant: text that is not valid UTF-8, which it
// replaces in silence, and instants, which it writes with any offset and number of digits. It looks where encoding/json does, without
// regard to methods by which types encode themselves: an instant in such a type that reads like that of time.Time is rewritten, too.
// Only where a text may have been replaced does it look into everything that the value holds.
package outbound

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a search, since a value may hold itself.
const (
	deepest = 1000
	mostAll = 1 << 20 // values
)

// found is what a value holds.
type found struct {
	invalid []string // the paths of texts that are not valid UTF-8, in JSON names
	times   []time.Time

	deep   bool // looks for such texts, in unexported fields, too
	looked int  // values
	within int  // types that encode themselves, which have no names in JSON
}

// Invalid returns the paths of texts in a value that are not valid UTF-8, if its JSON text may hold what replaces them.
func Invalid(value any, path, text string) []string {
	if !suspect([]byte(text)) {
		return nil
	}
	f := found{deep: true}
	f.look(reflect.ValueOf(value), path, 0)
	return f.invalid
}

// suspect reports whether encoding/json may have replaced invalid UTF-8 in a text: by an escape in Go 1.26, by the character in Go 1.27.
func suspect(text []byte) bool {
	return bytes.Contains(text, []byte(`\ufffd`)) || bytes.ContainsRune(text, utf8.RuneError) // which also stands for invalid bytes
}

// rewrite rewrites the instants in the JSON text of the value as the service writes them: in UTC, with milliseconds.
func (f *found) rewrite(text []byte) []byte {
	for _, t := range f.times {
		if old, err := t.MarshalJSON(); err == nil {
			text = bytes.ReplaceAll(text, old, []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z"`)))
		}
	}
	return text
}

func (f *found) look(v reflect.Value, path string, depth int) {
	if depth > deepest {
		f.looked = mostAll
	}
	if f.looked++; !v.IsValid() || f.looked > mostAll {
		return
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map, reflect.Struct:
		if reflect.PointerTo(v.Type()).Implements(marshaler) {
			f.within++
			defer func() { f.within-- }()
		}
		f.inside(v, path, depth)
	case reflect.String:
		f.text(v.String(), path)
	case reflect.Interface, reflect.Pointer:
		f.look(v.Elem(), path, depth+1) // of nil, it is invalid
	default: // no text
	}
}

func (f *found) inside(v reflect.Value, path string, depth int) {
	switch v.Kind() {
	case reflect.Map:
		for key, value := range v.Seq2() {
			name := ""
			if key.Kind() == reflect.String {
				name = key.String()
			}
			f.text(name, f.join(path, name))
			f.look(value, f.join(path, name), depth+1)
		}
	case reflect.Struct:
		f.fields(v, path, depth)
	default:
		f.list(v, path, depth)
	}
}

func (f *found) list(v reflect.Value, path string, depth int) {
	switch elem := v.Type().Elem(); {
	case v.Kind() == reflect.Slice && elem.Kind() == reflect.Uint8:
		if v.Type() != reflect.TypeFor[[]byte]() { // which becomes base64
			f.text(string(v.Bytes()), path)
		}
	case reflect.Bool <= elem.Kind() && elem.Kind() < reflect.Complex64: // numbers
	default:
		for i := range v.Len() {
			f.look(v.Index(i), f.join(path, strconv.Itoa(i)), depth+1)
		}
	}
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	marshaler = reflect.TypeFor[json.Marshaler]()
)

func (f *found) fields(v reflect.Value, path string, depth int) {
	if v.Type() == timeType {
		if v.CanInterface() {
			f.times = append(f.times, v.Interface().(time.Time)) //nolint:forcetypeassert // it is one
		}
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		tag := field.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-", !field.IsExported() && !field.Anonymous && !f.deep:
			continue
		case name == "" && field.IsExported() && !field.Anonymous:
			name = field.Name
		}
		f.look(v.Field(i), f.join(path, name), depth+1)
	}
}

func (f *found) text(s, path string) {
	if f.deep && !utf8.ValidString(s) {
		f.invalid = append(f.invalid, strings.ToValidUTF8(path, "\uFFFD"))
	}
}

func (f *found) join(path, name string) string {
	switch {
	case f.within > 0 || name == "":
		return path
	case path == "":
		return name
	}
	return path + "." + name
}
