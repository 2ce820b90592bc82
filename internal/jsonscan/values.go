package jsonscan

import (
	"math"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// leniently makes a reader that reads zero where a value does not fit.
func leniently(t reflect.Type, read reader) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		start, depth := d.Mark(), d.depth
		if !d.Is('n') && read(d, p) {
			return true
		}
		if d.bad != 0 || d.failed != nil {
			return false
		}
		reflect.NewAt(t, p).Elem().SetZero()
		d.pos, d.depth = start, depth
		d.Skip()
		return d.bad == 0
	}
}

// reading makes a reader of a method that takes every value.
func reading[V any](value func(*Cursor) V) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		*(*V)(p) = value(&d.Cursor)
		return d.bad == 0
	}
}

// In the following readers, null has no effect, as in encoding/json: in records, [leniently] comes first.

func readString(d *decoder, p unsafe.Pointer) bool {
	if !d.Is('"') {
		return d.Null()
	}
	*(*string)(p) = d.String()
	return d.bad == 0
}

func readBool(d *decoder, p unsafe.Pointer) bool {
	if !d.Is('t') && !d.Is('f') {
		return d.Null()
	}
	*(*bool)(p) = d.Bool()
	return d.bad == 0
}

func readTime(d *decoder, p unsafe.Pointer) bool {
	span := d.Span()
	return span != nil && (*time.Time)(p).UnmarshalJSON(span) == nil
}

// Time reads an ISO 8601 timestamp as UTC; anything else reads as the zero time.
func Time(text []byte) time.Time {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// readCount reads whole numbers of records, which may be written as 1.0.
func readCount(d *decoder, p unsafe.Pointer) (ok bool) {
	*(*int)(p), ok = d.IntOK()
	return ok
}

// ofNumbers are the readers of the kinds of numbers.
var ofNumbers = map[reflect.Kind]reader{
	reflect.Int: readBy[int](parseInt), reflect.Int8: readBy[int8](parseInt), reflect.Int16: readBy[int16](parseInt), reflect.Int32: readBy[int32](parseInt),
	reflect.Int64: readBy[int64](parseInt), reflect.Uint: readBy[uint](parseUint), reflect.Uint8: readBy[uint8](parseUint), reflect.Uint16: readBy[uint16](parseUint),
	reflect.Uint32: readBy[uint32](parseUint), reflect.Uint64: readBy[uint64](parseUint), reflect.Float32: readBy[float32](strconv.ParseFloat),
	reflect.Float64: readDouble,
}

func parseInt(text string, bits int) (int64, error)   { return strconv.ParseInt(text, 10, bits) }
func parseUint(text string, bits int) (uint64, error) { return strconv.ParseUint(text, 10, bits) }

type numeric interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

// readBy makes a reader of a parser.
func readBy[V, W numeric](parse func(text string, bits int) (W, error)) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		if n, scale, end := shortNumber(d.data, d.Mark()); end > 0 && scale == 0 && int64(V(n)) == n {
			d.pos, *(*V)(p) = end, V(n)
			return true
		}
		text, ok := d.number()
		if !ok {
			return d.Null()
		}
		n, err := parse(text, 8*int(unsafe.Sizeof(V(0))))
		*(*V)(p) = V(n)
		return err == nil
	}
}

var (
	readAnyDouble = readBy[float64](strconv.ParseFloat)
	powers        = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14}
)

// readDouble divides short numbers, which is as exact as strconv: both are exact themselves, and the quotient is rounded once.
func readDouble(d *decoder, p unsafe.Pointer) bool {
	n, scale, end := shortNumber(d.data, d.Mark())
	if end == 0 {
		return readAnyDouble(d, p)
	}
	d.pos, *(*float64)(p) = end, float64(n)/powers[scale]
	return true
}

// shortNumber reads a number of at most 15 characters, without sign and exponent: n, divided by 10 to the power of scale. For any other text, end is 0.
func shortNumber(data []byte, i int) (n int64, scale, end int) {
	const most = 15
	start, point := i, 0
	for ; i < len(data) && (isDigit(data[i]) || data[i] == '.' && point == 0); i++ {
		if data[i] == '.' {
			point = i
		} else {
			n = 10*n + int64(data[i]-'0')
		}
	}
	if point > 0 {
		scale = i - point - 1
	} else {
		point = i
	}
	long := i-start > most || i < len(data) && data[i]|' ' == 'e'
	if long || point == start || data[start] == '0' && point > start+1 || point < i && scale == 0 {
		return 0, 0, 0
	}
	return n, scale, i
}

// number reads over a number. Its text is a part of the data, and empty if it is damaged.
func (d *decoder) number() (text string, ok bool) {
	if !d.more() || d.data[d.pos] != '-' && !isDigit(d.data[d.pos]) {
		return "", false
	}
	span := d.Span()
	return unsafe.String(unsafe.SliceData(span), len(span)), true
}

// readAny reads a value without a type.
func readAny(d *decoder, p unsafe.Pointer) (ok bool) {
	if *(*any)(p) != nil {
		return false
	}
	*(*any)(p), ok = d.any()
	return ok
}

func (d *decoder) any() (value any, ok bool) {
	switch {
	case d.Is('"'):
		return d.String(), d.bad == 0
	case d.Is('{'):
		usual := &d.usual[d.depth%len(d.usual)]
		made := make(map[string]any, *usual)
		ok = d.entries(int(anyType.Size()), func(key string) (ok bool) {
			made[key], ok = d.any()
			return ok
		})
		*usual = min(len(made), maxUsual)
		return made, ok
	case d.Is('['):
		made := []any{}
		for ok = d.open('[') && d.Spend(sliceHeader); ok && d.next(']') && d.Spend(anyCost); {
			if value, ok = d.any(); !ok {
				return nil, false
			}
			made = append(made, value)
		}
		return made, d.bad == 0
	case d.Is('t'), d.Is('f'):
		return d.Bool(), d.bad == 0
	case d.Null():
		return nil, true
	}
	var f float64
	ok = readDouble(d, unsafe.Pointer(&f))
	return f, ok
}

// entries reads an object with any keys, whose values take so many bytes in a map.
func (d *decoder) entries(size int, read func(key string) bool) bool {
	if !d.Spend(mapHeader) || !d.open('{') {
		return false
	}
	for n := 0; d.next('}'); n++ {
		key, ok := d.key()
		if d.depth == d.row && string(key) == "id" {
			d.id = d.pos
		}
		if !ok || !d.Spend(entryCost(n, size)) || !read(d.keep(key)) {
			return false
		}
	}
	return d.bad == 0
}

// dictionary plans a map.
func (b *builder) dictionary(t reflect.Type) reader {
	elem, lenient, untyped := b.node(t.Elem()), b.lenient, t == reflect.TypeFor[map[string]any]()
	if t.Key().Kind() != reflect.String || readsItself(t.Key()) || elem.left {
		return nil
	}
	return func(d *decoder, p unsafe.Pointer) bool {
		target := reflect.NewAt(t, p).Elem()
		switch {
		case !target.IsNil() && !lenient:
			return false
		case !d.Is('{'):
			return d.Null()
		case untyped: // package reflect takes twice as long
			made, ok := d.any()
			*(*map[string]any)(p), _ = made.(map[string]any)
			return ok
		}
		usual := &d.usual[d.depth%len(d.usual)]
		made, name, value := reflect.MakeMapWithSize(t, *usual), reflect.New(t.Key()).Elem(), reflect.New(t.Elem())
		target.Set(made)
		ok := d.entries(int(t.Elem().Size()), func(key string) bool {
			ok := elem.read(d, value.UnsafePointer())
			name.SetString(key)
			made.SetMapIndex(name, value.Elem())
			value.Elem().SetZero()
			return ok
		})
		*usual = min(made.Len(), maxUsual)
		return ok
	}
}

// A pointer or slice that is there already means a second key of the same name: encoding/json merges the two in ways of its own. The last one
// counts in records.

func (b *builder) pointer(to reflect.Type) reader {
	inner, size, lenient := b.node(to), int(to.Size()), b.lenient
	if inner.left {
		return nil
	}
	return func(d *decoder, p unsafe.Pointer) bool {
		pointer := (*unsafe.Pointer)(p)
		if *pointer != nil && !lenient {
			return false
		}
		if d.Null() {
			return true
		}
		if !d.Spend(size) {
			return false
		}
		*pointer = reflect.New(to).UnsafePointer()
		return inner.read(d, *pointer)
	}
}

// slice is what a slice is in memory.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

func (b *builder) slice(n *node, t reflect.Type) reader {
	elem, size, lenient := b.node(t.Elem()), int(t.Elem().Size()), b.lenient
	if elem.left || t.Elem().Kind() == reflect.Uint8 {
		return nil
	}
	none, slot := reflect.MakeSlice(t, 0, 0), n.slot
	return func(d *decoder, p unsafe.Pointer) bool {
		s, v, most := (*slice)(p), reflect.NewAt(t, p).Elem(), math.MaxInt
		if s.data != nil && !lenient {
			return false
		}
		*s = slice{}
		if !d.Is('[') {
			return d.Null()
		}
		if d.open('['); lenient && d.depth > 2 {
			most = mostElements
		} else if lenient {
			most = d.most
		}
		usual := &d.learnt[slot].length
		for n := 0; d.next(']'); n++ {
			if n == most {
				d.bad = tooMany
			}
			if !d.Spend(size) {
				return false
			}
			if n == s.cap {
				v.Grow(int(min(int64(max(n, min(*usual-n, maxUsual), 1)), d.left/int64(max(size, 1))+1)))
			}
			s.len = n + 1
			if !elem.read(d, unsafe.Add(s.data, n*size)) {
				return false
			}
		}
		if s.len == 0 {
			v.Set(none)
		}
		*usual = max(s.len, min(*usual, few/max(size, 1))) // a few elements more take less than to make room for them later
		return d.bad == 0
	}
}

const (
	maxUsual = 1 << 10 // elements that there is room for because the last slice was long
	few      = 256     // bytes that there is room for because any slice before was as long
)
