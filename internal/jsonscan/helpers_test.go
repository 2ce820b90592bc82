package jsonscan

import "reflect"

// Decoder reads one value after another, as pages and other decoders do with the parts of a text.
type Decoder[T any] struct{ of *decoder } // not embedded: each T would get a copy of its methods

// NewDecoder returns a decoder that is as strict as encoding/json.
func NewDecoder[T any]() Decoder[T] { return Decoder[T]{borrow(planOf(reflect.TypeFor[T](), false))} }

// NewRecordDecoder returns a decoder of records.
func NewRecordDecoder[T any]() Decoder[T] {
	return Decoder[T]{borrow(planOf(reflect.TypeFor[T](), true))}
}

// Decode reads the next value.
func (d Decoder[T]) Decode(c *Cursor, out *T) error {
	*out = *new(T)
	return d.of.decode(c, reflect.ValueOf(out))
}

// Release gives the decoder back.
func (d Decoder[T]) Release() { d.of.Release() }
