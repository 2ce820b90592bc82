package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type fields map[string]json.RawMessage

// form is a body that is being read, and its errors.
type form struct {
	fields
	*checks
}

// form decodes the body, which has to be a JSON object.
func (c *call) form() *form {
	if len(bytes.TrimSpace(c.sent)) == 0 {
		return &form{fields{}, &c.checks}
	}
	kind, _, err := mime.ParseMediaType(c.req.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		deny("VALIDATION_FAILED", "Content-Type has to be application/json.")
	}
	var f fields
	if !isObject(c.sent) || json.Unmarshal(c.sent, &f) != nil {
		deny("INVALID_REQUEST", "The body is not a JSON object.")
	}
	return &form{f, &c.checks}
}

func (f *form) has(name string) bool {
	_, ok := f.fields[name]
	return ok
}

// only rejects every other key.
func (f *form) only(known ...string) {
	for _, key := range slices.Sorted(maps.Keys(f.fields)) {
		if !slices.Contains(known, key) {
			f.fail(key, "is not a known field")
		}
	}
}

// text reads a string. It reports whether there is one.
func (f *form) text(name string) (string, bool) {
	raw, ok := f.fields[name]
	if !ok {
		return "", false
	}
	s, ok := asString(raw)
	if !ok {
		f.fail(name, "has to be a string")
	}
	return s, ok
}

// name reads a name without the space at both ends. It reports whether there is one.
func (f *form) name(field string) (name string, sent bool) {
	whole, sent := f.text(field)
	name = strings.TrimSpace(whole)
	if sent {
		f.length(field, name, longestName)
	}
	return name, sent
}

func (f *form) required(name string) string {
	f.needs(name, f.has(name))
	s, _ := f.text(name)
	return s
}

func (f *form) requiredID(name string) string {
	before := len(f.messages)
	id := f.required(name)
	if len(f.messages) == before {
		f.id(name, id)
	}
	return id
}

// ids reads an array of 1 to 500 ids. It reports whether there is one.
func (f *form) ids(name string) ([]string, bool) { return f.idList(name, 1, maxIDs) }

// idList reads an array of ids. A maximum of zero means no bound.
func (f *form) idList(name string, least, most int) ([]string, bool) {
	raw, ok := f.fields[name]
	if !ok {
		return nil, false
	}
	ids, err := stringsOf(raw)
	wrong := slices.IndexFunc(ids, func(id string) bool { return !isID(id) })
	switch {
	case err != nil:
		f.fail(name, "%v", err)
	case len(ids) < least:
		f.fail(name, "has to hold at least 1 id")
	case most > 0 && len(ids) > most:
		f.fail(name, "has to hold at most %d ids", most)
	case wrong >= 0:
		f.fail(name, "has to hold ids of 24 hexadecimal digits: number %d is none", wrong)
	default:
		return ids, true
	}
	return nil, true
}

const maxIDs = 500

// integer reads a whole number. The fallback replaces an absent one.
func (f *form) integer(name string, least, most, fallback int) int {
	raw, ok := f.fields[name]
	if !ok {
		return fallback
	}
	var n *int
	switch err := json.Unmarshal(raw, &n); {
	case err != nil || n == nil:
		f.fail(name, "has to be an integer")
		return fallback
	case *n < least || *n > most:
		f.fail(name, "has to be %d to %d", least, most)
	}
	return *n
}

// flag reads a boolean. Without one it is false.
func (f *form) flag(name string) bool {
	raw, ok := f.fields[name]
	if ok && string(raw) != "true" && string(raw) != "false" {
		f.fail(name, "has to be true or false")
	}
	return string(raw) == "true"
}

// choice reads one of several strings. Without one it is empty.
func (f *form) choice(name string, choices ...string) string {
	s, sent := f.text(name)
	return f.among(name, s, sent, choices)
}

// requiredChoice reads one of several strings, which is required.
func (f *form) requiredChoice(name string, choices ...string) string {
	f.needs(name, f.has(name))
	return f.choice(name, choices...)
}

func runes(s string) int { return utf8.RuneCountInString(s) }

// checks collects everything that is wrong with a request.
type checks struct {
	param    string // the first offender
	messages []string
}

func (v *checks) fail(param, format string, args ...any) {
	if len(v.messages) == 0 {
		v.param = param
	}
	v.messages = append(v.messages, param+" "+fmt.Sprintf(format, args...))
}

func (v *checks) err() error {
	if len(v.messages) == 0 {
		return nil
	}
	return refuse("VALIDATION_FAILED", strings.Join(v.messages, "; ")+".", v.param)
}

// valid ends the request if anything is wrong with it.
func (v *checks) valid() { stop(v.err()) }

// params are a query that is being read, and its errors.
type params struct {
	url.Values
	*checks

	cap *int // see Fault
}

func (c *call) params() *params { return &params{c.query, &c.checks, c.cap} }

// number reads an integer of at least 1 from the query. A maximum of zero means no bound.
func (q *params) number(name string, largest, fallback int) int64 {
	if !q.Has(name) {
		return int64(fallback)
	}
	n, err := strconv.ParseInt(q.Get(name), 10, 64)
	switch {
	case err != nil:
		q.fail(name, "has to be an integer")
	case n < 1:
		q.fail(name, "has to be at least 1")
	case largest > 0 && n > int64(largest):
		q.fail(name, "has to be at most %d", largest)
	}
	return n
}

// text reads a string with bounds, in characters, from the query. Without one it is empty.
func (q *params) text(name string, longest int) string {
	s := q.Get(name)
	if q.Has(name) {
		q.length(name, s, longest)
	}
	return s
}

func (v *checks) length(name, s string, longest int) {
	n := runes(s)
	if n < 1 || n > longest {
		v.fail(name, "has to be 1 to %d characters long", longest)
	}
}

func (v *checks) needs(name string, sent bool) {
	if !sent {
		v.fail(name, "is required")
	}
}

func (v *checks) id(name, s string) {
	if !isID(s) {
		v.fail(name, wantID)
	}
}

const wantID = "has to be 24 hexadecimal digits"

// choice reads one of several values from the query. Without one it is empty.
func (q *params) choice(name string, choices ...string) string {
	return q.among(name, q.Get(name), q.Has(name), choices)
}

func (v *checks) among(name, s string, sent bool, choices []string) string {
	if sent && !slices.Contains(choices, s) {
		v.fail(name, "has to be one of %s", strings.Join(choices, ", "))
	}
	return s
}
