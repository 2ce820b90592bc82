package jsonscan

import (
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"
)

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
	var two [2]byte
	_, err := hex.Decode(two[:], b[:4])
	return rune(two[0])<<8 | rune(two[1]), err == nil
}

// appendUnquoted resolves the escapes of a span that scanString accepted and replaces invalid UTF-8.
func appendUnquoted(out, span []byte) []byte {
	for len(span) > 0 {
		n := skipPlain(span, 0)
		out = append(out, span[:n]...)
		if span = span[n:]; len(span) == 0 {
			break
		}
		switch {
		case span[0] != '\\':
			r, n := utf8.DecodeRune(span)
			out = utf8.AppendRune(out, r)
			span = span[n:]
		case span[1] == 'u':
			r, n := unescapeRune(span)
			out = utf8.AppendRune(out, r)
			span = span[n:]
		default:
			out = append(out, unescaped[span[1]])
			span = span[2:]
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
