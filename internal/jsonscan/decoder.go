package jsonscan

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"unsafe"
)

// DecodeRecord reads a text into a record: a value of another type reads as zero, keys match exactly, and the text of a struct is kept
// in its fields of type [Text]. The outermost array may have at most so many elements; 0 means 10,000.
func DecodeRecord(text []byte, most int, out any) error {
	d := borrow(planOf(reflect.TypeOf(out).Elem(), true))
	defer d.release()
	d.Cursor, d.most = New(text), cmp.Or(most, mostElements)
	d.plan.root.read(d, reflect.ValueOf(out).UnsafePointer())
	return cmp.Or(d.Err(), d.failed, d.End())
}

// Unmarshal is that of encoding/json, but refuses a text of which far more memory would be made than it has.
func Unmarshal(data []byte, v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return json.Unmarshal(data, v)
	}
	target := Target(p)
	d := borrow(planOf(target.Type().Elem(), false))
	defer d.release()
	n, fresh := d.plan.root, p.Elem().IsZero()
	d.Cursor = New(data)
	d.pos = 0 // encoding/json accepts no byte order mark
	if fresh && !n.left {
		if n.read(d, p.UnsafePointer()) && d.End() == nil || d.bad >= tooMuch {
			return d.Err()
		}
		p.Elem().SetZero()
		d.bad = 0 // encoding/json words it
	}
	if !d.affords(data, n) {
		return d.Err()
	}
	return json.Unmarshal(data, v)
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

	plan   *plan
	learnt []learnt // by the slot of the node
	usual  [8]int   // entries of the last map, by depth
	most   int      // elements of the outermost array of a record

	row    int   // depth within the object whose id is wanted
	id     int   // where the value of its "id" is, if it was met
	found  []int // where the keys of an object are
	room   Index // for indexes
	failed error // why a record cannot be what it is to be
}

// learnt is what one node has learnt from earlier values.
type learnt struct {
	keys   keys
	length int // of the last slice
}

func borrow(p *plan) *decoder {
	if d, ok := p.decoders.Get().(*decoder); ok {
		return d
	}
	return &decoder{plan: p, learnt: make([]learnt, p.slots)}
}

// release lets others use the decoder. Nothing of what it has read stays but names of keys.
func (d *decoder) release() {
	for i := range d.learnt {
		if l := &d.learnt[i]; len(l.keys) == maxKeys {
			l.keys = nil
		}
	}
	*d = decoder{plan: d.plan, learnt: d.learnt, found: d.found}
	d.plan.decoders.Put(d)
}

// strictly reads the next value into the zero value at p as encoding/json does, to which it leaves what the plan cannot read.
func (d *decoder) strictly(n *node, p unsafe.Pointer) error {
	start, depth := d.Mark(), d.depth
	d.row, d.id = depth+1, 0
	fits := !n.left && n.read(d, p)
	if fits && n.of != rawType || d.bad != 0 {
		return d.Err()
	}
	d.pos, d.depth, d.first = start, depth, false
	if d.scan(); fits || d.bad != 0 {
		return d.Err()
	}
	reflect.NewAt(n.of, p).Elem().SetZero()
	return d.give(n, p, d.Since(start))
}

// give gives the text of a value to encoding/json, if there is memory for what it makes of it.
func (d *decoder) give(n *node, p unsafe.Pointer, text []byte) error {
	if !d.affords(text, n) {
		return d.Err()
	}
	v := reflect.NewAt(n.of, p).Interface()
	if self, ok := v.(json.Unmarshaler); ok && n.self && self.UnmarshalJSON(text) == nil {
		return nil
	}
	return json.Unmarshal(text, v) // which words the error
}

// mostElements bounds arrays of records of which nobody says how many elements they have at most.
const mostElements = 10_000

// scan reads over a value. Of an object, it notes where the keys are, and where its id is, and reports whether all keys stand for themselves.
func (d *decoder) scan() (plain bool) {
	d.found, d.id, plain = d.found[:0], 0, true
	if !d.Is('{') {
		d.Skip()
		return false
	}
	for d.open('{'); d.next('}'); d.Skip() {
		at := d.pos
		name, ok := d.key()
		if !ok {
			return false
		}
		if string(name) == "id" {
			d.id = d.pos
		}
		plain = plain && bytes.HasPrefix(d.data[at+1:], name) && d.data[at+1+len(name)] == '"'
		d.found = append(d.found, at)
	}
	return plain
}

// name returns the string under "id" of the object that was read last, whatever its type makes of it.
func (d *decoder) name() string {
	if d.id == 0 {
		return ""
	}
	id := Cursor{data: d.data[d.id:]}
	return d.keep(id.Text())
}
