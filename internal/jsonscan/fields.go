package jsonscan

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// Field is a field of a struct as encoding/json sees it, its own or one of an embedded struct.
type Field struct {
	Name     string
	Type     reflect.Type
	Optional bool // by omitempty or omitzero

	quoted bool // by the option string
	offset uintptr
	rank   int  // of fields with one name, the least one counts
	none   bool // it and another of its name stand in each other's way
}

// FieldsOf lists the fields of a struct, by the rules of encoding/json, which it does not export. They are plain if no more is to be
// known to read the struct, and if the versions of encoding/json agree on them.
func FieldsOf(t reflect.Type) (all []Field, plain bool) {
	c := collector{plain: true}
	c.collect(t, nil, 0)
	all = slices.DeleteFunc(c.fields, func(f Field) bool { return f.none })
	for i, f := range all { // versions differ in which of two names they prefer that differ in case only
		c.plain = c.plain && Find(all[:i], f.Name) < 0
	}
	return all, c.plain
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

var (
	selfReader = reflect.TypeFor[json.Unmarshaler]()
	textReader = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// ReadsItself reports whether encoding/json has a type read its JSON, by UnmarshalJSON or, from Go 1.27 on, by UnmarshalJSONFrom.
func ReadsItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(selfReader) || streams(t)
}

// streams reports whether a type has an UnmarshalJSONFrom that takes a coder of encoding/json/jsontext, so that encoding/json calls it before all
// other methods. Its interface cannot be named with an older Go, and there are others of that name.
func streams(t reflect.Type) bool {
	m, ok := reflect.PointerTo(t).MethodByName("UnmarshalJSONFrom")
	if !ok || m.Type.NumIn() != 2 { // the receiver is the first
		return false
	}
	coder := m.Type.In(1)
	return coder.Kind() == reflect.Pointer && coder.Elem().PkgPath() == "encoding/json/jsontext"
}

// hasMethod reports whether encoding/json reads a type by any method.
func hasMethod(t reflect.Type) bool {
	return ReadsItself(t) || reflect.PointerTo(t).Implements(textReader)
}

type collector struct {
	fields  []Field
	plain   bool
	structs []reflect.Type // whose fields these are
}

// collect adds the fields of a struct, those of embedded structs with them. The way to it leads through types, which may embed themselves.
func (c *collector) collect(t reflect.Type, through []reflect.Type, offset uintptr) {
	if slices.Contains(through, t) {
		return
	}
	c.plain = c.plain && !slices.Contains(c.structs, t) // of what a type that is embedded twice embeds itself, encoding/json reads the first
	through, c.structs = append(slices.Clip(through), t), append(c.structs, t)
	for f := range t.Fields() {
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
			c.plain = c.plain && inner == f.Type // a pointer has to be filled first
			c.collect(inner, through, offset+f.Offset)
			continue
		}
		// encoding/json fills a hidden struct, and panics over a pointer to one; versions differ in whether a nameless type has methods
		c.plain = c.plain && f.IsExported() && (f.Type.Name() != "" || !hasMethod(f.Type))
		next := Field{
			Name: cmp.Or(name, f.Name), Type: f.Type, Optional: strings.Contains(options, "omit"),
			quoted: strings.Contains(options, "string"), offset: offset + f.Offset, rank: 2 * len(through),
		}
		if name != "" {
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

// tag reads a field's tag. Versions differ in what options they know, and in the characters that they take.
func (c *collector) tag(tag string) (name, options string) {
	name, options, _ = strings.Cut(tag, ",")
	for option := range strings.SplitSeq(options, ",") {
		known := option == "omitempty" || option == "omitzero" || option == "string"
		c.plain = c.plain && (options == "" || known && strings.Count(options, option) == 1)
	}
	c.plain = c.plain && onlyHas(name, "_- .:/()#%&+")
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
