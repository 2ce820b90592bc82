package prospectkit

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/prospectkit/internal/jsonscan"
	"example.com/prospectkit/internal/op"
)

// UndocumentedKind says what was met that the service's document does not show.
type UndocumentedKind string

// The kinds of what the document does not show.
const (
	UndocumentedField  UndocumentedKind = "field"  // of an object that the document shows completely
	UndocumentedValue  UndocumentedKind = "value"  // of an enumeration
	UndocumentedCode   UndocumentedKind = "code"   // of an error
	UndocumentedHeader UndocumentedKind = "header" // about rate limits, or one that announces an end: Deprecation, Sunset
)

// Undocumented names something in an answer that this version of the package does not know: the service has changed, and a
// program may want to know before it matters. It never holds what a user has written: rows, profiles and whatever the document
// shows in part are not looked into for fields.
type Undocumented struct {
	Kind  UndocumentedKind
	Name  string // of the header, the code, or the field with those around it, such as "list.entityType"; what is no plain name is left out
	Value string // of an enumeration, if it is a plain name
}

// shape is what the document shows of a value, derived from the type that it is read into. For an array, it is that of the elements.
type shape struct {
	members map[string]member
	open    bool              // the document does not show all members
	known   func(string) bool // of an enumeration
}

// member is a member of an object; its shape is nil where it is not looked into.
type member struct {
	name string
	*shape
}

// shapeOf derives the shape of a type: the members by their tags, and the values of enumerations, which know them. A record that keeps
// its text may have other members, unless the document shows the whole response.
func shapeOf(t reflect.Type, whole bool) *shape {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	type enumeration interface{ Known() bool }
	if t.Kind() == reflect.String && t.Implements(reflect.TypeFor[enumeration]()) {
		return &shape{known: func(value string) bool {
			v := reflect.New(t).Elem()
			v.SetString(value)
			known, _ := reflect.TypeAssert[enumeration](v)
			return known.Known()
		}}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	s := &shape{members: make(map[string]member)}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[Object]() && !f.IsExported():
			s.open = !whole
		case f.IsExported() && name != "" && name != "-":
			s.members[name] = member{name, shapeOf(f.Type, whole)}
		}
	}
	if len(s.members) == 0 {
		return nil // nothing of it is documented
	}
	return s
}

// within is the shape of an object that holds the value under one of these names, or is that value itself, if it may be bare.
func (s shape) within(bare bool, names ...string) *shape {
	outer := &shape{members: make(map[string]member)}
	if bare {
		outer = &shape{members: maps.Clone(s.members), open: s.open}
	}
	for _, name := range names {
		outer.members[name] = member{name, &s}
	}
	return outer
}

// shapes has those that were derived, by operation. Those of an operation's own types are the same in every client.
var shapes sync.Map

// responseShape is what the document shows of the responses of an operation, which are read into a type. It is nil where that is nothing.
func responseShape(o *op.Op, responds op.Shape, t reflect.Type, names []string) *shape {
	key := novelty{op: o.Name, Undocumented: Undocumented{Name: t.String()}}
	if s, ok := shapes.Load(key); ok {
		return s.(*shape) //nolint:forcetypeassert // nothing else is in it
	}
	s := shapeOf(t, responds == op.Typed)
	if o.Entity != "" {
		names = append(slices.Clip(names), o.Entity)
	}
	if s != nil && len(names) > 0 {
		s = s.within(responds != op.Typed, names...)
	}
	if s != nil { // the names of callers' own operations are without end
		shapes.Store(key, s)
	}
	return s
}

var errorShape = shapeOf(reflect.TypeFor[struct {
	Error struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		Param     string `json:"param"`
		DocURL    string `json:"doc_url"`
		RequestID string `json:"request_id"`
	} `json:"error"`
}](), true)

// inspection is one pass over an answer.
type inspection struct {
	path  []string
	found []Undocumented
	seen  map[seenMember]bool
}

type seenMember struct {
	in   *shape
	name string
}

func (n *inspection) value(c *jsonscan.Cursor, s *shape) {
	switch {
	case s == nil:
		c.Skip()
	case c.Is('['):
		c.Array()
		for c.Element() {
			n.value(c, s)
		}
	case c.Is('{') && s.members != nil:
		n.object(c, s)
	case c.Is('"') && s.known != nil:
		if v := c.Text(); !s.known(string(v)) {
			n.note(UndocumentedValue, s, v)
		}
	default:
		c.Skip()
	}
}

func (n *inspection) object(c *jsonscan.Cursor, s *shape) {
	c.Object()
	for key, ok := c.Member(); ok; key, ok = c.Member() {
		known, ok := s.members[string(key)]
		if !ok && !s.open {
			n.note(UndocumentedField, s, key)
		}
		n.path = append(n.path, known.name)
		n.value(c, known.shape)
		n.path = n.path[:len(n.path)-1]
	}
}

// note keeps what is not known, once for each shape.
func (n *inspection) note(kind UndocumentedKind, s *shape, text []byte) {
	if n.seen[seenMember{s, string(text)}] || len(n.seen) == mostUndocumented {
		return
	}
	if n.seen == nil {
		n.seen = make(map[seenMember]bool)
	}
	n.seen[seenMember{s, string(text)}] = true
	found := Undocumented{Kind: kind, Name: strings.Join(n.path, "."), Value: plainName(string(text))}
	if kind == UndocumentedField {
		found.Name, found.Value = strings.Trim(found.Name+"."+found.Value, "."), ""
	}
	n.found = append(n.found, found)
}

// plainName is a text as the service would name things: without space, punctuation or digits, so that it cannot be an id, an
// address or a sentence. Any other is not shown.
func plainName(s string) string {
	const most = 40
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' && r != '-'
	}
	if len(s) > most || strings.ContainsFunc(s, odd) {
		return ""
	}
	return s
}

// mostUndocumented bounds what is remembered of a changed service.
const mostUndocumented = 256

// To look into all answers would cost a second reading of everything, so after the first of an operation only some are. Of small ones
// that is more often, because they come of more different things.
const (
	largeAnswer            = 8 << 10
	largeFirst, largeEvery = 8, 32
	smallFirst, smallEvery = 64, 8
)

// novelties remembers what a client and those derived from it have looked into and reported.
type novelties struct {
	mu       sync.Mutex
	reported map[novelty]struct{}
	met      map[answers]int
}

// answers are those of an operation that are alike.
type answers struct {
	op          string
	large, fail bool
}

// due reports whether an answer is to be looked into.
func (n *novelties) due(of answers) bool {
	first, every := smallFirst, smallEvery
	if of.large {
		first, every = largeFirst, largeEvery
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.met == nil {
		n.met = make(map[answers]int)
	}
	if _, ok := n.met[of]; !ok && len(n.met) >= 4*mostUndocumented {
		of.op = "" // all others together: the names of callers' own operations are without end
	}
	n.met[of]++
	met := n.met[of]
	return met <= first || met%every == 0
}

type novelty struct {
	op string // of fields and values
	Undocumented
}

// add reports whether something is new.
func (n *novelties) add(o *op.Op, u Undocumented) bool {
	key := novelty{Undocumented: u}
	if u.Kind == UndocumentedField || u.Kind == UndocumentedValue {
		key.op = o.Name
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.reported[key]; ok || len(n.reported) == mostUndocumented {
		return false
	}
	if n.reported == nil {
		n.reported = make(map[novelty]struct{})
	}
	n.reported[key] = struct{}{}
	return true
}

// inspect tells the observers what an answer holds that is not known, in a pass of its own. There is none without observers.
func (c *call) inspect(a *attempt, resp *http.Response) {
	if len(c.observers) == 0 || resp == nil || a.bodyErr != nil {
		return
	}
	var n inspection
	if c.failure.Code != "" && !c.failure.Code.Known() {
		n.found = append(n.found, Undocumented{Kind: UndocumentedCode, Name: plainName(string(c.failure.Code))})
	}
	for name := range resp.Header {
		if noteworthy(name) && len(name) <= mostOfName {
			n.found = append(n.found, Undocumented{Kind: UndocumentedHeader, Name: name})
		}
	}
	if c.client.conf.novelties.due(answers{c.op.Name, len(*a.body) >= largeAnswer, !c.done}) {
		n.answer(c, *a.body)
	}
	for _, u := range n.found {
		if text := u.Name + u.Value; c.secrets().hide(text, false) != text || !c.client.conf.novelties.add(c.op, u) {
			continue
		}
		c.emit(Event{Kind: EventUndocumented, Attempt: len(c.attempts), Start: time.Now(), Status: c.status, Undocumented: u})
	}
}

// answer inspects the body of an answer to a call.
func (n *inspection) answer(c *call, body []byte) {
	switch shape := c.decoder.shape(); {
	case c.done && shape != nil:
		n.text(body, shape)
	case c.failure.Code != "":
		n.text(body, errorShape)
	}
}

// text inspects a whole body. One that cannot be read tells nothing.
func (n *inspection) text(body []byte, s *shape) {
	c, before := jsonscan.New(body), len(n.found)
	if n.value(&c, s); c.End() != nil {
		n.found = n.found[:before]
	}
}

// noteworthy reports whether a header says something about the API that is not known. Other headers come from whatever is between the
// service and the client.
func noteworthy(name string) bool {
	plain := strings.TrimPrefix(name, "X-")
	switch {
	case name == "Deprecation", name == "Sunset":
		return true
	case strings.HasPrefix(plain, "Ratelimit"), strings.HasPrefix(plain, "Rate-Limit"):
		return !slices.Contains([]string{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset"}, name)
	}
	return false
}
