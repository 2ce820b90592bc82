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

// ownText tells where a record keeps what it was read from.
type ownText struct {
	texts     []uintptr
	id, index *uintptr
}

// object plans a struct.
func (b *builder) object(n *node, t reflect.Type) reader {
	o := &object{of: t, mode: b.mode, slot: b.learner()}
	n.object = o
	if b.mode == exact {
		o.fields, o.embedded = b.fields(t)
		return o.read
	}
	o.own.find(t, 0)
	if o.own.id != nil {
		return o.readIndexed
	}
	o.fields, o.embedded = b.fields(t)
	if len(o.fields) == 0 && len(o.own.texts) > 0 {
		return o.copyText
	}
	return o.readLeniently
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

func (own *ownText) setText(p unsafe.Pointer, text Text) {
	for _, at := range own.texts {
		*(*Text)(unsafe.Add(p, at)) = text
	}
}

// copyText reads any value for its text only.
func (o *object) copyText(d *decoder, p unsafe.Pointer) bool {
	o.own.setText(p, d.c.Value())
	return d.c.bad == 0
}

func (o *object) readLeniently(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	start := c.Mark()
	reflect.NewAt(o.of, p).Elem().SetZero() // of duplicates
	if !c.Is('{') {
		return o.copyText(d, p)
	}
	if !o.members(d, p) {
		return false
	}
	if len(o.own.texts) > 0 {
		o.own.setText(p, c.Copy(c.Since(start)))
	}
	return true
}

func (o *object) read(d *decoder, p unsafe.Pointer) bool {
	if !d.c.Is('{') {
		return d.c.Null()
	}
	return o.members(d, p)
}

// members reads an object into the fields.
func (o *object) members(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if !c.open('{') {
		return false
	}
	learnt, data, top := &d.learnt[o.slot], c.data, d.outermost()
	recording := top && d.recording
	for last := 0; ; {
		n, fresh, i := learnt.keys[last].next, false, c.pos+1
		if n == 0 || last == 0 || c.bad != 0 || i >= len(data) || data[i-1] != ',' || !bytes.HasPrefix(data[i:], learnt.keys[n].text) {
			if !c.next('}') {
				return c.bad == 0
			}
			if n, fresh = learnt.keys.find(c, last); n == 0 {
				return false
			}
			i = c.pos
		}
		k := &learnt.keys[n]
		if fresh {
			if f := o.find(k.name); f != nil {
				k.offset, k.node, k.isString = f.offset, f.node, f.node.isString
			}
		}
		if recording {
			d.found = append(d.found, member{i, k.hash})
		}
		i += len(k.text)
		c.pos = i
		if k.id && top {
			d.readID()
		}
		switch {
		case k.node == nil:
			c.pos, c.bad = skipValue(data, skipSpace(data, i), c.depth)
		case k.isString && i < len(data) && data[i] == '"':
			*(*string)(unsafe.Add(p, k.offset)) = c.String()
		case !k.node.read(d, unsafe.Add(p, k.offset)):
			return false
		}
		last = n
	}
}
