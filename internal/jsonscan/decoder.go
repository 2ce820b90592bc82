package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Decoder reads objects into values of T as encoding/json does: the same verdict, the same values. Structs of plain fields are
// filled in one pass; whatever is not plain, a field or the whole of T, is left to encoding/json, and so is the wording of errors.
//
// It learns from one object in which order the keys of the next will come. It is for one goroutine.
type Decoder[T any] struct {
	*bound

	value *T // its fields are bound
}

// NewDecoder returns a decoder for T. Release keeps what it has learnt for the next one.
func NewDecoder[T any]() Decoder[T] {
	b := borrow(reflect.TypeFor[T]())
	value, _ := reflect.TypeAssert[*T](b.pointer)
	return Decoder[T]{b, value}
}

// ID returns the string under "id" of the object that was read last, whatever T makes of it.
func (d Decoder[T]) ID() string { return d.object.id }

// Decode reads the next value, which has to be an object. An error that is not the cursor's says that the object does not fit T.
func (d Decoder[T]) Decode(c *Cursor, out *T) error {
	var zero T
	*d.value = zero
	start := c.Mark()
	fits := d.object.read(c)
	if c.bad != 0 {
		return c.Err()
	}
	if d.plain && fits {
		*out = *d.value
		return nil
	}
	if d.grows != nil {
		c.pos = start
		if d.grows.weigh(c); c.bad != 0 {
			return c.Err()
		}
	}
	return json.Unmarshal(c.Since(start), out)
}

// object fills the fields of a struct.
type object struct {
	fields []field
	inner  []*object // in the fields
	keys   keys
	id     string // under "id" of the last object

	indexed bool
	members []member // of the last object, if indexed
}

// member is a key of the last object.
type member struct {
	at   int
	hash uint32
}

// mostMembers is how many members an object with an index has.
const mostMembers = 4 << 10

// field is a place for values.
type field struct {
	name string
	into any    // its address, if the type is one that most values are of
	set  setter // reads any value into it
}

// setter reads a value into a field. It reports whether encoding/json would have accepted it.
type setter func(*Cursor) bool

// read reads the next value into the fields, and reports whether all of it fits.
func (o *object) read(c *Cursor) bool {
	o.id, o.members = "", o.members[:0]
	if !c.Object() {
		return false
	}
	fits, last := true, o.plain(c, 0)
	for c.next('}') {
		n, fresh := o.keys.find(c, last)
		if n == 0 {
			return false
		}
		k := &o.keys[n]
		if fresh {
			if k.field = o.field(k.name); k.field != nil {
				k.string, _ = k.field.into.(*string)
			}
		}
		if o.indexed && len(o.members) <= mostMembers {
			o.members = append(o.members, member{c.pos, k.hash})
		}
		c.pos += len(k.text)
		switch {
		case k.id:
			fits = o.readID(c, k) && fits
		case k.field == nil:
			c.Skip()
		default:
			fits = k.field.set(c) && fits
		}
		last = o.plain(c, n)
	}
	return fits
}

// plain reads members as long as they are as most are: without white space, of the key that came next the last time, and with a
// value that can be read on the spot. It stops before a member that is not, and does nothing that read would not do.
func (o *object) plain(c *Cursor, last int) int {
	data, i, separator := c.data, c.pos, byte(',') // in registers
	if c.first {
		separator = '{'
		i--
	}
	for c.bad == 0 && i < len(data) && data[i] == separator {
		n := o.keys[last].next
		k := &o.keys[n]
		if n == 0 || !bytes.HasPrefix(data[i+1:], k.text) {
			break
		}
		end, at := 0, i+1+len(k.text)
		switch {
		case k.string != nil && at < len(data) && data[at] == '"':
			if quote := skipPlain(data, at+1); quote < len(data) && data[quote] == '"' {
				*k.string, end = c.keep(data[at+1:quote]), quote+1
			} else {
				c.pos = at
				text, _ := c.text()
				*k.string, end = c.keep(text), c.pos
			}
			if k.id {
				o.id = *k.string
			}
		case k.id:
		case k.field == nil:
			end, c.bad = skipValue(data, skipSpace(data, at), c.depth)
		default:
			end = k.field.put(data, at)
		}
		if end == 0 {
			break
		}
		if o.indexed && len(o.members) <= mostMembers {
			o.members = append(o.members, member{i + 1, k.hash})
		}
		i, last, separator = end, n, ','
	}
	if separator == ',' {
		c.pos, c.first = i, false
	}
	return last
}

// forget drops what was read, and keys if there are too many to be those of one kind.
func (o *object) forget() {
	o.id = ""
	if len(o.keys) == maxKeys {
		o.keys = newKeys()
	}
	for _, inner := range o.inner {
		inner.forget()
	}
}

// readID reads the value of "id", for the object as well as for its field.
func (o *object) readID(c *Cursor, k *key) bool {
	start := c.Mark()
	o.id = c.String()
	if k.field == nil || c.bad != 0 {
		return true
	}
	if k.string != nil && c.data[start] == '"' {
		*k.string = o.id
		return true
	}
	c.pos = start
	return k.field.set(c)
}

// field returns the field that encoding/json would choose: of the same name, or else the first that differs in case only.
func (o *object) field(name []byte) *field {
	for i := range o.fields {
		if o.fields[i].name == string(name) {
			return &o.fields[i]
		}
	}
	for i := range o.fields {
		if bytes.EqualFold([]byte(o.fields[i].name), name) {
			return &o.fields[i]
		}
	}
	return nil
}
