package jsonscan

import (
	"bytes"
	"hash/maphash"
	"math"
	"reflect"
	"slices"
	"unsafe"

	"example.com/prospectkit/internal/jsonfields"
)

// Text is the JSON text of a value. In a struct that is read as a record, an unexported Text is that of the struct itself. With an
// [ID] as well, the record must be an object, and its fields are read later: it gets only its text, the string under "id", and an
// [Index], if it has one.
type Text []byte

// Source is the text of the struct itself, as an unexported [Text] is, in a struct that can be compared.
type Source string

// ID is the string under "id" of a record that is kept as text.
type ID string

// Exact is an object that is read into a T as encoding/json does, although it is a part of a record, and the string under its "id". Without
// one, it differs from any other with another text, whatever T leaves out.
type Exact[T any] struct {
	ID    string
	Value T
	Unfit *Misfit // why the object does not fit T, and reads as zero

	sum uint64 // of the text, if there is no id
}

func (*Exact[T]) isExact() bool { return true }

func isExact(t reflect.Type) bool {
	e, ok := reflect.TypeAssert[interface{ isExact() bool }](reflect.New(t))
	return ok && e.isExact()
}

var (
	idType     = reflect.TypeFor[ID]()
	indexType  = reflect.TypeFor[Index]()
	sourceType = reflect.TypeFor[Source]()
)

// Misfit is an object that does not fit the type that it was to be read into.
type Misfit struct {
	Text Text
	Err  error // of encoding/json; it may quote the object
}

var errNoObject error = plainError("a row is not an object")

// own locates the fields of a record that are not exported, for what the struct itself was read from.
type own map[reflect.Type][]uintptr

func (o own) find(t reflect.Type, offset uintptr) own {
	for f := range t.Fields() {
		at := offset + f.Offset
		switch {
		case f.IsExported() && !f.Anonymous:
		case f.Type == textType, f.Type == sourceType, f.Type == idType, f.Type == indexType:
			o[f.Type] = append(o[f.Type], at)
		case f.Type.Kind() == reflect.Struct && f.Type != timeType:
			o.find(f.Type, at)
		}
	}
	return o
}

// record plans a struct that is read leniently.
func (b *builder) record(n *node, t reflect.Type) reader {
	kept := make(own).find(t, 0)
	texts, sources := kept[textType], kept[sourceType]
	keep := func(c *Cursor, p unsafe.Pointer, start int) bool {
		if len(texts)+len(sources) == 0 || c.bad != 0 {
			return c.bad == 0
		}
		text := c.Copy(c.Since(start))
		for _, at := range texts {
			*(*Text)(unsafe.Add(p, at)) = text
		}
		for _, at := range sources {
			*(*string)(unsafe.Add(p, at)) = unsafe.String(unsafe.SliceData(text), len(text))
		}
		return true
	}
	if kept[idType] != nil {
		return func(d *decoder, p unsafe.Pointer) bool {
			start := d.Mark()
			return d.indexed(kept, p) && keep(&d.Cursor, p, start)
		}
	}
	seen, _ := jsonfields.Of(t)
	o := b.fieldsOf(n, t, seen)
	return func(d *decoder, p unsafe.Pointer) bool {
		start := d.Mark()
		reflect.NewAt(t, p).Elem().SetZero() // of duplicates
		if len(o.fields) == 0 || !d.Is('{') {
			d.Skip()
		} else if !o.members(d, p) {
			return false
		}
		return keep(&d.Cursor, p, start)
	}
}

// indexed reads over an object that is kept as text, and notes its id and where its keys are.
func (d *decoder) indexed(kept own, p unsafe.Pointer) bool {
	if !d.Is('{') {
		d.failed = errNoObject
		return false
	}
	start := d.Mark()
	plain := d.scan()
	if d.bad != 0 {
		return false
	}
	*(*string)(unsafe.Add(p, kept[idType][0])) = d.name()
	if n := len(d.found); plain && kept[indexType] != nil && uint64(len(d.data)) <= math.MaxUint32 {
		if cap(d.room)-len(d.room) < n { // as many as the rest of the text is likely to need
			rest := (len(d.data) - d.pos) / (d.pos - start + 1)
			d.room = make(Index, 0, max(n, min(chunkSize/4, n*(1+rest))))
		}
		for _, at := range d.found {
			d.room = append(d.room, uint32(at-start)) //nolint:gosec // G115: it was checked
		}
		*(*Index)(unsafe.Add(p, kept[indexType][0])) = slices.Clip(d.room[len(d.room)-n:])
	}
	return true
}

var sums = maphash.MakeSeed()

// exactly plans an [Exact].
func (b *builder) exactly(t reflect.Type) reader {
	f, _ := t.FieldByName("Value")
	sum, _ := t.FieldByName("sum")
	unfit, _ := t.FieldByName("Unfit")
	inner := b.strict(f.Type)
	return func(d *decoder, p unsafe.Pointer) bool {
		if !d.Is('{') {
			d.failed = errNoObject
			return false
		}
		reflect.NewAt(t, p).Elem().SetZero() // of duplicates
		start, value := d.Mark(), unsafe.Add(p, f.Offset)
		err := d.strictly(inner, value)
		if d.bad != 0 {
			return false
		}
		id := d.name()
		if *(*string)(p) = id; id == "" {
			*(*uint64)(unsafe.Add(p, sum.Offset)) = maphash.Bytes(sums, d.Since(start))
		}
		if err != nil {
			reflect.NewAt(f.Type, value).Elem().SetZero()
			*(**Misfit)(unsafe.Add(p, unfit.Offset)) = &Misfit{bytes.Clone(d.Since(start)), err}
		}
		return true
	}
}
