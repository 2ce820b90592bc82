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
	defer b.giveBack()
	c := Cursor{data: data}
	if !b.plain || !b.object.read(&c) || c.End() != nil {
		return json.Unmarshal(data, v)
	}
	p.Elem().Set(b.value)
	return nil
}

// bound is a value of some type whose fields are bound.
type bound struct {
	value  reflect.Value
	plain  bool
	object object
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
	p := reflect.New(t)
	b := &bound{value: p.Elem()}
	b.plain = b.object.bind(p)
	return b
}

func (b *bound) giveBack() {
	b.value.SetZero()
	if pool, ok := bounds.Load(b.value.Type()); ok {
		pool.(*sync.Pool).Put(b)
	}
}
