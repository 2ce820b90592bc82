package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"unsafe"

	"example.com/prospectkit/internal/jsonfields"
)

// object is how a struct is read.
type object struct {
	lenient bool
	seen    []jsonfields.Field
	fields  []field // how each is read
	slot    int     // of the keys
}

// field is how a [jsonfields.Field] is read.
type field struct {
	offset uintptr
	node   *node // nil: there is none
}

// fieldsOf plans the fields of a struct.
func (b *builder) fieldsOf(n *node, t reflect.Type, seen []jsonfields.Field) *object {
	o := &object{lenient: b.lenient, slot: n.slot, seen: seen}
	for _, f := range o.seen {
		nameless := f.Type.Name() == "" && readsItself(f.Type) // versions of encoding/json differ in whether they see the method
		if nameless || f.Quoted || f.Behind > 0 {
			o.fields = append(o.fields, field{node: leaveMember(t, f)})
			continue
		}
		at := field{node: b.node(f.Type)}
		for n := range f.Index {
			at.offset += t.FieldByIndex(f.Index[:n+1]).Offset
		}
		o.fields = append(o.fields, at)
	}
	return o
}

// leaveMember plans a field that encoding/json reads as a member of its struct.
func leaveMember(t reflect.Type, f jsonfields.Field) *node {
	n := &node{of: t, largest: f.Behind + largest(f.Type)}
	name, _ := json.Marshal(f.Name)
	n.read = func(d *decoder, p unsafe.Pointer) bool {
		span := d.Span()
		return d.bad == 0 && d.give(n, p, slices.Concat([]byte("{"), name, []byte(":"), span, []byte("}"))) == nil
	}
	return n
}

// object plans a struct.
func (b *builder) object(n *node, t reflect.Type) reader {
	seen, agreed := jsonfields.Of(t)
	if !agreed {
		return nil
	}
	o := b.fieldsOf(n, t, seen)
	return func(d *decoder, p unsafe.Pointer) bool {
		if !d.Is('{') {
			return d.Null()
		}
		return o.members(d, p)
	}
}

// members reads an object into the fields.
func (o *object) members(d *decoder, p unsafe.Pointer) bool {
	if !d.open('{') {
		return false
	}
	keys, data := &d.learnt[o.slot].keys, d.data
	if len(*keys) == 0 {
		*keys = append(*keys, new(key))
	}
	for last := (*keys)[0]; d.next('}'); {
		k := last.next
		if k == nil || !bytes.HasPrefix(data[d.pos:], k.text) {
			if k = keys.learn(&d.Cursor, o); k == nil {
				return false
			}
			last.next = k
		}
		d.pos += len(k.text)
		last = k
		if k.id && d.depth == d.row {
			d.id = d.pos
		}
		target := unsafe.Add(p, k.offset)
		switch {
		case k.node == nil:
			d.pos, d.bad = skipValue(data, skipSpace(data, d.pos), d.depth)
		case k.node.isString && d.pos < len(data) && data[d.pos] == '"':
			*(*string)(target) = d.String()
		case !k.node.read(d, target):
			return false
		}
	}
	return d.bad == 0
}

// keys are those of the objects that one node has read. Objects of one kind mostly have the same keys in the same order, so that it takes
// one comparison to find a key: with the one that came next the last time. The first entry stands for the opening brace.
type keys []*key

type key struct {
	text []byte // with its quotes, to the colon
	id   bool   // its name is "id"
	next *key   // that came after it the last time

	field
}

// maxKeys bounds what is learnt about objects that have other keys every time.
const maxKeys = 128

// learn returns the key at the cursor, which stays there; nil if there is none.
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
	*found = key{text: append(found.text[:0], text...), id: string(name) == "id"}
	if i := jsonfields.Find(of.seen, string(name)); i >= 0 && (!of.lenient || of.seen[i].Name == string(name)) {
		found.field = of.fields[i]
	}
	return found
}
