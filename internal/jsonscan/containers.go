package jsonscan

import (
	"reflect"
	"unsafe"
)

// Something that is there already means a second key of the same name: encoding/json merges the two in ways of its own.

func (b *builder) pointer(n *node, to reflect.Type) reader {
	inner, size := b.node(to), int(to.Size())
	n.elem, n.size, n.pointer = inner, size, true
	if b.mode == lenient && to.Kind() == reflect.Int {
		return reading(func(c *Cursor) (count *int) { // of which it is to be known whether there was one
			if n, ok := c.IntOK(); ok {
				count = &n
			}
			return count
		})
	}
	return func(d *decoder, p unsafe.Pointer) bool {
		pointer := (*unsafe.Pointer)(p)
		switch {
		case d.c.Null():
			*pointer = nil
			return true
		case *pointer != nil && d.exact(), !d.c.Spend(size):
			return false
		}
		made := reflect.New(to).UnsafePointer()
		*pointer = made
		return inner.read(d, made)
	}
}

// slice is what a slice is in memory.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

func (b *builder) slice(n *node, t reflect.Type) reader {
	if t.Elem().Kind() == reflect.Uint8 {
		if t.ConvertibleTo(bytesType) && t.Elem() == bytesType.Elem() {
			return readBytes
		}
		return giveUp
	}
	elem, size, slot := b.node(t.Elem()), int(t.Elem().Size()), b.learner()
	n.elem, n.size = elem, size
	none := reflect.MakeSlice(t, 0, 0)
	return func(d *decoder, p unsafe.Pointer) bool {
		c, s, v := d.c, (*slice)(p), reflect.NewAt(t, p).Elem()
		if s.data != nil {
			if d.exact() {
				return false
			}
			v.SetZero()
		}
		if !c.Is('[') {
			return d.otherwise()
		}
		if !c.open('[') {
			return false
		}
		usual, most := &d.learnt[slot].length, d.mostHere()
		for n := 0; c.next(']'); n++ {
			if n == most {
				c.bad = tooMany
			}
			if !c.Spend(size) {
				return false
			}
			if n == s.cap {
				v.Grow(int(min(int64(max(n, min(*usual-n, maxUsual), 1)), c.left/int64(max(size, 1))+1)))
			}
			s.len = n + 1
			if !elem.read(d, unsafe.Add(s.data, n*size)) {
				return false
			}
		}
		if s.len == 0 {
			v.Set(none)
		}
		*usual = s.len
		return c.bad == 0
	}
}

// maxUsual bounds the room that is made because the last slice was long.
const maxUsual = 1 << 10

func (b *builder) array(node *node, t reflect.Type) reader {
	elem, size, length := b.node(t.Elem()), int(t.Elem().Size()), t.Len()
	node.elem = elem
	return func(d *decoder, p unsafe.Pointer) bool {
		c := d.c
		if !c.Is('[') {
			return d.otherwise()
		}
		if !c.open('[') {
			return false
		}
		n := 0
		for ; c.next(']'); n++ {
			if n >= length {
				c.Skip()
			} else if !elem.read(d, unsafe.Add(p, n*size)) {
				return false
			}
		}
		if n < length {
			reflect.NewAt(t, p).Elem().Slice(n, length).Clear()
		}
		return c.bad == 0
	}
}

// spendEntry spends what entry n of a map of Go's takes: there are groups of eight, in which large values are pointers.
func (c *Cursor) spendEntry(n, size int) bool {
	const header, group, direct, keyAndControl, word = 48, 8, 128, 17, 8
	slot, own := size, 0
	if size > direct {
		slot, own = word, size
	}
	switch {
	case n == 0:
		own += header + group*(keyAndControl+slot)
	case n >= group:
		own += 2 * (keyAndControl + slot)
	}
	return c.Spend(own)
}

func (b *builder) dictionary(n *node, t reflect.Type) reader {
	elem, size := b.node(t.Elem()), int(t.Elem().Size())
	n.elem, n.size = elem, size
	if t.Key().Kind() != reflect.String || reflect.PointerTo(t.Key()).Implements(textReader) {
		n.size += int(t.Key().Size())
		return giveUp
	}
	slot := b.learner()
	switch t.Elem() {
	case anyType:
		return readMap(slot, func(d *decoder) (any, bool) { return d.any() })
	case rawType:
		return readMap(slot, func(d *decoder) ([]byte, bool) { return d.c.Value(), d.c.bad == 0 })
	case reflect.TypeFor[string]():
		return readMap(slot, func(d *decoder) (v string, ok bool) { ok = readString(d, unsafe.Pointer(&v)); return v, ok })
	case reflect.TypeFor[int]():
		return readMap(slot, func(d *decoder) (v int, ok bool) { ok = readWhole[int](d, unsafe.Pointer(&v)); return v, ok })
	case reflect.TypeFor[float64]():
		return readMap(slot, func(d *decoder) (v float64, ok bool) { ok = readFloat[float64](d, unsafe.Pointer(&v)); return v, ok })
	case reflect.TypeFor[bool]():
		return readMap(slot, func(d *decoder) (v bool, ok bool) { ok = readBool(d, unsafe.Pointer(&v)); return v, ok })
	}
	return func(d *decoder, p unsafe.Pointer) bool {
		v := reflect.NewAt(t, p).Elem()
		if !v.IsZero() && d.exact() {
			return false
		}
		v.SetZero()
		if !d.c.Is('{') {
			return d.otherwise()
		}
		if !d.c.open('{') {
			return false
		}
		l := &d.learnt[slot]
		made := reflect.MakeMapWithSize(t, min(l.length, maxKeys))
		room := l.room
		if l.room = nil; room == nil { // or another map of this type is being read
			room = &entry{key: reflect.New(t.Key()).Elem(), value: reflect.New(t.Elem()).Elem()}
		}
		for last := l.keys[0]; d.c.next('}'); {
			key, ok := d.mapKey(l, &last)
			if !ok || !d.c.spendEntry(made.Len(), size) || !elem.read(d, room.value.Addr().UnsafePointer()) {
				return false
			}
			room.key.SetString(key)
			made.SetMapIndex(room.key, room.value)
			room.value.SetZero()
		}
		l.room, l.length = room, made.Len()
		v.Set(made)
		return d.c.bad == 0
	}
}

// entry is room for what goes into a map.
type entry struct{ key, value reflect.Value }

// readMap is for maps of values that need no room.
func readMap[V any](slot int, value func(*decoder) (V, bool)) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		c, target := d.c, (*map[string]V)(p)
		if *target != nil && d.exact() {
			return false
		}
		*target = nil
		if !c.Is('{') {
			return d.otherwise()
		}
		if !c.open('{') {
			return false
		}
		l, top := &d.learnt[slot], d.outermost()
		made := make(map[string]V, min(l.length, maxKeys))
		for last := l.keys[0]; c.next('}'); {
			key, ok := d.mapKey(l, &last)
			if top && key == "id" {
				d.readID()
			}
			if !ok || !c.spendEntry(len(made), int(unsafe.Sizeof(*new(V)))) {
				return false
			}
			if made[key], ok = value(d); !ok {
				return false
			}
		}
		l.length, *target = len(made), made
		return c.bad == 0
	}
}

// mapKey reads a key. Maps of one kind mostly have the same ones, which share their memory.
func (d *decoder) mapKey(l *learnt, last **key) (string, bool) {
	c := d.c
	k, fresh := l.keys.find(c, *last)
	if k == nil {
		return "", false
	}
	if fresh {
		k.plain = string(k.name)
	}
	*last = k
	c.pos += len(k.text)
	return k.plain, true
}

func readAny(d *decoder, p unsafe.Pointer) bool {
	v, ok := d.any()
	*(*any)(p) = v
	return ok
}

// any reads a value as encoding/json does without a type.
func (d *decoder) any() (any, bool) {
	c := d.c
	if !c.more() {
		c.bad = noValue
		return nil, false
	}
	switch c.data[c.pos] {
	case '"':
		return c.String(), c.bad == 0
	case '{':
		return d.anyObject()
	case '[':
		return d.anyArray()
	case 't', 'f':
		return c.Bool(), c.bad == 0
	case 'n':
		return nil, c.Null() && c.bad == 0
	}
	f, ok := d.float(64)
	return f, ok
}

// anyCost is what a value of a type of its own needs: an interface, and what it points to.
const anyCost = 32

// anyObject keeps keys and values aside until it knows how many there are.
func (d *decoder) anyObject() (any, bool) {
	c := d.c
	if !c.open('{') {
		return nil, false
	}
	first, firstName := len(d.values), len(d.names)
	l := &d.learnt[0]
	for last := l.keys[0]; c.next('}'); {
		key, ok := d.mapKey(l, &last)
		if !ok || !c.spendEntry(len(d.names)-firstName, anyCost) {
			return nil, false
		}
		v, ok := d.any()
		if !ok {
			return nil, false
		}
		d.names, d.values = append(d.names, key), append(d.values, v)
	}
	names, values := d.names[firstName:], d.values[first:]
	made := make(map[string]any, len(names))
	for i, name := range names {
		made[name] = values[i]
	}
	clear(names)
	clear(values)
	d.names, d.values = d.names[:firstName], d.values[:first]
	return made, c.bad == 0
}

func (d *decoder) anyArray() (any, bool) {
	c := d.c
	if !c.open('[') {
		return nil, false
	}
	first := len(d.values)
	for c.next(']') {
		v, ok := d.any()
		if !ok || !c.Spend(anyCost) {
			return nil, false
		}
		d.values = append(d.values, v)
	}
	made := make([]any, len(d.values)-first)
	copy(made, d.values[first:])
	clear(d.values[first:])
	d.values = d.values[:first]
	return made, c.bad == 0
}
