package jsonscan

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unsafe"
)

// object is how a struct is read.
type object struct {
	of      reflect.Type
	lenient bool
	fields  []field
	slot    int // of the keys
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
	b.collect(o, t, way{})
	o.fields = slices.DeleteFunc(o.fields, func(f field) bool { return f.none })
	slices.SortFunc(o.fields, func(x, y field) int { return slices.Compare(x.index, y.index) })
	if b.lenient {
		return o.readLeniently
	}
	for i, f := range o.fields { // versions of encoding/json differ in which of two such names they prefer
		b.whole = b.whole || slices.ContainsFunc(o.fields[:i], func(other field) bool { return strings.EqualFold(f.name, other.name) })
	}
	return o.members
}

// field is a field of a struct as JSON sees it.
type field struct {
	name   string
	offset uintptr
	node   *node
	index  []int // of the fields that lead to it
	rank   int   // the least one counts
	none   bool  // it and another of its name stand in each other's way
}

// way leads to a struct that is embedded, at any depth, in the one that is planned.
type way struct {
	through  []reflect.Type // which may embed themselves
	index    []int
	pointers []embedded
	offset   uintptr // from the pointer followed last, or the beginning
}

// embedded is a struct that is embedded by its pointer.
type embedded struct {
	of reflect.Type
	at uintptr // from the pointer before it, or the beginning
}

// collect lists the fields of a struct, those of embedded structs with them.
func (b *builder) collect(o *object, t reflect.Type, w way) {
	if slices.Contains(w.through, t) {
		return
	}
	w.through = append(slices.Clip(w.through), t)
	for i := range t.NumField() {
		f, to := t.Field(i), w
		inner := f.Type
		if f.Anonymous && f.Type.Kind() == reflect.Pointer && f.Type.Name() == "" {
			inner = f.Type.Elem()
		}
		promoted := f.Anonymous && inner.Kind() == reflect.Struct
		if f.Tag.Get("json") == "-" || !f.IsExported() && !promoted {
			continue
		}
		name := b.tag(f.Tag.Get("json"))
		to.index, to.offset = append(slices.Clip(w.index), i), w.offset+f.Offset
		if name == "" && promoted {
			if inner != f.Type {
				b.whole = b.whole || !f.IsExported() // which encoding/json cannot set
				to.pointers, to.offset = append(slices.Clip(w.pointers), embedded{inner, to.offset}), 0
			}
			b.collect(o, inner, to)
			continue
		}
		b.whole = b.whole || !f.IsExported() // encoding/json fills the struct, and panics over a pointer to one
		n := b.node(f.Type)
		if len(w.pointers) > 0 {
			n, to.offset = follow(w.pointers, to.offset, n), 0
		}
		rank := 2 * len(to.index)
		if name != "" {
			rank--
		}
		o.add(field{name: cmp.Or(name, f.Name), offset: to.offset, node: n, index: to.index, rank: rank})
	}
}

// add adds a field by the rules of encoding/json: of fields with one name the least deep counts, then the tagged one, and if there are
// several still, none.
func (o *object) add(f field) {
	i := slices.IndexFunc(o.fields, func(other field) bool { return other.name == f.name })
	switch {
	case i < 0:
		o.fields = append(o.fields, f)
	case f.rank < o.fields[i].rank:
		o.fields[i] = f
	case f.rank == o.fields[i].rank:
		o.fields[i].none = true
	}
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

// tag reads a field's tag.
func (b *builder) tag(tag string) string {
	name, options, _ := strings.Cut(tag, ",")
	for option := range strings.SplitSeq(options, ",") {
		b.whole = b.whole || !slices.Contains([]string{"", "omitempty", "omitzero"}, option) // versions of encoding/json differ in what they know
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_- .:/()#%&+", r)
	}) {
		b.whole = true // the characters allowed in a name also differ
	}
	return name
}

// find returns the field for a key: the one of that name or, as with encoding/json, the first that differs in case only.
func (o *object) find(key string) field {
	i := slices.IndexFunc(o.fields, func(f field) bool { return f.name == key })
	if i < 0 && !o.lenient {
		i = slices.IndexFunc(o.fields, func(f field) bool { return strings.EqualFold(f.name, key) })
	}
	if i < 0 {
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
