package jsonscan

import (
	"bytes"
	"hash/maphash"
	"math"
	"reflect"
	"slices"
	"unsafe"
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
type own map[reflect.Type]uintptr

func (o own) find(t reflect.Type, offset uintptr) own {
	for f := range t.Fields() {
		switch {
		case f.IsExported() && !f.Anonymous:
		case f.Type == textType, f.Type == sourceType, f.Type == idType, f.Type == indexType:
			o[f.Type] = offset + f.Offset
		case f.Type.Kind() == reflect.Struct && f.Type != timeType:
			o.find(f.Type, offset+f.Offset)
		}
	}
	return o
}

// record plans a struct that is read leniently.
func (b *builder) record(n *node, key planKey) reader {
	kept, read := make(own).find(key.of, 0), b.object(n, key)
	fields, _ := FieldsOf(key.of)
	_, byID := kept[idType]
	text, asText := kept[textType]
	source, asSource := kept[sourceType]
	return func(d *decoder, p unsafe.Pointer) bool {
		start := d.Mark()
		reflect.NewAt(key.of, p).Elem().SetZero() // of duplicates
		switch {
		case byID:
			d.indexed(kept, p)
		case len(fields) == 0 || !d.Is('{'):
			d.Skip()
		default:
			read(d, p)
		}
		if d.bad != 0 || d.failed != nil {
			return false
		}
		if asText {
			*(*Text)(unsafe.Add(p, text)) = d.Copy(d.Since(start))
		}
		if asSource {
			*(*string)(unsafe.Add(p, source)) = d.keep(d.Since(start))
		}
		return true
	}
}

// indexed reads over an object that is kept as text, and notes its id and where its keys are.
func (d *decoder) indexed(kept own, p unsafe.Pointer) {
	if !d.Is('{') {
		d.failed = errNoObject
		return
	}
	start := d.Mark()
	plain := d.scan()
	if d.bad != 0 {
		return
	}
	*(*string)(unsafe.Add(p, kept[idType])) = d.name()
	at, wanted := kept[indexType]
	if n := len(d.found); wanted && plain && uint64(len(d.data)) <= math.MaxUint32 {
		if cap(d.index)-len(d.index) < n { // as many as the rest of the text is likely to need
			rest := (len(d.data) - d.pos) / (d.pos - start + 1)
			d.index = make(Index, 0, max(n, min(chunkSize/4, n*(1+rest))))
		}
		for _, key := range d.found {
			d.index = append(d.index, uint32(key-start)) //nolint:gosec // G115: it was checked
		}
		*(*Index)(unsafe.Add(p, at)) = slices.Clip(d.index[len(d.index)-n:])
	}
}

var sums = maphash.MakeSeed()

// exact plans an [Exact].
func (b *builder) exact(t reflect.Type) reader {
	value, _ := t.FieldByName("Value")
	sum, _ := t.FieldByName("sum")
	unfit, _ := t.FieldByName("Unfit")
	inner := b.node(planKey{value.Type, false})
	return func(d *decoder, p unsafe.Pointer) bool {
		if !d.Is('{') {
			d.failed = errNoObject
			return false
		}
		reflect.NewAt(t, p).Elem().SetZero() // of duplicates
		start, at := d.Mark(), unsafe.Add(p, value.Offset)
		err := d.exactly(inner, at)
		if d.bad != 0 {
			return false
		}
		id := d.name()
		if *(*string)(p) = id; id == "" {
			*(*uint64)(unsafe.Add(p, sum.Offset)) = maphash.Bytes(sums, d.Since(start))
		}
		if err != nil {
			reflect.NewAt(value.Type, at).Elem().SetZero()
			*(**Misfit)(unsafe.Add(p, unfit.Offset)) = &Misfit{bytes.Clone(d.Since(start)), err}
		}
		return true
	}
}
