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
		if inside, ok := d.enter('['); !inside {
			return ok
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
		*usual = max(s.len, min(*usual, few/max(size, 1))) // a few elements more take less than to make room for them later
		return c.bad == 0
	}
}

const (
	maxUsual = 1 << 10 // elements that there is room for because the last slice was long
	few      = 256     // bytes that there is room for because any slice before was as long
)

func (b *builder) array(node *node, t reflect.Type) reader {
	elem, size, length := b.node(t.Elem()), int(t.Elem().Size()), t.Len()
	node.elem = elem
	return func(d *decoder, p unsafe.Pointer) bool {
		c := d.c
		if inside, ok := d.enter('['); !inside {
			return ok
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
	slot, put := b.learner(), assigners[t.Elem()]
	return func(d *decoder, p unsafe.Pointer) bool {
		c, target := d.c, (*unsafe.Pointer)(p)
		if *target != nil && d.exact() {
			return false
		}
		*target = nil
		if inside, ok := d.enter('{'); !inside {
			return ok
		}
		l, top := &d.learnt[slot], d.outermost()
		made, room := reflect.MakeMapWithSize(t, min(l.length, maxKeys)), l.room
		if l.room = nil; room == nil { // or another map of this type is being read
			room = &entry{key: reflect.New(t.Key()).Elem(), value: reflect.New(t.Elem())}
		}
		into, value, last := made.UnsafePointer(), room.value.UnsafePointer(), l.keys[0]
		for n := 0; c.next('}'); n++ {
			key, ok := d.mapKey(l, &last)
			if top && key == "id" {
				d.readID()
			}
			if !ok || !c.spendEntry(n, size) || !elem.read(d, value) {
				return false
			}
			if put != nil {
				put(into, value, key)
				continue
			}
			room.key.SetString(key)
			made.SetMapIndex(room.key, room.value.Elem())
			room.value.Elem().SetZero()
		}
		l.room, l.length, *target = room, made.Len(), into
		return c.bad == 0
	}
}

// entry is room for what goes into a map.
type entry struct {
	key   reflect.Value
	value reflect.Value // a pointer
}

// assigners put values into maps, and clear the room that they came in. Through package reflect that takes twice as long.
var assigners = map[reflect.Type]func(made, room unsafe.Pointer, key string){
	anyType: assign[any], rawType: assign[[]byte], reflect.TypeFor[string](): assign[string], reflect.TypeFor[int](): assign[int], reflect.TypeFor[float64](): assign[float64],
}

func assign[V any](made, room unsafe.Pointer, key string) {
	value := (*V)(room)
	(*(*map[string]V)(unsafe.Pointer(&made)))[key] = *value
	*value = *new(V)
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
	case '{', '[':
		return d.several(c.data[c.pos])
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

// several reads an object or an array of any values, which are kept aside until it is known how many there are.
func (d *decoder) several(opening byte) (made any, ok bool) {
	c := d.c
	if !c.open(opening) {
		return nil, false
	}
	first, l := len(d.aside), &d.learnt[0]
	for last := l.keys[0]; c.next(opening + 2); {
		var one pair
		if opening == '[' {
			ok = c.Spend(anyCost)
		} else if one.name, ok = d.mapKey(l, &last); ok {
			ok = c.spendEntry(len(d.aside)-first, anyCost)
		}
		if !ok {
			return nil, false
		}
		if one.value, ok = d.any(); !ok {
			return nil, false
		}
		d.aside = append(d.aside, one)
	}
	all := d.aside[first:]
	if opening == '[' {
		list := make([]any, len(all))
		for i := range all {
			list[i] = all[i].value
		}
		made = list
	} else {
		members := make(map[string]any, len(all))
		for i := range all {
			members[all[i].name] = all[i].value
		}
		made = members
	}
	clear(all)
	d.aside = d.aside[:first]
	return made, c.bad == 0
}

// pair is a member of an object, or an element of an array.
type pair struct {
	name  string
	value any
}
