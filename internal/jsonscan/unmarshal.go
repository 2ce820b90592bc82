package jsonscan

import (
	"encoding/json"
	"reflect"
	"sync"
)

// Unmarshal is that of encoding/json, with an allowance for what is made of the text, and faster where v points to a struct of plain
// fields that are all zero.
func Unmarshal(data []byte, v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return json.Unmarshal(data, v)
	}
	if p.Elem().Kind() != reflect.Struct || !p.Elem().IsZero() {
		return unmarshal(data, v, p)
	}
	b := borrow(p.Type().Elem())
	defer b.Release()
	b.cursor.data, b.cursor.usual, b.cursor.left = data, b.usual, allowanceFor(data)
	if !b.plain || !b.object.read(&b.cursor) || b.cursor.End() != nil {
		return unmarshal(data, v, p)
	}
	b.usual = max(b.usual, b.cursor.kept+b.cursor.strings.Len())
	p.Elem().Set(b.pointer.Elem())
	return nil
}

// unmarshal leaves a text to encoding/json, if there is memory for what p points to.
func unmarshal(data []byte, v any, p reflect.Value) error {
	for p.Elem().Kind() == reflect.Interface && p.Elem().Elem().Kind() == reflect.Pointer && !p.Elem().Elem().IsNil() {
		p = p.Elem().Elem() // as encoding/json does
	}
	if grows := growthOf(p.Type().Elem()); grows != nil {
		c := New(data)
		if grows.weigh(&c); c.bad >= tooMuch {
			return c.Err()
		}
	}
	return json.Unmarshal(data, v)
}

// bound is a value of some type whose fields are bound.
type bound struct {
	pointer reflect.Value
	plain   bool
	grows   *growth // what encoding/json makes of it
	object  object
	pool    *sync.Pool

	// For Unmarshal.
	cursor Cursor
	usual  int // bytes that the strings of a value had, at most
}

// bounds has those that nobody uses, in a pool for each type.
var bounds sync.Map

func borrow(t reflect.Type) *bound {
	pool, ok := bounds.Load(t)
	if !ok {
		pool, _ = bounds.LoadOrStore(t, new(sync.Pool))
	}
	p := pool.(*sync.Pool) //nolint:forcetypeassert // nothing else is in it
	if b, ok := p.Get().(*bound); ok {
		return b
	}
	b := &bound{pointer: reflect.New(t), grows: growthOf(t), object: object{keys: newKeys()}, pool: p}
	b.plain = b.object.bind(b.pointer)
	return b
}

// Release lets others use it. Nothing of what it has read stays.
func (b *bound) Release() {
	b.pointer.Elem().SetZero()
	b.object.forget()
	b.cursor = Cursor{plain: b.cursor.plain[:0]}
	if scratch := b.cursor.plain[:cap(b.cursor.plain)]; len(scratch) > maxShared {
		b.cursor.plain = nil
	} else {
		clear(scratch)
	}
	b.pool.Put(b)
}
