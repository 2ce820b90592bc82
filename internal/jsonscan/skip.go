package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"
)

// skip moves over the value at the cursor, checking its syntax.
func (c *Cursor) skip() {
	switch b := c.data[c.pos]; {
	case b == '"':
		c.scanString()
	case b == '{':
		c.skipContainer('}')
	case b == '[':
		c.skipContainer(']')
	case b == '-' || '0' <= b && b <= '9':
		c.skipNumber()
	case b == 't':
		c.skipWord("true")
	case b == 'f':
		c.skipWord("false")
	case b == 'n':
		c.skipWord("null")
	default:
		c.fail("expected a value")
	}
}

func (c *Cursor) skipContainer(closing byte) {
	c.pos++
	c.push()
	c.first = true
	if closing == '}' {
		for {
			if _, ok := c.Member(); !ok {
				return
			}
			c.Skip()
		}
	}
	for c.Element() {
		c.Skip()
	}
}

func (c *Cursor) skipWord(word string) {
	if len(c.data)-c.pos < len(word) || string(c.data[c.pos:c.pos+len(word)]) != word {
		c.fail("expected " + word)
		return
	}
	c.pos += len(word)
}

func (c *Cursor) skipNumber() {
	if c.data[c.pos] == '-' {
		c.pos++
	}
	if c.pos < len(c.data) && c.data[c.pos] == '0' {
		c.pos++
	} else {
		c.digits()
	}
	if c.pos < len(c.data) && c.data[c.pos] == '.' {
		c.pos++
		c.digits()
	}
	if c.pos < len(c.data) && (c.data[c.pos] == 'e' || c.data[c.pos] == 'E') {
		c.pos++
		if c.pos < len(c.data) && (c.data[c.pos] == '+' || c.data[c.pos] == '-') {
			c.pos++
		}
		c.digits()
	}
}

func (c *Cursor) digits() {
	start := c.pos
	for c.pos < len(c.data) && '0' <= c.data[c.pos] && c.data[c.pos] <= '9' {
		c.pos++
	}
	if c.pos == start {
		c.fail("expected a digit")
	}
}

// scanString moves over the string at the cursor and returns what is between the quotes. It is plain when that is also
// the value: no escapes, valid UTF-8.
func (c *Cursor) scanString() (span []byte, plain bool) {
	data, start := c.data, c.pos+1
	ascii, escaped := true, false
	for i := start; i < len(data); i++ {
		switch b := data[i]; {
		case b == '"':
			c.pos = i + 1
			span = data[start:i:i]
			return span, !escaped && (ascii || utf8.Valid(span))
		case b == '\\':
			n := escapeLength(data[i:])
			if n == 0 {
				c.pos = i
				c.fail("invalid escape")
				return nil, false
			}
			escaped = true
			i += n - 1
		case b < ' ':
			c.pos = i
			c.fail("control character in a string")
			return nil, false
		case b >= utf8.RuneSelf:
			ascii = false
		}
	}
	c.pos = len(data)
	c.fail("unterminated string")
	return nil, false
}

// escapeLength returns the length of the escape that b starts with, or 0.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b[2:]); ok {
			return 6
		}
	}
	return 0
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, d := range b[:4] {
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case 'a' <= d && d <= 'f':
			d -= 'a' - 10
		case 'A' <= d && d <= 'F':
			d -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// unquote resolves the escapes of a span that scanString accepted and replaces invalid UTF-8.
func unquote(span []byte) []byte {
	out := make([]byte, 0, len(span)+utf8.UTFMax)
	for len(span) > 0 {
		switch b := span[0]; {
		case b == '\\' && span[1] == 'u':
			r, n := unescapeRune(span)
			out = utf8.AppendRune(out, r)
			span = span[n:]
		case b == '\\':
			out = append(out, unescaped[span[1]])
			span = span[2:]
		case b < utf8.RuneSelf:
			out = append(out, b)
			span = span[1:]
		default:
			r, n := utf8.DecodeRune(span)
			out = utf8.AppendRune(out, r)
			span = span[n:]
		}
	}
	return out
}

var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescapeRune reads \uXXXX or a surrogate pair of them; a lone surrogate reads as U+FFFD.
func unescapeRune(span []byte) (r rune, length int) {
	r, _ = hex4(span[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(span) >= 12 && span[6] == '\\' && span[7] == 'u' {
		if low, ok := hex4(span[8:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return utf8.RuneError, 6
}
