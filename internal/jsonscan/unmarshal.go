package jsonscan

import (
	"encoding/json"
	"reflect"
	"sync"
)

// Unmarshal is that of encoding/json, and faster where v points to a struct of plain fields that are all zero.
func Unmarshal(data []byte, v any) error {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct || !p.Elem().IsZero() {
		return json.Unmarshal(data, v)
	}
	b := borrow(p.Type().Elem())
	defer b.Release()
	b.cursor.data = data
	if !b.plain || !b.object.read(&b.cursor) || b.cursor.End() != nil {
		return json.Unmarshal(data, v)
	}
	p.Elem().Set(b.pointer.Elem())
	return nil
}

// bound is a value of some type whose fields are bound.
type bound struct {
	pointer reflect.Value
	plain   bool
	object  object
	cursor  Cursor // for Unmarshal
}

// bounds keeps those that nobody uses, by type.
var bounds sync.Map

func borrow(t reflect.Type) *bound {
	pool, ok := bounds.Load(t)
	if !ok {
		pool, _ = bounds.LoadOrStore(t, new(sync.Pool))
	}
	if b, ok := pool.(*sync.Pool).Get().(*bound); ok {
		return b
	}
	b := &bound{pointer: reflect.New(t), object: object{keys: newKeys()}}
	b.plain = b.object.bind(b.pointer)
	return b
}

// Release lets others use it. Nothing of what it has read stays.
func (b *bound) Release() {
	b.pointer.Elem().SetZero()
	b.object.forget()
	b.cursor = Cursor{}
	if pool, ok := bounds.Load(b.pointer.Type().Elem()); ok {
		pool.(*sync.Pool).Put(b)
	}
}
