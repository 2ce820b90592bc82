// Package shapes describes JSON values by names and types, never by what they say: what is expected of a response,
// what was seen in one, and how the two differ. It knows nothing of the API.
package shapes

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// The kinds of JSON values. An integer is a number without fraction and exponent. Any is for descriptions.
const (
	Null    = "null"
	Boolean = "boolean"
	Integer = "integer"
	Number  = "number"
	String  = "string"
	Object  = "object"
	Array   = "array"
	Any     = "any"
)

// Shape is what is known about the values at one place.
type Shape struct {
	Kinds    []string          // sorted
	Format   string            // that all strings or integers share: see [FormatOf]
	Values   []string          // of an enumeration, in a description; one after an asterisk is the end of others
	Fields   map[string]*Shape // of an object
	Rest     *Shape            // what stands under keys that are data, such as ids
	Items    *Shape            // of an array
	Optional bool              // some objects do not have this field

	open    bool // of a description: there may be other fields
	assumed bool // of a description: an assumption, not the documentation

	count   int            // values seen
	objects int            // of them objects
	formats map[string]int // of strings and integers
	texts   map[string]int // strings; they leave this package only as values of an enumeration
}

// Has reports whether a kind was seen, or is expected.
func (s *Shape) Has(kind string) bool { return s != nil && slices.Contains(s.Kinds, kind) }

// IsEmpty reports whether the values tell nothing: only empty objects, or nothing at all.
func (s *Shape) IsEmpty() bool {
	return s == nil || len(s.Kinds) == 0 ||
		slices.Equal(s.Kinds, []string{Object}) && len(s.Fields) == 0 && s.Rest == nil
}

func (s *Shape) addKind(kind string) {
	if i, found := slices.BinarySearch(s.Kinds, kind); !found {
		s.Kinds = slices.Insert(s.Kinds, i, kind)
	}
}

// String names the type, as in "string (id) or null".
func (s *Shape) String() string {
	if s == nil || len(s.Kinds) == 0 {
		return "nothing"
	}
	text := strings.Join(slices.DeleteFunc(slices.Clone(s.Kinds), func(kind string) bool { return kind == Null }), " or ")
	if s.Format != "" {
		text += " (" + s.Format + ")"
	}
	if s.Has(Null) {
		text = strings.TrimPrefix(text+" or null", " or ")
	}
	return text
}

// Observer turns JSON values into shapes. It remembers texts while it works, so that no text is taken for a name, and
// writes none of them anywhere. The zero value is ready.
type Observer struct {
	labels map[string]bool // texts that name somebody or something
}

// mostTexts bounds the texts that are kept for one place: an enumeration has fewer.
const mostTexts = 64

// See adds a value, decoded with json.Number, to what is known.
func (o *Observer) See(s *Shape, value any) {
	s.count++
	switch v := value.(type) {
	case nil:
		s.addKind(Null)
	case bool:
		s.addKind(Boolean)
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			s.addKind(Number)
			break
		}
		s.addKind(Integer)
		made(&s.formats)[formatOfInteger(v)]++
	case string:
		s.addKind(String)
		made(&s.formats)[FormatOf(v)]++
		if _, known := made(&s.texts)[v]; known || len(s.texts) < mostTexts {
			s.texts[v]++
		}
	case []any:
		s.addKind(Array)
		items := some(&s.Items)
		for _, item := range v {
			o.See(items, item)
		}
	case map[string]any:
		o.object(s, v)
	}
}

// labelled are the fields whose values may come back as the keys of an object.
var labelled = []string{"id", "name", "title", "label", "email"}

func (o *Observer) object(s *Shape, v map[string]any) {
	s.addKind(Object)
	s.objects++
	for key, value := range v {
		if text, ok := value.(string); ok && slices.Contains(labelled, strings.ToLower(key)) {
			made(&o.labels)[text] = true
		}
		if IsName(key) {
			o.See(s.field(key), value)
		} else {
			o.See(some(&s.Rest), value)
		}
	}
}

// some returns a part of a shape, which is there from now on.
func some(part **Shape) *Shape {
	if *part == nil {
		*part = &Shape{}
	}
	return *part
}

// made returns a map of a shape, likewise.
func made[V any](m *map[string]V) map[string]V {
	if *m == nil {
		*m = map[string]V{}
	}
	return *m
}

func (s *Shape) field(name string) *Shape {
	fields := made(&s.Fields)
	if fields[name] == nil {
		fields[name] = &Shape{}
	}
	return fields[name]
}

// Finish completes what was seen: which fields are optional, which formats are shared, which keys are data. The
// description may be nil.
func (o *Observer) Finish(s, description *Shape) {
	if s == nil {
		return
	}
	for format := range s.formats {
		if len(s.formats) == 1 && kept(format) && (!s.Has(String) || !s.Has(Integer)) {
			s.Format = format
		}
	}
	for _, field := range s.Fields {
		field.Optional = field.count < s.objects
	}
	if o.keysAreData(s, description) {
		for _, field := range s.Fields {
			some(&s.Rest).merge(field)
		}
		s.Fields = nil
	}
	if description == nil {
		description = &Shape{}
	}
	for name, field := range s.Fields {
		known := description.Fields[name]
		o.Finish(field, known)
		field.dropInstant(known, namesTime(name))
	}
	o.Finish(s.Items, description.Items)
	o.Finish(s.Rest, description.Rest)
}

// dropInstant forgets that integers have the size of instants where no instant is expected: ids and counts may have it, too.
func (s *Shape) dropInstant(description *Shape, named bool) {
	if description != nil {
		named = description.Format == FormatTimestamp || description.Format == FormatDate
	}
	if !named && (s.Format == FormatEpoch || s.Format == FormatEpochMS) {
		s.Format = ""
	}
}

// An object with more undescribed fields than manyFields is taken for a map. So is one with at least someFields that
// most objects lack.
const (
	manyFields = 60
	someFields = 3
)

// keysAreData reports whether the keys of an object are data rather than names.
func (o *Observer) keysAreData(s, description *Shape) bool {
	switch {
	case len(s.Fields) == 0 || description != nil && len(description.Fields) > 0:
		return false
	case description != nil && description.Rest != nil:
		return true
	}
	labels, alike, seen := true, true, 0
	var first *Shape
	for name, field := range s.Fields {
		first = cmp.Or(first, field)
		labels, alike = labels && o.labels[name], alike && slices.Equal(first.Kinds, field.Kinds)
		seen += field.count
	}
	n := len(s.Fields)
	rare := n >= someFields && s.objects > 2 && seen*2 < n*s.objects
	return labels || alike && (n > manyFields || rare)
}

// merge adds what another shape has seen.
func (s *Shape) merge(other *Shape) {
	for _, kind := range other.Kinds {
		s.addKind(kind)
	}
	s.count += other.count
	s.objects += other.objects
	for format, n := range other.formats {
		made(&s.formats)[format] += n
	}
	for name, field := range other.Fields {
		s.field(name).merge(field)
	}
	if other.Items != nil {
		some(&s.Items).merge(other.Items)
	}
	if other.Rest != nil {
		some(&s.Rest).merge(other.Rest)
	}
}
