package sandbox

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"mime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	ruleBodyIgnored = assumed("body.ignored", "unknown keys of a body are ignored, unless their rejection is documented")
	ruleBodyTwice   = assumed("body.repeated", "the last of several equal keys of an object counts")
	ruleBodyUnasked = assumed("body.unasked", "an undocumented body is ignored")
	ruleBodyID      = assumed("body.id", "an id in a body that is not 24 hexadecimal digits returns 422 VALIDATION_FAILED")
	ruleText        = assumed("text.malformed", "text that is not valid Unicode is read with replacement characters")
	ruleCharacters  = assumed("text.characters", "a character is a code point of Unicode; names are trimmed of what Unicode calls white space")
	ruleIntegers    = assumed("integers", "zeros and a sign before an integer of a query are accepted; 100.0 and 1e2 in a body are not integers, nor is a number of more than 64 bits")
	ruleIDCase      = assumed("ids.case", "the case of the letters in an id does not matter")
	_               = ambient("validation.first", "the first violation is the first in the documented order of the fields; unknown keys come last, sorted")
	ruleMalformed   = assumed("body.malformed", "a body that is not a JSON object returns 400 INVALID_REQUEST")
	ruleContentType = assumed("body.content-type", "a body that is not declared as application/json returns 422 VALIDATION_FAILED; parameters of the type are ignored")
	ruleNoBody      = assumed("body.missing", "a missing body is read as an empty object")
	rulePathID      = assumed("path.id", "an id in the path that is not 24 hexadecimal digits returns 422 VALIDATION_FAILED, as documented for approve")
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
		c.uses(ruleNoBody)
		return &form{fields{}, &c.checks}
	}
	kind, parameters, err := mime.ParseMediaType(c.req.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || len(parameters) > 0 {
		c.uses(ruleContentType)
	}
	if err != nil || kind != "application/json" {
		stop(&refusal{code: "VALIDATION_FAILED", message: "Content-Type has to be application/json."})
	}
	var f fields
	if !isObject(c.sent) || json.Unmarshal(c.sent, &f) != nil {
		c.uses(ruleMalformed)
		deny("INVALID_REQUEST", "The body is not a JSON object.")
	}
	c.looksOdd(c.sent)
	return &form{f, &c.checks}
}

// looksOdd records what decoders read differently in a JSON value.
func (c *call) looksOdd(raw []byte) {
	if !utf8.Valid(raw) || brokenEscapes(raw) {
		c.uses(ruleText)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if repeated(dec) {
		c.uses(ruleBodyTwice)
	}
}

// brokenEscapes reports whether a decoder has to replace half of a surrogate pair in valid JSON.
func brokenEscapes(raw []byte) bool {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return false
	}
	var v any
	_ = json.Unmarshal(raw, &v) // it is valid
	decoded, _ := json.Marshal(v)
	replaced := func(text []byte) int {
		return strings.Count(string(text), "\uFFFD") + strings.Count(strings.ToLower(string(text)), `\ufffd`)
	}
	return replaced(decoded) > replaced(raw)
}

// repeated reads a value of valid JSON. It reports whether an object has a key twice.
func repeated(dec *json.Decoder) (found bool) {
	token, _ := dec.Token() // it is valid
	open, nested := token.(json.Delim)
	if !nested {
		return false
	}
	keys := map[json.Token]bool{}
	for dec.More() && !found {
		if open == '{' {
			key, _ := dec.Token()
			found, keys[key] = keys[key], true
		}
		found = repeated(dec) || found
	}
	_, _ = dec.Token() // the end
	return found
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

// ignores records other keys, which are ignored.
func (f *form) ignores(known ...string) {
	for key := range f.fields {
		if !slices.Contains(known, key) {
			f.c.uses(ruleBodyIgnored)
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
	const plain = " \t\r\n\f\v"
	if strings.Trim(whole, plain) != name || strings.HasPrefix(name, "\uFEFF") || strings.HasSuffix(name, "\uFEFF") {
		f.c.uses(ruleCharacters)
	}
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
		f.bodyID(name, id)
	}
	return id
}

func (f *form) bodyID(name, id string) {
	if !isID(id) {
		f.c.uses(ruleBodyID)
	}
	f.id(name, id)
}

// ids reads an array of 1 to 500 ids. It reports whether there is one.
func (f *form) ids(name string) ([]string, bool) { return f.idList(name, maxIDs) }

// idList reads an array of ids. A maximum of zero means no bound.
func (f *form) idList(name string, most int) ([]string, bool) {
	raw, ok := f.fields[name]
	if !ok {
		return nil, false
	}
	ids, err := stringsOf(raw)
	wrong := slices.IndexFunc(ids, func(id string) bool { return !isID(id) })
	switch {
	case err != nil:
		f.fail(name, "%v", err)
	case len(ids) < 1:
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
		if written, err := strconv.ParseFloat(string(raw), 64); err == nil && written == math.Trunc(written) {
			f.c.uses(ruleIntegers)
		}
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

// units is the length of a text in UTF-16.
func units(s string) int { return len(utf16.Encode([]rune(s))) }
