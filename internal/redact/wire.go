package redact

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Headers and fields are hidden if one of these is in their name. A header with policy in it, such as RateLimit-Policy, is none.
var (
	headerParts = []string{"authorization", "authenticat", "cookie", "token", "cursor", "secret", "signature", "credential", "password", "apikey", "api-key"}
	fieldParts  = append([]string{"policy"}, headerParts...)
)

var (
	secretHeader = regexp.MustCompile(`(?i)` + strings.Join(headerParts, "|"))
	secretField  = regexp.MustCompile(`(?i)("[\w$.-]*(?:` + strings.Join(fieldParts, "|") + `)[\w$.-]*"\s*:\s*")(?:[^"\\]|\\.)*`)

	// The query of a URL may be a signature that permits an upload. A URL without a host is known by its path or by its first parameter.
	query = regexp.MustCompile(`(?i)((?:https?:(?:\\?/){2}|/)[^\s"'<>?]*?` + mark + `|` + mark + parameter + `)(?:[^\s"'<>\\]|\\[^"\s])+`)
)

const mark = `(?:\?|\\u003f)`

// named hides in a text the values of fields that are named like secrets, and the queries of URLs. If it is JSON, see inJSON.
func named(text string) string {
	may := mayNameSecrets(text)
	if may && secretField.MatchString(text) { // else without an allocation
		text = secretField.ReplaceAllString(text, "${1}"+Hidden)
	}
	if strings.ContainsAny(text, `?\`) {
		text = query.ReplaceAllString(text, "${1}"+Hidden)
	}
	if isJSON(text) && (may || strings.ContainsAny(text, `\?#@&`)) {
		text = inJSON(text)
	}
	return text
}

// mayNameSecrets reports whether a text may have a name that secretField matches, in a fraction of the time that it takes.
func mayNameSecrets(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf { // some fold to letters
			return true
		}
		for _, part := range fieldParts {
			if part[0] == text[i]|0x20 && i+len(part) <= len(text) && strings.EqualFold(text[i:i+len(part)], part) {
				return true
			}
		}
	}
	return false
}

// Header returns a copy of the header of a message without the secrets: also without the tokens and cursors of its body, the values of
// headers that are named like secrets, and the queries of URLs.
func (s Secrets) Header(h http.Header, body []byte) http.Header {
	if h == nil {
		return nil
	}
	for _, token := range tokenValues(body) {
		if len(token) >= shortSecret { // a short one may be a number, as in any header
			s = s.Plain(token)
		}
	}
	clean := make(http.Header, len(h))
	for name, values := range h {
		name = s.Hide(name, false)
		for _, value := range values {
			if value = named(s.Hide(value, false)); secretHeader.MatchString(name) {
				value = Hidden
			}
			clean[name] = append(clean[name], value)
		}
	}
	return clean
}

const mostTokens = 100 // of a body that are also hidden in other places

// longestBody is the most that Body returns: the time that it takes grows with the text, times the secrets.
const longestBody = 64 << 10

// Body returns at most so many bytes of a body, and at most 64 KiB, without the secrets, the values of fields that are named like secrets,
// wherever they stand if they are tokens or cursors, and the queries of URLs, and whether the body has more. It also looks for secrets that
// are escaped so often that they are longer.
func (s Secrets) Body(body []byte, most int) (clean string, cut bool) {
	most = min(most, longestBody)
	text := string(body[:min(len(body), 8*most, longestBody)])
	if len(text) < len(body) {
		text = wholeEscapes(text)
	}
	text = s.Plain(tokenValues(body)...).Hide(text, true)
	cut = len(body) > most || len(text) > most
	text = named(Shorten(text, most))
	return Shorten(text, most), cut || len(text) > most
}

var (
	stringRest = regexp.MustCompile(`^(?:[^"\\]|\\.)*`)
	space      = " \t\r\n"
)

// tokenValues returns the values of tokens and cursors, as far as they are searched for. A body may have 32 MiB: tokens would take
// seconds.
func tokenValues(body []byte) (values []string) {
	for len(values) < mostTokens {
		key, rest, ok := bytes.Cut(body, []byte(`"`))
		if !ok {
			break
		}
		body = rest
		if !isToken(key[max(0, len(key)-len("cursor")*len(`\u0000`)):]) {
			continue
		}
		rest, colon := bytes.CutPrefix(bytes.TrimLeft(rest, space), []byte(":"))
		rest, quote := bytes.CutPrefix(bytes.TrimLeft(rest, space), []byte(`"`))
		if colon && quote {
			values = append(values, string(stringRest.Find(rest[:min(len(rest), longSecret+2)]))) // so that a longer one shows as longer
		}
	}
	return values
}

// isToken reports whether a name, which may have escapes, is that of a token or cursor.
func isToken(name []byte) bool {
	if bytes.IndexByte(name, '\\') >= 0 {
		text, _ := unquoted(string(name))
		name = []byte(text)
	}
	endsIn := func(end string) bool {
		return len(name) >= len(end) && bytes.EqualFold(name[len(name)-len(end):], []byte(end))
	}
	return endsIn("token") || endsIn("cursor")
}

// Sent adds what a request has sent: the tokens and cursors of its body, and the values in its query that are named like secrets. Short
// ones, which may be numbers, are left out.
func (s Secrets) Sent(to *url.URL, body []byte) Secrets {
	sent := tokenValues(body)
	for i := range sent {
		sent[i], _ = unquoted(sent[i])
	}
	if mayNameSecrets(to.RawQuery) || strings.Contains(to.RawQuery, "%") {
		for name, values := range to.Query() {
			if namesSecret(name) {
				sent = append(sent, values...)
			}
		}
	}
	for _, text := range sent {
		if len(text) >= shortSecret {
			s = s.Key(text)
		}
	}
	return s
}
