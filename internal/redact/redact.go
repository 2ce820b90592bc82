// Package redact hides secrets in texts of a peer. Such a text may echo what the peer was sent: the
// key, a token, the whole request, escaped for URLs, HTML or JSON, or encoded.
package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hidden replaces a secret.
const Hidden = "[hidden]"

// secret is a text to hide, in the form that canonical gives it.
type secret struct {
	form []byte
	long bool // it is longer: everything after it is also hidden
}

// Secrets are texts to hide.
type Secrets []secret

// Bounds of the search.
const (
	shortSecret = 8       // a shorter one is hidden only as a whole word
	longSecret  = 1 << 10 // of a longer one, only the beginning is searched for
)

// Plain adds texts that are hidden as they are, and with any escapes.
func (s Secrets) Plain(texts ...string) Secrets {
	s = slices.Clip(s)
	for _, text := range texts {
		form, _ := canonical(Shorten(text, longSecret))
		if form = bytes.TrimRight(form, "="); len(form) > 0 {
			s = append(s, secret{form, len(text) > longSecret})
		}
	}
	return s
}

// KeyForms is the most secrets that Key adds.
const KeyForms = 10

// Key adds a text that is also hidden in base64: alone, as the user name of HTTP Basic, and inside of
// a larger text. One that is not short is also hidden reversed, in hexadecimal digits and in base32,
// and so is its SHA-256.
func (s Secrets) Key(text string) Secrets {
	if text == "" {
		return s
	}
	plain := []byte(text)
	s = s.Plain(text, base64.StdEncoding.EncodeToString(plain), base64.StdEncoding.EncodeToString([]byte(text+":")))
	if len(text) < shortSecret {
		return s
	}
	for before := range 3 { // bytes of the larger text: how many of them modulo three decides
		form := base64.StdEncoding.EncodeToString(append(make([]byte, before), plain...))
		s = s.Plain(form[(before*8+5)/6 : (before+len(plain))*8/6]) // the characters that hold nothing else
	}
	sum := sha256.Sum256(plain)
	s = s.Plain(hex.EncodeToString(plain), base32.StdEncoding.EncodeToString(plain), hex.EncodeToString(sum[:]))
	slices.Reverse(plain)
	return s.Plain(string(plain))
}

// URL adds the forms of a URL in which a text may quote it.
func (s Secrets) URL(u *url.URL) Secrets { return s.Plain(u.String(), u.RequestURI(), u.RawQuery) }

// Query adds the values of a query, but for short ones such as page sizes.
func (s Secrets) Query(query url.Values) Secrets {
	for _, all := range query {
		for _, value := range all {
			if len(value) > len("100") {
				s = s.Plain(value)
			}
		}
	}
	return s
}

// Clean returns a foreign text without the secrets, cut to at most so many bytes. It also
// hides the beginning of a secret at the cut.
func (s Secrets) Clean(text string, most int) string {
	cut := len(text) > 8*most
	if cut {
		text = wholeEscapes(text[:8*most])
	}
	return Shorten(s.Hide(text, cut), most)
}

// wholeEscapes leaves out what may be half an escape at the end of a text that was cut.
func wholeEscapes(text string) string {
	if i := strings.LastIndexAny(text, `%&\`); i >= max(len(text)-longestEscape, 0) {
		return text[:i]
	}
	return text
}

// Shorten cuts a text to at most so many bytes, between characters.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for n := most; n > most-utf8.UTFMax && n >= 0; n-- {
		if utf8.RuneStart(text[n]) {
			return text[:n]
		}
	}
	return text[:most]
}

// Hide replaces the secrets in a text. If the text was cut, it also replaces the beginning of a
// secret at the end.
func (s Secrets) Hide(text string, cut bool) string {
	if len(s) == 0 || text == "" {
		return text
	}
	form, at := canonical(text)
	var begins [256]bool
	for _, secret := range s {
		begins[secret.form[0]] = true
	}
	var out strings.Builder
	done := 0 // bytes of the text
	for i := 0; i < len(form); i++ {
		if !begins[form[i]] {
			continue
		}
		end := s.match(form, i, cut)
		if end == 0 {
			continue
		}
		out.WriteString(text[done:place(at, i)])
		out.WriteString(Hidden)
		done, i = place(at, end), end-1
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// match returns the end of the longest secret at a position, with padding, or 0.
func (s Secrets) match(form []byte, at int, cut bool) (end int) {
	rest := form[at:]
	for _, secret := range s {
		n := len(secret.form)
		switch {
		case rest[0] != secret.form[0]:
		case cut && len(rest) >= shortSecret && bytes.HasPrefix(secret.form, rest):
			return len(form)
		case !bytes.HasPrefix(rest, secret.form) || n < shortSecret && !alone(form, at, at+n):
		case secret.long:
			return len(form)
		default:
			end = max(end, at+n)
		}
	}
	for end > 0 && end < len(form) && form[end] == '=' {
		end++
	}
	return end
}

// alone reports whether a part of a text is a whole word.
func alone(form []byte, from, to int) bool {
	word := func(b byte) bool { return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= utf8.RuneSelf }
	return (from == 0 || !word(form[from-1])) && (to == len(form) || !word(form[to]))
}

const longestEscape = len("&#x0010FFFF;")

// layers bounds how many nested escapes are undone.
const layers = 8

// canonical undoes nested escapes of URLs, HTML and JSON. It ignores case, backslashes and the
// alphabet of base64, and takes a space for a plus. Byte i of the form begins at place(at, i) of
// the text.
func canonical(text string) (form []byte, at []int) {
	form = []byte(text)
	for range layers {
		next, from := unescape(form, `%&\`)
		if from == nil {
			break
		}
		for i := range from {
			from[i] = place(at, from[i])
		}
		form, at = next, from
	}
	n := 0
	for i, b := range form {
		switch {
		case b == '\\':
			if at == nil {
				at = places(len(form), len(form)+1)
			}
			continue
		case 'A' <= b && b <= 'Z':
			b += 'a' - 'A'
		case b == '-', b == ' ':
			b = '+'
		case b == '_':
			b = '/'
		}
		if form[n] = b; at != nil {
			at[n] = at[i]
		}
		n++
	}
	if at != nil {
		at = append(at[:n], len(text))
	}
	return form[:n], at
}

// places is where n bytes begin that stand where they stood.
func places(n, capacity int) []int {
	at := make([]int, n, capacity)
	for i := range at {
		at[i] = i
	}
	return at
}

// place returns where a byte of a canonical form begins in the text.
func place(at []int, i int) int {
	if at == nil {
		return i
	}
	return at[i]
}

// unescape undoes one layer of the escapes that begin with one of some bytes, and returns where each byte begins. Without escapes, at
// is nil.
func unescape(text []byte, first string) (plain []byte, at []int) {
	for i := 0; i < len(text); i++ {
		if at == nil { // as nearly always: nothing is copied yet
			skip := bytes.IndexAny(text[i:], first)
			if skip < 0 {
				return nil, nil
			}
			i += skip
		}
		n, of := 0, ""
		if strings.IndexByte(first, text[i]) >= 0 {
			n, of = escape(text[i:])
		}
		if n > 0 && at == nil {
			plain, at = append(make([]byte, 0, len(text)), text[:i]...), places(i, len(text)+1)
		}
		switch {
		case n > 0:
			plain = append(plain, of...)
		case at != nil:
			plain = append(plain, text[i])
		}
		for len(at) < len(plain) {
			at = append(at, i)
		}
		i += max(n, 1) - 1
	}
	return plain, at
}

// escape returns how many bytes at the beginning of a text are an escape, and what it stands for.
func escape(text []byte) (n int, of string) {
	switch {
	case text[0] == '%':
		return code(text, 1, 3)
	case text[0] == '&':
		return entity(text)
	case text[0] != '\\' || len(text) < 2:
		return 0, ""
	case text[1]|0x20 == 'x': // of either case
		return code(text, 2, 4)
	case text[1]|0x20 == 'u':
		return code(text, 2, 6)
	case strings.IndexByte(`\"/'`, text[1]) >= 0:
		return 2, string(text[1:2])
	}
	if i := strings.IndexByte("nrt", text[1]); i >= 0 {
		return 2, "\n\r\t"[i : i+1]
	}
	return 0, ""
}

// code reads hexadecimal digits: two are a byte, four a character.
func code(text []byte, from, to int) (n int, of string) {
	if len(text) < to {
		return 0, ""
	}
	v, err := strconv.ParseUint(string(text[from:to]), 16, 32)
	switch {
	case err != nil:
		return 0, ""
	case to-from == 2:
		return to, string([]byte{byte(v)}) //nolint:gosec // two digits
	}
	return to, string(rune(v)) //nolint:gosec // four digits
}

// entity reads an escape of HTML, of either case.
func entity(text []byte) (n int, of string) {
	end := 1 + bytes.IndexByte(text[:min(len(text), longestEscape)], ';')
	if of = html.UnescapeString(strings.ToLower(string(text[:end]))); utf8.RuneCountInString(of) != 1 {
		return 0, ""
	}
	return end, strings.ReplaceAll(of, "\u00a0", " ") // a space that does not break
}

// OpaqueError is an error of other code, such as a transport, with another text. errors.Is and
// errors.As examine the original.
type OpaqueError struct {
	text     string
	words    string
	original func() error // a closure, so that no dump shows it
}

// Opaque returns err with another text, and with the words in it that logs may hold.
func Opaque(text, words string, err error) *OpaqueError {
	return &OpaqueError{text, words, func() error { return err }}
}

// Words returns what logs may hold.
func (e *OpaqueError) Words() string { return e.words }

// OwnError is an error in words of this library that quote neither the caller nor the service, so that logs may hold them.
type OwnError string

// Error returns the words.
func (e OwnError) Error() string { return string(e) }

// Words returns them, too.
func (e OwnError) Words() string { return string(e) }

// Error returns the text that may be shown.
func (e *OpaqueError) Error() string { return e.text }

// Is examines the original.
func (e *OpaqueError) Is(target error) bool { return errors.Is(e.original(), target) }

// As examines the original, but returns no URL.
func (e *OpaqueError) As(target any) bool {
	if _, ok := target.(**url.Error); ok {
		return false
	}
	return errors.As(e.original(), target)
}

var anyID = regexp.MustCompile(`\b[0-9a-fA-F]{24}\b`)

// WithoutIDs hides everything that looks like an id.
func WithoutIDs(text string) string {
	if !anyID.MatchString(text) { // as nearly always, and without an allocation
		return text
	}
	return anyID.ReplaceAllString(text, Hidden)
}

// MaxText is how many bytes of a foreign text are kept.
const MaxText = 2 << 10

// Unquoted leaves out what a text quotes: net/http quotes what it cannot read, and url.Error the
// URL. It also leaves out malformed headers, which are not quoted.
func Unquoted(text string) string {
	const malformed = "malformed MIME header"
	if before, _, ok := strings.Cut(text, malformed); ok {
		text = before + malformed
	}
	return quoted.ReplaceAllLiteralString(text, `"..."`)
}

var quoted = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*(?:"|\\?$)`)

// WithoutURL removes the URL that net/http adds to errors: its query may hold names and search
// text.
func WithoutURL(err error) error {
	for {
		wrapped, ok := err.(*url.Error) //nolint:errorlint // only the outermost; the text leaves out what is inside
		if !ok || wrapped.Err == nil {
			return err
		}
		err = wrapped.Err
	}
}
