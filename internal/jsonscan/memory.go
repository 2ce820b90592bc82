package jsonscan

import (
	"bytes"
	"reflect"
)

// What a value takes in memory beside its text.
const (
	anyCost     = 32 // one in an interface: that, and what it points to
	sliceHeader = 24
	mapHeader   = 48
)

// entryCost is what entry n of a map of Go's takes: there are groups of eight, in which large values are pointers.
func entryCost(n, size int) int {
	const group, direct, keyAndControl, word = 8, 128, 17, 8
	slot, own := keyAndControl+size, 0
	if size > direct {
		slot, own = keyAndControl+word, size
	}
	if n == 0 {
		return own + group*slot
	} else if n >= group {
		return own + 2*slot
	}
	return own
}

// largest is what one value within a value of a type may take at most, as encoding/json makes it.
func largest(t reflect.Type) int { return largestBut(make(map[reflect.Type]bool), t, false) }

func largestBut(seen map[reflect.Type]bool, t reflect.Type, promoted bool) (most int) {
	if seen[t] || !promoted && t.Name() != "" && readsItself(t) { // of nameless ones, versions of encoding/json differ in whether they do
		return 0
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return mapHeader + anyCost
	case reflect.Map:
		return mapHeader + entryCost(1<<10, int(t.Elem().Size())) + largestBut(seen, t.Elem(), false)
	case reflect.Pointer, reflect.Slice:
		return int(t.Elem().Size()) + largestBut(seen, t.Elem(), false)
	case reflect.Array:
		return largestBut(seen, t.Elem(), false)
	case reflect.Struct:
		for f := range t.Fields() {
			most = max(most, largestBut(seen, f.Type, f.Anonymous))
		}
	default:
	}
	return most
}

// affords reports whether there is memory for what encoding/json makes of a text. It takes each value in it for the largest.
func (d *decoder) affords(text []byte, n *node) bool {
	if n.largest == 0 {
		return true
	}
	return d.Spend(n.largest * (1 + bytes.Count(text, []byte(",")) + bytes.Count(text, []byte("[")) + bytes.Count(text, []byte("{"))))
}

// Spend notes that a value takes n bytes of memory beside its text: three bytes of text can become a struct of many kilobytes. It reports
// whether the cursor may go on.
func (c *Cursor) Spend(n int) bool {
	if c.left -= int64(n); c.left < 0 && c.bad == 0 {
		c.bad = tooMuch
	}
	return c.bad == 0
}
