package jsonscan

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Decoder reads one value after another, as pages do with the parts of a text.
type Decoder[T any] struct { // nothing is embedded: each T would get a copy of its methods
	of      *decoder
	lenient bool
}

// NewDecoder returns a decoder that is as strict as encoding/json.
func NewDecoder[T any]() Decoder[T] {
	return Decoder[T]{borrow(planKey{reflect.TypeFor[T](), false}), false}
}

// NewRecordDecoder returns a decoder of records.
func NewRecordDecoder[T any]() Decoder[T] {
	return Decoder[T]{borrow(planKey{reflect.TypeFor[T](), true}), true}
}

// Decode reads the next value.
func (d Decoder[T]) Decode(c *Cursor, out *T) error {
	*out = *new(T)
	d.of.Cursor, d.of.most = *c, mostElements
	defer func() { *c = d.of.Cursor }()
	if !d.lenient {
		return d.of.exactly(d.of.root, unsafe.Pointer(out))
	}
	d.of.root.read(d.of, unsafe.Pointer(out))
	return d.of.Err()
}

// Release gives the decoder back.
func (d Decoder[T]) Release() { d.of.release() }

// left reports whether a type is left to encoding/json as a whole.
func left(t reflect.Type) bool { return borrow(planKey{t, false}).root.left }

func read[T any](t *testing.T, text string) T {
	t.Helper()
	d := NewRecordDecoder[T]()
	defer d.Release()
	var out T
	c := New([]byte(text))
	require.NoError(t, d.Decode(&c, &out), text)
	require.NoError(t, c.End(), text)
	return out
}

func decodeText[T any](text string) (out T, err error) {
	d := NewRecordDecoder[T]()
	defer d.Release()
	c := New([]byte(text))
	if err = d.Decode(&c, &out); err == nil {
		err = c.End()
	}
	return out, err
}
