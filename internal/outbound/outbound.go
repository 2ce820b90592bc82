// Package outbound looks for what encoding/json would not send as meant: text that is not valid UTF-8, which it replaces in silence, and
// instants, which it writes with any offset and number of digits. It looks into all that a value holds, without regard to methods by which
// types encode themselves: a text that such a type writes and that reads like an instant beside it is rewritten, too. It names what it finds
// by its path in the JSON text.
package outbound

import (
	"bytes"
	"reflect"
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
	suspect bool     // encoding/json may have replaced text: unexported fields count, too
	invalid bool     // some text is not valid UTF-8
	times   []string // as encoding/json writes instants, each followed by how the service does
	looked  int      // values
}

// Invalid returns the paths of what may be text that is not valid UTF-8 in the JSON text of a value, if that holds any. In place of it, the
// text has an escape in Go 1.26, and the character in Go 1.27.
func Invalid(path string, text []byte, value any) (paths []string) {
	if !suspect(text) {
		return nil
	}
	f := found{suspect: true, invalid: !utf8.Valid(text)} // a type that encodes itself has made it
	if f.look(reflect.ValueOf(value), 0); !f.invalid {
		return nil
	}
	paths = pathsOf(path, text, func(text []byte) bool { return bytes.ContainsRune(text, utf8.RuneError) })
	if len(paths) == 0 { // the text cannot be read
		paths = []string{path}
	}
	return paths
}

func suspect(text []byte) bool {
	return bytes.Contains(text, []byte(`\ufffd`)) || bytes.ContainsRune(text, utf8.RuneError) // which also stands for invalid bytes
}

// rewrite rewrites the instants of a value in its JSON text as the service writes them: in UTC, with milliseconds.
func rewrite(text []byte, value any) []byte {
	var f found
	if f.look(reflect.ValueOf(value), 0); len(f.times) == 0 {
		return text
	}
	return []byte(strings.NewReplacer(f.times...).Replace(string(text)))
}

func (f *found) look(v reflect.Value, depth int) {
	if f.looked++; depth > deepest || f.looked > mostAll {
		return
	}
	switch v.Kind() {
	case reflect.String:
		f.invalid = f.invalid || f.suspect && !utf8.ValidString(v.String())
	case reflect.Interface, reflect.Pointer:
		f.look(v.Elem(), depth+1) // of nil, it has no kind
	case reflect.Map:
		for key, value := range v.Seq2() {
			f.look(key, depth+1)
			f.look(value, depth+1)
		}
	case reflect.Slice, reflect.Array:
		if kind := v.Type().Elem().Kind(); reflect.Bool <= kind && kind < reflect.Complex64 { // numbers
			return
		}
		for i := range v.Len() {
			f.look(v.Index(i), depth+1)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if v.CanInterface() {
				t := v.Interface().(time.Time) //nolint:forcetypeassert // it is one
				if old, err := t.MarshalJSON(); err == nil {
					f.times = append(f.times, string(old), t.UTC().Format(`"2006-01-02T15:04:05.000Z"`))
				}
			}
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() || field.Anonymous || f.suspect {
				f.look(v.Field(i), depth+1)
			}
		}
	default: // no text
	}
}
