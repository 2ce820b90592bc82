package sandbox

import (
	"encoding/json"
	"errors"
	"strings"

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
	c := jsonscan.New(raw)
	return c.Is('{')
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
	c := jsonscan.New(raw)
	isText := c.Is('"')
	return string(c.Text()), isText && c.End() == nil
}

func fieldString(raw []byte, name string) (string, bool) {
	value, _ := jsonscan.Lookup(raw, name)
	return asString(value)
}
