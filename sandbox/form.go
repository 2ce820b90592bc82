package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type fields map[string]json.RawMessage

// value is a parameter of a query, or a field of a body.
type value struct {
	raw    string // of a query, the text itself
	text   string
	isText bool
}

// input is what a request gives: its query, or its body.
type input map[string]value

func queryInput(query url.Values) input {
	in := input{}
	for name, texts := range query {
		in[name] = value{texts[0], texts[0], true}
	}
	return in
}

func bodyInput(body fields) input {
	in := input{}
	for name, raw := range body {
		text, isText := asString(raw)
		in[name] = value{string(raw), text, isText}
	}
	return in
}

func (in input) has(name string) bool { _, sent := in[name]; return sent }

// text is a text, or empty.
func (in input) text(name string) string { return in[name].text }

func (in input) trimmed(name string) string { return strings.TrimSpace(in[name].text) }

// number is an integer, or the fallback without one.
func (in input) number(name string, fallback int64) int64 {
	if n, err := strconv.ParseInt(in[name].raw, 10, 64); err == nil {
		return n
	}
	return fallback
}

// texts are those of an array, or none.
func (in input) texts(name string) []string {
	texts, _ := stringsOf([]byte(in[name].raw))
	return texts
}

// object decodes the body, which has to be a JSON object.
func (c *call) object() (body fields) {
	if len(bytes.TrimSpace(c.sent)) == 0 {
		return fields{}
	}
	kind, _, err := mime.ParseMediaType(c.req.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		deny("VALIDATION_FAILED", "Content-Type has to be application/json.")
	}
	if !isObject(c.sent) || json.Unmarshal(c.sent, &body) != nil {
		deny("INVALID_REQUEST", "The body is not a JSON object.")
	}
	return body
}

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

// taking is a part of what an operation takes: it fails if that is wrong. All parts of an operation are a table, in the documented order.
type taking func(c *call, in input, v *checks)

// check ends the request if anything is wrong with what it gives.
func (c *call) check(in input, takes []taking) {
	if v := c.wrong(in, takes); len(v.messages) > 0 {
		deny("VALIDATION_FAILED", strings.Join(v.messages, "; ")+".", v.param)
	}
}

func (c *call) wrong(in input, takes []taking) (v checks) {
	for _, part := range takes {
		part(c, in, &v)
	}
	return v
}

// rule says what is wrong with a value, or nothing.
type rule func(c *call, v value) string

func optional(name string, fits rule) taking {
	return func(c *call, in input, v *checks) {
		if !in.has(name) {
			return
		}
		if problem := fits(c, in[name]); problem != "" {
			v.fail(name, "%s", problem)
		}
	}
}

func required(name string, fits rule) taking {
	return func(c *call, in input, v *checks) {
		if !in.has(name) {
			v.fail(name, "is required")
		}
		optional(name, fits)(c, in, v)
	}
}

// either demands one of several fields.
func either(names ...string) taking {
	return func(_ *call, in input, v *checks) {
		if !slices.ContainsFunc(names, in.has) {
			v.fail(names[0], "or %s is required", strings.Join(names[1:], ", "))
		}
	}
}

// oneOfTwo demands one of two fields, and not both.
func oneOfTwo(a, b string) taking {
	return func(c *call, in input, v *checks) {
		if either(a, b)(c, in, v); in.has(a) && in.has(b) {
			v.fail(a, "and %s exclude each other", b)
		}
	}
}

// only rejects every other field.
func only(known ...string) taking {
	return func(_ *call, in input, v *checks) {
		for _, name := range slices.Sorted(maps.Keys(in)) {
			if !slices.Contains(known, name) {
				v.fail(name, "is not a known field")
			}
		}
	}
}

// aText is a text with something more.
func aText(wrong func(text string) string) rule {
	return func(_ *call, v value) string {
		if !v.isText {
			return "has to be a string"
		}
		return wrong(v.text)
	}
}

var anyText = aText(func(string) string { return "" })

// chars is a text of a length, in characters.
func chars(longest int) rule {
	return aText(func(text string) string {
		if n := runes(text); n < 1 || n > longest {
			return fmt.Sprintf("has to be 1 to %d characters long", longest)
		}
		return ""
	})
}

// aName is a text that is kept without the space at both ends.
func aName(c *call, v value) string {
	v.text = strings.TrimSpace(v.text)
	return chars(longestName)(c, v)
}

const wantID = "has to be 24 hexadecimal digits"

var anID = aText(func(text string) string {
	if !isID(text) {
		return wantID
	}
	return ""
})

const maxIDs = 500

// idList is an array of ids.
func idList(least, most int) rule {
	return func(_ *call, v value) string {
		ids, err := stringsOf([]byte(v.raw))
		wrong := slices.IndexFunc(ids, func(id string) bool { return !isID(id) })
		switch {
		case err != nil:
			return err.Error()
		case len(ids) < least || len(ids) > most:
			return fmt.Sprintf("has to hold %d to %d ids", least, most)
		case wrong >= 0:
			return fmt.Sprintf("has to hold ids of 24 hexadecimal digits: number %d is none", wrong)
		}
		return ""
	}
}

// integer is a whole number.
func integer(least, most int64) rule {
	return func(_ *call, v value) string {
		n, err := strconv.ParseInt(v.raw, 10, 64)
		switch {
		case err != nil:
			return "has to be an integer"
		case n < least && most == math.MaxInt64:
			return fmt.Sprintf("has to be at least %d", least)
		case n < least || n > most:
			return fmt.Sprintf("has to be %d to %d", least, most)
		}
		return ""
	}
}

func aFlag(_ *call, v value) string {
	if v.raw != "true" && v.raw != "false" {
		return "has to be true or false"
	}
	return ""
}

// oneOf is one of several texts.
func oneOf(choices ...string) rule {
	return aText(func(text string) string {
		if !slices.Contains(choices, text) {
			return "has to be one of " + strings.Join(choices, ", ")
		}
		return ""
	})
}

func runes(s string) int { return utf8.RuneCountInString(s) }
