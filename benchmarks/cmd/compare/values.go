package main

import (
	"math"
	"reflect"
	"runtime"
	"sync"
	"time"
)

// digest sums up a value of any kind, so that two decoders can be compared in everything that they have read. Absent, null and empty
// differ, and the order of a map's keys does not count.
func digest(v reflect.Value) uint64 {
	const prime = 1099511628211
	h := uint64(v.Kind()) + 1
	mix := func(n uint64) { h = (h ^ n) * prime }
	if v.Kind() != reflect.Interface && v.Type() == reflect.TypeFor[time.Time]() {
		mix(uint64(v.Interface().(time.Time).UnixNano()))
		return h
	}
	switch v.Kind() {
	case reflect.String:
		for _, b := range []byte(v.String()) {
			mix(uint64(b))
		}
	case reflect.Bool:
		if v.Bool() {
			mix(1)
		}
	case reflect.Float32, reflect.Float64:
		mix(math.Float64bits(v.Float()))
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			mix(digest(v.Elem()))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			mix(digest(field))
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			break
		}
		mix(uint64(v.Len())) //nolint:gosec // a length
		for i := range v.Len() {
			mix(digest(v.Index(i)))
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		mix(uint64(v.Len())) //nolint:gosec // a length
		var entries uint64
		for it := v.MapRange(); it.Next(); {
			entries += digest(it.Key()) * (digest(it.Value()) | 1)
		}
		mix(entries)
	default:
		if v.CanInt() {
			mix(uint64(v.Int())) //nolint:gosec // only mixed
		} else {
			mix(v.Uint())
		}
	}
	return h
}

// needs counts the allocations that a value cannot do without: one for what a pointer points to, one for the elements of a slice, one
// for what is put into an interface, and for a map what the runtime takes to make one of its size. Strings need none of their own:
// those of a page can share.
func needs(v reflect.Value) (n uint64) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			n = 1 + needs(v.Elem())
		}
	case reflect.Interface:
		if v.IsNil() {
			return 0
		}
		n = needs(v.Elem())
		switch e := v.Elem(); e.Kind() {
		case reflect.Bool, reflect.Map, reflect.Pointer: // need no room
		default:
			if !e.IsZero() {
				n++
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			n += needs(field)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Len() > 0 {
			n = 1
		}
		for i := range v.Len() {
			n += needs(v.Index(i))
		}
	case reflect.Map:
		if !v.IsNil() {
			n = mapNeeds(v.Type(), v.Len())
		}
		for it := v.MapRange(); it.Next(); {
			n += needs(it.Value())
		}
	default: // has nothing elsewhere, or a text
	}
	return n
}

// madeMaps remembers what a map costs, by its type and number of keys.
var madeMaps sync.Map

type madeMap struct {
	of   reflect.Type
	keys int
}

// mapNeeds counts the allocations of a map that is made with room for its keys.
func mapNeeds(of reflect.Type, length int) uint64 {
	if n, ok := madeMaps.Load(madeMap{of, length}); ok {
		return n.(uint64) //nolint:forcetypeassert // nothing else is in it
	}
	keys := make([]reflect.Value, length)
	for i := range keys {
		keys[i] = reflect.ValueOf(string(rune('a' + i))).Convert(of.Key())
	}
	value := reflect.Zero(of.Elem())
	const times = 64 // others may allocate meanwhile
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		m := reflect.MakeMapWithSize(of, length)
		for _, key := range keys {
			m.SetMapIndex(key, value)
		}
	}
	runtime.ReadMemStats(&after)
	n := (after.Mallocs - before.Mallocs) / times
	madeMaps.Store(madeMap{of, length}, n)
	return n
}
