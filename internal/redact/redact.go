// Package redact hides secrets in what a peer wrote, which may echo what it was sent.
//
// It hides each secret: as it is, as a query, a path, HTML or JSON escape it, in base64 of either alphabet, and as
// the user of HTTP Basic. Of bodies and headers, it also hides what has the name of a secret, if that is a text or a list of one, and the
// queries of URLs. It finds nothing in another letter case, escaped twice or needlessly, within a larger text in base64, reversed, hashed,
// or cut off by the peer, and leaves texts of less than four letters.
//
// A [Dump] writes requests and responses so.
package redact

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Hidden replaces a secret.
const Hidden = "[hidden]"

// Bounds, in bytes.
const (
	MaxText     = 2 << 10  // of a foreign text are kept
	longestBody = 64 << 10 // of a body are shown at most; twice as many are read
	leastSecret = 4        // of a key
	leastSent   = 8        // of what else was sent; a shorter one may be a number or a word
)

// Secrets are texts to hide, in all their forms, the longest first.
type Secrets []string

var (
	quotes = strings.NewReplacer(`"`, `\"`, `\`, `\\`)
	escape = regexp.MustCompile(`(?i)%[0-9a-f]{2}|\\u00[0-9a-f]{2}`)
)

// Plain adds texts that are not hidden in base64.
func (s Secrets) Plain(texts ...string) Secrets {
	s = slices.Clone(s)
	for _, text := range texts {
		if len(text) < leastSecret {
			continue
		}
		markup := html.EscapeString(text)
		javascript, _ := json.Marshal(text) // a text is always encoded
		inside := string(javascript[1 : len(javascript)-1])
		forms := []string{
			text, url.QueryEscape(text), url.PathEscape(text), markup, strings.ReplaceAll(markup, "&#34;", "&quot;"),
			quotes.Replace(text), inside, strings.ReplaceAll(inside, "/", `\/`),
		}
		slices.Sort(forms)
		for _, form := range slices.Compact(forms) {
			for _, digits := range []func(string) string{strings.ToLower, strings.ToUpper} {
				if strings.ContainsAny(form, `%\`) {
					form = escape.ReplaceAllStringFunc(form, func(e string) string { return e[:len(e)-2] + digits(e[len(e)-2:]) })
				}
				if !slices.Contains(s, form) {
					s = append(s, form)
				}
			}
		}
	}
	slices.SortFunc(s, func(a, b string) int { return len(b) - len(a) })
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
	text := beginning(body)
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
func (s Secrets) Hide(text string) string {
	for _, form := range s {
		text = strings.ReplaceAll(text, form, Hidden)
	}
	return text
}

// Clean returns the first bytes of a foreign text without the secrets. It looks for them before it cuts.
func (s Secrets) Clean(text string, most int) string { return Shorten(s.Hide(text), most) }

// Body returns at most so many bytes of a body, and at most 64 KiB, without the secrets, and whether it has more.
func (s Secrets) Body(body []byte, most int) (clean string, cut bool) {
	most = min(most, longestBody)
	text := s.Hide(beginning(body))
	cut = len(body) > most || len(text) > most
	text = withoutQueries(withoutNamed(Shorten(text, most), func(string) {}))
	return Shorten(text, most), cut || len(text) > most
}

// Header returns a copy of the header of a message without the secrets.
func (s Secrets) Header(h http.Header) http.Header {
	clean := make(http.Header, len(h))
	for name, values := range h {
		secret, lower := namesSecret(name), strings.ToLower(name)
		if slices.ContainsFunc(s, func(form string) bool { return strings.Contains(lower, strings.ToLower(form)) }) {
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

func beginning(body []byte) string { return string(body[:min(len(body), 2*longestBody)]) }

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
