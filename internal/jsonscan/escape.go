package jsonscan

import (
	"encoding/hex"
	"unicode/utf16"
	"unicode/utf8"
)

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
	var two [2]byte
	_, err := hex.Decode(two[:], b[2:6])
	return rune(two[0])<<8 | rune(two[1]), err == nil
}

// appendUnquoted resolves the escapes of a span that scanString accepted and replaces invalid UTF-8.
func appendUnquoted(out, span []byte) []byte {
	for {
		n := skipPlain(span, 0)
		out = append(out, span[:n]...)
		if span = span[n:]; len(span) == 0 {
			return out
		}
		r, n := utf8.DecodeRune(span)
		if r == '\\' {
			r, n = unescape(span)
		}
		out = utf8.AppendRune(out, r)
		span = span[n:]
	}
}
