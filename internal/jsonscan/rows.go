package jsonscan

import (
	"errors"
	"reflect"
	"unsafe"
)

// Text is the JSON text of a value. In a struct that is read as a record, an unexported Text is that of the struct itself. With an
// [ID] as well, the record must be an object, and its fields are read later: it gets only its text, the string under "id", and an
// [Index], if it has one.
type Text []byte

// ID is the string under "id" of a record that is kept as text.
type ID string

// Exact is an object that is read into a T as encoding/json does, although it is a part of a record, and the string under its "id".
type Exact[T any] struct {
	ID    string
	Value T
}

func (*Exact[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

var (
	idType    = reflect.TypeFor[ID]()
	indexType = reflect.TypeFor[Index]()
	exactType = reflect.TypeFor[exactly]()
)

// exactly is what every [Exact] is.
type exactly interface{ valueType() reflect.Type }

// MisfitError says that an object does not fit the type that it was to be read into.
type MisfitError struct {
	Type reflect.Type
	ID   string // of the object
	Err  error  // of encoding/json; it may quote the object
}

func (e *MisfitError) Error() string { return e.Err.Error() }

func (e *MisfitError) Unwrap() error { return e.Err }

var errNoObject = errors.New("a row is no object")

// readIndexed reads a record that is kept as text.
func (o *object) readIndexed(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	start := c.Mark()
	if !d.object() {
		return false
	}
	top := d.top
	d.id, d.found, d.recording, d.top = "", d.found[:0], true, c.depth+1
	if !o.members(d, p) {
		return false
	}
	d.recording, d.top = false, top
	span := c.Since(start)
	o.own.set(p, c.Copy(span))
	*(*string)(unsafe.Add(p, *o.own.id)) = d.id
	if o.own.index != nil {
		*(*Index)(unsafe.Add(p, *o.own.index)) = d.index(start, len(span))
	}
	return true
}

// object reports whether the next value is one. Where nothing else will do, that is an error.
func (d *decoder) object() bool {
	if d.c.Is('{') {
		return true
	}
	if d.c.bad == 0 {
		d.failed = errNoObject
	}
	return false
}

// index makes an index of the members that were found.
func (d *decoder) index(start, length int) Index {
	if length > maxOffset || len(d.found) > mostMembers {
		return nil
	}
	n := len(d.found)
	if cap(d.chunk)-len(d.chunk) < n {
		d.chunk = make(Index, 0, max(n, min(chunkSize/4, n*(1+(len(d.c.data)-d.c.pos)/(length+1)))))
	}
	first := len(d.chunk)
	for _, m := range d.found {
		d.chunk = append(d.chunk, uint32(m.at-start)<<hashBits|m.hash) //nolint:gosec // G115: maxOffset is checked
	}
	return d.chunk[first:len(d.chunk):len(d.chunk)]
}

// exactly plans an [Exact], whose value has a plan of its own.
func (b *builder) exactly(t reflect.Type) reader {
	value, _ := reflect.TypeAssert[exactly](reflect.New(t))
	f, _ := t.FieldByName("Value")
	f.Type = value.valueType()
	inner, slot := planOf(f.Type, exact), b.learner()
	return func(d *decoder, p unsafe.Pointer) bool {
		if !d.object() {
			return false
		}
		l := &d.learnt[slot]
		if l.inner == nil {
			l.inner = borrow(inner)
		}
		err := l.inner.decode(d.c, reflect.NewAt(f.Type, unsafe.Add(p, f.Offset)))
		*(*string)(p) = l.inner.id
		if err != nil && d.c.bad == 0 {
			d.failed = &MisfitError{f.Type, l.inner.id, err}
		}
		return err == nil
	}
}
