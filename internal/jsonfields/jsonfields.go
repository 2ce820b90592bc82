// Package jsonfields lists the fields of a struct that encoding/json reads and writes, by its rules, which it does not export.
package jsonfields

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Field is a field of a struct as encoding/json sees it, its own or one of an embedded struct.
type Field struct {
	Name     string
	Type     reflect.Type
	Optional bool  // by omitempty or omitzero
	Quoted   bool  // by string
	Index    []int // of the fields that lead to it
	Behind   int   // bytes of the structs that are embedded by their pointers on the way

	rank int  // of fields with one name, the least one counts
	none bool // it and another of its name stand in each other's way
}

// Of lists the fields of a struct in their order, and reports whether all versions of encoding/json see and fill these.
func Of(t reflect.Type) (all []Field, agreed bool) {
	c := collector{agreed: true}
	c.collect(t, nil, Field{})
	all = slices.DeleteFunc(c.fields, func(f Field) bool { return f.none })
	slices.SortFunc(all, func(x, y Field) int { return slices.Compare(x.Index, y.Index) })
	for i, f := range all { // versions differ in which of two names they prefer that differ in case only
		c.agreed = c.agreed && !slices.ContainsFunc(all[:i], func(other Field) bool { return strings.EqualFold(f.Name, other.Name) })
	}
	return all, c.agreed
}

// Find is the index of the field for a key, or -1: of the one with that name or, as with encoding/json, of the first whose name differs
// in case only.
func Find(fields []Field, key string) int {
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == key })
	if i < 0 {
		i = slices.IndexFunc(fields, func(f Field) bool { return strings.EqualFold(f.Name, key) })
	}
	return i
}

// Streams reports whether a type reads itself by UnmarshalJSONFrom, which encoding/json calls before all other methods, from Go 1.27 on.
func Streams(t reflect.Type) bool {
	return OfStreams(reflect.PointerTo(t).MethodByName("UnmarshalJSONFrom"))
}

// OfStreams reports whether a method takes a coder of encoding/json/jsontext, so that encoding/json calls it. Its interface cannot be named with
// an older Go, and there are others of that name. The method is found by the caller: with a name that is a constant, the linker can still drop
// methods that nobody calls.
func OfStreams(m reflect.Method, ok bool) bool {
	if !ok || m.Type.NumIn() != 2 { // the receiver is the first
		return false
	}
	coder := m.Type.In(1)
	return coder.Kind() == reflect.Pointer && coder.Elem().PkgPath() == "encoding/json/jsontext"
}

type collector struct {
	fields []Field
	agreed bool
}

// collect adds the fields of a struct, those of embedded structs with them. The way to it leads through types, which may embed themselves.
func (c *collector) collect(t reflect.Type, through []reflect.Type, way Field) {
	if slices.Contains(through, t) {
		return
	}
	through = append(slices.Clip(through), t)
	for i := range t.NumField() {
		f, next := t.Field(i), Field{Index: append(slices.Clip(way.Index), i), Behind: way.Behind}
		inner := f.Type
		if f.Anonymous && f.Type.Kind() == reflect.Pointer && f.Type.Name() == "" {
			inner = f.Type.Elem()
		}
		promoted := f.Anonymous && inner.Kind() == reflect.Struct
		if f.Tag.Get("json") == "-" || !f.IsExported() && !promoted {
			continue
		}
		name, options := c.tag(f.Tag.Get("json"))
		if name == "" && promoted {
			if inner != f.Type {
				next.Behind += int(inner.Size())
			}
			c.collect(inner, through, next)
			continue
		}
		c.agreed = c.agreed && f.IsExported() // encoding/json fills the struct, and panics over a pointer to one
		next.Name, next.Type = cmp.Or(name, f.Name), f.Type
		next.Optional, next.Quoted = strings.Contains(options, "omit"), strings.Contains(options, "string")
		if next.rank = 2 * len(next.Index); name != "" {
			next.rank--
		}
		c.add(next)
	}
}

// add adds a field by the rules of encoding/json: of fields with one name the least deep counts, then the tagged one, and if there are
// several still, none.
func (c *collector) add(f Field) {
	i := slices.IndexFunc(c.fields, func(other Field) bool { return other.Name == f.Name })
	switch {
	case i < 0:
		c.fields = append(c.fields, f)
	case f.rank < c.fields[i].rank:
		c.fields[i] = f
	case f.rank == c.fields[i].rank:
		c.fields[i].none = true
	}
}

// tag reads a field's tag.
func (c *collector) tag(tag string) (name, options string) {
	name, options, _ = strings.Cut(tag, ",")
	for option := range strings.SplitSeq(options, ",") {
		c.agreed = c.agreed && slices.Contains([]string{"", "omitempty", "omitzero", "string"}, option) // versions differ in what they know
	}
	c.agreed = c.agreed && onlyHas(name, "_- .:/()#%&+") // and in the characters that they take
	if !onlyHas(name, "!#$%&()*+-./:;<=>?@[]^_{|}~ ") {
		name = ""
	}
	return name, options
}

// onlyHas reports whether a name has letters, digits and these characters only.
func onlyHas(name, others string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(others, r)
	})
}
