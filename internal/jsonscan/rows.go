package jsonscan

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math"
	"reflect"
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
	Unfit *MismatchError // why the object does not fit T, and reads as zero; [DecodeRecord] then returns the first of these

	sum uint64 // of the text, if there is no id
}

func (*Exact[T]) isExact() {}

var (
	idType     = reflect.TypeFor[ID]()
	indexType  = reflect.TypeFor[Index]()
	sourceType = reflect.TypeFor[Source]()
	exactType  = reflect.TypeFor[exactly]()
)

// exactly is what every [Exact] is.
type exactly interface{ isExact() }

// MismatchError says that an object does not fit the type that it was to be read into.
type MismatchError struct {
	Type reflect.Type
	ID   string // of the object
	Text Text   // of the object
	Err  error  // of encoding/json; it may quote the object
}

func (e *MismatchError) Error() string { return e.Err.Error() }

func (e *MismatchError) Unwrap() error { return e.Err }

var errNoObject error = plainError("a row is not an object")

// find looks through the fields that are not exported: they are for what the struct itself was read from.
func (own *ownText) find(t reflect.Type, offset uintptr) {
	for f := range t.Fields() {
		at := offset + f.Offset
		switch {
		case f.IsExported() && !f.Anonymous:
		case f.Type == textType:
			own.texts = append(own.texts, at)
		case f.Type == sourceType:
			own.sources = append(own.sources, at)
		case f.Type == idType:
			own.id = &at
		case f.Type == indexType:
			own.index = &at
		case f.Type.Kind() == reflect.Struct && f.Type != timeType:
			own.find(f.Type, at)
		}
	}
}

func (own *ownText) set(p unsafe.Pointer, text []byte) {
	for _, at := range own.texts {
		*(*Text)(unsafe.Add(p, at)) = text
	}
	for _, at := range own.sources {
		*(*string)(unsafe.Add(p, at)) = unsafe.String(unsafe.SliceData(text), len(text))
	}
}

// kept reports whether a struct keeps its text.
func (own *ownText) kept() bool { return len(own.texts)+len(own.sources) > 0 }

// readLeniently keeps the text of any value, and reads an object.
func (o *object) readLeniently(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	start := c.Mark()
	if o.own.kept() {
		c.twice = min(len(c.data)-start, maxShared)
	}
	reflect.NewAt(o.of, p).Elem().SetZero() // of duplicates
	if len(o.fields) == 0 || !c.Is('{') {
		c.Skip()
	} else if !o.members(d, p) {
		return false
	}
	if o.own.kept() {
		c.twice = min(len(c.data)-c.pos, maxShared)
		o.own.set(p, c.Copy(c.Since(start)))
	}
	return c.bad == 0
}

// readIndexed reads a record that is kept as text.
func (o *object) readIndexed(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	start := c.Mark()
	if !c.Is('{') {
		d.failed = errNoObject
		return false
	}
	top := d.top
	d.id, d.found, d.escaped, d.recording, d.top = 0, d.found[:0], false, true, c.depth+1
	if !o.members(d, p) {
		return false
	}
	d.recording, d.top = false, top
	span := c.Since(start)
	o.own.set(p, c.Copy(span))
	*(*string)(unsafe.Add(p, *o.own.id)) = d.idSince(start)
	if o.own.index != nil && !d.escaped && uint64(len(span)) <= math.MaxUint32 {
		*(*Index)(unsafe.Add(p, *o.own.index)) = d.index(start)
	}
	return true
}

// index makes an index of the members that were found in the object since a mark.
func (d *decoder) index(mark int) Index {
	if n := len(d.found); cap(d.chunk)-len(d.chunk) < n { // as many as the rest of the text is likely to need
		rest := (len(d.c.data) - d.c.pos) / (d.c.pos - mark + 1)
		d.chunk = make(Index, 0, max(n, min(chunkSize/4, n*(1+rest))))
	}
	first := len(d.chunk)
	for _, at := range d.found {
		d.chunk = append(d.chunk, uint32(at-mark)) //nolint:gosec // G115: the caller has checked it
	}
	return d.chunk[first:len(d.chunk):len(d.chunk)]
}

var sums = maphash.MakeSeed()

// exactly plans an [Exact], whose value has a plan of its own.
func (b *builder) exactly(t reflect.Type) reader {
	f, _ := t.FieldByName("Value")
	sum, _ := t.FieldByName("sum")
	unfit, _ := t.FieldByName("Unfit")
	inner, slot := planOf(f.Type, false), b.learner()
	return func(d *decoder, p unsafe.Pointer) bool {
		if !d.c.Is('{') {
			d.failed = errNoObject
			return false
		}
		l := &d.learnt[slot]
		if l.inner == nil {
			l.inner = borrow(inner)
		}
		start := d.c.Mark()
		err := l.inner.decode(d.c, reflect.NewAt(f.Type, unsafe.Add(p, f.Offset)))
		id := l.inner.idSince(start)
		*(*string)(p) = id
		if id == "" {
			*(*uint64)(unsafe.Add(p, sum.Offset)) = maphash.Bytes(sums, d.c.Since(start))
		}
		misfit := (**MismatchError)(unsafe.Add(p, unfit.Offset))
		*misfit = nil // of a duplicate
		if err != nil && d.c.bad == 0 {
			value := unsafe.Add(p, f.Offset)
			reflect.NewAt(f.Type, value).Elem().SetZero()
			*misfit = &MismatchError{f.Type, id, bytes.Clone(d.c.Since(start)), err}
			d.unfit = cmp.Or(d.unfit, *misfit)
		}
		return d.c.bad == 0
	}
}
