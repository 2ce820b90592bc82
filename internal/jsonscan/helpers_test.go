package jsonscan

import (
	"cmp"
	"reflect"
	"unsafe"
)

// Decoder reads one value after another, as pages do with the parts of a text.
type Decoder[T any] struct { // nothing is embedded: each T would get a copy of its methods
	of      *decoder
	lenient bool
}

// NewDecoder returns a decoder that is as strict as encoding/json.
func NewDecoder[T any]() Decoder[T] {
	return Decoder[T]{borrow(planOf(reflect.TypeFor[T](), false)), false}
}

// NewRecordDecoder returns a decoder of records.
func NewRecordDecoder[T any]() Decoder[T] {
	return Decoder[T]{borrow(planOf(reflect.TypeFor[T](), true)), true}
}

// Decode reads the next value.
func (d Decoder[T]) Decode(c *Cursor, out *T) error {
	*out = *new(T)
	d.of.Cursor, d.of.most, d.of.failed = *c, mostElements, nil
	defer func() { *c = d.of.Cursor }()
	if !d.lenient {
		return d.of.strictly(d.of.plan.root, unsafe.Pointer(out))
	}
	d.of.plan.root.read(d.of, unsafe.Pointer(out))
	return cmp.Or(d.of.Err(), d.of.failed)
}

// Release gives the decoder back.
func (d Decoder[T]) Release() { d.of.release() }
