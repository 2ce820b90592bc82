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
// [ID] and an [Index] as well, the record must be an object, and its fields are read later.
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

// row is an [Exact].
type row interface {
	of() reflect.Type
	read(d *decoder, n *node, p unsafe.Pointer) bool // into the one at p
}

func (e *Exact[T]) of() reflect.Type { return reflect.TypeFor[T]() }

func (*Exact[T]) read(d *decoder, n *node, p unsafe.Pointer) bool {
	e := (*Exact[T])(p)
	if !d.Is('{') {
		d.fail(noObject)
		return false
	}
	start := d.Mark()
	if e.ID != "" || e.sum != 0 { // a duplicate
		*e = Exact[T]{}
	}
	err := d.exactly(n, unsafe.Pointer(&e.Value))
	if d.bad != "" {
		return false
	}
	text := d.Since(start)
	if err != nil {
		*e = Exact[T]{Unfit: &Misfit{bytes.Clone(text), err}}
	}
	if e.ID = d.string(d.id); e.ID == "" {
		e.sum = maphash.Bytes(sums, text)
	}
	return true
}

var sums = maphash.MakeSeed()

// string makes a string of the JSON text of one; anything else reads as "".
func (d *decoder) string(text []byte) string {
	c := Cursor{data: text}
	return d.keep(c.Text())
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
	id, hasID := kept[idType]
	index, indexed := kept[indexType]
	text, asText := kept[textType]
	source, asSource := kept[sourceType]
	return func(d *decoder, p unsafe.Pointer) bool {
		start := d.Mark()
		reflect.NewAt(key.of, p).Elem().SetZero() // of duplicates
		switch {
		case hasID && indexed:
			if x := d.indexed(); d.bad == "" {
				of, _ := x.Lookup(d.Since(start), "id")
				*(*string)(unsafe.Add(p, id)), *(*Index)(unsafe.Add(p, index)) = d.string(of), x
			}
		case len(fields) == 0 || !d.Is('{'):
			d.Skip()
		default:
			read(d, p)
		}
		if d.bad != "" {
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

// indexed reads over an object, and returns where its keys are, unless one does not stand for itself.
func (d *decoder) indexed() Index {
	if !d.Is('{') {
		d.fail(noObject)
		return nil
	}
	start, plain := d.pos, uint64(len(d.data)) <= math.MaxUint32
	if cap(d.index)-len(d.index) < usualKeys {
		d.index = make(Index, 0, min(chunkSize/4, usualKeys+(len(d.data)-start)/usualMember))
	}
	first := len(d.index)
	for d.open('{'); d.next('}'); d.Skip() {
		at := d.pos
		name, ok := d.key()
		plain = plain && ok && bytes.HasPrefix(d.data[at+1:], name) && d.data[at+1+len(name)] == '"'
		d.index = append(d.index, uint32(at-start)) //nolint:gosec // G115: it was checked
	}
	if !plain {
		return nil
	}
	return slices.Clip(d.index[first:])
}

const (
	usualKeys   = 32 // of an object
	usualMember = 32 // bytes
)
