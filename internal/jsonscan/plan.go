package jsonscan

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"example.com/prospectkit/internal/jsonfields"
)

// plan describes how values of one type are read. It is made once for a type and never changes. Fields are written by their offset in
// the decoded value: decoding by reflection alone takes twice as long.
type plan struct {
	root     *node
	slots    int // nodes, which learn from value to value
	decoders sync.Pool
}

// node is the plan of one type among those that a value consists of.
type node struct {
	of       reflect.Type
	slot     int // of what it learns
	read     reader
	isString bool
	left     bool // to encoding/json
	self     bool // encoding/json would do nothing but call its UnmarshalJSON
	largest  int  // what encoding/json makes of one value in the text at most, in bytes
}

// reader reads the next value into the one at p. It reports false for a value that does not fit, within which the cursor then stands.
type reader func(d *decoder, p unsafe.Pointer) bool

type planKey struct {
	of      reflect.Type
	lenient bool // of records; the others have the verdict and the values of encoding/json
}

var plans sync.Map // of planKey

func planOf(t reflect.Type, lenient bool) *plan {
	key := planKey{t, lenient}
	p, ok := plans.Load(key)
	if !ok {
		b := builder{plan: new(plan), lenient: lenient, nodes: make(map[planKey]*node)}
		if lenient {
			b.root = b.node(t)
		} else {
			b.root = b.strict(t)
		}
		p, _ = plans.LoadOrStore(key, b.plan)
	}
	return p.(*plan) //nolint:forcetypeassert // nothing else is in it
}

// builder makes a plan.
type builder struct {
	*plan

	lenient bool
	nodes   map[planKey]*node // finished or unfinished, because types may be recursive
}

// strict plans a value that is read as encoding/json does.
func (b *builder) strict(t reflect.Type) *node {
	lenient := b.lenient
	b.lenient = false
	n := b.node(t)
	b.lenient, n.largest = lenient, largest(t)
	return n
}

func (b *builder) node(t reflect.Type) *node {
	key := planKey{t, b.lenient}
	if n, ok := b.nodes[key]; ok {
		return n
	}
	b.slots++
	n := &node{of: t, slot: b.slots - 1}
	b.nodes[key] = n
	if n.read = b.reader(n, t); n.read == nil {
		*n = *leave(t)
	}
	return n
}

// leave plans a type that is left to encoding/json.
func leave(t reflect.Type) *node {
	n := &node{of: t, left: true, largest: largest(t)}
	n.self = t.Name() != "" && reflect.PointerTo(t).Implements(selfReader) && !jsonfields.Streams(t)
	n.read = func(d *decoder, p unsafe.Pointer) bool {
		span := d.Span()
		return d.bad == 0 && d.give(n, p, span) == nil
	}
	return n
}

var (
	anyType    = reflect.TypeFor[any]()
	textType   = reflect.TypeFor[Text]()
	rawType    = reflect.TypeFor[json.RawMessage]()
	numberType = reflect.TypeFor[json.Number]()
	timeType   = reflect.TypeFor[time.Time]()
	selfReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// readsItself reports whether a type has a method that encoding/json reads it by.
func readsItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(selfReader) || p.Implements(textReader) || jsonfields.Streams(t)
}

// reader chooses how values of a type are read. It is nil for a type that is left to encoding/json.
func (b *builder) reader(n *node, t reflect.Type) reader {
	switch {
	case t == textType, t == rawType:
		return reading((*Cursor).Value)
	case !b.lenient && readsItself(t) && t != timeType && t.Kind() != reflect.Pointer:
		return nil
	case !b.lenient:
		return b.byKind(n, t)
	case isExact(t):
		return b.exactly(t)
	case t == timeType:
		return reading(func(c *Cursor) time.Time { return Time(c.Text()) })
	case t.Kind() == reflect.Struct:
		return b.record(n, t)
	}
	if read := b.byKind(n, t); read != nil {
		return leniently(t, read)
	}
	left := leave(t)
	return leniently(t, func(d *decoder, p unsafe.Pointer) bool {
		reflect.NewAt(t, p).Elem().SetZero() // of a duplicate
		return left.read(d, p)
	})
}

func (b *builder) byKind(n *node, t reflect.Type) reader {
	switch kind := t.Kind(); {
	case t == timeType:
		return readTime
	case t == numberType:
		return nil
	case kind == reflect.String:
		n.isString = true
		return readString
	case kind == reflect.Bool:
		return readBool
	case kind == reflect.Int && b.lenient:
		return readCount
	case kind == reflect.Pointer:
		return b.pointer(t.Elem())
	case kind == reflect.Interface && t.NumMethod() == 0:
		return readAny
	case kind == reflect.Map:
		return b.dictionary(t)
	case kind == reflect.Slice:
		return b.slice(n, t)
	case kind == reflect.Struct:
		return b.object(n, t)
	default:
		return ofNumbers[kind]
	}
}
