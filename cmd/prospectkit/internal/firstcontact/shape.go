package firstcontact

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// comparison compares what is described with all that was seen in its place.
type comparison struct {
	lenient     bool // what is assumed, with ~, may be missing
	differences []string
	empty       []string // arrays without an element: of what is in them, nothing can be told
}

func (c *comparison) add(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

// describe reads a description.
func describe(body string) (want any) {
	if err := json.Unmarshal([]byte(body), &want); err != nil {
		panic("firstcontact: " + body + ": " + err.Error())
	}
	return want
}

func (c *comparison) compare(at string, want any, seen []any) {
	place := at
	if at == "" {
		place = "the response"
	}
	switch w := want.(type) {
	case string:
		if part, ok := strings.CutPrefix(w, "@"); ok {
			c.compare(at, describe(parts[part]), seen)
		} else {
			c.scalar(place, w, seen)
		}
	case []any:
		var items []any
		for _, v := range c.only(place, "array", seen) {
			items = append(items, v.([]any)...)
		}
		if len(items) == 0 {
			c.empty = append(c.empty, place)
			return
		}
		c.compare(at+"[]", w[0], items)
	case map[string]any:
		if objects := c.only(place, "object", seen); len(objects) > 0 {
			c.object(at, w, objects)
		}
	}
}

// only keeps the values of a kind, and tells of others.
func (c *comparison) only(place, kind string, seen []any) (all []any) {
	others := map[string]bool{}
	for _, v := range seen {
		if k := kindOf(v); k == kind {
			all = append(all, v)
		} else {
			others[k] = true
		}
	}
	c.others(place, kind, others, len(all) > 0)
	return all
}

func (c *comparison) others(place, want string, others map[string]bool, some bool) {
	for _, k := range slices.Sorted(maps.Keys(others)) {
		sometimes := ""
		if some || len(others) > 1 {
			sometimes = "sometimes "
		}
		c.add("%s is %s%s instead of %s", place, sometimes, k, want)
	}
}

// object compares the fields. A name that is missing everywhere may be one of those that are undocumented.
func (c *comparison) object(at string, want map[string]any, objects []any) {
	under := strings.TrimPrefix(at+".", ".")
	known := map[string]bool{}
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		key := strings.TrimRight(name, "?~")
		optional := strings.HasSuffix(name, "?") || c.lenient && strings.HasSuffix(name, "~")
		known[key] = true
		if key == "..." || key == "*" {
			continue
		}
		var values []any
		for _, o := range objects {
			if v, ok := o.(map[string]any)[key]; ok {
				values = append(values, v)
			}
		}
		switch {
		case len(values) > 0:
			if len(values) < len(objects) && !optional {
				c.add("%s is missing from some", under+key)
			}
			c.compare(under+key, want[name], values)
		case !optional:
			missing = append(missing, under+key)
		}
	}
	c.news(at, want, known, missing, objects)
}

// news tells what is missing everywhere, and which names are undocumented: those may be in its place.
func (c *comparison) news(at string, want map[string]any, known map[string]bool, missing []string, objects []any) {
	under := strings.TrimPrefix(at+".", ".")
	_, open := want["..."]
	anyName, free := want["*"]
	news, hidden, values := map[string]bool{}, false, []any(nil)
	for _, o := range objects {
		for name, v := range o.(map[string]any) {
			switch {
			case known[name]:
			case free:
				values = append(values, v)
			case isName(name):
				news[name] = true
			default:
				hidden = true
			}
		}
	}
	if len(values) > 0 {
		c.compare(under+"*", anyName, values)
	}
	names := slices.Sorted(maps.Keys(news))
	if len(missing) > 0 {
		text := strings.Join(missing, ", ") + map[bool]string{true: " is missing", false: " are missing"}[len(missing) == 1]
		if open {
			names = slices.DeleteFunc(names, func(name string) bool {
				return !slices.ContainsFunc(missing, func(m string) bool {
					return strings.HasSuffix(strings.ToLower(name), strings.ToLower(strings.TrimPrefix(m, under)))
				})
			})
		}
		if len(names) > 0 {
			text += ": undocumented in its place: " + strings.Join(names, ", ")
		}
		c.add("%s", text)
		return
	}
	if open {
		return
	}
	for _, name := range names {
		c.add("%s is undocumented", under+name)
	}
	if hidden {
		c.add("%s has undocumented names that look like data", strings.TrimSuffix(under, "."))
	}
}

// scalar compares values of no parts: types in words, null, or the values of an enumeration.
func (c *comparison) scalar(place, want string, seen []any) {
	types := strings.Fields(want)
	others, fits := map[string]bool{}, false
	for _, v := range seen {
		if want == "any" || v == nil && slices.Contains(types, "null") {
			fits = true
			continue
		}
		if problem := misfit(types[0], v); problem != "" {
			others[problem] = true
		} else {
			fits = true
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(others)) {
		if rest, is := strings.CutPrefix(problem, "is "); is && fits {
			problem = "is sometimes " + rest
		}
		c.add("%s %s", place, problem)
	}
}

var forms = map[string]struct {
	pattern *regexp.Regexp
	words   string
}{
	"id":        {regexp.MustCompile(`^[0-9a-fA-F]{24}$`), "24 hexadecimal digits"},
	"timestamp": {regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`), "ISO 8601 in UTC with milliseconds"},
}

// misfit says how a value differs from a type in words.
func misfit(want string, v any) string {
	kind, need := kindOf(v), want
	form, formed := forms[want]
	if formed || strings.Contains(want, "|") {
		need = "string"
	}
	if kind != need {
		return "is " + kind + " instead of " + strings.TrimSuffix(need+" ("+want+")", " ("+need+")")
	}
	text, _ := v.(string)
	switch {
	case formed && !form.pattern.MatchString(text):
		return "is text of another form than " + want + ": " + form.words
	case !strings.Contains(want, "|") || slices.Contains(strings.Split(want, "|"), text) || strings.HasSuffix(want, "|*"):
		return ""
	case isName(text):
		return "has the undocumented value " + text
	}
	return "has an undocumented value"
}

func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
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

var namePattern = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]{0,40}$`)

// isName reports whether a text looks like a name that a programmer gave, and not like somebody's data: a report shows no other.
func isName(text string) bool {
	digits := 0
	for _, r := range text {
		if r >= '0' && r <= '9' {
			digits++
		}
	}
	return namePattern.MatchString(text) && digits < 3
}
