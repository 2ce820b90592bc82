package sandbox

import (
	"bytes"
	"encoding/json"
	"maps"
	"mime"
	"slices"
	"strings"
	"unicode/utf8"
)

var (
	_               = documented("body.unknown", "an unknown key in the body of a list creation answers VALIDATION_FAILED")
	_               = documented("validation", "VALIDATION_FAILED is 422; param names the first offender, message lists all")
	_               = ambient("validation.first", "the first offender is the first in the order of the document; unknown keys come last, sorted")
	ruleMalformed   = assumed("body.malformed", "a body that is not a JSON object answers 400 INVALID_REQUEST")
	ruleContentType = assumed("body.content-type", "a body that is not declared as application/json answers 422 VALIDATION_FAILED")
	ruleNoBody      = assumed("body.missing", "a missing body is read as an empty object")
	rulePathID      = assumed("path.id", "an id in the path that is not 24 hexadecimal digits answers 422 VALIDATION_FAILED, as documented for approve")
)

// fields are the keys of a body.
type fields map[string]json.RawMessage

// fields decodes the body, which has to be a JSON object.
func (c *call) fields() (fields, error) {
	if len(bytes.TrimSpace(c.body)) == 0 {
		c.uses(ruleNoBody)
		return fields{}, nil
	}
	if kind, _, err := mime.ParseMediaType(c.req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		c.uses(ruleContentType)
		return nil, &refusal{code: "VALIDATION_FAILED", message: "Content-Type has to be application/json."}
	}
	var f fields
	if !isObject(c.body) || json.Unmarshal(c.body, &f) != nil {
		c.uses(ruleMalformed)
		return nil, refuse("INVALID_REQUEST", "The body is not a JSON object.")
	}
	return f, nil
}

// only refuses every key but these.
func (f fields) only(v *checks, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(known, key) {
			v.fail(key, "is not a known field")
		}
	}
}

// text reads a string. It reports whether there is one.
func (f fields) text(v *checks, name string) (string, bool) {
	raw, ok := f[name]
	if !ok {
		return "", false
	}
	s, ok := asString(raw)
	if !ok {
		v.fail(name, "has to be a string")
	}
	return s, ok
}

// required reads a string that has to be there.
func (f fields) required(v *checks, name string) string {
	if _, ok := f[name]; !ok {
		v.fail(name, "is required")
		return ""
	}
	s, _ := f.text(v, name)
	return s
}

// requiredID reads an id that has to be there.
func (f fields) requiredID(v *checks, name string) string {
	before := len(v.messages)
	id := f.required(v, name)
	if len(v.messages) == before {
		v.id(name, id)
	}
	return id
}

// ids reads an array of 1 to 500 ids. It reports whether there is one.
func (f fields) ids(v *checks, name string) ([]string, bool) { return f.idList(v, name, maxIDs) }

// idList reads an array of ids. A largest number of zero is no bound.
func (f fields) idList(v *checks, name string, most int) ([]string, bool) {
	raw, ok := f[name]
	if !ok {
		return nil, false
	}
	var ids []*string
	if err := json.Unmarshal(raw, &ids); err != nil || ids == nil {
		v.fail(name, "has to be an array of strings")
		return nil, true
	}
	switch {
	case len(ids) < 1:
		v.fail(name, "has to hold at least 1 id")
		return nil, true
	case most > 0 && len(ids) > most:
		v.fail(name, "has to hold at most %d ids", most)
		return nil, true
	}
	out := make([]string, len(ids))
	for i, id := range ids {
		if id == nil || !isID(*id) {
			v.fail(name, "has to hold ids of 24 hexadecimal digits: number %d is none", i)
			return nil, true
		}
		out[i] = *id
	}
	return out, true
}

const maxIDs = 500

// integer reads a whole number. A fallback stands for one that is not there.
func (f fields) integer(v *checks, name string, least, most, fallback int) int {
	raw, ok := f[name]
	if !ok {
		return fallback
	}
	var n *int
	switch err := json.Unmarshal(raw, &n); {
	case err != nil || n == nil:
		v.fail(name, "has to be an integer")
		return fallback
	case *n < least || *n > most:
		v.fail(name, "has to be %d to %d", least, most)
	}
	return *n
}

// flag reads a boolean. Without one it is false.
func (f fields) flag(v *checks, name string) bool {
	raw, ok := f[name]
	if ok && string(raw) != "true" && string(raw) != "false" {
		v.fail(name, "has to be true or false")
	}
	return string(raw) == "true"
}

// choice reads one of several strings. It is an error to leave a required one out; another is empty without.
func (f fields) choice(v *checks, name string, required bool, choices ...string) string {
	before := len(v.messages)
	s, sent := f.text(v, name)
	switch {
	case len(v.messages) > before:
	case !sent && required:
		v.fail(name, "is required")
	case sent && !slices.Contains(choices, s):
		v.fail(name, "has to be one of %s", strings.Join(choices, ", "))
	}
	return s
}

func runes(s string) int { return utf8.RuneCountInString(s) }
