package jsonscan

import (
	"bytes"
	"math"
	"reflect"
	"unsafe"
)

// object is how a struct is read.
type object struct {
	exact  bool // names match exactly
	fields []Field
	nodes  []*node // of the fields
	slot   int     // of the keys
}

// object plans a struct.
func (b *builder) object(n *node, key planKey) reader {
	fields, plain := FieldsOf(key.of)
	if !plain && key.lenient {
		panic(key.of.String() + " is no plain record") // of the client's own
	} else if !plain {
		return nil
	}
	o := &object{exact: key.lenient, slot: n.slot, fields: fields}
	for _, f := range fields {
		if f.quoted {
			o.nodes = append(o.nodes, inQuotes(f.Type))
			continue
		}
		o.nodes = append(o.nodes, b.node(planKey{f.Type, key.lenient}))
	}
	return func(d *decoder, p unsafe.Pointer) bool {
		if !d.Is('{') {
			return d.Null()
		}
		return o.members(d, p)
	}
}

// inQuotes plans a field with the option string: encoding/json reads it as the only one of a struct, which is in memory what the field is.
func inQuotes(t reflect.Type) *node {
	n := &node{of: reflect.StructOf([]reflect.StructField{{Name: "F", Type: t, Tag: `json:",string"`}}), left: true, quoted: true}
	n.once = n.add(make(map[planKey]int), t, false)
	n.read = func(d *decoder, p unsafe.Pointer) bool { return d.give(n, p) == nil }
	return n
}

// members reads an object into the fields.
func (o *object) members(d *decoder, p unsafe.Pointer) bool {
	if !d.open('{') {
		return false
	}
	keys, data := &d.learnt[o.slot].keys, d.data
	for last := &keys.brace; d.next('}'); {
		k := last.next
		if k == nil || !bytes.HasPrefix(data[d.pos:], k.text) {
			if k = keys.learn(&d.Cursor, o); k == nil {
				return false
			}
			if k.known {
				last.next = k
			}
		}
		d.pos += len(k.text)
		last = k
		if k.id && d.depth == d.row {
			d.id = data[d.pos:]
		}
		target := unsafe.Add(p, k.offset)
		switch {
		case k.node == nil:
			d.Skip()
		case k.node.isText && d.pos < len(data) && data[d.pos] == '"':
			*(*string)(target) = d.String()
		case !k.node.read(d, target):
			return false
		}
	}
	return d.bad == ""
}

// keys are those of the objects that one node has read. Objects of one kind mostly have the same keys in the same order, so that it takes
// one comparison to find a key: with the one that came next the last time.
type keys struct {
	known map[string]*key // by their texts
	brace key             // stands for the opening brace
}

type key struct {
	text   []byte // with its quotes, to the colon
	known  bool   // others are too many, or too long
	id     bool   // its name is "id"
	next   *key   // that came after it the last time
	offset uintptr
	node   *node // nil: there is no field
}

// maxKeys bounds what is learnt about objects that have other keys every time.
const maxKeys = 256

// learn returns the key at the cursor, which stays there; nil if there is none.
func (k *keys) learn(c *Cursor, of *object) *key {
	start := c.pos
	name, ok := c.key()
	if !ok {
		return nil
	}
	text := c.data[start:c.pos]
	c.pos = start
	if found := k.known[string(text)]; found != nil {
		return found
	}
	found := &key{text: text, id: string(name) == "id", known: len(k.known) < maxKeys && len(text) <= maxShared}
	if i := Find(of.fields, string(name)); i >= 0 && (!of.exact || of.fields[i].Name == string(name)) {
		found.offset, found.node = of.fields[i].offset, of.nodes[i]
	}
	if found.known {
		if k.known == nil {
			k.known = make(map[string]*key)
		}
		found.text = bytes.Clone(text)
		k.known[string(text)] = found
	}
	return found
}

// slice is what a slice is in memory.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// cut takes n elements off the beginning.
func (s slice) cut(n, size int) slice {
	if n == s.cap {
		return slice{}
	}
	return slice{unsafe.Add(s.data, n*size), 0, s.cap - n}
}

const (
	maxUsual = 1 << 10 // elements that there is room for because the last slice was long
	few      = 256     // bytes that the elements of several pointers and short slices share
	within   = -1      // usual of slices in one of their type: as many may be open as the text is deep, and more room in each is no longer bounded
)

// A pointer or slice that is there already means a second key of the same name: encoding/json merges the two in ways of its own.

func (b *builder) pointer(n *node, key planKey) reader {
	to := key.of.Elem()
	inner, size, many := b.node(planKey{to, key.lenient}), int(to.Size()), reflect.SliceOf(to)
	if inner.left {
		return nil
	}
	return func(d *decoder, p unsafe.Pointer) bool {
		pointer := (*unsafe.Pointer)(p)
		if *pointer != nil {
			return false
		}
		if d.Null() {
			return true
		}
		if !d.Spend(int64(size)) {
			return false
		}
		room := &d.learnt[n.slot].room
		if room.cap == 0 {
			d.grow(many, room, 0)
		}
		*pointer = room.data
		*room = room.cut(1, size)
		return inner.read(d, *pointer)
	}
}

func (b *builder) slice(n *node, key planKey) reader {
	t := key.of
	elem, size, none := b.node(planKey{t.Elem(), key.lenient}), int(t.Elem().Size()), reflect.MakeSlice(t, 0, 0).UnsafePointer()
	if elem.left {
		return nil
	}
	return func(d *decoder, p unsafe.Pointer) bool {
		out, most := (*slice)(p), math.MaxInt
		if out.data != nil {
			return false
		}
		if !d.Is('[') {
			return d.Null()
		}
		l := &d.learnt[n.slot]
		page := key.lenient && d.depth <= 1 && l.usual != within
		if page {
			most = d.most
		} else if key.lenient {
			most = mostElements
		}
		start, usual := d.pos, l.usual
		*out, l.room, l.usual = l.room, slice{}, within // an element may hold such a slice, too
		for d.open('['); d.next(']'); {
			if out.len == most {
				d.fail(tooMany)
			}
			if !d.Spend(int64(size)) {
				return false
			}
			if out.len == out.cap {
				if page && out.len > 0 && !d.guessed { // the rest is likely to be as what was read
					d.guessed = true // once: more room than there is text for is bounded so
					usual = out.len + (len(d.data)-d.pos)/((d.pos-start)/out.len)*9/8
				}
				d.grow(t, out, usual)
			}
			if out.len++; !elem.read(d, unsafe.Add(out.data, (out.len-1)*size)) {
				l.usual = usual
				return false
			}
		}
		if out.cap*size < 2*few { // room comes in sizes of memory, which may be more
			l.room = out.cut(out.len, size)
		}
		if l.usual = usual; usual != within {
			l.usual = out.len
		}
		if out.cap = out.len; out.len == 0 {
			out.data = none
		}
		return d.bad == ""
	}
}

// grow makes room for more elements, which are zero.
func (d *decoder) grow(t reflect.Type, s *slice, usual int) {
	size := max(int(t.Elem().Size()), 1)
	more := max(s.len, 1)
	if usual != within {
		more = max(more, min(usual, maxUsual)-s.len, few/size-s.len)
	}
	reflect.NewAt(t, unsafe.Pointer(s)).Elem().Grow(int(min(int64(more), d.left/int64(size)+1)))
}
