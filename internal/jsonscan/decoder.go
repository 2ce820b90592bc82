package jsonscan

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"unsafe"
)

// DecodeRecord reads a text into a record: a value of another type reads as zero, keys match exactly, and the text of a struct is kept
// in its fields of type [Text]. The outermost array may have at most so many elements; 0 means 10,000.
func DecodeRecord(text []byte, most int, out any) error {
	d := borrow(planKey{reflect.TypeOf(out).Elem(), true})
	defer d.release()
	d.Cursor, d.most = New(text), cmp.Or(most, mostElements)
	d.root.read(d, reflect.ValueOf(out).UnsafePointer())
	return d.End()
}

// mostElements bounds arrays of records of which nobody says how many elements they have at most.
const mostElements = 10_000

// Unmarshal is that of encoding/json, but refuses a text of which far more memory would be made than it has.
func Unmarshal(data []byte, v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return json.Unmarshal(data, v)
	}
	d := borrow(planKey{Target(p).Type().Elem(), false})
	defer d.release()
	d.Cursor = New(data)
	d.pos = 0 // encoding/json accepts no byte order mark
	if p.Elem().IsZero() {
		if err := d.exactly(d.root, p.UnsafePointer()); cmp.Or(err, d.End()) == nil {
			return nil
		}
		p.Elem().SetZero()
	} else if d.Skip(); d.bad == "" {
		d.affords(d.root)
	}
	if d.bad == tooMuch {
		return d.Err()
	}
	return json.Unmarshal(data, v) // which words other errors
}

// Target follows the pointers in interfaces, as encoding/json does. An interface that points to itself is cleared: encoding/json of Go 1.27
// would not end.
func Target(p reflect.Value) reflect.Value {
	for p.Elem().Kind() == reflect.Interface && p.Elem().Elem().Kind() == reflect.Pointer && !p.Elem().Elem().IsNil() {
		if p.Elem().Elem().Equal(p) {
			p.Elem().SetZero()
			return p
		}
		p = p.Elem().Elem()
	}
	return p
}

// decoder reads values of one type. It learns from one value what the next will be like. It is for one goroutine.
type decoder struct {
	Cursor

	pool   *sync.Pool // of decoders for the type
	root   *node
	learnt []learnt // by the slot of the node

	most    int    // elements of the outermost array of a record
	guessed bool   // how many there are
	row     int    // depth within the object whose id is wanted
	id      []byte // the text from the value of its "id" on, if it was met
	index   Index  // room for indexes
}

// learnt is what one node has learnt from earlier values, and memory for the next.
type learnt struct {
	keys  keys
	usual int   // elements of the last slice, or within
	room  slice // of zero elements
}

// release lets others use the decoder. Nothing of what it has read stays but names of keys.
func (d *decoder) release() {
	for i := range d.learnt {
		l := &d.learnt[i]
		if l.usual, l.room = max(l.usual, 0), (slice{}); len(l.keys.known) == maxKeys { // others may come
			l.keys = keys{}
		}
	}
	*d = decoder{pool: d.pool, root: d.root, learnt: d.learnt}
	d.pool.Put(d)
}

// exactly reads the next value into the zero value at p as encoding/json does, to which it leaves what the plan cannot read.
func (d *decoder) exactly(n *node, p unsafe.Pointer) error {
	start, depth := d.Mark(), d.depth
	d.row, d.id = depth+1, nil
	if !n.left {
		if n.read(d, p) || d.bad != "" {
			return d.Err()
		}
		d.pos, d.depth, d.id = start, depth, nil
		reflect.NewAt(n.of, p).Elem().SetZero()
	}
	return d.give(n, p)
}

// span is that of a cursor, and notes the "id" of a row.
func (d *decoder) span() []byte {
	if d.depth+1 != d.row || !d.Is('{') {
		return d.Span()
	}
	start, n := d.Mark(), 0
	for d.open('{'); d.next('}'); d.Skip() {
		if name, ok := d.key(); ok && string(name) == "id" {
			d.id = d.data[d.pos:]
		}
		n++
	}
	d.values, d.members, d.groups = d.values+n+1, d.members+n+emptyMap, d.groups+1
	return d.Since(start)
}

// give has encoding/json read the next value, if there is memory for what it makes of it.
func (d *decoder) give(n *node, p unsafe.Pointer) error {
	d.counts = counts{}
	text := d.span()
	if d.bad != "" || !d.affords(n) {
		return d.Err()
	}
	if n.quoted {
		text = slices.Concat([]byte(`{"F":`), text, []byte("}"))
	}
	v := reflect.NewAt(n.of, p).Interface()
	if n.self && v.(json.Unmarshaler).UnmarshalJSON(text) == nil { //nolint:forcetypeassert // the plan says so
		return nil
	}
	return json.Unmarshal(text, v) // which words the error
}

// affords reports whether there is memory for what encoding/json makes of the values that were read over.
func (d *decoder) affords(n *node) bool {
	each := int64(n.value)*int64(1+d.values) + int64(n.element)*int64(d.elements) + int64(n.group)*int64(d.groups) + int64(n.entry)*int64(d.members)
	return d.Spend(int64(n.once) + each)
}

// cost is what encoding/json makes of a text at most, in bytes.
type cost struct {
	once    int
	value   int // for each value, if it has no type
	element int // for each element of an array
	group   int // for each object, and each null: all that its fields point to
	entry   int // for each member of an object
}

const (
	inAny  = 16 + 16      // a value without a type: that, and what it points to
	inMap  = 2 * (16 + 1) // an entry of a map, which has room for twice as many: its key, and what is known of it
	direct = 128          // bytes of a value that stands in the map itself
)

// add notes what the values in one of a type take, and returns what that points to itself. What embedded structs point to is its own.
func (c *cost) add(seen map[planKey]int, t reflect.Type, embedded bool) (points int) {
	key := planKey{t, embedded}
	if n, ok := seen[key]; ok || !embedded && t.Name() != "" && hasMethod(t) { // of nameless ones, versions of encoding/json differ in whether they do
		return n
	}
	seen[key] = 0
	switch t.Kind() {
	case reflect.Interface:
		c.value, c.entry = inAny, max(c.entry, inMap+inAny)
	case reflect.Map:
		size := int(t.Elem().Size())
		c.entry = max(c.entry, inMap+2*min(size, direct)+max(size-direct, 0)+c.add(seen, t.Elem(), false))
	case reflect.Pointer:
		seen[key] = int(t.Elem().Size()) // also if that leads here again
		points = seen[key] + c.add(seen, t.Elem(), embedded)
	case reflect.Slice:
		c.element = max(c.element, int(t.Elem().Size())+c.add(seen, t.Elem(), false))
	case reflect.Array:
		c.element = max(c.element, c.add(seen, t.Elem(), false))
	case reflect.Struct:
		all := 0
		for f := range t.Fields() {
			all += c.add(seen, f.Type, f.Anonymous)
		}
		if c.group = max(c.group, all); embedded {
			points = all
		}
	default:
	}
	seen[key] = points
	return points
}
