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
	if !mayNameSecrets(text) && !strings.ContainsAny(text, `\?#@&`) {
		return text
	}
	w := walk{text: text, number: `"` + Hidden + `"`}
	w.run()
	return replace(text, w.hide)
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

// replace replaces parts of a text, which may be in any order and overlap.
func replace(text string, parts []span) string {
	slices.SortStableFunc(parts, func(a, b span) int { return a.from - b.from })
	var out strings.Builder
	done := 0
	for _, part := range parts {
		if part.from >= done {
			out.WriteString(text[done:part.from] + part.by)
		}
		done = max(done, part.to)
	}
	return out.String() + text[done:]
}

// walk reads a JSON text, token by token.
type walk struct {
	text   string
	number string // in the place of a number
	depth  int
	frames []frame
	hide   []span
}

// frame is an object or array that is open.
type frame struct {
	array  bool
	hidden bool // all that is in it
	began  bool // an array has an element
	key    string

	names  bool   // its name, key or first element names a secret
	named  bool   // it has a name or key
	values []span // what is under "value", as long as that does not hide it
	owner  int    // of the "value" that it is in: the number of its frame, from one on
}

func (w *walk) run() {
	for i := 0; i < len(w.text); {
		switch b := w.text[i]; b {
		case '{', '[':
			hidden, owner := w.under()
			w.began()
			w.frames = append(w.frames, frame{array: b == '[', hidden: hidden, owner: owner})
			i++
		case '}', ']':
			w.leave()
			i++
		case '"':
			i = w.quoted(i + 1)
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		default:
			end := i + 1
			for end < len(w.text) && strings.IndexByte(" \t\r\n,:\"{}[]", w.text[end]) < 0 {
				end++
			}
			if b == '-' || '0' <= b && b <= '9' {
				w.leaf(span{i, end, w.number})
			}
			w.began()
			i = end
		}
	}
	for _, f := range w.frames { // the text was cut: a name may have followed
		if !f.named {
			w.hide = append(w.hide, f.values...)
		}
	}
}

// leave ends the innermost frame. What was under its "value" may also be under that of an outer one.
func (w *walk) leave() {
	f := w.top()
	if f.owner > 0 {
		owner := &w.frames[f.owner-1]
		owner.values = append(owner.values, f.values...)
	}
	w.frames = w.frames[:max(0, len(w.frames)-1)]
}

// top is the innermost frame.
func (w *walk) top() *frame {
	if len(w.frames) == 0 {
		return &frame{}
	}
	return &w.frames[len(w.frames)-1]
}

func (w *walk) began() { w.top().began = true }

// under reports whether the next value is hidden, and in whose "value" it is.
func (w *walk) under() (hidden bool, owner int) {
	f := w.top()
	owner = f.owner
	if !f.array && strings.EqualFold(strings.TrimSuffix(f.key, "s"), "value") {
		owner = len(w.frames)
	}
	hidden = f.hidden || f.array && f.names || !f.array && namesSecret(f.key) || owner > 0 && w.frames[owner-1].names
	return hidden, owner
}

// leaf takes a string or a number, and reports whether it is hidden.
func (w *walk) leaf(s span) bool {
	hidden, owner := w.under()
	if hidden {
		w.hide = append(w.hide, s)
	} else if owner > 0 {
		w.frames[owner-1].values = append(w.frames[owner-1].values, s)
	}
	return hidden
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
	text, at := unquoted(w.text[from:to])
	f := w.top()
	if after := strings.TrimLeft(w.text[next:], space); !f.array && len(w.frames) > 0 && strings.HasPrefix(after, ":") {
		f.key = text
		return next
	}
	if !w.leaf(span{from, to, Hidden}) {
		for _, part := range within(text, w.depth, next == to) {
			w.hide = append(w.hide, span{from + place(at, part.from), from + place(at, part.to), part.by})
		}
	}
	names := namesSecret(text) && plainName.MatchString(text)
	switch {
	case f.array:
		f.names = f.names || names && !f.began
	case strings.EqualFold(f.key, "name"), strings.EqualFold(f.key, "key"):
		if f.named = next > to; names { // else it is cut, and may be longer
			f.names = true
			w.hide = append(w.hide, f.values...)
		}
	}
	w.began()
	return next
}

// unquoted undoes the escapes of a JSON string, and returns where each byte begins.
func unquoted(raw string) (text string, at []int) {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw, nil
	}
	plain := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		n, of := 1, raw[i:i+1]
		if raw[i] == '\\' {
			if length, char := escape([]byte(raw[i:min(len(raw), i+len(`\u0000`))])); length > 0 {
				n, of = length, char
			}
		}
		for plain = append(plain, of...); len(at) < len(plain); {
			at = append(at, i)
		}
		i += n
	}
	return string(plain), append(at, len(raw))
}

// namesSecret reports whether a name is a secret's.
func namesSecret(name string) bool { return mayNameSecrets(name) && secretName.MatchString(name) }

// within returns the parts of a string of a JSON text that are hidden. It may be such a text itself, and it may be cut.
func within(text string, depth int, cut bool) (parts []span) {
	if isJSON(text) && depth < deepest {
		w := walk{text: text, number: Hidden, depth: depth + 1}
		w.run()
		return w.hide
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
