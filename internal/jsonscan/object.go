package jsonscan

import (
	"bytes"
	"reflect"
	"unsafe"

	"example.com/prospectkit/internal/jsonfields"
)

// object is how a struct is read.
type object struct {
	of      reflect.Type
	lenient bool
	seen    []jsonfields.Field
	fields  []field // how each is read
	slot    int     // of the keys
	own     ownText
}

// ownText locates the fields of a record for its own text, id and index.
type ownText struct {
	texts     []uintptr // of type Text
	sources   []uintptr
	id, index *uintptr
}

// object plans a struct.
func (b *builder) object(t reflect.Type) reader {
	o := &object{of: t, lenient: b.lenient, slot: b.learner()}
	if b.lenient {
		o.own.find(t, 0)
	}
	if o.own.id != nil {
		return o.readIndexed
	}
	var agreed bool
	o.seen, agreed = jsonfields.Of(t)
	o.fields = make([]field, 0, len(o.seen))
	b.whole = b.whole || !agreed
	for _, f := range o.seen {
		o.fields = append(o.fields, b.field(t, f.Index))
	}
	if b.lenient {
		return o.readLeniently
	}
	return o.members
}

// field is how a [jsonfields.Field] is read.
type field struct {
	offset uintptr
	node   *node
}

// embedded is a struct that is embedded by its pointer.
type embedded struct {
	of reflect.Type
	at uintptr // from the pointer before it, or the beginning
}

// field plans a field of a struct, by the fields that lead to it.
func (b *builder) field(t reflect.Type, index []int) field {
	var pointers []embedded
	offset := uintptr(0) // from the pointer followed last, or the beginning
	for n, i := range index {
		if n > 0 && t.Kind() == reflect.Pointer {
			t = t.Elem()
			pointers, offset = append(pointers, embedded{t, offset}), 0
		}
		offset += t.Field(i).Offset
		t = t.Field(i).Type
	}
	n := b.node(t)
	if len(pointers) > 0 {
		n, offset = follow(pointers, offset, n), 0
	}
	return field{offset, n}
}

// follow plans a field after embedded pointers. Their structs are made when there is something to put there.
func follow(pointers []embedded, offset uintptr, inner *node) *node {
	return &node{of: inner.of, read: func(d *decoder, p unsafe.Pointer) bool {
		start := d.c.Mark()
		for _, e := range pointers {
			pointer := (*unsafe.Pointer)(unsafe.Add(p, e.at))
			if *pointer == nil {
				if !d.c.Spend(int(e.of.Size())) {
					return false
				}
				*pointer = reflect.New(e.of).UnsafePointer()
			}
			p = *pointer
		}
		p = unsafe.Add(p, offset)
		return inner.read(d, p) || d.mismatch(inner, p, start)
	}}
}

// find returns the field for a key: of a record, the one of that name.
func (o *object) find(key string) field {
	i := jsonfields.Find(o.seen, key)
	if i < 0 || o.lenient && o.seen[i].Name != key {
		return field{}
	}
	return o.fields[i]
}

// members reads an object into the fields.
func (o *object) members(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if inside, ok := d.enter('{'); !inside {
		return ok
	}
	learnt, data, top := &d.learnt[o.slot], c.data, c.depth == d.top
	for last := learnt.keys[0]; c.next('}'); {
		k := last.next
		if k == nil || !bytes.HasPrefix(data[c.pos:], k.text) {
			if k = learnt.keys.find(c, last, o); k == nil {
				return false
			}
		}
		if top && d.recording {
			d.found = append(d.found, c.pos)
			d.escaped = d.escaped || k.escaped
		}
		c.pos += len(k.text)
		last = k
		if top && k.id {
			d.id = c.pos
		}
		at, target := c.pos, unsafe.Add(p, k.offset)
		switch {
		case k.node == nil:
			c.pos, c.bad = skipValue(data, skipSpace(data, at), c.depth)
		case k.node.isString && at < len(data) && data[at] == '"':
			*(*string)(target) = c.String()
		case !k.node.read(d, target) && !d.mismatch(k.node, target, at):
			return false
		}
	}
	return c.bad == 0
}

// keys are those of the objects that one node has read. Objects of one kind mostly have the same keys in the same order, so that it takes
// one comparison to find a key: with the one that came next the last time. The first entry stands for the opening brace.
type keys []*key

type key struct {
	text []byte // with its quotes, to the colon
	name string
	id   bool // its name is "id"
	next *key // that came after it the last time

	escaped bool // the text between the quotes is not the name

	field // without a node: there is none
}

// maxKeys bounds what is learnt about objects that have other keys every time.
const maxKeys = 128

func newKeys() keys { return append(make(keys, 0, 16), new(key)) }

// find returns the key at the cursor, which stays there; nil if there is none. It is a key of a struct, or of a map.
func (k *keys) find(c *Cursor, last *key, of *object) *key {
	if last.next == nil || !bytes.HasPrefix(c.data[c.pos:], last.next.text) {
		last.next = k.learn(c, of)
	}
	return last.next
}

// learn is find for a key that was not expected.
func (k *keys) learn(c *Cursor, of *object) *key {
	start := c.pos
	name, ok := c.key()
	if !ok {
		return nil
	}
	text := c.data[start:c.pos]
	c.pos = start
	for _, known := range *k {
		if bytes.Equal(known.text, text) {
			return known
		}
	}
	for long := true; long && len(*k) < maxKeys; long = len(text) > maxShared { // which is not to be handed on
		*k = append(*k, new(key))
	}
	found := (*k)[len(*k)-1]
	escaped := !bytes.HasPrefix(text[1:], name) || text[1+len(name)] != '"'
	*found = key{text: append(found.text[:0], text...), name: string(name), id: string(name) == "id", escaped: escaped}
	if of != nil {
		found.field = of.find(found.name)
	}
	return found
}
