package jsonscan

import (
	"bytes"
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
}

// candidate is a field that may have to stand back behind another of its name.
type candidate struct {
	field
	order  []int // of the fields that lead to it
	tagged bool
}

// level is a struct among those that are embedded equally deep.
type level struct {
	of     reflect.Type
	offset uintptr // from the pointer that was followed last, or the beginning
	order  []int
	behind func(*node, uintptr) field // makes a field of one behind an embedded pointer
	size   int                        // of what is embedded by its pointer
}

// fields lists the fields of a struct by the rules of encoding/json: of fields with one name the least deep counts, then the
// tagged one, and if there are several still, none. Embedded is the size of all that is embedded by pointers.
func (b *builder) fields(t reflect.Type) (fields []field, embedded int) {
	var all []candidate
	seen := make(map[reflect.Type]bool)
	next := []level{{of: t, behind: func(n *node, offset uintptr) field { return field{node: n, offset: offset} }}}
	for len(next) > 0 {
		now := next
		next = nil
		for _, l := range now {
			if !seen[l.of] {
				embedded += l.size
				all, next = b.collect(l, all, next)
			}
		}
		for _, l := range now {
			seen[l.of] = true
		}
	}
	slices.SortStableFunc(all, func(x, y candidate) int {
		if x.name != y.name {
			return strings.Compare(x.name, y.name)
		}
		return rank(x) - rank(y)
	})
	var chosen []candidate
	for i := 0; i < len(all); {
		n := i + 1
		for n < len(all) && all[n].name == all[i].name {
			n++
		}
		if n == i+1 || rank(all[i]) != rank(all[i+1]) {
			chosen = append(chosen, all[i])
		}
		i = n
	}
	slices.SortFunc(chosen, func(x, y candidate) int { return slices.Compare(x.order, y.order) })
	fields = make([]field, len(chosen))
	for i := range chosen {
		fields[i] = chosen[i].field
	}
	return fields, embedded
}

// rank is less for what counts more.
func rank(c candidate) int {
	if c.tagged {
		return 2 * len(c.order)
	}
	return 2*len(c.order) + 1
}

// collect adds the fields of one struct, and the structs that are embedded in it.
func (b *builder) collect(l level, all []candidate, next []level) ([]candidate, []level) {
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
		order := append(slices.Clip(l.order), i)
		if name == "" && promoted {
			inner := level{of: embedded, offset: l.offset + f.Offset, order: order, behind: l.behind}
			if embedded != f.Type {
				b.whole = b.whole || !f.IsExported() // which encoding/json cannot set
				inner.offset, inner.behind, inner.size = 0, behind(embedded, l.offset+f.Offset, l.behind), int(embedded.Size())
			}
			next = append(next, inner)
			continue
		}
		b.whole = b.whole || !f.IsExported() // encoding/json fills the struct, and panics over a pointer to one
		node := b.node(f.Type)
		if quoted {
			node = b.quoted(f.Type, node)
		}
		c := candidate{field: l.behind(node, l.offset+f.Offset), order: order, tagged: name != ""}
		if c.name = name; name == "" {
			c.name = f.Name
		}
		all = append(all, c)
	}
	return all, next
}

// behind makes fields of those of a struct that is embedded by its pointer, which is made when there is something to put there.
func behind(embedded reflect.Type, at uintptr, outer func(*node, uintptr) field) func(*node, uintptr) field {
	return func(inner *node, offset uintptr) field {
		return outer(&node{as: inner, read: func(d *decoder, p unsafe.Pointer) bool {
			pointer := (*unsafe.Pointer)(p)
			if *pointer == nil {
				if !d.c.Spend(int(embedded.Size())) {
					return false
				}
				*pointer = reflect.New(embedded).UnsafePointer()
			}
			return inner.read(d, unsafe.Add(*pointer, offset))
		}}, at)
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
		b.whole = true // which characters a name may have differs, too
	}
	return name, quoted, true
}

// find returns the field for a key: the one of that name or, as with encoding/json, the first that differs in case only.
func (o *object) find(key []byte) *field {
	for i := range o.fields {
		if o.fields[i].name == string(key) {
			return &o.fields[i]
		}
	}
	if o.mode == lenient {
		return nil
	}
	for i := range o.fields {
		if bytes.EqualFold([]byte(o.fields[i].name), key) {
			return &o.fields[i]
		}
	}
	return nil
}
