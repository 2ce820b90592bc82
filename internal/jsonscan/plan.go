package jsonscan

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
	"time"
	"unsafe"
)

// mode is how strict a plan is about types.
type mode int

const (
	exact   mode = iota // the verdict and the values of encoding/json
	lenient             // a value of another type reads as zero, keys match exactly, the last duplicate counts
)

// plan describes how values of one type are read. It is made once for a type and never changes. Fields are written by their offset in
// the decoded value: decoding by reflection alone takes twice as long.
type plan struct {
	mode     mode
	root     *node
	learners int  // nodes that learn something from value to value; the first stands for values without a type
	whole    bool // encoding/json has to read the whole value
	decoders sync.Pool
}

// node is the plan of one type among those that a value consists of.
type node struct {
	read     reader
	isString bool

	object  *object // of a struct
	elem    *node   // of a pointer, a slice, an array, a map, or anything
	size    int     // what one more of these takes, beside its text
	pointer bool
	as      *node // whose weight it has, if not its own
}

// reader reads the next value into the one at p. It reports false for what it leaves to encoding/json, after which
// neither the cursor nor the value is of use.
type reader func(d *decoder, p unsafe.Pointer) bool

type planKey struct {
	of   reflect.Type
	mode mode
}

var plans sync.Map // of planKey

func planOf(t reflect.Type, m mode) *plan {
	key := planKey{t, m}
	p, ok := plans.Load(key)
	if !ok {
		b := builder{plan: &plan{mode: m, learners: 1}, nodes: make(map[reflect.Type]*node)}
		b.root = b.node(t)
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
	n := new(node)
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
	bytesType  = reflect.TypeFor[[]byte]()
	anyType    = reflect.TypeFor[any]()
	selfReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// reader chooses how values of a type are read.
func (b *builder) reader(n *node, t reflect.Type) reader {
	switch t {
	case textType, rawType:
		return reading((*Cursor).Value)
	case timeType:
		return choose(b.mode, readTime, reading(func(c *Cursor) time.Time { return Time(c.Text()) }))
	}
	if b.mode == lenient && reflect.PointerTo(t).Implements(exactType) {
		return b.exactly(t)
	}
	if b.mode == exact && t.Kind() != reflect.Pointer {
		switch p := reflect.PointerTo(t); {
		case t == numberType:
			return among("-0123456789", reading(func(c *Cursor) string { return c.keep(c.Span()) }))
		case t.Name() == "" && (p.Implements(selfReader) || p.Implements(textReader)): // versions of encoding/json differ in whether they see them
			b.whole = true
			b.byKind(n, t) // for its weight
			return giveUp
		case p.Implements(selfReader):
			return readSelf(t)
		case p.Implements(textReader):
			return readByText(t)
		}
	}
	return b.byKind(n, t)
}

func (b *builder) byKind(n *node, t reflect.Type) reader {
	switch t.Kind() {
	case reflect.String:
		n.isString = true
		return choose(b.mode, readString, reading((*Cursor).String))
	case reflect.Bool:
		return choose(b.mode, among("tf", reading((*Cursor).Bool)), reading((*Cursor).Bool))
	case reflect.Int:
		return choose(b.mode, readWhole[int], reading((*Cursor).Int))
	case reflect.Float64:
		return choose(b.mode, readFloat[float64], reading((*Cursor).Float))
	case reflect.Pointer:
		return b.pointer(n, t.Elem())
	case reflect.Slice:
		return b.slice(n, t)
	case reflect.Array:
		return b.array(n, t)
	case reflect.Map:
		return b.dictionary(n, t)
	case reflect.Struct:
		return b.object(n, t)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			n.elem, n.size = n, anyCost
			return readAny
		}
	default:
	}
	if read := wholeAndFloat[t.Kind()]; read != nil {
		return read
	}
	return giveUp
}

func choose(m mode, exactly, leniently reader) reader {
	if m == lenient {
		return leniently
	}
	return exactly
}

// giveUp leaves a value to encoding/json, unless it is null, which has no effect.
func giveUp(d *decoder, _ unsafe.Pointer) bool { return d.c.Null() }

// weigh reads over a value and spends what encoding/json would make of it.
func (n *node) weigh(c *Cursor) {
	if n != nil && n.as != nil {
		n = n.as
	}
	switch {
	case n == nil:
		c.Skip()
	case n.object != nil && c.Is('{'):
		c.Object()
		c.Spend(n.object.embedded)
		for key, ok := c.Member(); ok; key, ok = c.Member() {
			n.object.find(key).node.weigh(c)
		}
	case n.elem != nil && n.pointer && !c.Is('n'):
		c.Spend(n.size)
		n.elem.weigh(c)
	case n.elem != nil && !n.pointer && c.Is('['):
		for c.Array(); c.Element(); n.elem.weigh(c) {
			c.Spend(n.size)
		}
	case n.elem != nil && !n.pointer && c.Is('{'):
		c.Object()
		i := 0
		for _, ok := c.Member(); ok && c.spendEntry(i, n.size); _, ok = c.Member() {
			n.elem.weigh(c)
			i++
		}
	default:
		c.Skip()
	}
}
