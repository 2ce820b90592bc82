package redact

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// OpaqueError is an error of other code, such as a transport, with another text, which is made when somebody asks for it. errors.Is and
// errors.As examine the original.
type OpaqueError struct {
	original    func() error // a closure, so that no dump shows it
	text, words func() string
}

// Opaque returns err with another text, and with the words in it that logs may hold.
func Opaque(err error, text, words func() string) *OpaqueError {
	return &OpaqueError{func() error { return err }, text, words}
}

// Error returns the text that may be shown.
func (e *OpaqueError) Error() string { return e.text() }

// Words returns what logs may hold.
func (e *OpaqueError) Words() string { return e.words() }

// Is examines the original.
func (e *OpaqueError) Is(target error) bool { return errors.Is(e.original(), target) }

// As examines the original, but returns no URL.
func (e *OpaqueError) As(target any) bool {
	_, isURL := target.(**url.Error)
	return !isURL && errors.As(e.original(), target)
}

// OwnError is an error in words of this library that quote neither the caller nor the service, so that logs may hold them.
type OwnError string

// Error returns the words.
func (e OwnError) Error() string { return string(e) }

// Words returns them, too.
func (e OwnError) Words() string { return string(e) }

// WithoutURL removes the URL that net/http adds to errors: its query may hold names and search text.
func WithoutURL(err error) error {
	for {
		wrapped, ok := err.(*url.Error) //nolint:errorlint // only the outermost; the text leaves out what is inside
		if !ok || wrapped.Err == nil {
			return err
		}
		err = wrapped.Err
	}
}

var (
	anyID  = regexp.MustCompile(`\b[0-9a-fA-F]{24}\b`)
	quoted = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*(?:"|\\?$)`)
)

// WithoutIDs hides everything that looks like an id.
func WithoutIDs(text string) string { return anyID.ReplaceAllLiteralString(text, Hidden) }

// Unquoted leaves out what a text quotes: net/http quotes what it cannot read, and url.Error the URL. It also leaves out malformed
// headers, which are not quoted.
func Unquoted(text string) string {
	const malformed = "malformed MIME header"
	if before, _, ok := strings.Cut(text, malformed); ok {
		text = before + malformed
	}
	return quoted.ReplaceAllLiteralString(text, `"..."`)
}

// Shorten cuts a text to at most so many bytes, between characters.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

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
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Route is a path without ids, for errors, logs and spans: an element that is no plain name counts as an id.
func Route(path string) string {
	elements := strings.Split(path, "/")
	for i, element := range elements {
		if PlainName(element) == "" && element != "" {
			elements[i] = "{id}"
		}
	}
	return strings.Join(elements, "/")
}

var plainName = regexp.MustCompile(`^[a-zA-Z_-]{1,40}$`)

// PlainName returns a text that looks like a name in an API: at most 40 letters, underscores and hyphens. For any other text, which
// could be an id, an address or a sentence, it returns nothing.
func PlainName(s string) string { return plainName.FindString(s) }
