package jsonscan

import (
	"slices"
	"strings"
)

// Lookup returns the value of a key of an object, a part of data. Of duplicate keys the last one counts.
func Lookup(data []byte, key string) (value []byte, ok bool) {
	c := New(data)
	value = c.lookup(key)
	return value, value != nil && c.bad == 0
}

// LookupWhole is [Lookup] in one whole JSON text, which it checks like [Valid].
func LookupWhole(data []byte, key string) ([]byte, error) {
	c := New(data)
	value := c.lookup(key)
	return value, c.End()
}

func (c *Cursor) lookup(key string) (value []byte) {
	if c.Object() {
		for name, more := c.Member(); more; name, more = c.Member() {
			if string(name) == key {
				value = c.Span()
			} else {
				c.Skip()
			}
		}
	}
	return value
}

// Valid checks one whole JSON text.
func Valid(data []byte) error {
	c := New(data)
	c.Skip()
	return c.End()
}

// Index holds where the keys of an object are, so that a lookup need not read it all. All of them stand for themselves.
type Index []uint32

// Lookup is the function [Lookup] for the object that the index was made for. Without an index it reads the object.
func (x Index) Lookup(data []byte, key string) (value []byte, ok bool) {
	if x == nil || strings.ContainsAny(key, "\"\\") {
		return Lookup(data, key)
	}
	for _, at := range slices.Backward(x) {
		start := int(at) + len(`"`)
		end := start + len(key)
		if end < len(data) && data[end] == '"' && string(data[start:end]) == key {
			c := Cursor{data: data}
			c.pos, c.bad = skipColon(data, end+len(`"`))
			value = c.Span()
			return value, value != nil
		}
	}
	return nil, false
}
