package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit/internal/op"
	"example.com/prospectkit/internal/shapes"
	"example.com/prospectkit/internal/shapes/names"
)

// WithShapes makes the sandbox behave as the service was seen to: the file is the one that the flag -o of the command
// prospectkit check writes. Reads stand at the paths that were found. Their responses, and all errors, have the keys,
// types, forms of ids and times, statuses, codes and headers that were seen, surfaces the limits, and pages the numbers
// and sizes. Parameters that were ignored are ignored, and reads that failed fail: always, or as often as was seen. Writes, which the
// command does not send, stay unchanged, and so does what the file does not tell.
func WithShapes(data []byte) Option {
	return func(sb *Sandbox, _ *settings) error {
		file, err := shapes.Parse(data)
		if err != nil {
			return fmt.Errorf("WithShapes: %w", err)
		}
		patterns := map[*op.Op]string{}
		for _, name := range slices.Sorted(maps.Keys(file.Operations)) {
			o, _ := op.ByName(name)
			path, moved, ok := names.PathOf(o, file.Operations[name].Route)
			switch {
			case !ok:
				return fmt.Errorf("WithShapes: the route of %q does not fit", name)
			case moved:
				patterns[o] = http.MethodGet + " " + basePath + path
			case file.Operations[name].Missing:
				patterns[o] = ""
			}
		}
		if err := sb.move(patterns); err != nil {
			return fmt.Errorf("WithShapes: %w", err)
		}
		sb.disguise = &disguise{file: file, shown: map[string]string{}, real: map[string]string{}}
		sb.limits.resemble(file.Windows)
		return nil
	}
}

// resemble takes the limits that were seen. Of two limits that are undocumented, the smaller is that of the shorter window.
func (s *limiterSettings) resemble(windows map[string]*shapes.Window) {
	for name, w := range windows {
		surface := op.Surface(name)
		limit, ok := s.surfaces[surface]
		if !ok || w == nil {
			continue
		}
		others := slices.DeleteFunc(slices.Sorted(slices.Values(w.Limits)), func(n int) bool {
			return n <= 0 || n == limit.PerMinute || n == limit.PerDay
		})
		if len(others) > 0 {
			limit.PerMinute = others[0]
		}
		if len(others) > 1 {
			limit.PerDay = others[len(others)-1]
		}
		if limit.assumed = false; w.Seconds > 0 {
			limit.minute = time.Duration(w.Seconds) * time.Second
		}
		s.surfaces[surface] = limit
	}
}

// disguise makes responses look like those of a service that was seen. A nil one changes nothing.
type disguise struct {
	file *shapes.File

	mu    sync.Mutex
	shown map[string]string // ids as they are shown, by the real ones
	real  map[string]string // and back
	reads int
}

// incoming gives a request the real ids. The path of a request shows those of the service.
func (d *disguise) incoming(r *http.Request) *http.Request {
	if d == nil {
		return r
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	parts := strings.Split(r.URL.Path, "/")
	for i, part := range parts {
		parts[i] = cmp.Or(d.real[part], part)
	}
	path := strings.Join(parts, "/")
	if path == r.URL.Path {
		return r
	}
	r = r.Clone(r.Context())
	r.URL.Path, r.URL.RawPath = path, ""
	return r
}

func (d *disguise) apply(c *call, a *response) {
	if d == nil {
		return
	}
	o := cmp.Or(c.op, new(op.Op)) // that of no path
	if r := d.failure(o, a); r != nil {
		a.status, a.code, a.body = r.Status, r.Code, nil
		if r.Status >= http.StatusBadRequest {
			a.code = cmp.Or(r.Code, "UNEXPECTED_ERROR")
			a.body = envelope(a.code, "The service was seen to respond so.", "", c.id)
		}
	} else if seen := d.file.Errors.Codes[a.code]; a.status >= http.StatusBadRequest && seen != nil && seen.Status >= http.StatusBadRequest {
		a.status = seen.Status
		if seen.Code != "" && seen.Code != a.code {
			a.body = bytes.Replace(a.body, []byte(strconv.Quote(a.code)), []byte(strconv.Quote(seen.Code)), 1)
			a.code = seen.Code
		}
	}
	if a.status >= http.StatusBadRequest {
		d.refusal(a)
	} else if seen := d.file.Operations[o.Name]; seen != nil && a.status < http.StatusMultipleChoices {
		a.status = cmp.Or(seen.Status, a.status)
		if seen.Type != "" {
			a.header.Set("Content-Type", seen.Type)
		}
		if zero := seen.Paging != nil && seen.Paging.ShowsZero; seen.Body != nil {
			a.body = d.rewrite(a.body, places{seen.Moves, seen.Absent, zero}, seen.Body)
		}
	}
	d.headers(o, a)
}

// headers renames the rate headers, and leaves out those that were never seen.
func (d *disguise) headers(o *op.Op, a *response) {
	at, noDate := http.ParseTime(a.header.Get("Date"))
	if w := d.file.Windows[string(o.Surface)]; w != nil {
		n, noSeconds := strconv.ParseInt(a.header.Get("RateLimit-Reset"), 10, 64)
		switch {
		case noSeconds != nil:
		case w.Instant && noDate == nil:
			a.header.Set("RateLimit-Reset", strconv.FormatInt(at.Unix()+n, 10))
		case w.Milliseconds:
			a.header.Set("RateLimit-Reset", strconv.FormatInt(n*1000, 10))
		}
	}
	if wait := d.file.Headers["Retry-After"]; wait != nil && wait.Text && noDate == nil {
		if n, err := strconv.ParseInt(a.header.Get("Retry-After"), 10, 32); err == nil {
			a.header.Set("Retry-After", at.Add(time.Duration(n)*time.Second).Format(http.TimeFormat))
		}
	}
	for name, seen := range d.file.Headers {
		value := a.header.Get(name)
		if seen == nil || value == "" {
			continue
		}
		often := seen.Successes
		if a.status >= http.StatusBadRequest {
			often = seen.Errors
		}
		if often == shapes.Never || a.status < http.StatusBadRequest && slices.Contains(seen.Without, o.Name) {
			a.header.Del(name)
		} else if seen.Name != "" {
			a.header.Del(name)
			a.header[seen.Name] = []string{value}
		}
	}
}

// places are where the values of a response stand, and which have none.
type places struct {
	moves  map[string]string
	absent []string
	zero   bool // pages count from zero
}

// lacks reports whether the service does not show a value.
func (p places) lacks(path string) bool {
	return slices.ContainsFunc(p.absent, func(top string) bool { return path == top || strings.HasPrefix(path, top+".") })
}

func (d *disguise) rewrite(body []byte, p places, seen *shapes.Shape) []byte {
	return edited(body, func(v any) any { return d.value(v, p, seen, "") })
}

// value changes one value. The path is the documented one, as in the moves.
func (d *disguise) value(v any, p places, seen *shapes.Shape, at string) any {
	fields, ok := v.(object)
	if !ok || !seen.Has(shapes.Object) && !seen.Has(shapes.Array) {
		return d.leaf(v, p, seen, at)
	}
	leaves := map[string]any{}
	flatten(fields, "", at, p, seen, leaves)
	out := object{}
	for path, value := range leaves {
		from := below(at, path)
		if p.lacks(from) {
			continue
		}
		to, moved := p.moves[from]
		if !moved {
			to = path
		}
		if n, ok := value.(json.Number); ok && p.zero && from == "pagination.pageNum" {
			if i, err := n.Int64(); err == nil {
				value = json.Number(strconv.FormatInt(i-1, 10))
			}
		}
		if to == "" {
			return d.leaf(value, p, seen, from)
		}
		if target := seen.At(to); target != nil {
			value = d.leaf(value, p, target, from)
		}
		put(out, to, value)
	}
	complete(out, seen)
	return out
}

func below(at, path string) string { return strings.TrimPrefix(at+"."+path, ".") }

// flatten collects what stands in an object and those within, but not what stands in arrays.
func flatten(fields object, path, at string, p places, seen *shapes.Shape, into map[string]any) {
	for name, value := range fields {
		inner := below(path, element.Replace(cmp.Or(name, noName)))
		object, ok := value.(object)
		_, moved := p.moves[below(at, inner)]
		within := false
		for from := range p.moves {
			within = within || strings.HasPrefix(from, below(at, inner)+".")
		}
		if target := seen.At(inner); !ok || moved || !within && (target == nil || len(target.Fields) == 0) {
			into[inner] = value
			continue
		}
		flatten(object, inner, at, p, seen, into)
	}
}

// A path is joined with dots, so the dots of a name are written otherwise, and so is a name without characters. The
// keys of rows are anything.
var (
	element = strings.NewReplacer(".", "\x00")
	name    = strings.NewReplacer("\x00", ".", noName, "")
)

const noName = "\x01"

// put sets a value at a path, and makes the objects on the way.
func put(out object, path string, value any) {
	first, rest, more := strings.Cut(path, ".")
	key := name.Replace(first)
	if !more {
		out[key] = value
		return
	}
	next, ok := out[key].(object)
	if !ok {
		next = object{}
		out[key] = next
	}
	put(next, rest, value)
}

// complete adds the undocumented fields that every object was seen to have.
func complete(out object, seen *shapes.Shape) {
	for name, field := range seen.Fields {
		if inner, ok := out[name].(object); ok {
			complete(inner, field)
		}
		if _, there := out[name]; !there && field.Undocumented && !field.Optional {
			out[name] = filled("", field, nil)
		}
	}
}

// leaf changes a value that is no object, or the elements of an array.
func (d *disguise) leaf(v any, p places, seen *shapes.Shape, at string) any {
	items, ok := v.([]any)
	if !ok || !seen.Has(shapes.Array) {
		if fields, isObject := v.(object); isObject && seen.Has(shapes.Object) {
			return fields
		}
		return d.scalar(v, seen)
	}
	if seen.Items == nil || len(seen.Items.Kinds) == 0 {
		return items
	}
	for i := range items {
		items[i] = d.value(items[i], p, seen.Items, at+"[]")
	}
	return items
}

// scalar gives a value the type and the form that were seen.
func (d *disguise) scalar(v any, seen *shapes.Shape) any {
	switch {
	case v == nil && seen.Differs && seen.Has(shapes.String) && !seen.Has(shapes.Null):
		return ""
	case v == nil || len(seen.Kinds) == 0:
		return v
	case slices.Equal(seen.Kinds, []string{shapes.Null}):
		if seen.Differs { // where something is documented
			return nil
		}
		return v // it may have been null by chance
	}
	text, isText := v.(string)
	if isText && len(seen.Values) > 0 {
		return seen.Written(text)
	}
	if isText && isID(text) && seen.Differs {
		return d.show(text, seen)
	}
	if at, err := time.Parse(timeFormat, text); isText && err == nil {
		return instant(at, text, seen)
	}
	if seen.Has(kindOf(v)) || kindOf(v) == shapes.Integer && seen.Has(shapes.Number) && !seen.Differs {
		return v
	}
	return converted(v, seen)
}

func kindOf(v any) string {
	var s shapes.Shape
	new(shapes.Observer).See(&s, v)
	return s.Kinds[0]
}

// instant writes a time as it was seen.
func instant(at time.Time, text string, seen *shapes.Shape) any {
	if seen.Has(shapes.Integer) && !seen.Has(shapes.String) {
		if seen.Format == shapes.FormatEpochMS {
			return at.UnixMilli()
		}
		return at.Unix()
	}
	layout, known := map[string]string{
		shapes.FormatSeconds:  "2006-01-02T15:04:05Z",
		shapes.FormatFraction: "2006-01-02T15:04:05.000000Z",
		shapes.FormatOffset:   "2006-01-02T15:04:05.000+00:00",
		shapes.FormatLocal:    "2006-01-02T15:04:05.000",
		shapes.FormatDate:     time.DateOnly,
	}[seen.Format]
	switch {
	case known:
		return at.Format(layout)
	case seen.Differs && seen.Has(shapes.String):
		return at.Format(time.RFC1123)
	case seen.Differs:
		return converted(text, seen)
	}
	return text
}

// converted makes a value of another type, which says as much as possible.
func converted(v any, seen *shapes.Shape) any {
	switch {
	case seen.Has(shapes.String):
		switch v := v.(type) {
		case json.Number:
			return string(v)
		case bool:
			return strconv.FormatBool(v)
		}
		return ""
	case seen.Has(shapes.Integer), seen.Has(shapes.Number):
		n := json.Number("0")
		if number, ok := v.(json.Number); ok {
			n = number
		}
		if text, ok := v.(string); ok {
			if i, err := strconv.ParseInt(text, 10, 64); err == nil {
				n = json.Number(strconv.FormatInt(i, 10))
			}
		}
		if !seen.Has(shapes.Integer) && kindOf(n) == shapes.Integer {
			n += ".0"
		}
		return n
	case seen.Has(shapes.Boolean):
		return v != false && v != "" && v != json.Number("0")
	case seen.Has(shapes.Array):
		if seen.Items.Has(kindOf(v)) {
			return []any{v}
		}
		return []any{}
	}
	return filled("", seen, nil)
}

// show gives an id another form, and remembers it.
func (d *disguise) show(id string, seen *shapes.Shape) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	text, ok := d.shown[id]
	if !ok {
		switch {
		case seen.Format == shapes.FormatUUID:
			text = fmt.Sprintf("%s-%s-4%s-8%s-%s000000", id[:8], id[8:12], id[12:15], id[15:18], id[18:])
		case !seen.Has(shapes.String):
			text = strconv.Itoa(len(d.shown) + 1)
		default:
			text = "x_" + id
		}
		d.shown[id], d.real[text] = text, id
	}
	if !seen.Has(shapes.String) {
		return json.Number(text)
	}
	return text
}
