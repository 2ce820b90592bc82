package redact

import (
	"strconv"
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

// Plural counts things.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Route is a path without ids, for errors, logs and spans: an element that is no plain name counts as
// an id.
func Route(path string) string {
	elements := strings.Split(path, "/")
	for i, element := range elements {
		if PlainName(element) == "" && element != "" {
			elements[i] = "{id}"
		}
	}
	return strings.Join(elements, "/")
}

// PlainName returns a text that looks like a name in an API: at most 40 letters, underscores and
// hyphens. For any other text, which could be an id, an address or a sentence, it returns nothing.
func PlainName(s string) string {
	const most = 40
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	}
	if len(s) > most || strings.ContainsFunc(s, odd) {
		return ""
	}
	return s
}
