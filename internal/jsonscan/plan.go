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

// plan tells how values of one type are read. It is made once for a type and never changes. Fields are written by their offset in
// the caller's value: decoding by reflection alone takes twice as long.
type plan struct {
	mode     mode
	root     *node
	learners int     // nodes that learn something from value to value; the first stands for values without a type
	whole    bool    // encoding/json has to read the whole value
	widest   uintptr // size of the largest thing that one element of the text can become
	decoders sync.Pool
}

// node is the plan of one type among those that a value consists of.
type node struct {
	kind kind
	read reader
}

// kind tells the loop over members what it can read on the spot.
type kind uint8

const (
	another kind = iota
	aString
	anInt
	aFloat
	aBool
)

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
		b := builder{plan: &plan{mode: m, learners: 1, widest: t.Size()}, nodes: make(map[reflect.Type]*node)}
		b.root = b.node(t)
		p, _ = plans.LoadOrStore(key, b.plan)
	}
	return p.(*plan) //nolint:forcetypeassert // nothing else is in it
}

// builder makes a plan.
type builder struct {
	*plan

	nodes map[reflect.Type]*node // finished or under way, because types may be recursive
}

func (b *builder) node(t reflect.Type) *node {
	if n, ok := b.nodes[t]; ok {
		return n
	}
	n := new(node)
	b.nodes[t] = n
	n.kind, n.read = b.reader(t)
	b.widest = max(b.widest, t.Size())
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
func (b *builder) reader(t reflect.Type) (kind, reader) {
	switch t {
	case textType:
		return another, readText
	case rawType:
		return another, readRaw
	case indexedType:
		return another, b.indexed()
	case timeType:
		return another, choose(b.mode, readTime, readTimeLeniently)
	}
	if b.mode == lenient && reflect.PointerTo(t).Implements(exactType) {
		return another, b.exactly(t)
	}
	if b.mode == exact && t.Kind() != reflect.Pointer {
		switch p := reflect.PointerTo(t); {
		case t == numberType:
			return another, readNumber
		case t.Name() == "" && (p.Implements(selfReader) || p.Implements(textReader)): // versions of encoding/json differ in whether they see them
			b.whole = true
			return another, giveUp
		case p.Implements(selfReader):
			return another, readSelf(t)
		case p.Implements(textReader):
			return another, readByText(t)
		}
	}
	return b.byKind(t)
}

func (b *builder) byKind(t reflect.Type) (kind, reader) {
	switch t.Kind() {
	case reflect.String:
		return aString, choose(b.mode, readString, readStringLeniently)
	case reflect.Bool:
		return aBool, choose(b.mode, readBool, readBoolLeniently)
	case reflect.Int:
		return anInt, choose(b.mode, readSigned[int], readIntLeniently)
	case reflect.Float64:
		return aFloat, choose(b.mode, readFloat64, readFloatLeniently)
	case reflect.Pointer:
		return another, b.pointer(t.Elem())
	case reflect.Slice:
		return another, b.slice(t)
	case reflect.Array:
		return another, b.array(t)
	case reflect.Map:
		return another, b.dictionary(t)
	case reflect.Struct:
		return another, b.object(t)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return another, readAny
		}
	default:
	}
	if read := seldom[t.Kind()]; read != nil {
		return another, read
	}
	return another, giveUp
}

func choose(m mode, exactly, leniently reader) reader {
	if m == lenient {
		return leniently
	}
	return exactly
}

// giveUp leaves a value to encoding/json, unless it is null, which has no effect.
func giveUp(d *decoder, _ unsafe.Pointer) bool { return d.c.Null() }
