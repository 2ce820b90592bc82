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
	lenient  bool // of records; the others have the verdict and the values of encoding/json
	root     *node
	objects  reader // of values without a type
	learners int    // nodes that learn something from value to value; the first stands for values without a type
	whole    bool   // encoding/json has to read the whole value
	decoders sync.Pool
}

// node is the plan of one type among those that a value consists of.
type node struct {
	of       reflect.Type
	read     reader
	isString bool
}

// reader reads the next value into the one at p. It reports false for a mismatch, after which the cursor may stand anywhere in the value.
type reader func(d *decoder, p unsafe.Pointer) bool

type planKey struct {
	of      reflect.Type
	lenient bool
}

var plans sync.Map // of planKey

func planOf(t reflect.Type, lenient bool) *plan {
	key := planKey{t, lenient}
	p, ok := plans.Load(key)
	if !ok {
		b := builder{plan: &plan{lenient: lenient, learners: 1}, nodes: make(map[reflect.Type]*node)}
		b.root = b.node(t)
		b.objects = b.dictionary(reflect.TypeFor[map[string]any]())
		p, _ = plans.LoadOrStore(key, b.plan)
	}
	return p.(*plan) //nolint:forcetypeassert // nothing else is in it
}

// builder makes a plan.
type builder struct {
	*plan

	nodes map[reflect.Type]*node // finished or unfinished, because types may be recursive
}

func (b *builder) node(t reflect.Type) *node {
	if n, ok := b.nodes[t]; ok {
		return n
	}
	n := &node{of: t}
	b.nodes[t] = n
	n.read = b.reader(n, t)
	return n
}

// learner numbers a node that learns.
func (b *builder) learner() int {
	b.learners++
	return b.learners - 1
}

var (
	textType   = reflect.TypeFor[Text]()
	rawType    = reflect.TypeFor[json.RawMessage]()
	numberType = reflect.TypeFor[json.Number]()
	timeType   = reflect.TypeFor[time.Time]()
	stringType = reflect.TypeFor[string]()
	anyType    = reflect.TypeFor[any]()
	selfReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// reader chooses how values of a type are read.
func (b *builder) reader(n *node, t reflect.Type) reader {
	switch p := reflect.PointerTo(t); {
	case t == textType, t == rawType:
		return reading((*Cursor).Value)
	case t == timeType && !b.lenient:
		return readTime
	case t == timeType:
		return reading(func(c *Cursor) time.Time { return Time(c.Text()) })
	case b.lenient && p.Implements(exactType):
		return b.exactly(t)
	case b.lenient, t.Kind() == reflect.Pointer:
		return b.byKind(n, t)
	case t == numberType:
		return among("-0123456789", reading(func(c *Cursor) string { return c.keep(c.Span()) }))
	case jsonfields.Streams(t), t.Name() == "" && (p.Implements(selfReader) || p.Implements(textReader)): // versions of encoding/json differ in whether they see them
		b.whole = true
	case p.Implements(selfReader):
		return readSelf(t)
	case p.Implements(textReader):
		return readByText(t)
	}
	return b.byKind(n, t)
}

func (b *builder) byKind(n *node, t reflect.Type) reader {
	switch t.Kind() {
	case reflect.String:
		n.isString = true
		return readString
	case reflect.Bool:
		return among("tf", reading((*Cursor).Bool))
	case reflect.Int:
		if b.lenient {
			return readCount
		}
	case reflect.Pointer:
		return b.pointer(t.Elem())
	case reflect.Slice:
		return b.slice(t)
	case reflect.Array:
		return b.array(t)
	case reflect.Map:
		return b.dictionary(t)
	case reflect.Struct:
		return b.object(t)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return readAny
		}
	default:
	}
	if read := wholeAndFloat[t.Kind()]; read != nil {
		return read
	}
	return giveUp
}

// weigh leaves a value to encoding/json, which makes of it what a node makes of it.
func (b *builder) weigh(n *node) reader {
	return func(d *decoder, _ unsafe.Pointer) bool {
		d.leave()
		return n.read(d, reflect.New(n.of).UnsafePointer())
	}
}

// giveUp leaves every value to encoding/json, which makes little of it.
func giveUp(d *decoder, _ unsafe.Pointer) bool { return d.null() }
