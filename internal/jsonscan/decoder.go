package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Decoder reads objects into values of T as encoding/json does: the same verdict, the same values. Structs of plain fields are
// filled in one pass; whatever is not plain, a field or the whole of T, is left to encoding/json, and so is the wording of errors.
//
// It learns from one object in which order the keys of the next will come: make one for a page, and for one goroutine.
type Decoder[T any] struct {
	value  T // its fields are bound
	plain  bool
	object object
	id     string
}

// NewDecoder returns a decoder for T.
func NewDecoder[T any]() *Decoder[T] {
	d := new(Decoder[T])
	d.plain = d.object.bind(reflect.ValueOf(&d.value))
	return d
}

// ID returns the string under "id" of the object that was read last, whatever T makes of it.
func (d *Decoder[T]) ID() string { return d.id }

// Decode reads the next value, which has to be an object. An error that is not the cursor's says that the object does not fit T.
func (d *Decoder[T]) Decode(c *Cursor, out *T) error {
	var zero T
	d.value, d.id = zero, ""
	start := c.Mark()
	fits := d.object.read(c)
	raw := c.Since(start)
	if raw == nil {
		return c.Err()
	}
	d.id = d.object.readID(c)
	if d.plain && fits {
		*out = d.value
		return nil
	}
	return json.Unmarshal(raw, out)
}

// object fills the fields of a struct.
type object struct {
	fields []field
	keys   []key // those met so far; the first stands for the opening brace
	id     int   // where the value of "id" is; 0: there is none

	indexed bool
	members []member // of the last object, if indexed
}

// member is a key of the last object.
type member struct {
	at   int
	hash uint32
}

type field struct {
	name string
	set  setter
}

// setter reads a value into a field. It reports whether encoding/json would have accepted it.
type setter func(*Cursor) bool

type key struct {
	text []byte // with its quotes, to the colon
	set  setter // nil: no field of that name
	id   bool
	hash uint32
	next int // index of the key that came after it last time; 0: none yet
}

// maxKeys bounds what is learnt about objects that have other keys every time.
const maxKeys = 128

// read reads the next value into the fields, and reports whether all of it fits.
func (o *object) read(c *Cursor) bool {
	o.id, o.members = 0, o.members[:0]
	if !c.Object() {
		return false
	}
	if o.keys == nil {
		o.keys = make([]key, 1, 32)
	}
	fits, last := true, 0
	for c.next('}') {
		n := o.keys[last].next
		if n == 0 || !bytes.HasPrefix(c.data[c.pos:], o.keys[n].text) {
			if n = o.learn(c); n == 0 {
				return false
			}
			o.keys[last].next = n
		}
		k := &o.keys[n]
		if o.indexed {
			o.members = append(o.members, member{c.pos, k.hash})
		}
		c.pos += len(k.text)
		if k.id {
			o.id = c.pos
		}
		if k.set == nil {
			c.Skip()
		} else if !k.set(c) {
			fits = false
		}
		last = n
	}
	return fits
}

// readID returns the string under "id" of the last object.
func (o *object) readID(c *Cursor) (id string) {
	if end := c.pos; o.id > 0 && c.bad == 0 {
		c.pos = o.id
		id = c.String()
		c.pos = end
	}
	return id
}

// learn returns the index of the key at the cursor, which stays there, or 0 if there is none.
func (o *object) learn(c *Cursor) int {
	start := c.pos
	name, ok := c.key()
	if !ok {
		return 0
	}
	if c.colon(); c.bad != 0 {
		return 0
	}
	text := c.data[start:c.pos]
	c.pos = start
	for n := 1; n < len(o.keys); n++ {
		if bytes.Equal(o.keys[n].text, text) {
			return n
		}
	}
	if len(o.keys) == maxKeys {
		o.keys = o.keys[:maxKeys-1]
	}
	o.keys = append(o.keys, key{text: c.Copy(text), set: o.find(name), id: string(name) == "id", hash: hash(name)})
	return len(o.keys) - 1
}

// find returns the field that encoding/json would choose: of the same name, or else the first that differs in case only.
func (o *object) find(name []byte) setter {
	for _, f := range o.fields {
		if f.name == string(name) {
			return f.set
		}
	}
	for _, f := range o.fields {
		if bytes.EqualFold([]byte(f.name), name) {
			return f.set
		}
	}
	return nil
}
