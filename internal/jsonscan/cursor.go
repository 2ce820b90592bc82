// Package jsonscan reads JSON in one strict forward pass, without reflection.
//
// A [Cursor] stands before a value. The typed readers (String, Int, ...) are lenient about the type and strict about the
// syntax: a value of another type is skipped and read as zero, so that one retyped optional field cannot fail a page, while
// any violation of RFC 8259 stops the cursor with an error. Keys match exactly; of duplicate keys the last one wins with the
// caller, who sees them all; invalid UTF-8 reads as U+FFFD, as in encoding/json.
package jsonscan

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// maxDepth bounds nesting, as encoding/json does.
const maxDepth = 10_000

// Cursor walks over one JSON text. The zero value is not usable; see [New].
type Cursor struct {
	data  []byte
	pos   int
	depth int
	first bool // an object or array was just opened
	err   error
}

// New returns a cursor before the first value of data. One byte order mark is skipped.
func New(data []byte) Cursor {
	c := Cursor{data: data}
	if len(data) >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF {
		c.pos = 3
	}
	return c
}

// Err returns the first syntax error.
func (c *Cursor) Err() error { return c.err }

// End reports whether the text was valid as far as it was read and holds nothing more.
func (c *Cursor) End() error {
	if c.err == nil && c.space() {
		c.fail("trailing data")
	}
	return c.err
}

// Object enters the next value if it is an object; any other value is skipped.
func (c *Cursor) Object() bool { return c.open('{') }

// Array enters the next value if it is an array; any other value is skipped.
func (c *Cursor) Array() bool { return c.open('[') }

// Member moves to the next member of the object entered last. The value has to be read before the next call.
// The key is valid until then.
func (c *Cursor) Member() (key []byte, ok bool) {
	if !c.next('}') {
		return nil, false
	}
	if c.pos >= len(c.data) || c.data[c.pos] != '"' {
		c.fail("expected a key")
		return nil, false
	}
	span, plain := c.scanString()
	if c.err != nil {
		return nil, false
	}
	if !c.space() || c.data[c.pos] != ':' {
		c.fail("expected ':'")
		return nil, false
	}
	c.pos++
	if plain {
		return span, true
	}
	return unquote(span), true
}

// Element moves to the next element of the array entered last. The value has to be read before the next call.
func (c *Cursor) Element() bool { return c.next(']') }

// Skip reads over the next value.
func (c *Cursor) Skip() { c.Value() }

// Value reads over the next value and returns its text, a part of the data.
func (c *Cursor) Value() []byte {
	if !c.space() {
		c.fail("expected a value")
		return nil
	}
	start := c.pos
	c.skip()
	if c.err != nil {
		return nil
	}
	return c.data[start:c.pos:c.pos]
}

// String reads a string; null and other types read as "".
func (c *Cursor) String() string {
	if !c.at('"') {
		c.Skip()
		return ""
	}
	span, plain := c.scanString()
	if c.err != nil {
		return ""
	}
	if plain {
		return string(span)
	}
	return string(unquote(span))
}

// Int reads a whole number; null, other types, fractions and numbers outside int read as 0.
func (c *Cursor) Int() int {
	n, _ := c.IntOK()
	return n
}

// IntOK is Int, and reports whether there was such a number.
func (c *Cursor) IntOK() (int, bool) {
	v := c.Value()
	if len(v) == 0 || v[0] != '-' && (v[0] < '0' || v[0] > '9') {
		return 0, false
	}
	if n, err := strconv.Atoi(string(v)); err == nil {
		return n, true
	}
	// 1e3 and 1000.0 are whole numbers too.
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int(f), true
}

// Bool reads a boolean; null and other types read as false.
func (c *Cursor) Bool() bool {
	v := c.Value()
	return len(v) == 4 && v[0] == 't'
}

// Null reports whether the next value is null, and reads it if so.
func (c *Cursor) Null() bool {
	if !c.at('n') {
		return false
	}
	c.Skip()
	return true
}

// Is reports whether the next value starts with b: '{', '[', '"', and so on.
func (c *Cursor) Is(b byte) bool { return c.at(b) }

func (c *Cursor) at(b byte) bool { return c.space() && c.data[c.pos] == b }

// open enters a container, or skips a value that is none.
func (c *Cursor) open(b byte) bool {
	if !c.at(b) {
		c.Skip()
		return false
	}
	c.pos++
	c.push()
	c.first = true
	return c.err == nil
}

func (c *Cursor) push() {
	if c.depth++; c.depth > maxDepth {
		c.fail("nested too deeply")
	}
}

// next moves behind the separator before a member or element, or leaves the container at its closing byte.
func (c *Cursor) next(closing byte) bool {
	if !c.space() {
		c.fail("unexpected end")
		return false
	}
	if c.data[c.pos] == closing {
		c.pos++
		c.depth--
		c.first = false
		return false
	}
	if c.first {
		c.first = false
		return true
	}
	if c.data[c.pos] != ',' {
		c.fail("expected ',' or the end")
		return false
	}
	c.pos++
	if !c.space() || c.data[c.pos] == closing {
		c.fail("expected a value after ','")
		return false
	}
	return true
}

// space moves over white space and reports whether there is anything left.
func (c *Cursor) space() bool {
	if c.err != nil {
		return false
	}
	for c.pos < len(c.data) {
		switch c.data[c.pos] {
		case ' ', '\n', '\r', '\t':
			c.pos++
		default:
			return true
		}
	}
	return false
}

var errSyntax = errors.New("invalid JSON")

func (c *Cursor) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w at byte %d: %s", errSyntax, c.pos, what)
	}
}
