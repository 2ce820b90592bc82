package jsonscan

import "slices"

// Lookup returns the value of a key of an object, a part of data. Of duplicate keys the last one counts.
func Lookup(data []byte, key string) (value []byte, ok bool) {
	c := New(data)
	value = c.lookup(key)
	if c.bad != 0 {
		return nil, false
	}
	return value, value != nil
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

// Index holds the positions of the members of an object, so that a lookup need not read them all: per member the offset of the key, and
// twelve bits that most other keys do not have.
type Index []uint32

const (
	hashBits  = 12
	maxOffset = 1<<(32-hashBits) - 1

	mostMembers = 1 << hashBits // more than any table has columns
)

func hash(name []byte) uint32 {
	n := len(name)
	if n == 0 {
		return 0
	}
	return (uint32(n) + 7*uint32(name[0]) + 61*uint32(name[n/2]) + 509*uint32(name[n-1])) % (1 << hashBits) //nolint:gosec // G115: a hash may overflow
}

// Lookup is the function [Lookup] for the object that the index was made for. Without an index it reads the object.
func (x Index) Lookup(data []byte, key string) (value []byte, ok bool) {
	if x == nil {
		return Lookup(data, key)
	}
	want := hash([]byte(key))
	for _, member := range slices.Backward(x) {
		if member%(1<<hashBits) != want {
			continue
		}
		c := Cursor{data: data, pos: int(member >> hashBits)}
		if name, _ := c.key(); string(name) == key {
			value = c.Span()
			return value, value != nil
		}
	}
	return nil, false
}
