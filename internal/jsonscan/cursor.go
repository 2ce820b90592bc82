// Package jsonscan reads JSON in one strict forward pass, and makes no more of a text than 16 MiB and four times its length.
//
// It does this: a [Cursor] reads values one by one. A plan, made once for a type, reads text, numbers, booleans, times, structs, and slices and
// pointers of them; encoding/json reads all else on its piece. Where a value does not fit, [Unmarshal], and [Exact] in a record, have
// encoding/json read the whole, so that verdict, values and errors are its own; [DecodeRecord], for the client's own types, reads zero.
//
// It does not write, read streams, merge the slices of a key that comes twice, keep the text alive, or word why a value does not fit. A method of a
// part may be called twice.
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
	first bool  // an object or array was just opened
	bad   fault // what is wrong at pos

	chunk []byte // of strings and raw values that were handed out
	plain []byte // the last string that was not plain, without escapes

	left    int64 // bytes that may still be made of the text
	values  int   // that were skipped, arrays and objects twice
	members int   // of the objects among them, and as many for each object as a map makes room for at first
}

// New returns a cursor before the first value of data. One byte order mark is skipped.
func New(data []byte) Cursor {
	c := Cursor{data: data, left: allowance + perByte*int64(len(data))}
	if len(data) >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF {
		c.pos = 3
	}
	return c
}

// Err returns the first syntax error.
func (c *Cursor) Err() error {
	if c.bad == 0 {
		return nil
	}
	kind := errSyntax
	if c.bad >= tooMuch {
		kind = ErrTooMuch
	}
	return fmt.Errorf("%w at byte %d: %s", kind, c.pos, faults[c.bad])
}

// End reports whether the text was valid as far as it was read and holds nothing more.
func (c *Cursor) End() error {
	if c.more() {
		c.bad = trailing
	}
	return c.Err()
}

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

// Skip reads over the next value.
func (c *Cursor) Skip() {
	if c.bad != 0 {
		return
	}
	c.pos, c.bad = c.skipValue(skipSpace(c.data, c.pos), c.depth)
}

// Span reads over the next value and returns its text, a part of the data: valid as long as that is, nil after an error.
func (c *Cursor) Span() []byte {
	start := c.Mark()
	c.Skip()
	return c.Since(start)
}

// Mark returns the place of the next value, for Since.
func (c *Cursor) Mark() int {
	c.more()
	return c.pos
}

// Since returns what was read since a mark, a part of the data.
func (c *Cursor) Since(mark int) []byte {
	if c.bad != 0 {
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
		c.chunk = make([]byte, 0, min(chunkSize, len(part)+len(c.data)-c.pos+min(len(c.data), maxShared)))
	}
	start := len(c.chunk)
	c.chunk = append(c.chunk, part...)
	return c.chunk[start:len(c.chunk):len(c.chunk)]
}

// String reads a string; null and other types read as "".
func (c *Cursor) String() string { return c.keep(c.Text()) }

// keep makes a string of a part of the data.
func (c *Cursor) keep(text []byte) string {
	kept := c.Copy(text)
	return unsafe.String(unsafe.SliceData(kept), len(kept))
}

// Text reads a string as String does, without a copy: it is valid until the next call of any method.
func (c *Cursor) Text() []byte {
	if !c.Is('"') {
		c.Skip()
		return nil
	}
	start := c.pos + 1
	end := skipPlain(c.data, start)
	if end < len(c.data) && c.data[end] == '"' {
		c.pos = end + 1
		return c.data[start:end:end]
	}
	c.plain, c.pos, c.bad = appendString(append(c.plain[:0], c.data[start:end]...), c.data, end)
	return c.plain
}

// key reads a key and its colon.
func (c *Cursor) key() (name []byte, ok bool) {
	if c.pos >= len(c.data) || c.data[c.pos] != '"' {
		c.bad = noKey
		return nil, false
	}
	if name = c.Text(); c.bad == 0 {
		c.pos, c.bad = skipColon(c.data, c.pos)
	}
	return name, c.bad == 0
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
	if !c.Is('n') {
		return false
	}
	c.Skip()
	return true
}

// Is reports whether the next value starts with b: '{', '[', '"', and so on.
func (c *Cursor) Is(b byte) bool {
	return c.pos < len(c.data) && c.data[c.pos] == b && c.bad == 0 || c.more() && c.data[c.pos] == b
}

// open enters a container, or skips a value that is none.
func (c *Cursor) open(b byte) bool {
	if !c.Is(b) {
		c.Skip()
		return false
	}
	if c.depth++; c.depth > maxDepth {
		c.bad = tooDeep
		return false
	}
	c.pos++
	c.first = true
	return true
}

// next moves after the separator before a member or element, or leaves the container at its closing byte.
func (c *Cursor) next(closing byte) (more bool) {
	if c.bad != 0 {
		return false
	}
	if i := c.pos + 1; !c.first && i < len(c.data) && c.data[i-1] == ',' && c.data[i] > ' ' { // as mostly
		c.pos = i
		return true
	}
	if c.pos, more, c.bad = skipComma(c.data, c.pos, closing, c.first); !more {
		c.depth--
	}
	c.first = false
	return more
}

// more moves over white space and reports whether there is anything left.
func (c *Cursor) more() bool {
	if c.bad != 0 {
		return false
	}
	c.pos = skipSpace(c.data, c.pos)
	return c.pos < len(c.data)
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
	return value, value != nil && c.bad == 0
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

// Spend notes that a value takes n bytes of memory beside its text: three bytes of text can become a struct of many kilobytes. It reports
// whether the cursor may go on.
func (c *Cursor) Spend(n int) bool { return c.spend(int64(n)) }

func (c *Cursor) spend(n int64) bool {
	if c.left -= n; c.left < 0 && c.bad == 0 {
		c.bad = tooMuch
	}
	return c.bad == 0
}

type plainError string

func (e plainError) Error() string { return string(e) }

// Words returns the text, which quotes nothing, for logs.
func (e plainError) Words() string { return string(e) }

var errSyntax error = plainError("invalid JSON")

// ErrTooMuch is in the errors of texts that are valid, but hold more than a caller has asked for or has memory for.
var ErrTooMuch error = plainError("the response holds too much")

// fault says why a text is no JSON. Zero means that it is.
type fault int

const (
	noValue fault = iota + 1
	noDigit
	noKey
	noColon
	noComma
	openString
	badEscape
	controlByte
	tooDeep
	cutOff
	trailing

	tooMuch // from here on the text is valid
	tooMany
)

var faults = [...]string{
	noValue: "expected a value", noDigit: "expected a digit", noKey: "expected a key",
	noColon: "expected ':'", noComma: "expected ',' or the end", openString: "unterminated string", badEscape: "invalid escape",
	controlByte: "control character in a string", tooDeep: "nested too deeply", cutOff: "unexpected end", trailing: "trailing data",
	tooMuch: "its values take more memory than 16 MiB and four times its length", tooMany: "more elements than a page may have",
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
