package main

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// PostgreSQL refuses texts with a NUL or with invalid UTF-8. One such name, which the service allows, must not stop every sync. So the
// replacement character is stored in its place, in both databases.

// storable is a text that both databases take.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

// storableJSON replaces the escapes that PostgreSQL cannot turn into a text: \u0000, and half a surrogate pair.
func storableJSON(body string) string {
	if !strings.Contains(body, `\u0`) && !strings.Contains(body, `\ud`) && !strings.Contains(body, `\uD`) {
		return body
	}
	var out strings.Builder
	for i := 0; i < len(body); {
		switch c, ok := escaped(body[i:]); {
		case body[i] != '\\':
			out.WriteByte(body[i])
			i++
		case !ok: // \" and the like
			out.WriteString(body[i:min(i+2, len(body))])
			i += 2
		case c == 0, utf16.IsSurrogate(c) && !pair(c, body[i+6:]):
			out.WriteString(`\ufffd`)
			i += 6
		case utf16.IsSurrogate(c):
			out.WriteString(body[i : i+12])
			i += 12
		default:
			out.WriteString(body[i : i+6])
			i += 6
		}
	}
	return out.String()
}

// escaped reads \u and four digits.
func escaped(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}

// pair reports whether the other half of a surrogate follows.
func pair(high rune, rest string) bool {
	low, ok := escaped(rest)
	return ok && utf16.DecodeRune(high, low) != '\uFFFD'
}
