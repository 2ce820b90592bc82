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

// field is a field of a struct as JSON sees it.
type field struct {
	name   string
	offset uintptr
	node   *node
	order  []int // of the fields that lead to it
	tagged bool
	none   bool // it and another of its name stand in each other's way
}

// level is a struct among those that are embedded equally deep.
type level struct {
	of     reflect.Type
	offset uintptr // from the pointer that was followed last, or the beginning
	order  []int
	behind func(field) field // makes a field of one behind an embedded pointer
	size   int               // of what is embedded by its pointer
}

// collect lists the fields of a struct by the rules of encoding/json: of fields with one name the least deep counts, then the
// tagged one, and if there are several still, none.
func (b *builder) collect(o *object) {
	seen := make(map[reflect.Type]bool)
	next := []level{{of: o.of, behind: func(f field) field { return f }}}
	for len(next) > 0 {
		now := next
		next = nil
		for _, l := range now {
			if !seen[l.of] {
				o.embedded += l.size
				next = b.level(o, l, next)
			}
		}
		for _, l := range now {
			seen[l.of] = true
		}
	}
	o.fields = slices.DeleteFunc(o.fields, func(f field) bool { return f.none })
	slices.SortFunc(o.fields, func(x, y field) int { return slices.Compare(x.order, y.order) })
}

// add puts a field to those of its depth and above, which come first.
func (o *object) add(f field) {
	i := slices.IndexFunc(o.fields, func(other field) bool { return other.name == f.name })
	switch {
	case i < 0:
		o.fields = append(o.fields, f)
	case len(o.fields[i].order) < len(f.order) || o.fields[i].tagged && !f.tagged:
	case f.tagged && !o.fields[i].tagged:
		o.fields[i] = f
	default:
		o.fields[i].none = true
	}
}

// level adds the fields of one struct, and returns the structs that are embedded in it after those that are known.
func (b *builder) level(o *object, l level, next []level) []level {
	for i := range l.of.NumField() {
		f := l.of.Field(i)
		embedded := f.Type
		if f.Anonymous && f.Type.Kind() == reflect.Pointer && f.Type.Name() == "" {
			embedded = f.Type.Elem()
		}
		promoted := f.Anonymous && embedded.Kind() == reflect.Struct
		name, quoted, use := b.tag(&f)
		if !use || !f.IsExported() && !promoted {
			continue
		}
		offset, order := l.offset+f.Offset, append(slices.Clip(l.order), i)
		if name == "" && promoted {
			inner := level{of: embedded, offset: offset, order: order, behind: l.behind}
			if embedded != f.Type {
				b.whole = b.whole || !f.IsExported() // which encoding/json cannot set
				inner.offset, inner.behind, inner.size = 0, behind(embedded, offset, l.behind), int(embedded.Size())
			}
			next = append(next, inner)
			continue
		}
		b.whole = b.whole || !f.IsExported() // encoding/json fills the struct, and panics over a pointer to one
		node := b.node(f.Type)
		if quoted {
			node = b.quoted(f.Type, node)
		}
		o.add(l.behind(field{name: cmp.Or(name, f.Name), offset: offset, node: node, order: order, tagged: name != ""}))
	}
	return next
}

// behind makes fields of those of a struct that is embedded by its pointer, which is made when there is something to put there.
func behind(embedded reflect.Type, at uintptr, outer func(field) field) func(field) field {
	return func(f field) field {
		inner, offset := f.node, f.offset
		f.offset, f.node = at, &node{as: inner, read: func(d *decoder, p unsafe.Pointer) bool {
			pointer := (*unsafe.Pointer)(p)
			if *pointer == nil {
				if !d.c.Spend(int(embedded.Size())) {
					return false
				}
				*pointer = reflect.New(embedded).UnsafePointer()
			}
			return inner.read(d, unsafe.Add(*pointer, offset))
		}}
		return outer(f)
	}
}

// tag reads a field's tag.
func (b *builder) tag(f *reflect.StructField) (name string, quoted, use bool) {
	tag := f.Tag.Get("json")
	if tag == "-" {
		return "", false, false
	}
	name, options, _ := strings.Cut(tag, ",")
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "omitempty", "omitzero":
		case "string":
			quoted = true
		default: // versions of encoding/json differ in what they know
			b.whole = true
		}
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_- .:/()#%&+", r)
	}) {
		b.whole = true // the characters allowed in a name also differ
	}
	return name, quoted, true
}

// find returns the field for a key: the one of that name or, as with encoding/json, the first that differs in case only.
func (o *object) find(key []byte) field {
	i := slices.IndexFunc(o.fields, func(f field) bool { return f.name == string(key) })
	if i < 0 && o.mode == exact {
		i = slices.IndexFunc(o.fields, func(f field) bool { return bytes.EqualFold([]byte(f.name), key) })
	}
	if i < 0 {
		return field{}
	}
	return o.fields[i]
}
