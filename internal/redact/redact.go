// Package redact hides secrets in what a peer wrote, which may echo what it was sent.
//
// It goes once over a text and hides each secret: as it is, as a query, a path, HTML or JSON escape it, and in base64 of either alphabet,
// alone, as the user of HTTP Basic or within a larger text; upper and lower case are the same. Of bodies and headers, it also hides
// what has the name of a secret, if that is a text or a list of one, and the queries of URLs. It finds nothing that is escaped twice or
// needlessly, reversed, in base32 or hexadecimal, hashed, or cut off by the peer.
//
// A [Dump] writes requests and responses so.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Hidden replaces a secret.
const Hidden = "[hidden]"

// Bounds, in bytes.
const (
	MaxText     = 2 << 10  // of a foreign text are kept
	longestBody = 64 << 10 // of a body are shown at most; twice as many are read
	shortSecret = 8        // a shorter one is hidden only as a whole word
	mostNamed   = 100      // secrets of a body are also hidden in other places
)

// Secrets are texts to hide, in all their forms, the longest first.
type Secrets []string

var quotes = strings.NewReplacer(`"`, `\"`, `\`, `\\`)

// Plain adds texts that are not hidden in base64.
func (s Secrets) Plain(texts ...string) Secrets {
	if texts = longer(texts, 1); len(texts) == 0 {
		return s
	}
	s = slices.Clone(s)
	for _, text := range texts {
		markup := html.EscapeString(text)
		javascript, _ := json.Marshal(text) // a text is always encoded
		inside := string(javascript[1 : len(javascript)-1])
		for _, form := range []string{
			text, url.QueryEscape(text), url.PathEscape(text), markup, strings.ReplaceAll(markup, "&#34;", "&quot;"),
			quotes.Replace(text), inside, strings.ReplaceAll(inside, "/", `\/`),
		} {
			if !slices.Contains(s, form) {
				s = append(s, form)
			}
		}
	}
	slices.SortFunc(s, func(a, b string) int { return len(b) - len(a) })
	return s
}

// Key adds a text that is also hidden in base64.
func (s Secrets) Key(text string) Secrets {
	s = s.Plain(text)
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if len(text) > 0 {
			s = s.Plain(encoding.EncodeToString([]byte(text)), encoding.EncodeToString([]byte(text+":")))
		}
		for before := 0; before < 3 && len(text) >= shortSecret; before++ { // bytes of the larger text: how many, modulo three, decides
			form := encoding.EncodeToString(append(make([]byte, before), text...))
			s = s.Plain(form[(before*8+5)/6 : (before+len(text))*8/6]) // the characters that hold nothing else
		}
	}
	return s
}

// URL adds the forms of a URL in which a text may quote it.
func (s Secrets) URL(u *url.URL) Secrets { return s.Plain(u.String(), u.RequestURI(), u.RawQuery) }

// Query adds the values of a query, but for short ones such as page sizes.
func (s Secrets) Query(query url.Values) Secrets {
	for _, values := range query {
		s = s.Plain(longer(values, len("1000"))...)
	}
	return s
}

// Sent adds what a request has sent under the name of a secret, in its query or body. Short values, which may be numbers, are left out.
func (s Secrets) Sent(to *url.URL, body []byte) Secrets {
	if to.RawQuery != "" {
		for name, values := range to.Query() {
			if namesSecret(name) {
				s = s.Plain(longer(values, shortSecret)...)
			}
		}
	}
	return s.Plain(named(beginning(body))...)
}

func longer(texts []string, least int) (those []string) {
	for _, text := range texts {
		if len(text) >= least {
			those = append(those, text)
		}
	}
	return those
}

// Hide replaces the secrets in a text.
func (s Secrets) Hide(text string) string { return s.hide(text, len(text)) }

// Clean returns the first bytes of a foreign text, at most so many, without the secrets.
func (s Secrets) Clean(text string, most int) string { return Shorten(s.hide(text, most), most) }

// Body returns at most so many bytes of a body, and at most 64 KiB, without the secrets, and whether it has more. What it has itself under
// the name of a secret is hidden wherever it stands.
func (s Secrets) Body(body []byte, most int) (clean string, cut bool) {
	most = min(most, longestBody)
	text := beginning(body)
	names := namesSecret(text)
	if names {
		s = s.Plain(named(text)...)
	}
	if text = s.hide(text, most); names {
		text = withoutNamed(text)
	}
	text = withoutQueries(text)
	return Shorten(text, most), len(body) > most || len(text) > most
}

// Header returns a copy of the header of a message without the secrets, and without those of its body.
func (s Secrets) Header(h http.Header, body []byte) http.Header {
	s = s.Plain(named(beginning(body))...)
	clean := make(http.Header, len(h))
	for name, values := range h {
		name = s.Hide(name)
		for _, value := range values {
			if value = withoutQueries(withoutNamed(s.Hide(value))); namesSecret(strings.TrimSuffix(name, "Policy")) { // as in RateLimit-Policy
				value = Hidden
			}
			clean[name] = append(clean[name], value)
		}
	}
	return clean
}

// hide returns the first bytes of a text without the secrets that begin there, wherever they end.
func (s Secrets) hide(text string, most int) string {
	most = len(Shorten(text, most))
	var begins [256]bool // a secret, with a byte of either case
	for _, form := range s {
		begins[form[0]|0x20] = true
	}
	var out strings.Builder
	done := 0
	for i := 0; i < most; i++ {
		if !begins[text[i]|0x20] {
			continue
		}
		if n := s.length(text, i); n > 0 {
			out.WriteString(text[done:i] + Hidden)
			done, i = i+n, i+n-1
		}
	}
	if done == 0 {
		return text[:most]
	}
	return out.String() + text[min(done, most):most]
}

// length returns how long the secret is that stands at a place of a text, or 0.
func (s Secrets) length(text string, at int) int {
	for _, form := range s {
		n := len(form)
		if text[at]|0x20 != form[0]|0x20 || n > len(text)-at || !strings.EqualFold(text[at:at+n], form) || n < shortSecret && !alone(text[:at], text[at+n:]) {
			continue
		}
		for strings.HasPrefix(text[at+n:], "=") { // which fills up base64
			n++
		}
		return n
	}
	return 0
}

// alone reports whether what stands between two texts is a word of its own.
func alone(before, after string) bool {
	word := func(b byte) bool { return b >= utf8.RuneSelf || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' }
	return (before == "" || !word(before[len(before)-1])) && (after == "" || !word(after[0]))
}

// secretNames are the names of secrets, by the bits of their first letter that upper and lower case share.
var secretNames = [32][]string{
	'a' & 31: {"authorization", "authenticat", "apikey", "api-key"},
	'c' & 31: {"cookie", "cursor", "credential"},
	'p' & 31: {"password", "policy"},
	's' & 31: {"secret", "signature"},
	't' & 31: {"token"},
}

// namesSecret reports whether a name, or anything in a text, is that of a secret.
func namesSecret(text string) bool {
	for i := range len(text) {
		for _, name := range secretNames[text[i]&31] {
			if len(text)-i >= len(name) && text[i+1]|0x20 == name[1] && strings.EqualFold(text[i:i+len(name)], name) {
				return true
			}
		}
	}
	return false
}

var (
	field = regexp.MustCompile(`("([^"\\]*)"\s*:\s*\[?\s*")((?:[^"\\]|\\.)*)`)

	// The query of a URL may be a signature that permits an upload. A URL without a host is known by its path or by its first parameter.
	query = regexp.MustCompile(`(?i)((?:https?:(?:\\?/){2}|/)[^\s"'<>?]*?` + mark + `|` + mark + `[\w.~%$[\]+-]+=)(?:[^\s"'<>\\]|\\[^"\s])+`)
)

const mark = `(?:\?|\\u003f)`

func beginning(body []byte) string { return string(body[:min(len(body), 2*longestBody)]) }

// named returns what stands in the text of a body under the names of secrets, but for what may be a number.
func named(text string) (values []string) {
	if !namesSecret(text) {
		return nil
	}
	for _, m := range field.FindAllStringSubmatch(text, -1) {
		if value := m[3]; namesSecret(m[2]) && len(values) < mostNamed {
			_ = json.Unmarshal([]byte(`"`+value+`"`), &value) // or as it is
			values = append(values, value)
		}
	}
	return longer(values, shortSecret)
}

// withoutNamed hides in a text what has the name of a secret.
func withoutNamed(text string) string {
	if !namesSecret(text) {
		return text
	}
	return field.ReplaceAllStringFunc(text, func(match string) string {
		if m := field.FindStringSubmatch(match); namesSecret(m[2]) {
			return m[1] + Hidden
		}
		return match
	})
}

// withoutQueries hides the queries of URLs in a text.
func withoutQueries(text string) string {
	if strings.IndexByte(text, '?') < 0 && strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return query.ReplaceAllString(text, "${1}"+Hidden)
}
