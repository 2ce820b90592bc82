// Package redact hides secrets in what a peer wrote, which may echo what it was sent.
//
// It hides each secret: as it is, as a query, a path, HTML or JSON escape it, in base64 of either alphabet, and as the user of HTTP Basic, in
// one pass over a text. Of bodies and headers, it also hides what has the name of a secret, if that is a text or a list of one, and the
// queries of URLs. It finds nothing in another letter case, escaped twice or needlessly, within a larger text in base64, reversed, hashed, or
// cut off by the peer, and leaves texts of less than four letters.
//
// A [Dump] writes requests and responses so.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Hidden replaces a secret.
const Hidden = "[hidden]"

// Bounds, in bytes.
const (
	MaxText     = 2 << 10   // of a foreign text are kept
	longestBody = 64 << 10  // of a body are shown
	mostSent    = 128 << 10 // of what is sent are searched for the names of secrets
	leastSecret = 4         // of a key
	leastSent   = 8         // of what else was sent; a shorter one may be a number or a word
)

// Secrets are texts to hide, in all their forms.
type Secrets struct {
	forms  []string // the longest first
	starts [256]bool
}

var (
	capital = strings.NewReplacer(`\u003c`, `\u003C`, `\u003e`, `\u003E`)
	percent = regexp.MustCompile(`%..`)
)

// formsOf are the forms of a text in which a peer may quote it.
func formsOf(text string) []string {
	markup := html.EscapeString(text)
	forms := []string{text, markup, strings.ReplaceAll(markup, "&#34;", "&quot;")}
	encoded, _ := json.Marshal(text) // a text is always encoded
	script := string(encoded)
	for _, quoted := range []string{script, capital.Replace(script), strings.ReplaceAll(script, "/", `\/`), strconv.Quote(text), strconv.QuoteToASCII(text)} {
		forms = append(forms, quoted[1:len(quoted)-1])
	}
	for _, escaped := range []string{url.QueryEscape(text), url.PathEscape(text)} {
		forms = append(forms, escaped, percent.ReplaceAllStringFunc(escaped, strings.ToLower))
	}
	return forms
}

// Plain adds texts that are not hidden in base64.
func (s Secrets) Plain(texts ...string) Secrets {
	s.forms = slices.Clone(s.forms)
	for _, text := range texts {
		if len(text) < leastSecret {
			continue
		}
		for _, form := range formsOf(text) {
			if !slices.Contains(s.forms, form) {
				s.forms, s.starts[form[0]] = append(s.forms, form), true
			}
		}
	}
	slices.SortFunc(s.forms, func(a, b string) int { return len(b) - len(a) })
	return s
}

// Key adds a text that is also hidden in base64.
func (s Secrets) Key(text string) Secrets {
	if text == "" {
		return s
	}
	forms := []string{text}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		forms = append(forms, e.EncodeToString([]byte(text)), e.EncodeToString([]byte(text+":")))
	}
	return s.Plain(forms...)
}

// URL adds the forms of a URL in which a text may quote it.
func (s Secrets) URL(u *url.URL) Secrets { return s.Plain(u.String(), u.RequestURI(), u.RawQuery) }

// Query adds the values of a query.
func (s Secrets) Query(query url.Values) Secrets {
	return s.Plain(longer(slices.Concat(slices.Collect(maps.Values(query))...))...)
}

// Sent adds what a request has sent under the name of a secret, in its query or body. Short values, which may be numbers, are left out.
func (s Secrets) Sent(to *url.URL, body []byte) Secrets {
	text := string(body[:min(len(body), mostSent)])
	if !namesSecret(to.RawQuery) && !namesSecret(text) {
		return s
	}
	var sent []string
	for name, values := range to.Query() {
		if namesSecret(name) {
			sent = append(sent, values...)
		}
	}
	withoutNamed(text, func(value string) {
		_ = json.Unmarshal([]byte(`"`+value+`"`), &value) // or as it is
		sent = append(sent, value)
	})
	return s.Plain(longer(sent)...)
}

func longer(texts []string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return len(text) < leastSent })
}

// Hide replaces the secrets in a text.
func (s Secrets) Hide(text string) string { return s.Clean(text, math.MaxInt) }

// Clean returns the first bytes of a foreign text without the secrets. It looks for them before it cuts.
func (s Secrets) Clean(text string, most int) string {
	clean, _ := cleaned(s, text, most)
	return Shorten(clean, most)
}

// cleaned returns more than so many bytes if there are more, and how much of the text it has read.
func cleaned[T string | []byte](s Secrets, text T, most int) (clean string, read int) {
	var b strings.Builder
	shown, i := 0, 0 // up to where the text is written or hidden
	for ; i < len(text) && (i < shown || b.Len()+i-shown <= most); i++ {
		if !s.starts[text[i]] {
			continue
		}
		for _, form := range s.forms {
			if len(form) <= len(text)-i && string(text[i:i+len(form)]) == form {
				if i >= shown { // otherwise it overlaps with the one before
					b.WriteString(string(text[shown:i]) + Hidden)
				}
				shown = max(shown, i+len(form))
				break
			}
		}
	}
	return b.String() + string(text[shown:i]), i
}

// Body returns at most so many bytes of a body, and at most 64 KiB, without the secrets, and whether it has more.
func (s Secrets) Body(body []byte, most int) (clean string, cut bool) {
	most = min(most, longestBody)
	text, read := cleaned(s, body, most)
	text = withoutQueries(withoutNamed(text, func(string) {}))
	return Shorten(text, most), len(body) > most || read < len(body) || len(text) > most
}

// Header returns a copy of the header of a message without the secrets.
func (s Secrets) Header(h http.Header) http.Header {
	clean := make(http.Header, len(h))
	for name, values := range h {
		secret, lower := namesSecret(name), strings.ToLower(name)
		if slices.ContainsFunc(s.forms, func(form string) bool {
			return len(form) <= len(name) && strings.Contains(lower, strings.ToLower(form))
		}) {
			name = Hidden // names come in a case of their own
		}
		for _, value := range values {
			if value = withoutQueries(s.Hide(value)); secret {
				value = Hidden
			}
			clean[name] = append(clean[name], value)
		}
	}
	return clean
}

// secretNames are the names of secrets, by the bits of their first letter that upper and lower case share.
var secretNames = [32][]string{
	'a' & 31: {"authorization", "authenticat", "apikey", "api-key"}, 'c' & 31: {"cookie", "cursor", "credential"}, 'p' & 31: {"password"},
	's' & 31: {"secret", "signature"}, 't' & 31: {"token"},
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
	// The query of a URL may be a signature that permits an upload. It is known by its first parameter.
	query = regexp.MustCompile(`(?i)((?:\?|\\u003f)[\w.~%$[\]+-]+=)(?:[^\s"'<>\\]|\\[^"\s])+`)
)

// withoutNamed hides in a text what has the name of a secret, and tells each.
func withoutNamed(text string, tell func(value string)) string {
	if !namesSecret(text) {
		return text
	}
	return field.ReplaceAllStringFunc(text, func(match string) string {
		m := field.FindStringSubmatch(match)
		if !namesSecret(m[2]) {
			return match
		}
		tell(m[3])
		return m[1] + Hidden
	})
}

// withoutQueries hides the queries of URLs in a text.
func withoutQueries(text string) string {
	if strings.IndexByte(text, '=') < 0 {
		return text
	}
	return query.ReplaceAllString(text, "${1}"+Hidden)
}
