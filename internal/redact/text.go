package redact

import (
	"strings"
	"unicode"
)

// OneLine makes foreign text fit for a log line: printable, and at most 300 bytes.
func OneLine(s string) string {
	const most = 300
	if s = Printable(s); len(s) > most {
		return Shorten(s, most) + "..."
	}
	return s
}

// Printable replaces line breaks, control characters and invisible ones by spaces.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, s)
}
