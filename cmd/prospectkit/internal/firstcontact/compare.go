package firstcontact

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// shape is what was seen in each place of several responses, such as ".data[].name".
type shape struct {
	of      string // whose responses
	columns []string
	places  map[string]*seen
}

// seen is how often there was a value of each kind, and which texts.
type seen struct {
	kinds map[string]int
	texts map[string]bool
	n     int
}

// toldHeaders are about rates, or the end of the service.
var toldHeaders = regexp.MustCompile(`(?i)rate-?limit|^retry-after$|^deprecation$|^sunset$`)

// learn adds a response to the shape of what an operation responds, or of errors.
func (v *interview) learn(a ask, e *exchange) {
	if !e.succeeded() && !e.failed() {
		return
	}
	key, s := a.op.Name, &shape{of: a.op.Name, columns: columns[a.id], places: map[string]*seen{}}
	if strings.Contains(a.op.Path, "{") {
		key += a.id
	}
	if e.failed() {
		key, s.of = errorsOf, errorsOf
	}
	s = cmp.Or(v.shapes[key], s)
	v.shapes[key] = s
	if s.note("the body", e.form); e.value != nil {
		s.learn("", e.value)
	}
	if a.noKey || a.op == nowhere || e.is(403) || e.leadsNowhere() {
		return
	}
	headers := map[string]any{}
	for name, values := range e.header {
		if toldHeaders.MatchString(name) {
			name = strings.Replace(http.CanonicalHeaderKey(name), "Ratelimit", "RateLimit", 1)
			if headers[name] = values[0]; number(values[0]) >= 0 {
				headers[name] = json.Number(values[0])
			}
		}
	}
	s.learn("header", headers)
}

// note notes a value of a kind.
func (s *shape) note(at, kind string) *seen {
	if s.places[at] == nil {
		s.places[at] = &seen{kinds: map[string]int{}, texts: map[string]bool{}}
	}
	s.places[at].kinds[kind]++
	s.places[at].n++
	return s.places[at]
}

// learn notes a value, and all that is in it.
func (s *shape) learn(at string, v any) {
	here := s.note(at, kindOf(v))
	switch v := v.(type) {
	case string:
		here.texts[v] = true
	case []any:
		for _, item := range v {
			s.learn(at+"[]", item)
		}
	case map[string]any:
		for key, item := range v {
			if !isName(key) {
				key = "(data)" // whatever it is, nobody sees it
			}
			if !open[s.of+at] || key == "id" || slices.ContainsFunc(s.columns, like(key)) {
				s.learn(at+"."+key, item)
			}
		}
	}
}

// like returns whether a column is a key, perhaps written otherwise, as in first_name.
func like(key string) func(string) bool {
	return func(column string) bool { return strings.EqualFold(strings.ReplaceAll(key, "_", ""), column) }
}

// has reports whether a column was seen in a place, written otherwise.
func (s *shape) has(parent, column string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.places)), func(at string) bool { return like(strings.TrimPrefix(at, parent+"."))(column) })
}

// compare tells how the places of a service differ from those of the sandbox.
func (r *Run) compare(want, got *shape) {
	missing, news := map[string][]string{}, map[string][]string{} // by place
	all := maps.Clone(want.places)
	maps.Copy(all, got.places)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		end := strings.LastIndexAny(at, ".[")
		parent, key := at[:max(0, end)], at[end+1:]
		w, g, around, above := want.places[at], got.places[at], want.places[parent], got.places[parent]
		column := slices.Contains(want.columns, key)
		always := w != nil && end >= 0 && w.n == around.kinds["object"] && !column && (got.of != errorsOf || parent != "header") // of errors, none is documented
		switch {
		case end < 0 && (w == nil || g == nil), end >= 0 && (around == nil || above == nil): // that was told
		case g == nil && key == "]" && above.kinds["array"] > 0:
			r.untold(got.of, name(parent)+": no element in this workspace")
		case g == nil && column && above.kinds["object"] > 0 && !got.has(parent, key): // no row needs to have it
			r.untold(got.of, "no row has "+key+": it is empty, or has another name")
		case g == nil && above.kinds["object"] > 0 && (always || column):
			missing[parent] = append(missing[parent], name(at))
		case w == nil && key != "]" && around.kinds["object"] > 0:
			news[parent] = append(news[parent], name(at))
		case w != nil && g != nil:
			if always && g.n < above.kinds["object"] {
				r.differs(got.of, "key", "%s is missing from some", name(at))
			}
			r.compareValues(got.of, at, w, g, column || nullable[got.of+at])
		}
	}
	for parent, names := range missing {
		text := "missing: " + strings.Join(names, ", ")
		if news[parent] != nil {
			text += "; undocumented in its place: " + strings.Join(news[parent], ", ")
		}
		r.differs(got.of, "key", "%s", text)
		delete(news, parent)
	}
	for _, names := range news {
		r.differs(got.of, "key", "undocumented: %s", strings.Join(names, ", "))
	}
}

func name(at string) string {
	if at == "" {
		return "the response"
	}
	return strings.TrimPrefix(at, ".")
}

// compareValues compares kinds, and words of a vocabulary.
func (r *Run) compareValues(operation, at string, want, got *seen, null bool) {
	kind, sometimes := want.kind(), ""
	if len(got.kinds) > 1 {
		sometimes = "sometimes "
	}
	for k := range got.kinds {
		fits := k == kind || kind == "string" && isText(k) || kind == "number" && k == "integer" || k == "null" && (null || want.kinds[k] > 0)
		if kind != "" && !fits {
			r.differs(operation, "type", "%s is %s%s instead of %s%s", name(at), sometimes, k, kind, forms[kind].words)
		}
	}
	i := slices.IndexFunc(vocabularies, func(words []string) bool {
		return kind == "string" && !slices.ContainsFunc(slices.Collect(maps.Keys(want.texts)), func(text string) bool { return !slices.Contains(words, text) })
	})
	for text := range got.texts {
		if i < 0 || slices.Contains(vocabularies[i], text) {
			continue
		}
		if !isName(text) {
			text = "(data)"
		}
		r.differs(operation, "value", "%s has the undocumented value %s", name(at), text)
	}
}

// kind is that of all values but null, if they have one.
func (s *seen) kind() (kind string) {
	for k := range s.kinds {
		switch {
		case k == "null":
		case kind == "" || kind == k:
			kind = k
		case isText(kind) && isText(k):
			kind = "string"
		default:
			return ""
		}
	}
	return kind
}

// forms are the texts of a documented form.
var forms = map[string]struct {
	pattern *regexp.Regexp
	words   string
}{
	"id":        {regexp.MustCompile(`^[0-9a-fA-F]{24}$`), " (24 hexadecimal digits)"},
	"timestamp": {regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`), " (ISO 8601 in UTC with milliseconds)"},
}

func isText(kind string) bool { return kind == "string" || forms[kind].pattern != nil }

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		for kind, form := range forms {
			if form.pattern.MatchString(v) {
				return kind
			}
		}
		return "string"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "number"
		}
		return "integer"
	case []any:
		return "array"
	}
	return "object"
}

var namePattern = regexp.MustCompile(`^[A-Za-z_$]([A-Za-z_$-]*[0-9]?){0,2}[A-Za-z_$-]*$`)

// isName reports whether a text looks like a name that a programmer gave, and not like somebody's data: a report shows no other.
func isName(text string) bool { return len(text) <= 41 && namePattern.MatchString(text) }
