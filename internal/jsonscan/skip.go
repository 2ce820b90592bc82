package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file read data from index i on and return the index after what they found. If it is not there, they
// return where the text went wrong and why.

func skipSpace(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

func (c *Cursor) skipValue(i, depth int) (end int, bad fault) {
	var word string
	data := c.data
	if i >= len(data) {
		return i, noValue
	}
	c.values++
	switch b := data[i]; b {
	case '"':
		return skipString(data, i+1)
	case '{', '[':
		return c.skipContainer(i, depth+1, b+2) // in ASCII, the closing character is two after
	case 'n':
		word = "null"
	case 't':
		word = "true"
	case 'f':
		word = "false"
	default:
		if b == '-' || isDigit(b) {
			return skipNumber(data, i)
		}
		return i, noValue
	}
	if end = i + len(word); end <= len(data) && string(data[i:end]) == word {
		return end, 0
	}
	return i, noValue
}

// skipContainer reads over an object or an array, whatever its closing byte says.
func (c *Cursor) skipContainer(i, depth int, closing byte) (end int, bad fault) {
	data, object := c.data, closing == '}'
	if depth > maxDepth {
		return i, tooDeep
	}
	c.values++
	if object {
		c.members += emptyMap
	}
	i, more, bad := skipComma(data, i+1, closing, true)
	for more {
		if object {
			c.members++
			if i, bad = skipKey(data, i); bad != 0 {
				return i, bad
			}
		}
		if i, bad = c.skipValue(i, depth); bad != 0 {
			return i, bad
		}
		if i+1 < len(data) && data[i] == ',' && data[i+1] > ' ' { // as mostly
			i++
		} else {
			i, more, bad = skipComma(data, i, closing, false)
		}
	}
	return i, bad
}

// skipKey moves over a key, its colon and the space around.
func skipKey(data []byte, i int) (end int, bad fault) {
	if i >= len(data) || data[i] != '"' {
		return i, noKey
	}
	if i = skipPlain(data, i+1); i+2 < len(data) && data[i] == '"' && data[i+1] == ':' && data[i+2] > ' ' { // as mostly
		return i + 2, 0
	}
	if i, bad = skipString(data, i); bad == 0 {
		i, bad = skipColon(data, i)
	}
	return skipSpace(data, i), bad
}

// skipComma moves to the next member or element, or out of a container that has no more of them. There is no comma before the first.
func skipComma(data []byte, i int, closing byte, first bool) (end int, more bool, bad fault) {
	i = skipSpace(data, i)
	switch {
	case i >= len(data):
		return i, false, cutOff
	case data[i] == ',' && !first:
		return skipSpace(data, i+1), true, 0
	case data[i] == closing:
		return i + 1, false, 0
	case first:
		return i, true, 0
	}
	return i, false, noComma
}

func skipColon(data []byte, i int) (end int, bad fault) {
	if i = skipSpace(data, i); i >= len(data) || data[i] != ':' {
		return i, noColon
	}
	return i + 1, 0
}

func skipNumber(data []byte, i int) (end int, bad fault) {
	if data[i] == '-' {
		i++
	}
	if i < len(data) && data[i] == '0' {
		i++
	} else if i, bad = skipDigits(data, i); bad != 0 {
		return i, bad
	}
	if i < len(data) && data[i] == '.' {
		if i, bad = skipDigits(data, i+1); bad != 0 {
			return i, bad
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		return skipDigits(data, i)
	}
	return i, 0
}

func skipDigits(data []byte, i int) (end int, bad fault) {
	if i >= len(data) || !isDigit(data[i]) {
		return i, noDigit
	}
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i, 0
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// skipString reads over the text of a string and its closing quote.
func skipString(data []byte, i int) (end int, bad fault) {
	for {
		if i = skipPlain(data, i); i >= len(data) {
			return i, openString
		}
		switch b := data[i]; {
		case b == '"':
			return i + 1, 0
		case b == '\\':
			_, n := unescape(data[i:])
			if n == 0 {
				return i, badEscape
			}
			i += n
		case b < ' ':
			return i, controlByte
		default:
			i = skipOther(data, i)
		}
	}
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

// skipOther moves over what is not ASCII.
func skipOther(data []byte, i int) int {
	for i < len(data) && data[i] >= utf8.RuneSelf {
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

// unescape reads the escape that b starts with, or a pair of them for one rune. A lone surrogate reads as U+FFFD, and what is no escape
// has no length.
func unescape(b []byte) (r rune, length int) {
	if len(b) < 2 {
		return 0, 0
	}
	if r = rune(unescaped[b[1]]); r != 0 {
		return r, 2
	}
	r, ok := hex4(b)
	switch low, more := hex4(b[min(6, len(b)):]); {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	case more && utf16.DecodeRune(r, low) != utf8.RuneError:
		return utf16.DecodeRune(r, low), 12
	}
	return utf8.RuneError, 6
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// hex4 reads \uXXXX.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, digit := range b[2:6] {
		switch letter := digit | ' '; {
		case isDigit(digit):
			r = r<<4 | rune(digit-'0')
		case 'a' <= letter && letter <= 'f':
			r = r<<4 | rune(letter-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// appendString appends the text of a string, without escapes and with what is no UTF-8 replaced, and moves over its closing quote.
func appendString(out, data []byte, i int) (text []byte, end int, bad fault) {
	for {
		start := i
		i = skipPlain(data, i)
		if out = append(out, data[start:i]...); i >= len(data) {
			return nil, i, openString
		}
		switch b := data[i]; {
		case b == '"':
			return out, i + 1, 0
		case b == '\\' && i+1 < len(data) && unescaped[data[i+1]] != 0: // as mostly
			out = append(out, unescaped[data[i+1]])
			i += 2
		case b == '\\':
			r, n := unescape(data[i:])
			if n == 0 {
				return nil, i, badEscape
			}
			out = utf8.AppendRune(out, r)
			i += n
		case b < ' ':
			return nil, i, controlByte
		default:
			start, i = i, skipOther(data, i)
			out = appendValid(out, data[start:i])
		}
	}
}

// appendValid appends text that is not ASCII, with what is no UTF-8 replaced.
func appendValid(out, text []byte) []byte {
	if utf8.Valid(text) {
		return append(out, text...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		out, text = utf8.AppendRune(out, r), text[n:]
	}
	return out
}
