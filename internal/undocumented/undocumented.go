// Package undocumented finds what a response has beyond its documented shape: members of objects, values of enumerations, headers.
// It remembers what it has reported.
package undocumented

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"example.com/prospectkit/event"
	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/redact"
)

// Shape is what is known about a value, or about the elements of an array.
type Shape struct {
	members map[string]member
	open    bool              // there may be other members
	known   func(string) bool // of an enumeration
}

// member is a member of an object. Its shape is nil if it is not examined.
type member struct {
	name string
	*Shape
}

// ShapeOf derives the shape of a type: members from tags, values from enumerations, which have a
// method Known. A struct with an unexported field of type raw may have other members, unless the
// type is complete.
func ShapeOf(t, raw reflect.Type, complete bool) *Shape {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	type enumeration interface{ Known() bool }
	if t.Kind() == reflect.String && t.Implements(reflect.TypeFor[enumeration]()) {
		return &Shape{known: func(s string) bool {
			v := reflect.New(t).Elem()
			v.SetString(s)
			known, _ := reflect.TypeAssert[enumeration](v)
			return known.Known()
		}}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	s := &Shape{members: make(map[string]member)}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == raw && !f.IsExported():
			s.open = !complete
		case f.IsExported() && name != "" && name != "-":
			s.members[name] = member{name, ShapeOf(f.Type, raw, complete)}
		}
	}
	if len(s.members) == 0 {
		return nil
	}
	return s
}

// Within returns the shape of an object that holds the value under one of these names. If bare, the
// value may also stand alone.
func (s Shape) Within(bare bool, names ...string) *Shape {
	outer := &Shape{members: make(map[string]member)}
	if bare {
		outer = &Shape{members: maps.Clone(s.members), open: s.open}
	}
	for _, name := range names {
		outer.members[name] = member{name, &s}
	}
	return outer
}

type shapeKey struct {
	op string
	t  reflect.Type
}

// shapes holds what ResponseShape has derived.
var shapes sync.Map

// ResponseShape derives the shape of the responses of an operation, once for each type that they
// are read into: see [ShapeOf]. The value may stand under one of the keys; unless the type is
// complete, it may also be bare. The shape is nil if nothing is known.
func ResponseShape(op string, t, raw reflect.Type, complete bool, keys ...string) *Shape {
	key := shapeKey{op, t}
	if s, ok := shapes.Load(key); ok {
		return s.(*Shape) //nolint:forcetypeassert // nothing else is in it
	}
	s := ShapeOf(t, raw, complete)
	if s != nil && len(keys) > 0 {
		s = s.Within(!complete, keys...)
	}
	if s != nil { // callers' operations can have any number of names
		shapes.Store(key, s)
	}
	return s
}

// In returns what is new in a JSON text. In an invalid text, nothing is.
func (s *Shape) In(text []byte) []event.Undocumented {
	var p pass
	c := jsonscan.New(text)
	if p.value(&c, s); c.End() != nil {
		return nil
	}
	return p.found
}

// pass is one pass over a text.
type pass struct {
	path  []string
	found []event.Undocumented
	seen  map[seenText]bool
}

type seenText struct {
	in   *Shape
	text string
}

func (p *pass) value(c *jsonscan.Cursor, s *Shape) {
	switch {
	case s == nil:
		c.Skip()
	case c.Is('['):
		c.Array()
		for c.Element() {
			p.value(c, s)
		}
	case c.Is('{') && s.members != nil:
		p.object(c, s)
	case c.Is('"') && s.known != nil:
		if v := c.Text(); !s.known(string(v)) {
			p.note(event.UndocumentedValue, s, v)
		}
	default:
		c.Skip()
	}
}

func (p *pass) object(c *jsonscan.Cursor, s *Shape) {
	c.Object()
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		known, ok := s.members[string(key)]
		if !ok && !s.open {
			p.note(event.UndocumentedField, s, key)
		}
		p.path = append(p.path, known.name)
		p.value(c, known.Shape)
		p.path = p.path[:len(p.path)-1]
	}
}

// note records what is new, once for each shape.
func (p *pass) note(kind event.UndocumentedKind, s *Shape, text []byte) {
	key := seenText{s, string(text)}
	if p.seen[key] || len(p.seen) == maxReported {
		return
	}
	if p.seen == nil {
		p.seen = make(map[seenText]bool)
	}
	p.seen[key] = true
	found := event.Undocumented{Kind: kind, Name: strings.Join(p.path, "."), Value: redact.PlainName(key.text)}
	if kind == event.UndocumentedField {
		found.Name, found.Value = strings.Trim(found.Name+"."+found.Value, "."), ""
	}
	p.found = append(p.found, found)
}

// IsHeader reports whether a response header is a new one of the API: about rate limits,
// deprecation or sunset. Other headers come from intermediaries.
func IsHeader(name string) bool {
	plain := strings.TrimPrefix(name, "X-")
	rate := strings.HasPrefix(plain, "Ratelimit") || strings.HasPrefix(plain, "Rate-Limit")
	known := []string{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset"}
	return name == "Deprecation" || name == "Sunset" || rate && !slices.Contains(known, name)
}

// Bounds of what is remembered. Callers' operations can have any number of names.
const (
	maxReported = 256
	maxSeries   = 1 << 10
)

// To examine a text is to read it twice, so only the first of a series are examined, and some of
// the later ones: more of the small ones, which differ more.
const (
	largeText              = 8 << 10
	largeFirst, largeEvery = 8, 32
	smallFirst, smallEvery = 64, 8
)

// Memory is what was examined and reported. It is safe for concurrent use.
type Memory struct {
	mu       sync.Mutex
	reported map[report]struct{}
	counts   map[series]int
}

type report struct {
	op string // but of codes and headers
	event.Undocumented
}

// series is the similar texts of an operation.
type series struct {
	op            string
	large, failed bool
}

// Due reports whether to examine a text of an operation.
func (m *Memory) Due(op string, size int, failed bool) bool {
	key, first, every := series{op, size >= largeText, failed}, smallFirst, smallEvery
	if key.large {
		first, every = largeFirst, largeEvery
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counts == nil {
		m.counts = make(map[series]int)
	}
	if _, ok := m.counts[key]; !ok && len(m.counts) >= maxSeries {
		key.op = "" // all further operations together
	}
	m.counts[key]++
	n := m.counts[key]
	return n <= first || n%every == 0
}

// Report reports whether something was not reported before, and remembers it.
func (m *Memory) Report(op string, found event.Undocumented) bool {
	key := report{Undocumented: found}
	if found.Kind != event.UndocumentedCode && found.Kind != event.UndocumentedHeader {
		key.op = op
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.reported[key]; ok || len(m.reported) == maxReported {
		return false
	}
	if m.reported == nil {
		m.reported = make(map[report]struct{})
	}
	m.reported[key] = struct{}{}
	return true
}
