package prospectkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/novelty"
)

// DecodeStrict is [Object.Decode], but neither side may miss anything: a key that v has no field for is an error, and so is a field of a
// struct in v that the value has no key for, unless its tag says omitempty or omitzero. The error names the keys that are there. Use it
// to learn what an undocumented response holds, and where a wrong guess must not read as zero.
func (o Object) DecodeStrict(v any) error {
	if t := reflect.TypeOf(v); t != nil && t.Kind() == reflect.Pointer && len(o.raw) > 0 {
		if err := o.lacks(t.Elem(), ""); err != nil {
			return err
		}
	}
	if len(o.raw) == 0 {
		return errors.New("prospectkit: nothing to decode")
	}
	d := json.NewDecoder(bytes.NewReader(o.raw))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("prospectkit: %w", err)
	}
	return nil
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// lacks finds the first field of a type that a value has no key for.
func (o Object) lacks(t reflect.Type, path string) error {
	c := jsonscan.New(o.raw)
	switch {
	case t.Implements(unmarshaler), reflect.PointerTo(t).Implements(unmarshaler):
		return nil
	case t.Kind() == reflect.Pointer && !c.Is('n'):
		return o.lacks(t.Elem(), path)
	case t.Kind() == reflect.Struct && c.Is('{'):
		return o.lacksField(t, path)
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && c.Is('['):
		n := 0
		for v := range o.All("") {
			if err := v.lacks(t.Elem(), path+"."+strconv.Itoa(n)); err != nil {
				return err
			}
			n++
		}
	case t.Kind() == reflect.Map && c.Is('{'):
		c.Object()
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			if err := (Object{raw: c.Span()}).lacks(t.Elem(), path+"."+novelty.PlainName(string(key))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o Object) lacksField(t reflect.Type, path string) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(o.raw, &members); err != nil {
		return fmt.Errorf("prospectkit: %w", err)
	}
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if !f.IsExported() || tag == "-" || f.Anonymous && name == "" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		raw, ok := members[name]
		for key, value := range members {
			if !ok && strings.EqualFold(key, name) {
				raw, ok = value, true
			}
		}
		inner := path + "." + name
		if !ok && !strings.Contains(options, "omit") {
			return fmt.Errorf("prospectkit: %q is not there: %s is %s", inner[1:], placeOf(path), o.outline())
		}
		if err := (Object{raw: jsonscan.Text(raw)}).lacks(f.Type, inner); ok && err != nil {
			return err
		}
	}
	return nil
}

// placeOf names the place that a path with a leading dot leads to.
func placeOf(path string) string {
	if path == "" {
		return "the value"
	}
	return path[1:]
}
