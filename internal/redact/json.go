package redact

import (
	"regexp"
	"slices"
	"strings"
)

var (
	secretName = regexp.MustCompile(`(?i)` + strings.Join(fieldParts, "|"))
	plainName  = regexp.MustCompile(`^[\w$.-]{1,64}$`)

	// Of a string, these may be a signature: the user of a URL, its query or fragment to the end, and a query alone.
	signatures = []*regexp.Regexp{
		regexp.MustCompile(`//([^\s/?#]+)@`),
		regexp.MustCompile(`(?s)(?:/[^\s?#]*[?#]|[?#]` + parameter + `)(\S.*)`),
		regexp.MustCompile(`(?s)^` + parameter + `([^\s&]*&` + parameter + `.*)`),
	}
	// And these, if the string is cut.
	halfSignatures = []*regexp.Regexp{regexp.MustCompile(`//[^\s/?#:]*:([^\s/?#]*)$`), regexp.MustCompile(`^` + parameter + `(\S*)$`)}
)

const parameter = `[\w.~%$[\]+-]+=`

// deepest is how many texts within the strings of others are read.
const deepest = 4

// inJSON hides in a JSON text, also one that is cut or slightly wrong: each string and number under a name that is a secret's, or in the
// "value" beside a "name" or "key" that is one; and within other strings, what named hides in any text, and of URLs more.
func inJSON(text string) string {
	var out strings.Builder
	done := 0
	for _, part := range inOrder(secretsIn(text, 0)) { // which may overlap
		if part.from >= done {
			out.WriteString(text[done:part.from] + part.by)
		}
		done = max(done, part.to)
	}
	return out.String() + text[done:]
}

func isJSON(text string) bool {
	text = strings.TrimLeft(text, "\uFEFF"+space)
	return text != "" && (text[0] == '{' || text[0] == '[')
}

// span is a part of a text, and what takes its place.
type span struct {
	from, to int
	by       string
}

func inOrder(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return a.from - b.from })
	return spans
}

// secretsIn returns the parts of a JSON text that are hidden. The text is within the strings of so many others.
func secretsIn(text string, depth int) (hide []span) {
	w := walk{text: text, number: Hidden, open: make([]frame, 1)}
	if depth == 0 {
		w.number = `"` + Hidden + `"`
	}
	w.run()
	until := 0
	for secret := inOrder(w.secret); len(w.leaves) > 0; w.leaves = w.leaves[1:] {
		leaf := w.leaves[0]
		for len(secret) > 0 && secret[0].from <= leaf.from {
			until, secret = max(until, secret[0].to), secret[1:]
		}
		if leaf.from < until {
			hide = append(hide, leaf)
			continue
		}
		inner, at := unquoted(text[leaf.from:leaf.to])
		for _, part := range within(inner, depth, leaf.to == len(text)) {
			hide = append(hide, span{leaf.from + place(at, part.from), leaf.from + place(at, part.to), part.by})
		}
	}
	return hide
}

// walk reads a JSON text, token by token.
type walk struct {
	text   string
	number string  // in the place of a number
	open   []frame // the first is around the text
	leaves []span  // the strings, without their quotes, and the numbers
	secret []span  // the values in which each leaf is hidden
}

// frame is an object or array that is open.
type frame struct {
	array bool
	from  int
	began bool // there was a value
	key   string

	names  bool   // its name, key or first element names a secret
	named  bool   // it has a name or key
	values []span // under "value"
}

func (w *walk) run() {
	for i := 0; i < len(w.text); {
		from := i
		switch b := w.text[i]; b {
		case '{', '[':
			w.open = append(w.open, frame{array: b == '[', from: i})
			i++
		case '}', ']':
			i++
			w.leave(i)
		case '"':
			i = w.quoted(i + 1)
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			for i++; i < len(w.text) && strings.IndexByte(" \t\r\n,:\"{}[]", w.text[i]) < 0; {
				i++
			}
			if b == '-' || '0' <= b && b <= '9' {
				w.leaves = append(w.leaves, span{from, i, w.number})
			}
			w.value(from, i, "")
		}
	}
	for len(w.open) > 1 { // the text was cut
		if f := w.top(); !f.named { // a name may have followed
			w.secret = append(w.secret, f.values...)
		}
		w.leave(len(w.text))
	}
}

func (w *walk) top() *frame { return &w.open[len(w.open)-1] }

// leave ends the innermost frame, if there is one.
func (w *walk) leave(to int) {
	if from := w.top().from; len(w.open) > 1 {
		w.open = w.open[:len(w.open)-1]
		w.value(from, to, "")
	}
}

// value takes what was read as a value of the innermost frame, with its text if it is a whole string.
func (w *walk) value(from, to int, text string) {
	f, is, names := w.top(), span{from: from, to: to}, namesSecret(text) && plainName.MatchString(text)
	value := strings.EqualFold(strings.TrimSuffix(f.key, "s"), "value")
	switch {
	case f.array && f.names, value && f.names, namesSecret(f.key):
		w.secret = append(w.secret, is)
	case value:
		f.values = append(f.values, is)
	case f.array && !f.began:
		f.names = names
	case strings.EqualFold(f.key, "name"), strings.EqualFold(f.key, "key"):
		if f.named = text != ""; names {
			f.names, f.values, w.secret = true, nil, append(w.secret, f.values...)
		}
	}
	f.began = true
}

// quoted reads a string from its first byte on, and returns where the next token is.
func (w *walk) quoted(from int) (next int) {
	to := from
	for to < len(w.text) && w.text[to] != '"' {
		if w.text[to] == '\\' {
			to++
		}
		to++
	}
	to = min(to, len(w.text))
	next = min(to+1, len(w.text))
	text, _ := unquoted(w.text[from:to])
	if after := strings.TrimLeft(w.text[next:], space); len(w.open) > 1 && !w.top().array && strings.HasPrefix(after, ":") {
		w.top().key = text
		return next
	}
	w.leaves = append(w.leaves, span{from, to, Hidden})
	if next == to { // the text was cut: it may be longer
		text = ""
	}
	w.value(from-1, next, text)
	return next
}

// unquoted undoes the escapes of a JSON string, and returns where each byte begins.
func unquoted(raw string) (text string, at []int) {
	plain, at := unescape([]byte(raw), `\`)
	if at == nil {
		return raw, nil
	}
	return string(plain), append(at, len(raw))
}

// namesSecret reports whether a name is a secret's.
func namesSecret(name string) bool { return mayNameSecrets(name) && secretName.MatchString(name) }

// within returns the parts of a string of a JSON text that are hidden. It may be such a text itself, and it may be cut.
func within(text string, depth int, cut bool) (parts []span) {
	if isJSON(text) && depth < deepest {
		return secretsIn(text, depth+1)
	}
	add := func(from, to int) { parts = append(parts, span{from, to, Hidden}) }
	if mayNameSecrets(text) {
		for _, m := range secretField.FindAllStringSubmatchIndex(text, -1) {
			add(m[3], m[1])
		}
	}
	find := func(all []*regexp.Regexp) {
		for _, expression := range all {
			for _, m := range expression.FindAllStringSubmatchIndex(text, -1) {
				add(m[2], m[3])
			}
		}
	}
	if strings.ContainsAny(text, "?#@&") {
		find(signatures)
	}
	if cut {
		find(halfSignatures)
	}
	return parts
}
