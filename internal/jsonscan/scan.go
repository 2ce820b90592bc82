package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// fault says why a text is no JSON, or no more of it is read. Empty means that nothing is wrong.
type fault string

const (
	noValue     fault = "expected a value"
	noDigit     fault = "expected a digit"
	noKey       fault = "expected a key"
	noColon     fault = "expected ':'"
	noComma     fault = "expected ',' or the end"
	openString  fault = "unterminated string"
	badEscape   fault = "invalid escape"
	controlByte fault = "control character in a string"
	tooDeep     fault = "nested too deeply"
	cutOff      fault = "unexpected end"
	trailing    fault = "trailing data"

	// The text is valid.
	tooMuch  fault = "its values take more memory than 16 MiB and four times its length"
	tooMany  fault = "more elements than a page may have"
	noObject fault = "a row is not an object"
)

// fail notes what is wrong at the place of the cursor. What was wrong first stays. There is no text after it.
func (c *Cursor) fail(why fault) {
	if c.bad == "" {
		c.bad, c.data = why, c.data[:c.pos]
	}
}

// peek moves over white space and returns the byte there, or zero at the end.
func (c *Cursor) peek() byte {
	if c.pos < len(c.data) && c.data[c.pos] > ' ' {
		return c.data[c.pos]
	}
	return c.peekFar()
}

func (c *Cursor) peekFar() byte {
	for ; c.pos < len(c.data); c.pos++ {
		if b := c.data[c.pos]; b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b
		}
	}
	return 0
}

// open enters a container, or skips a value that is none.
func (c *Cursor) open(b byte) bool {
	if c.peek() != b {
		c.Skip()
		return false
	}
	if c.depth++; c.depth > maxDepth {
		c.fail(tooDeep)
		return false
	}
	c.pos++
	return true
}

// next moves after the separator before a member or element, or leaves the container at its closing byte.
func (c *Cursor) next(closing byte) (more bool) {
	if i := c.pos + 1; i < len(c.data) && c.data[c.pos] == ',' && c.data[i] > ' ' && !c.opened() { // as mostly
		c.pos = i
		return true
	}
	first := c.pos > 0 && c.opened()
	switch b := c.peek(); {
	case c.pos == len(c.data):
		c.fail(cutOff)
	case b == closing:
		c.pos++
		c.depth--
	case first:
		return true
	case b == ',':
		c.pos++
		c.peek()
		return true
	default:
		c.fail(noComma)
	}
	return false
}

// opened reports whether what was read last is '{' or '[', 32 below in ASCII: no value ends so.
func (c *Cursor) opened() bool { return c.data[c.pos-1]|' ' == '{' }

// key reads a key and its colon.
func (c *Cursor) key() (name []byte, ok bool) {
	if c.peek() != '"' {
		c.fail(noKey)
		return nil, false
	}
	if name = c.Text(); c.peek() != ':' {
		c.fail(noColon)
		return nil, false
	}
	c.pos++
	return name, true
}

// Skip reads over the next value.
func (c *Cursor) Skip() {
	c.peek()
	c.pos = c.skip(c.pos)
}

// skip reads over the value at i and returns where it ends. The place is in no memory, as mostly: that is a quarter faster.
func (c *Cursor) skip(i int) int {
	var b byte
	if i < len(c.data) {
		b = c.data[i]
	}
	if b == '"' {
		if end := skipPlain(c.data, i+1); end < len(c.data) && c.data[end] == '"' {
			return end + 1
		}
	}
	switch c.pos = i; b {
	case '"':
		c.text(false)
	case '{', '[':
		c.skipContainer(b)
	case 'n':
		c.groups++
		c.word("null")
	case 't':
		c.word("true")
	case 'f':
		c.word("false")
	default:
		c.number()
	}
	return c.pos
}

func (c *Cursor) skipContainer(b byte) {
	n, more := 0, c.open(b) && c.next(b+2) // in ASCII, the closing byte is two after
	for i := c.pos; more; n++ {
		if b == '{' {
			i = c.skipKey(i)
		}
		if i = c.skip(i); i+1 < len(c.data) && c.data[i] == ',' && c.data[i+1] > ' ' {
			i++
			continue
		}
		c.pos = i
		more = c.next(b + 2)
		i = c.pos
	}
	if c.values += n + 1; b == '[' {
		c.elements += n
		return
	}
	c.members, c.groups = c.members+n+emptyMap, c.groups+1
}

func (c *Cursor) skipKey(i int) int {
	if i < len(c.data) && c.data[i] == '"' {
		if end := skipPlain(c.data, i+1); end+2 < len(c.data) && c.data[end] == '"' && c.data[end+1] == ':' && c.data[end+2] > ' ' {
			return end + 2
		}
	}
	c.pos = i
	c.key()
	c.peek()
	return c.pos
}

func (c *Cursor) word(word string) {
	if end := c.pos + len(word); end > len(c.data) || string(c.data[c.pos:end]) != word {
		c.fail(noValue)
		return
	}
	c.pos += len(word)
}

func (c *Cursor) number() {
	data, i := c.data, c.pos
	if i < len(data) && data[i] == '-' {
		i++
	}
	end := digits(data, i)
	if end > i && data[i] == '0' {
		end = i + 1 // what follows is wrong
	}
	if end > i && end < len(data) && data[end] == '.' {
		i = end + 1
		end = digits(data, i)
	}
	if end > i && end < len(data) && data[end]|' ' == 'e' {
		if i = end + 1; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		end = digits(data, i)
	}
	why := noDigit
	if end == c.pos {
		why = noValue
	}
	if c.pos = end; end == i {
		c.fail(why)
	}
}

// digits moves over digits.
func digits(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// text reads a string. If it is kept, it comes without escapes, and with what is no UTF-8 replaced.
func (c *Cursor) text(keep bool) []byte {
	data, out := c.data, c.plain[:0]
	from := c.pos + 1 // what is not in out
	i := from
	for why := openString; ; why = openString {
		if i = skipPlain(data, i); i < len(data) && data[i] == '"' {
			break
		}
		r, n := rune(0), 0
		switch rest := data[i:]; {
		case len(rest) == 0:
		case rest[0] == '\\':
			r, n = unescape(rest)
			why = badEscape
		case rest[0] < ' ':
			why = controlByte
		default:
			if r, n = utf8.DecodeRune(rest); n > 1 {
				i += n
				continue
			}
		}
		if n == 0 {
			c.pos = i
			c.fail(why)
			return nil
		}
		if keep {
			out = utf8.AppendRune(append(out, data[from:i]...), r)
		}
		i += n
		from = i
	}
	c.pos = i + 1
	if len(out) == 0 {
		return data[from:i:i]
	}
	c.plain = append(out, data[from:i]...)
	return c.plain
}

// unescape reads an escape, or a pair of them for one rune. A lone surrogate reads as U+FFFD, and a wrong escape has no length.
func unescape(b []byte) (r rune, length int) {
	if len(b) > 1 && unescaped[b[1]] != 0 {
		return rune(unescaped[b[1]]), 2
	}
	if r = hex4(b); r < 0 {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if r = utf16.DecodeRune(r, hex4(b[6:])); r != utf8.RuneError {
		return r, 12
	}
	return r, 6
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex4 reads \uXXXX. Anything else is negative.
func hex4(b []byte) (r rune) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	for _, d := range b[2:6] {
		switch lower := d | ' '; {
		case isDigit(d):
			d -= '0'
		case 'a' <= lower && lower <= 'f':
			d = lower - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(d)
	}
	return r
}

// skipPlain moves over text to the first quote, backslash, control character or byte that is not ASCII. It looks at sixteen bytes at
// a time: most strings end within, so that the processor can foresee how often it goes round.
func skipPlain(data []byte, i int) int {
	for ; i <= len(data)-16; i += 16 {
		found, next := specials(binary.LittleEndian.Uint64(data[i:])), specials(binary.LittleEndian.Uint64(data[i+8:]))
		if found|next == 0 {
			continue
		}
		if found == 0 {
			i += 8
			found = next
		}
		return i + bits.TrailingZeros64(found)/8
	}
	for i < len(data) && specials(uint64(data[i])|' '*(lowBits-1)) == 0 {
		i++
	}
	return i
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x80 * lowBits
)

// specials sets the high bit of each byte of a word that skipPlain looks for. Bytes above the first one may be marked falsely.
func specials(word uint64) uint64 {
	low, slash := word^2*lowBits, word^'\\'*lowBits // 2 turns a quote into a space, and what is below a space stays there
	return (word | (low - ('"'-1)*lowBits) | (slash - lowBits)) & highBits
}
