package jsonscan

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"math/bits"
	"reflect"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Three bytes of text can become a struct of many kilobytes. So a cursor has an allowance in bytes for the values that are made of its
// text: whoever makes elements spends it, and when nothing is left the cursor stops with an error. What is left to encoding/json is weighed
// before. What a decoder fills by itself are fields, strings and maps of strings, which are not much larger than their text.

const (
	perByte   = 4        // of a text
	allowance = 16 << 20 // for the text itself
)

// ErrTooMuch is in the errors of texts that are valid, but hold more than a caller has asked for or has memory for.
var ErrTooMuch = errors.New("the response holds too much")

func allowanceFor(data []byte) int64 { return allowance + perByte*int64(len(data)) }

// Spend notes that a value takes n bytes of memory beside its text. It reports whether the cursor may go on.
func (c *Cursor) Spend(n int) bool {
	if c.left -= int64(n); c.left < 0 && c.bad == 0 {
		c.bad = tooMuch
	}
	return c.bad == 0
}

// Affords returns how many values of n bytes may still be made.
func (c *Cursor) Affords(n int) int { return int(max(0, c.left) / int64(max(1, n))) }

// Refuse stops the cursor at an element that is one too many.
func (c *Cursor) Refuse() {
	if c.bad == 0 {
		c.bad = tooMany
	}
}

// growth tells what encoding/json makes of a text beside the value itself and the bytes of its strings. Nil stands for types that
// hold no slice, map, pointer or interface, and for those that read themselves.
type growth struct {
	kind   reflect.Kind
	size   int                  // of an element, of what a pointer points to, of an embedded pointer's structs
	slot   int                  // of an entry of a map
	most   int                  // elements of an array
	elem   *growth              // of elements, entries, and what a pointer points to
	fields map[string][]*growth // of a struct, by folded name: encoding/json fills one of them
}

// Of the maps of Go: a header, and groups of eight entries, in which large values are pointers.
const (
	mapHeader = 48
	mapGroup  = 8
	mapDirect = 128
	wordSize  = bits.UintSize / 8
)

var anything = func() *growth {
	g := &growth{kind: reflect.Interface, size: 2 * wordSize, slot: 4 * wordSize}
	g.elem = g
	return g
}()

// growths has those that were made, by type.
var growths sync.Map

func growthOf(t reflect.Type) *growth {
	g, ok := growths.Load(t)
	if !ok {
		g, _ = growths.LoadOrStore(t, newGrowth(t, make(map[reflect.Type]*growth)))
	}
	return g.(*growth) //nolint:forcetypeassert // nothing else is in it
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// newGrowth makes the growth of a type. A type that holds itself does so by a pointer, slice or map, which always grows.
func newGrowth(t reflect.Type, known map[reflect.Type]*growth) *growth {
	if g, ok := known[t]; ok {
		return g
	}
	if p := reflect.PointerTo(t); t.Name() != "" && (p.Implements(unmarshaler) || p.Implements(textUnmarshaler)) {
		return nil
	}
	g := &growth{kind: t.Kind()}
	known[t] = g
	switch t.Kind() {
	case reflect.Interface:
		if g = anything; t.NumMethod() > 0 {
			g = nil
		}
	case reflect.Pointer, reflect.Slice:
		g.size, g.elem = int(t.Elem().Size()), newGrowth(t.Elem(), known)
	case reflect.Map:
		g.elem, g.slot = newGrowth(t.Elem(), known), int(t.Key().Size()+t.Elem().Size())
		if size := int(t.Elem().Size()); size > mapDirect {
			g.size, g.slot = size, g.slot-size+wordSize
		}
	case reflect.Array:
		if g.elem, g.most = newGrowth(t.Elem(), known), t.Len(); g.elem == nil {
			g = nil
		}
	case reflect.Struct:
		if g.fields = make(map[string][]*growth); !g.addFields([]reflect.Type{t}, known) {
			g = nil
		}
	default:
		g = nil
	}
	known[t] = g
	return g
}

// addFields adds the fields of the last of some structs, each embedded in the one before, and reports whether any of them grows.
func (g *growth) addFields(structs []reflect.Type, known map[reflect.Type]*growth) bool {
	for f := range structs[len(structs)-1].Fields() {
		name, _, _ := bytes.Cut([]byte(f.Tag.Get("json")), []byte(","))
		inner := f.Type
		if f.Anonymous && inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && len(name) == 0 && inner.Kind() == reflect.Struct:
			if slices.Contains(structs, inner) {
				continue
			}
			if inner != f.Type {
				g.size += int(inner.Size())
			}
			g.addFields(append(structs, inner), known)
			continue
		case !f.IsExported():
			continue
		case len(name) == 0:
			name = []byte(f.Name)
		}
		if field := newGrowth(f.Type, known); field != nil {
			g.fields[string(fold(nil, name))] = append(g.fields[string(fold(nil, name))], field)
		}
	}
	return g.size > 0 || len(g.fields) > 0
}

// weigh reads over the next value and spends what encoding/json would make of it.
func (g *growth) weigh(c *Cursor) {
	switch {
	case g == nil, c.Is('n'):
		c.Skip()
	case g.kind == reflect.Pointer:
		c.Spend(g.size)
		g.elem.weigh(c)
	case c.Is('[') && (g.kind == reflect.Slice || g.kind == reflect.Array || g == anything):
		g.weighElements(c)
	case c.Is('{') && (g.kind == reflect.Map || g == anything):
		g.weighEntries(c)
	case c.Is('{') && g.kind == reflect.Struct:
		g.weighFields(c)
	default:
		switch {
		case g == anything && c.Is('"'):
			c.Spend(2 * wordSize)
		case g == anything:
			c.Spend(wordSize)
		}
		c.Skip()
	}
}

func (g *growth) weighElements(c *Cursor) {
	if g == anything {
		c.Spend(3 * wordSize)
	}
	c.open('[')
	for n := 0; c.next(']'); n++ {
		if g.kind == reflect.Array && n >= g.most {
			c.Skip()
			continue
		}
		c.Spend(g.size)
		g.elem.weigh(c)
	}
}

func (g *growth) weighEntries(c *Cursor) {
	c.Spend(mapHeader)
	c.open('{')
	for n := 0; ; n++ {
		if _, ok := c.member(); !ok {
			return
		}
		if n%mapGroup == 0 {
			c.Spend(mapGroup * (g.slot + 1))
		}
		if g != anything {
			c.Spend(g.size)
		}
		g.elem.weigh(c)
	}
}

func (g *growth) weighFields(c *Cursor) {
	c.Spend(g.size)
	c.open('{')
	for name, ok := c.member(); ok; name, ok = c.member() {
		c.folded = fold(c.folded[:0], name)
		fields := g.fields[string(c.folded)]
		if len(fields) == 0 {
			c.Skip()
		}
		start := c.pos
		for _, field := range fields {
			if c.bad == 0 {
				c.pos = start
			}
			field.weigh(c)
		}
	}
}

// fold appends a name as encoding/json compares names: without the difference between letters that differ in case only.
func fold(out, name []byte) []byte {
	for i := 0; i < len(name); {
		b := name[i]
		if b < utf8.RuneSelf {
			if 'a' <= b && b <= 'z' {
				b -= 'a' - 'A'
			}
			out, i = append(out, b), i+1
			continue
		}
		r, n := utf8.DecodeRune(name[i:])
		for next := unicode.SimpleFold(r); ; next = unicode.SimpleFold(next) {
			if next <= r {
				r = next
				break
			}
		}
		out, i = utf8.AppendRune(out, r), i+n
	}
	return out
}
