// Package jsonscan reads JSON in one strict forward pass, and makes no more of a text than 16 MiB and four times its length.
//
// It does this: a [Cursor] reads values one by one. A plan, made once for a type, reads text, numbers, booleans, times, structs, and slices and
// pointers of them; encoding/json reads all else on its piece, and the whole of a value that does not fit, so that verdict, values and errors are
// its own. Only [DecodeRecord], for the client's own types, reads zero instead.
// It does not write, read streams, merge the values of a key that comes twice, keep the text alive, or word why a value does not fit. It may
// call a method of a type twice.
package jsonscan

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unsafe"
)

const (
	perByte   = 4        // of a text: what may be made of it
	allowance = 16 << 20 // for the text itself

	maxDepth  = 10_000 // of nesting, as in encoding/json
	emptyMap  = 4      // members that an object counts for
	chunkSize = 8 << 10
	maxShared = chunkSize / 8 // what is longer gets memory of its own
)

// Cursor walks over one JSON text. The zero value is not usable; see [New]. One that has been used must not be copied.
type Cursor struct {
	data  []byte
	pos   int
	depth int
	bad   fault // what is wrong at pos

	chunk []byte // of strings and raw values that were handed out
	plain []byte // the last string that was not plain, without escapes

	left int64 // bytes that may still be made of the text
	counts
}

// counts are of what was skipped.
type counts struct {
	values   int // and one for each array and object
	members  int // of objects, and as many for each object as a map makes room for at first
	elements int // of arrays
	groups   int // objects, and nulls, after each of which what a field points to is made again
}

// New returns a cursor before the first value of data. One byte order mark is skipped.
func New(data []byte) Cursor {
	c := Cursor{data: data, left: allowance + perByte*int64(len(data))}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		c.pos = len("\ufeff")
	}
	return c
}

type plainError string

func (e plainError) Error() string { return string(e) }

// Words returns the text, which quotes nothing, for logs.
func (e plainError) Words() string { return string(e) }

var (
	errSyntax   error = plainError("invalid JSON")
	errNoObject error = plainError(noObject)
	// ErrTooMuch is in the errors of texts that are valid, but hold more than a caller has asked for or has memory for.
	ErrTooMuch error = plainError("the response holds too much")
)

// Err returns the first error.
func (c *Cursor) Err() error {
	kind := errSyntax
	switch c.bad {
	case "":
		return nil
	case noObject:
		return errNoObject
	case tooMuch, tooMany:
		kind = ErrTooMuch
	default:
	}
	return fmt.Errorf("%w at byte %d: %s", kind, c.pos, c.bad)
}

// End reports whether the text was valid as far as it was read and holds nothing more.
func (c *Cursor) End() error {
	if c.peek(); c.pos < len(c.data) {
		c.fail(trailing)
	}
	return c.Err()
}

// Is reports whether the next value starts with b: '{', '[', '"', and so on.
func (c *Cursor) Is(b byte) bool { return c.peek() == b }

// Object enters the next value if it is an object; any other value is skipped.
func (c *Cursor) Object() bool { return c.open('{') }

// Array enters the next value if it is an array; any other value is skipped.
func (c *Cursor) Array() bool { return c.open('[') }

// Member moves to the next member of the object entered last. The value has to be read before the next call.
// The key is valid until that is done.
func (c *Cursor) Member() (key []byte, ok bool) {
	if !c.next('}') {
		return nil, false
	}
	return c.key()
}

// Element moves to the next element of the array entered last. The value has to be read before the next call.
func (c *Cursor) Element() bool { return c.next(']') }

// Span reads over the next value and returns its text, a part of the data: valid as long as that is, nil after an error.
func (c *Cursor) Span() []byte {
	start := c.Mark()
	c.Skip()
	return c.Since(start)
}

// Mark returns the place of the next value, for Since.
func (c *Cursor) Mark() int {
	c.peek()
	return c.pos
}

// Since returns what was read since a mark, a part of the data.
func (c *Cursor) Since(mark int) []byte {
	if c.bad != "" {
		return nil
	}
	return c.data[mark:c.pos:c.pos]
}

// Copy returns a copy of a part of the data.
func (c *Cursor) Copy(part []byte) []byte {
	if len(part) == 0 || len(part) > maxShared {
		return bytes.Clone(part)
	}
	if cap(c.chunk)-len(c.chunk) < len(part) { // a new one is not larger than what may still go into it: records keep their text beside its strings
		var b strings.Builder // whose memory is not cleared
		b.Grow(min(chunkSize, len(part)+len(c.data)-c.pos+min(len(c.data), maxShared)))
		b.WriteByte(0)
		c.chunk = unsafe.Slice(unsafe.StringData(b.String()), b.Cap())[:0]
	}
	start := len(c.chunk)
	c.chunk = append(c.chunk, part...)
	return c.chunk[start:len(c.chunk):len(c.chunk)]
}

// Text reads a string; null and other types read as "". It is no copy, and valid until the next call of any method.
func (c *Cursor) Text() []byte {
	if c.peek() != '"' {
		c.Skip()
		return nil
	}
	return c.text(true)
}

// String is a copy of Text.
func (c *Cursor) String() string { return c.keep(c.Text()) }

// keep makes a string of a part of the data.
func (c *Cursor) keep(text []byte) string {
	kept := c.Copy(text)
	return unsafe.String(unsafe.SliceData(kept), len(kept))
}

// IntOK reads a whole number within int, from 2^53 on without exponent and fraction, and reports whether it did. Others read as 0.
func (c *Cursor) IntOK() (int, bool) {
	v := string(c.Span())
	if n, err := strconv.Atoi(v); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(v, 64) // 1e3 and 1000.0 are whole numbers, too
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 || f < math.MinInt || f > math.MaxInt {
		return 0, false
	}
	return int(f), true
}

// Bool reads a boolean; null and other types read as false.
func (c *Cursor) Bool() bool { return string(c.Span()) == "true" }

// Null reports whether the next value is null, and reads it if so.
func (c *Cursor) Null() bool {
	if c.peek() != 'n' {
		return false
	}
	c.Skip()
	return true
}

// Spend notes that a value takes n bytes of memory beside its text: three bytes of text can become a struct of many kilobytes. It reports
// whether the cursor may go on.
func (c *Cursor) Spend(n int64) bool {
	if c.left -= n; c.left < 0 {
		c.fail(tooMuch)
	}
	return c.bad == ""
}

// Valid checks one whole JSON text.
func Valid(data []byte) error {
	c := New(data)
	c.Skip()
	return c.End()
}

// Lookup returns the value of a key of an object, a part of data. Of duplicate keys the last one counts.
func Lookup(data []byte, key string) (value []byte, ok bool) {
	c := New(data)
	for in := c.Object(); in; {
		name, more := c.Member()
		if in = more; in && string(name) == key {
			value = c.Span()
		} else if in {
			c.Skip()
		}
	}
	return value, value != nil && c.bad == ""
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
			c := Cursor{data: data, pos: int(at)}
			c.key()
			value = c.Span()
			return value, value != nil
		}
	}
	return nil, false
}

// At returns the value at a position in an array, whose number is a text.
func At(array []byte, position string) (value []byte, ok bool) {
	c := New(array)
	if !c.Is('[') { // before the number, whose error takes memory
		return nil, false
	}
	n, err := strconv.ParseUint(position, 10, 31)
	for ok = err == nil && c.Array(); ok && c.Element(); n-- {
		if value = c.Span(); n == 0 {
			return value, c.Err() == nil
		}
	}
	return nil, false
}
