package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"example.com/prospectkit/internal/jsonscan"
)

var (
	errNotObject = errors.New("not a JSON object")
	errBadRowID  = errors.New("the id is not 24 hexadecimal digits")
)

// rowID reads the id of a row: empty if it has none.
func rowID(row json.RawMessage) (string, error) {
	if !json.Valid(row) || !isObject(row) {
		return "", errNotObject
	}
	raw, ok := lookup(row, "id")
	if !ok {
		return "", nil
	}
	id, ok := asString(raw)
	if !ok || !isID(id) {
		return "", errBadRowID
	}
	return id, nil
}

func isObject(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}

// lookup finds a value in valid JSON by a dotted path, without decoding what it passes.
func lookup(raw []byte, path string) ([]byte, bool) {
	for {
		name, rest, nested := strings.Cut(path, ".")
		value, ok := jsonscan.Lookup(raw, name)
		if !ok || !nested {
			return value, ok
		}
		raw, path = value, rest
	}
}

func asString(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner), true
	}
	var s string
	return s, json.Unmarshal(raw, &s) == nil
}

func fieldString(raw []byte, name string) (string, bool) {
	value, _ := jsonscan.Lookup(raw, name)
	return asString(value)
}
