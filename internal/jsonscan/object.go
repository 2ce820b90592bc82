package jsonscan

import (
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
	texts     []uintptr
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
		name, quoted := b.tag(f.Tag.Get("json"))
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
		if quoted {
			n = b.quoted(f.Type, n)
		}
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
		return inner.read(d, p) || d.misfit(inner, p, start)
	}}
}

// tag reads a field's tag.
func (b *builder) tag(tag string) (name string, quoted bool) {
	name, options, _ := strings.Cut(tag, ",")
	for option := range strings.SplitSeq(options, ",") {
		quoted = quoted || option == "string"
		b.whole = b.whole || !slices.Contains([]string{"", "omitempty", "omitzero", "string"}, option) // versions of encoding/json differ in what they know
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_- .:/()#%&+", r)
	}) {
		b.whole = true // the characters allowed in a name also differ
	}
	return name, quoted
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
