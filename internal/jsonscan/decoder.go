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
	defer d.Release()
	d.most, d.text = cmp.Or(most, mostElements), New(text)
	err := cmp.Or(d.decode(&d.text, reflect.ValueOf(out)), d.text.End())
	if err == nil && d.unfit != nil {
		return d.unfit
	}
	return err
}

// Unmarshal is that of encoding/json, but refuses a text of which far more memory would be made than it has. A value that this package
// cannot read exactly as encoding/json does is left to it as a whole, and so is the wording of errors.
func Unmarshal(data []byte, v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() == reflect.Interface && string(bytes.TrimSpace(data)) == "null" { // which goes into no pointer
		return json.Unmarshal(data, v)
	}
	p = Target(p)
	d := borrow(planOf(p.Type().Elem(), false))
	defer d.Release()
	d.text = New(data)
	c, target := &d.text, p
	c.pos = 0 // encoding/json accepts no byte order mark
	if d.weighing = d.plan.whole || !p.Elem().IsZero(); d.weighing {
		target = reflect.New(p.Type().Elem())
	}
	err := cmp.Or(d.read(c, target), c.End())
	switch {
	case c.bad >= tooMuch:
		return err
	case err == nil && !d.weighing:
		return nil
	case target.Pointer() == p.Pointer():
		p.Elem().SetZero()
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
	plan   *plan
	c      *Cursor
	text   Cursor   // of a text that holds one value
	learnt []learnt // by the slot of the node; the first is for values without a type

	top int // depth within the object whose id is wanted
	id  int // where the value of its "id" is, if there is one

	recording bool  // the members of the object whose id is wanted
	found     []int // where their keys are
	escaped   bool  // a key of theirs does not stand for itself
	chunk     Index // room for indexes

	weighing bool // the value is left to encoding/json: what is still read of it is only to see what memory it takes

	made   map[string]any // of the last value without a type
	most   int            // elements of the outermost array of a record
	failed error          // why a record cannot be what it is to be
	unfit  *MismatchError // the first of a record
}

// learnt is what one node has learnt from earlier values.
type learnt struct {
	keys   keys
	length int      // of the last slice or map
	room   *entry   // for values of maps
	inner  *decoder // of an exact value in a record
}

func borrow(p *plan) *decoder {
	if d, ok := p.decoders.Get().(*decoder); ok {
		return d
	}
	d := &decoder{plan: p, learnt: make([]learnt, p.learners)}
	for i := range d.learnt {
		d.learnt[i].keys = newKeys()
	}
	return d
}

// Release lets others use the decoder. Nothing of what it has read stays but names of keys.
func (d *decoder) Release() {
	for i := range d.learnt {
		l := &d.learnt[i]
		if len(l.keys) == maxKeys {
			l.keys = newKeys()
		}
		if l.inner != nil {
			l.inner.Release()
			l.inner = nil
		}
	}
	d.c, d.text, d.chunk, d.made, d.most, d.failed, d.unfit = nil, Cursor{}, nil, nil, 0, nil, nil
	d.plan.decoders.Put(d)
}

// decode reads the next value into a pointer to a zero value. An error that is not the cursor's says that the value does not fit.
func (d *decoder) decode(c *Cursor, out reflect.Value) error {
	start := c.Mark()
	d.weighing = d.plan.whole
	err := d.read(c, out)
	if err != nil || !d.weighing {
		return err
	}
	out.Elem().SetZero()
	return json.Unmarshal(c.Since(start), out.Interface())
}

// read is decode without encoding/json, to which the value may be left.
func (d *decoder) read(c *Cursor, out reflect.Value) error {
	d.c, d.id, d.top, d.failed, d.recording = c, 0, c.depth+1, nil, false
	start, root, p := c.Mark(), d.plan.root, out.UnsafePointer()
	if !root.read(d, p) {
		d.mismatch(root, p, start)
	}
	return cmp.Or(c.Err(), d.failed)
}

// mismatch reads over a value that does not fit its type, and which reads as zero.
func (d *decoder) mismatch(n *node, p unsafe.Pointer, start int) bool {
	if !d.passOver(start) {
		return false
	}
	reflect.NewAt(n.of, p).Elem().SetZero()
	return true
}

// passOver is mismatch for a value that is written nowhere.
func (d *decoder) passOver(start int) bool {
	c := d.c
	if c.bad != 0 || d.failed != nil {
		return false
	}
	d.leave()
	c.pos = start
	c.Skip()
	return c.bad == 0
}

// leave leaves the value to encoding/json, which has no bound on memory. Records never are.
func (d *decoder) leave() { d.weighing = !d.plan.lenient }

// null reads null, which has no effect. In records it is a mismatch.
func (d *decoder) null() bool { return !d.plan.lenient && d.c.Null() }

// mostElements bounds arrays of records of which nobody says how many elements they have at most.
const mostElements = 10_000

// mostHere is how many elements the array that was just entered may have; 0 means any number.
func (d *decoder) mostHere() int {
	if d.most > 0 && d.c.depth > d.top+1 {
		return mostElements
	}
	return d.most
}

// enter goes into a container. What is none is a mismatch, except null.
func (d *decoder) enter(opening byte) (inside, ok bool) {
	if !d.c.Is(opening) {
		return false, d.null()
	}
	inside = d.c.open(opening)
	return inside, d.c.bad == 0
}

// idSince returns the string under "id" of the object that was read since a mark, whatever its type makes of it.
func (d *decoder) idSince(mark int) string {
	raw := d.c.data[d.id:]
	if d.id == 0 { // nobody came across it
		raw, _ = Lookup(d.c.Since(mark), "id")
	}
	text := Cursor{data: raw}
	return d.c.keep(text.Text())
}
