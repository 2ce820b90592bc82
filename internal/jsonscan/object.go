package jsonscan

import (
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
	top := d.outermost()
	recording := top && d.recording > 0
	k := &d.learnt[o.slot].keys
	for last := o.plain(d, p, top, recording, 0); c.next('}'); last = o.plain(d, p, top, recording, last) {
		n, fresh := k.find(c, last)
		if n == 0 {
			return false
		}
		found := &(*k)[n]
		if fresh {
			if f := o.find(found.name); f != nil {
				found.offset, found.kind, found.node = f.offset, f.node.kind, f.node
			}
		}
		if recording {
			d.found = append(d.found, member{c.pos, found.hash})
		}
		c.pos += len(found.text)
		if found.id && top {
			d.readID()
		}
		switch {
		case found.node != nil:
			if !found.node.read(d, unsafe.Add(p, found.offset)) {
				return false
			}
		default:
			c.Skip()
		}
		last = n
	}
	return c.bad == 0
}

// plain reads members as long as they are as most are: without white space, of the key that came next the last time, and with a
// value that can be read on the spot. It stops before a member that is not, and does nothing that members would not do.
func (o *object) plain(d *decoder, p unsafe.Pointer, top, recording bool, last int) int {
	c, learnt := d.c, d.learnt[o.slot].keys
	data, i, separator := c.data, c.pos, byte(',') // in registers
	if c.first {
		separator = '{'
		i--
	}
	for c.bad == 0 && i < len(data) && data[i] == separator {
		n, ok := learnt.expected(data, i+1, last)
		if !ok {
			break
		}
		k := &learnt[n]
		end, at := 0, i+1+len(k.text)
		switch {
		case k.node == nil && (!k.id || !top):
			end, c.bad = skipValue(data, skipSpace(data, at), c.depth)
		case k.kind == aString && at < len(data) && data[at] == '"':
			c.pos = at
			text := c.String()
			*(*string)(unsafe.Add(p, k.offset)) = text
			if end = c.pos; k.id && top {
				d.id = text
			}
		case k.id && top:
		case k.kind != another:
			end = put(data, at, k.kind, unsafe.Add(p, k.offset))
		}
		if end == 0 || c.bad != 0 {
			break
		}
		if recording {
			d.found = append(d.found, member{i + 1, k.hash})
		}
		i, last, separator = end, n, ','
	}
	if separator == ',' {
		c.pos, c.first = i, false
	}
	return last
}

// put reads a plain number or boolean, or null, which leaves everything as it is. It returns the end, or 0 for anything else.
func put(data []byte, i int, of kind, p unsafe.Pointer) (end int) {
	switch of {
	case anInt:
		n, scale, end := plainNumber(data, i)
		if end > 0 && scale == 0 && int64(int(n)) == n {
			*(*int)(p) = int(n)
			return end
		}
	case aFloat:
		n, scale, end := plainNumber(data, i)
		if end > 0 && -maxExact <= n && n <= maxExact {
			*(*float64)(p) = float64(n) / powers[scale]
			return end
		}
	case aBool:
		if end, bad := skipWord(data, i, "true"); bad == 0 {
			*(*bool)(p) = true
			return end
		}
		if end, bad := skipWord(data, i, "false"); bad == 0 {
			*(*bool)(p) = false
			return end
		}
	default:
	}
	return 0
}
