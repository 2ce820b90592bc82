package jsonscan

import (
	"cmp"
	"encoding/json"
	"reflect"
)

// Decoder reads values into a T. It learns from one value what the next will be like. It is for one goroutine.
//
// One made by [NewDecoder] has the verdict and the values of encoding/json. A value that this package cannot read exactly as
// encoding/json does is left to it as a whole, and so is the wording of errors.
type Decoder[T any] struct{ *decoder }

// NewDecoder returns a decoder that is as strict as encoding/json. Release keeps what it has learnt for the next one.
func NewDecoder[T any]() Decoder[T] { return Decoder[T]{borrow(planOf(reflect.TypeFor[T](), exact))} }

// NewRecordDecoder returns a decoder that reads a value of another type as zero, matches keys exactly, and keeps the text of a
// struct in its fields of type [Text].
func NewRecordDecoder[T any]() Decoder[T] {
	return Decoder[T]{borrow(planOf(reflect.TypeFor[T](), lenient))}
}

// decoder is a Decoder of any type.
type decoder struct {
	plan   *plan
	c      *Cursor
	text   Cursor // of DecodeText
	top    int    // depth within the object whose id is wanted
	id     string
	named  bool     // the members of the outermost object were looked at for it
	learnt []learnt // by the slot of the node; the first is for values without a type

	recording bool     // the members of the object whose id is wanted
	found     []member // what was recorded
	chunk     Index    // room for indexes

	most   int   // elements of the outermost array; 0: mostElements
	failed error // why a record cannot be what it is to be

	aside []pair // of values without a type that are being read
}

// learnt is what one node has learnt from earlier values.
type learnt struct {
	keys   keys
	length int      // of the last slice or map
	room   *entry   // for values of maps
	inner  *decoder // of an exact value in a record
}

// member is a key of the last object.
type member struct {
	at   int
	hash uint32
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
	d.c, d.text, d.id, d.chunk, d.failed = nil, Cursor{}, "", nil, nil
	d.most = 0
	clear(d.aside[:cap(d.aside)])
	d.aside = d.aside[:0]
	d.plan.decoders.Put(d)
}

// ID returns the string under "id" of the object that was read last, whatever T makes of it.
func (d *decoder) ID() string { return d.id }

// Decode reads the next value into a T. An error that is not the cursor's says that the value does not fit T.
func (d Decoder[T]) Decode(c *Cursor, out *T) error {
	var zero T
	*out = zero
	return d.decode(c, reflect.ValueOf(out))
}

// DecodeText is Decode for a text that holds nothing else.
func (d Decoder[T]) DecodeText(text []byte, out *T) error {
	d.text = New(text)
	return cmp.Or(d.Decode(&d.text, out), d.text.End())
}

func (d *decoder) decode(c *Cursor, out reflect.Value) error {
	start, depth, left := c.Mark(), c.depth, c.left
	d.c, d.id, d.top, d.named, d.failed, d.recording = c, "", depth+1, false, nil, false
	if !d.plan.whole && d.plan.root.read(d, out.UnsafePointer()) && c.bad == 0 {
		d.findID(c.Since(start))
		return nil
	}
	if c.bad != 0 || d.failed != nil || d.plan.mode == lenient {
		return cmp.Or(c.Err(), d.failed, errNoObject)
	}
	d.aside = d.aside[:0]
	c.pos, c.depth, c.first, c.left = start, depth, false, left
	out.Elem().SetZero()
	span := c.Span()
	if c.bad != 0 {
		return c.Err()
	}
	d.named = false
	d.findID(span)
	if !d.plan.affords(c, span) {
		return c.Err()
	}
	return json.Unmarshal(span, out.Interface())
}

// Unmarshal is that of encoding/json, but refuses a text of which far more memory would be made than it has.
func Unmarshal(data []byte, v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return json.Unmarshal(data, v)
	}
	for p.Elem().Kind() == reflect.Interface && p.Elem().Elem().Kind() == reflect.Pointer && !p.Elem().Elem().IsNil() {
		p = p.Elem().Elem() // as encoding/json does
	}
	plan, c := planOf(p.Type().Elem(), exact), New(data)
	c.pos = 0 // encoding/json accepts no byte order mark
	if p.Elem().IsZero() {
		d := borrow(plan)
		defer d.Release()
		if err := cmp.Or(d.decode(&c, p), c.End()); err == nil || c.bad >= tooMuch {
			return err
		}
		p.Elem().SetZero()
	} else if !plan.affords(&c, data) {
		return c.Err()
	}
	return json.Unmarshal(data, v)
}

// affords reports whether encoding/json may decode a text, which it does without a bound on memory.
func (p *plan) affords(c *Cursor, text []byte) bool {
	weight := New(text)
	weight.left = c.left
	if p.root.weigh(&weight); weight.bad >= tooMuch {
		c.pos, c.bad = c.pos-len(text)+weight.pos, weight.bad
		return false
	}
	c.left = weight.left
	return true
}

// Most bounds the elements of the outermost array of a record.
func (d *decoder) Most(n int) { d.most = n }

// mostElements bounds arrays of records of which nobody says how many elements they have at most.
const mostElements = 10_000

// mostHere is how many elements the array that was just entered may have.
func (d *decoder) mostHere() int {
	switch {
	case d.exact():
		return -1
	case d.most > 0 && d.c.depth <= d.top+1:
		return d.most
	}
	return mostElements
}

func (d *decoder) exact() bool { return d.plan.mode == exact }

// enter goes into a container. What is none is read over, if it may be there.
func (d *decoder) enter(opening byte) (inside, ok bool) {
	if d.exact() && !d.c.Is(opening) {
		return false, d.c.Null()
	}
	inside = d.c.open(opening)
	return inside, d.c.bad == 0
}

// findID looks for the id of an object that was read without a look at its members.
func (d *decoder) findID(text []byte) {
	if d.named {
		return
	}
	d.id = ""
	if raw, ok := Lookup(text, "id"); ok {
		found := New(raw)
		d.id = found.String()
	}
}

// outermost reports whether the id of the object that was just entered is wanted.
func (d *decoder) outermost() bool {
	top := d.c.depth == d.top
	d.named = d.named || top
	return top
}

// readID reads the value of "id" and stays before it.
func (d *decoder) readID() {
	c := d.c
	pos := c.pos
	d.id = c.String()
	if c.bad == 0 {
		c.pos = pos
	}
}
