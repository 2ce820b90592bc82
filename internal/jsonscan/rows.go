package jsonscan

import (
	"errors"
	"reflect"
	"unsafe"
)

// Text is the JSON text of a value. In a struct that is read as a record, a Text that is not exported is that of the struct itself.
type Text []byte

// Indexed is an object of which nobody has asked a field yet: a copy of its text, where its members are, and the string under "id".
type Indexed struct {
	Text  Text
	Index Index
	ID    string
}

// Exact is an object that is read into a T as encoding/json does, although it is a part of a record, and the string under its "id".
type Exact[T any] struct {
	ID    string
	Value T
}

func (*Exact[T]) valueType() reflect.Type { return reflect.TypeFor[T]() }

var (
	indexedType = reflect.TypeFor[Indexed]()
	exactType   = reflect.TypeFor[interface{ valueType() reflect.Type }]()
)

// MisfitError says that an object does not fit the type that it was to be read into.
type MisfitError struct {
	ID  string // of the object
	Err error  // of encoding/json; it may quote the object
}

func (e *MisfitError) Error() string { return e.Err.Error() }

func (e *MisfitError) Unwrap() error { return e.Err }

var errNoObject = errors.New("a row is no object")

// indexed plans an [Indexed].
func (b *builder) indexed() reader {
	o := &object{mode: lenient, slot: b.learner()}
	return func(d *decoder, p unsafe.Pointer) bool {
		c, out := d.c, (*Indexed)(p)
		start := c.Mark()
		if !d.object() {
			return false
		}
		d.id, d.found, d.recording = "", d.found[:0], c.depth+1
		if !o.members(d, nil) {
			return false
		}
		d.recording = 0
		span := c.Since(start)
		out.Text, out.Index, out.ID = c.Copy(span), d.index(start, len(span)), d.id
		return true
	}
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
	if length > maxOffset {
		return nil
	}
	n := len(d.found)
	if cap(d.chunk)-len(d.chunk) < n {
		d.chunk = make(Index, 0, max(n, min(chunkSize/4, n*(1+d.c.Left()/(length+1)))))
	}
	first := len(d.chunk)
	for _, m := range d.found {
		d.chunk = append(d.chunk, uint32(m.at-start)<<hashBits|m.hash) //nolint:gosec // G115: maxOffset is checked
	}
	return d.chunk[first:len(d.chunk):len(d.chunk)]
}

// exactly plans an [Exact], whose value has a plan of its own.
func (b *builder) exactly(t reflect.Type) reader {
	f, _ := t.FieldByName("Value")
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
			d.failed = &MisfitError{l.inner.id, err}
		}
		return err == nil
	}
}
