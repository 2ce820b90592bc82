package sandbox

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// ContentType changes the content type of the response.
func ContentType(value string) FaultOption { return setHeader("Content-Type", value) }

func setHeader(name, value string) FaultOption {
	return edit(name+": "+value, func(a *response) { a.header.Set(name, value) })
}

// EmptyBody omits the body.
func EmptyBody() FaultOption {
	return edit("empty body", func(a *response) { a.body = []byte{} })
}

// ExtraFields puts undocumented fields into every object of the response.
func ExtraFields() FaultOption {
	return edit("extra fields", func(a *response) {
		a.body = edited(a.body, func(v any) any {
			walk(v, func(o object) {
				o["sandboxExtra"] = object{"nested": []any{1, "two", nil}}
				o["sandboxExtraNull"] = nil
			})
			return v
		})
	})
}

// NullField sets a field to null. The path is dotted; numbers and * stand for elements of arrays: "data.*.folderId".
func NullField(path string) FaultOption { return setField(path, nil, "null") }

// EnumValue sets a field to an undocumented value. The path is that of [NullField].
func EnumValue(path, value string) FaultOption { return setField(path, value, strconv.Quote(value)) }

func setField(path string, value any, words string) FaultOption {
	if path == "" {
		return mistake("a field needs a path")
	}
	return edit(path+" = "+words, func(a *response) {
		a.body = edited(a.body, func(v any) any { return assign(v, strings.Split(path, "."), value) })
	})
}

func edit(words string, change func(*response)) FaultOption {
	return does(words, func(f *Fault) { f.edits = append(f.edits, change) })
}

// edited decodes, changes and encodes a body. A body that is not JSON stays unchanged.
func edited(body []byte, change func(any) any) []byte {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return body
	}
	if changed, err := json.Marshal(change(v)); err == nil {
		return changed
	}
	return body
}

func walk(v any, visit func(object)) {
	switch v := v.(type) {
	case object:
		for _, inner := range v {
			walk(inner, visit)
		}
		visit(v)
	case []any:
		for _, e := range v {
			walk(e, visit)
		}
	}
}

// assign sets what a path names, where the path exists.
func assign(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch v := v.(type) {
	case object:
		if _, there := v[path[0]]; there || len(path) == 1 {
			v[path[0]] = assign(v[path[0]], path[1:], value)
		}
	case []any:
		for i := range v {
			if path[0] == "*" || path[0] == strconv.Itoa(i) {
				v[i] = assign(v[i], path[1:], value)
			}
		}
	}
	return v
}
