package prospectkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/prospectkit/internal/check"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/mismatch"
)

// Fields is a request body, or a part of one, with undocumented names that you supply, for encoding/json. A time.Time becomes UTC with
// milliseconds.
type Fields map[string]any

// checkChoice refuses an empty choice of people or companies, which could mean all of them.
func (f Fields) checkChoice(bad *check.Violations) {
	for _, name := range []string{"filters", "contactIds"} {
		if choice, ok := f[name]; ok {
			bad.NotEmpty(name, choice)
		}
	}
}

// checkNames refuses names that differ from documented ones in letter case only: the service may take one for the other.
func (f Fields) checkNames(bad *check.Violations, documented ...string) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if i := slices.IndexFunc(documented, func(d string) bool { return d != name && strings.EqualFold(d, name) }); i >= 0 {
			bad.Add(name, "differs from %q in letter case only", documented[i])
		}
	}
}

func (f Fields) has(name string) bool { _, ok := f[name]; return ok }

// Object is a JSON value that is undocumented, wholly or in part. It keeps the text of the service.
//
// A path names a value in it: keys and positions in arrays, from 0, joined by dots, as in "campaigns.0.id". The empty path is the whole
// value. Text, Int, Float, Bool and Time are zero for what is missing, null or of another type; TextOK and the like tell.
type Object struct {
	raw   jsonscan.Text
	index jsonscan.Index // nil: the text is searched
}

// Raw returns the JSON text, or nothing if there is none. Do not change it.
func (o Object) Raw() json.RawMessage { return json.RawMessage(o.raw) }

// String returns the JSON text, which may hold personal data.
func (o Object) String() string { return string(o.raw) }

// textOf is the JSON text that a value was decoded from, or of a value that a caller made.
func textOf(from Object, v any) string {
	if !from.IsZero() {
		return from.String()
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// record keeps the text of a record that is documented as a whole. Types of responses embed it.
type record struct{ text jsonscan.Source }

// Raw is the JSON of the service.
func (r record) Raw() Object { return Object{raw: jsonscan.Text(r.text)} }

// partial keeps the text of a record that is documented in part. Types of responses embed it. The comment of a field
// whose name or place is not documented begins with inferred or assumed.
type partial struct{ raw Object }

// Raw is the JSON of the service.
func (p partial) Raw() Object { return p.raw }

// IsZero reports whether there is no value.
func (o Object) IsZero() bool { return len(o.raw) == 0 }

// Decode decodes the value as encoding/json does, within the bounds of [WithMaxResponseBytes].
func (o Object) Decode(v any) error {
	if len(o.raw) == 0 {
		return errNothing
	}
	return jsonscan.Unmarshal(o.raw, v)
}

// DecodeStrict is [Object.Decode], but fails if the value has a key that v has no field for, or lacks one that v has without omitempty or
// omitzero.
func (o Object) DecodeStrict(v any) error {
	if len(o.raw) == 0 {
		return errNothing
	}
	if err := mismatch.DecodeStrict(o.raw, v); err != nil {
		return fmt.Errorf("prospectkit: %w", err)
	}
	return nil
}

var errNothing = errors.New("prospectkit: nothing to decode")

// Get returns the value at a path, and whether there is one.
func (o Object) Get(path string) (Object, bool) {
	if path == "" {
		return o, len(o.raw) > 0
	}
	if key, rest, more := strings.Cut(path, "."); more {
		if inner, ok := o.member(key); ok {
			if v, ok := inner.Get(rest); ok {
				return v, true
			}
		}
	}
	return o.member(path)
}

// member returns the value of a key, or of a position in an array.
func (o Object) member(key string) (Object, bool) {
	raw, ok := o.index.Lookup(o.raw, key)
	if !ok {
		raw, ok = jsonscan.At(o.raw, key)
	}
	return Object{raw: raw}, ok
}

// Find returns the value at a path, or an error that says how far the path leads, and which keys are there.
func (o Object) Find(path string) (Object, error) {
	for rest, reached := path, ""; ; {
		if v, ok := o.Get(rest); ok {
			return v, nil
		}
		key, after, _ := strings.Cut(rest, ".")
		inner, ok := o.member(key)
		if !ok {
			return Object{}, fmt.Errorf("prospectkit: %w", mismatch.NotThere(path, reached, o.raw))
		}
		o, rest, reached = inner, after, reached+"."+key
	}
}

// All iterates over the elements of the array at a path, or none if something else is there.
func (o Object) All(path string) iter.Seq[Object] {
	return func(yield func(Object) bool) {
		array, _ := o.Get(path)
		c := jsonscan.New(array.raw)
		for ok := c.Array(); ok && c.Element(); {
			if value := c.Span(); c.Err() != nil || !yield(Object{raw: value}) {
				return
			}
		}
	}
}

// begins reports whether the value is an object, '{', or an array, '['.
func (o Object) begins(with byte) bool {
	c := jsonscan.New(o.raw)
	return c.Is(with)
}

// Text returns the string at a path.
func (o Object) Text(path string) string {
	text, _ := o.TextOK(path)
	return text
}

// TextOK is Text, and says whether there is one.
func (o Object) TextOK(path string) (string, bool) {
	c := jsonscan.New(o.at(path))
	ok := c.Is('"')
	text := string(c.Text())
	return text, ok && c.Err() == nil
}

// Int returns the whole number at a path.
func (o Object) Int(path string) int {
	n, _ := o.IntOK(path)
	return n
}

// IntOK is Int, and says whether there is a whole number that an int can hold.
func (o Object) IntOK(path string) (int, bool) {
	c := jsonscan.New(o.at(path))
	return c.IntOK()
}

// Float returns the number at a path.
func (o Object) Float(path string) float64 {
	f, _ := o.FloatOK(path)
	return f
}

// FloatOK is Float, and says whether there is one.
func (o Object) FloatOK(path string) (float64, bool) {
	c := jsonscan.New(o.at(path))
	f, err := strconv.ParseFloat(string(c.Span()), 64)
	if err != nil {
		return 0, false
	}
	return f, true
}

// Bool returns the boolean at a path.
func (o Object) Bool(path string) bool {
	c := jsonscan.New(o.at(path))
	return c.Bool()
}

// BoolOK is Bool, and says whether there is one.
func (o Object) BoolOK(path string) (value, ok bool) {
	c := jsonscan.New(o.at(path))
	text := string(c.Span())
	return text == "true", text == "true" || text == "false"
}

// Time returns the timestamp at a path.
func (o Object) Time(path string) time.Time {
	t, _ := o.TimeOK(path)
	return t
}

// TimeOK is Time, and says whether there is one.
func (o Object) TimeOK(path string) (time.Time, bool) {
	return jsonscan.Time([]byte(o.Text(path)))
}

// MarshalJSON returns the text of the service, or null.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o.raw) == 0 {
		return []byte("null"), nil
	}
	return o.raw, nil
}

// UnmarshalJSON keeps a copy of the text.
func (o *Object) UnmarshalJSON(data []byte) error {
	*o = Object{raw: append(jsonscan.Text(nil), data...)}
	return nil
}

// at is the text of the value at a path, or nothing, which reads as zero.
func (o Object) at(path string) jsonscan.Text {
	v, _ := o.Get(path)
	return v.raw
}

// sameID reports whether ids are equal, whatever their case.
func sameID(a, b string) bool { return strings.EqualFold(a, b) }
