package jsonscan

import (
	"reflect"
	"unsafe"
)

// Something that is there already means a second key of the same name: encoding/json merges the two in ways of its own.

func (b *builder) pointer(to reflect.Type) reader {
	inner, size := b.node(to), int(to.Size())
	return func(d *decoder, p unsafe.Pointer) bool {
		pointer := (*unsafe.Pointer)(p)
		if d.c.Null() {
			*pointer = nil
			return true
		}
		d.again(*pointer)
		if !d.c.Spend(size) {
			return false
		}
		*pointer = reflect.New(to).UnsafePointer()
		return inner.read(d, *pointer)
	}
}

// again leaves the value to encoding/json if there is an earlier one in the place of a part.
func (d *decoder) again(earlier unsafe.Pointer) {
	d.weighing = d.weighing || earlier != nil && !d.plan.lenient
}

// slice is what a slice is in memory.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

func (b *builder) slice(t reflect.Type) reader {
	if t.Elem().Kind() == reflect.Uint8 {
		return giveUp
	}
	elem, size, slot := b.node(t.Elem()), int(t.Elem().Size()), b.learner()
	none := reflect.MakeSlice(t, 0, 0)
	return func(d *decoder, p unsafe.Pointer) bool {
		c, s, v := d.c, (*slice)(p), reflect.NewAt(t, p).Elem()
		d.again(s.data)
		*s = slice{}
		if inside, ok := d.enter('['); !inside {
			return ok
		}
		usual, most := &d.learnt[slot].length, d.mostHere()
		for all := 0; c.next(']'); all++ {
			n := all
			if d.weighing {
				n = 0
			}
			if all == most && most > 0 {
				c.bad = tooMany
			}
			if !c.Spend(size) {
				return false
			}
			if n == s.cap {
				v.Grow(int(min(int64(max(n, min(*usual-n, maxUsual), 1)), c.left/int64(max(size, 1))+1)))
			}
			s.len = n + 1
			at := c.pos
			if target := unsafe.Add(s.data, n*size); !elem.read(d, target) && !d.mismatch(elem, target, at) {
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

func (b *builder) array(t reflect.Type) reader {
	elem, size, length := b.node(t.Elem()), int(t.Elem().Size()), t.Len()
	return func(d *decoder, p unsafe.Pointer) bool {
		c := d.c
		if inside, ok := d.enter('['); !inside {
			return ok
		}
		n := 0
		for ; c.next(']'); n++ {
			at := c.pos
			if n >= length {
				c.Skip()
			} else if target := unsafe.Add(p, n*size); !elem.read(d, target) && !d.mismatch(elem, target, at) {
				return false
			}
		}
		if n < length {
			reflect.NewAt(t, p).Elem().Slice(n, length).Clear()
		}
		return c.bad == 0
	}
}

const (
	mapHeader   = 48
	sliceHeader = 24
)

// spendEntry spends what entry n of a map of Go's takes: there are groups of eight, in which large values are pointers.
func (c *Cursor) spendEntry(n, size int) bool {
	const group, direct, keyAndControl, word = 8, 128, 17, 8
	slot, own := size, 0
	if size > direct {
		slot, own = word, size
	}
	switch {
	case n == 0:
		own += group * (keyAndControl + slot)
	case n >= group:
		own += 2 * (keyAndControl + slot)
	}
	return c.Spend(own)
}

func (b *builder) dictionary(t reflect.Type) reader {
	if t.Key().Kind() != reflect.String || reflect.PointerTo(t.Key()).Implements(textReader) {
		return b.weigh(b.node(reflect.MapOf(stringType, t.Elem())))
	}
	elem, size := b.node(t.Elem()), int(t.Elem().Size())
	slot, put := b.learner(), assigners[t.Elem()]
	return func(d *decoder, p unsafe.Pointer) bool {
		c, target, l := d.c, (*unsafe.Pointer)(p), &d.learnt[slot]
		d.again(*target)
		*target = nil
		if inside, ok := d.enter('{'); !inside || !c.Spend(mapHeader) {
			return ok && !inside
		}
		room := l.room
		if room == nil {
			room = &entry{key: reflect.New(t.Key()).Elem(), value: reflect.New(t.Elem())}
		}
		l.room = room.next // for maps inside
		made := reflect.MakeMapWithSize(t, min(l.length, maxKeys))
		into, value, last := made.UnsafePointer(), room.value.UnsafePointer(), l.keys[0]
		for n := 0; c.next('}'); n++ {
			key, ok := d.mapKey(l, &last)
			at := c.pos
			if !ok || !c.spendEntry(n, size) || !elem.read(d, value) && !d.mismatch(elem, value, at) {
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
		room.next, l.room = l.room, room
		l.length, *target = made.Len(), into
		return c.bad == 0
	}
}

// entry is room for what goes into a map.
type entry struct {
	key   reflect.Value
	value reflect.Value // a pointer
	next  *entry
}

// assigners put values into maps, and clear the room that they came in. Through package reflect that takes twice as long.
var assigners = map[reflect.Type]func(made, room unsafe.Pointer, key string){
	anyType: assign[any], rawType: assign[[]byte], stringType: assign[string], reflect.TypeFor[int](): assign[int], reflect.TypeFor[float64](): assign[float64],
}

func assign[V any](made, room unsafe.Pointer, key string) {
	value := (*V)(room)
	(*(*map[string]V)(unsafe.Pointer(&made)))[key] = *value
	*value = *new(V)
}

// mapKey reads a key. Maps of one kind mostly have the same ones, which share their memory.
func (d *decoder) mapKey(l *learnt, last **key) (string, bool) {
	c := d.c
	k := l.keys.find(c, *last, nil)
	if k == nil {
		return "", false
	}
	*last = k
	c.pos += len(k.text)
	if k.id && c.depth == d.top {
		d.id = c.pos
	}
	return k.name, true
}

// anyCost is what a value of a type of its own needs: an interface, and what it points to.
const anyCost = 32

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
		d.made = nil
		ok := d.plan.objects(d, unsafe.Pointer(&d.made))
		return d.made, ok
	case '[':
		return d.elements()
	case 't', 'f':
		return c.Bool(), c.bad == 0
	case 'n':
		return nil, c.Null() && c.bad == 0
	}
	start := c.pos
	if f, ok := d.float(64); ok {
		return f, true
	}
	return nil, d.passOver(start)
}

// elements reads an array of any values.
func (d *decoder) elements() (made []any, ok bool) {
	c, usual := d.c, &d.learnt[0].length
	if !c.open('[') || !c.Spend(sliceHeader) {
		return nil, false
	}
	made = make([]any, 0, min(*usual, maxUsual))
	for c.next(']') {
		if !c.Spend(anyCost) {
			return nil, false
		}
		v, ok := d.any()
		if !ok {
			return nil, false
		}
		made = append(made, v)
	}
	*usual = len(made)
	return made, c.bad == 0
}
