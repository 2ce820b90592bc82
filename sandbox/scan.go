package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
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
		value, ok := field(raw, name)
		if !ok || !nested {
			return value, ok
		}
		raw, path = value, rest
	}
}

// field finds the value of one key of an object. The last one counts, as in encoding/json.
func field(raw []byte, name string) (value []byte, found bool) {
	i := skipSpace(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return nil, false
	}
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] == '"'; i = skipSpace(raw, i+1) {
		end := skipString(raw, i)
		match := sameKey(raw[i:end], name)
		i = skipSpace(raw, end) + 1 // the colon
		i = skipSpace(raw, i)
		end = skipValue(raw, i)
		if match {
			value, found = raw[i:end], true
		}
		i = skipSpace(raw, end)
		if i >= len(raw) || raw[i] != ',' {
			break
		}
	}
	return value, found
}

// sameKey compares as a decoder does: escapes are resolved, and what is not UTF-8 is replaced.
func sameKey(quoted []byte, name string) bool {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner) == name
	}
	key, ok := asString(quoted)
	return ok && key == name
}

func skipSpace(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

func skipString(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

func skipValue(raw []byte, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			} else if depth < 0 {
				return i
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return len(raw)
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
	value, _ := field(raw, name)
	return asString(value)
}
