package jsonscan

import (
	"bytes"
	"reflect"
	"unsafe"
)

// object is how a struct is read.
type object struct {
	of     reflect.Type
	mode   mode
	fields []field
	slot   int // of the keys
	own    ownText

	embedded int // bytes that are embedded by pointers
}

// ownText locates the fields of a record for its own text, id and index.
type ownText struct {
	texts     []uintptr
	id, index *uintptr
}

// object plans a struct.
func (b *builder) object(n *node, t reflect.Type) reader {
	o := &object{of: t, mode: b.mode, slot: b.learner()}
	n.object = o
	if b.mode == lenient {
		o.own.find(t, 0)
	}
	if o.own.id != nil {
		return o.readIndexed
	}
	b.collect(o)
	return choose(b.mode, o.members, o.readLeniently)
}

// find looks through the fields that are not exported: they are for what the struct itself was read from.
func (own *ownText) find(t reflect.Type, offset uintptr) {
	for f := range t.Fields() {
		at := offset + f.Offset
		switch {
		case f.IsExported() && !f.Anonymous:
		case f.Type == textType:
			own.texts = append(own.texts, at)
		case f.Type == idType:
			own.id = &at
		case f.Type == indexType:
			own.index = &at
		case f.Type.Kind() == reflect.Struct && f.Type != timeType:
			own.find(f.Type, at)
		}
	}
}

func (own *ownText) set(p unsafe.Pointer, text []byte) {
	for _, at := range own.texts {
		*(*Text)(unsafe.Add(p, at)) = text
	}
}

// readLeniently keeps the text of any value, and reads an object.
func (o *object) readLeniently(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	start := c.Mark()
	reflect.NewAt(o.of, p).Elem().SetZero() // of duplicates
	if len(o.fields) == 0 {
		c.Skip()
	} else if !o.members(d, p) {
		return false
	}
	if len(o.own.texts) > 0 {
		o.own.set(p, c.Copy(c.Since(start)))
	}
	return c.bad == 0
}

// members reads an object into the fields.
func (o *object) members(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if inside, ok := d.enter('{'); !inside {
		return ok
	}
	learnt, data, top := &d.learnt[o.slot], c.data, d.outermost()
	recording, i := top && d.recording, c.pos
	for last := learnt.keys[0]; ; {
		k := last.next
		if i++; k == nil || c.first || i >= len(data) || data[i-1] != ',' || !bytes.HasPrefix(data[i:], k.text) {
			if c.pos = i - 1; !c.next('}') {
				return c.bad == 0
			}
			found, fresh := learnt.keys.find(c, last)
			if found == nil {
				return false
			}
			if fresh {
				found.field = o.find(found.name)
			}
			k, i = found, c.pos
		}
		if recording {
			d.found = append(d.found, member{i, k.hash})
		}
		i += len(k.text)
		last = k
		if k.node == nil && (!top || !k.id) {
			end, bad := skipValue(data, skipSpace(data, i), c.depth)
			if i = end; bad != 0 {
				c.pos, c.bad = end, bad
				return false
			}
			continue
		}
		c.pos = i
		if k.id && top {
			d.readID()
		}
		switch {
		case k.node == nil:
			c.Skip()
		case k.node.isString && i < len(data) && data[i] == '"':
			*(*string)(unsafe.Add(p, k.offset)) = c.String()
		case !k.node.read(d, unsafe.Add(p, k.offset)):
			return false
		}
		if i = c.pos; c.bad != 0 {
			return false
		}
	}
}
