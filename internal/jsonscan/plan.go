package jsonscan

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"sync"
	"time"
	"unsafe"
)

// node is the plan of one type among those that a value consists of. It never changes. Values are written by their offset: by reflection
// alone decoding takes twice as long.
type node struct {
	of     reflect.Type
	slot   int // of what it learns
	read   reader
	isText bool // a string
	left   bool // to encoding/json
	self   bool // encoding/json would do nothing but call its UnmarshalJSON
	quoted bool // it is a struct around a field with the option string

	cost // if encoding/json reads it
}

// reader reads the next value into the one at p. It reports false for a value that does not fit, within which the cursor then stands.
type reader func(d *decoder, p unsafe.Pointer) bool

type planKey struct {
	of      reflect.Type
	lenient bool // of records; the others have the verdict and the values of encoding/json
}

var pools sync.Map // of decoders, by planKey

func borrow(key planKey) *decoder {
	pool, ok := pools.Load(key)
	if !ok {
		b := builder{nodes: make(map[planKey]*node)}
		root, made := b.node(key), new(sync.Pool)
		made.New = func() any { return &decoder{pool: made, root: root, learnt: make([]learnt, len(b.nodes))} }
		pool, _ = pools.LoadOrStore(key, made)
	}
	return pool.(*sync.Pool).Get().(*decoder) //nolint:forcetypeassert // nothing else is in it
}

// builder makes the plan of a type: finished nodes and, because types may be recursive, unfinished ones.
type builder struct{ nodes map[planKey]*node }

func (b *builder) node(key planKey) *node {
	if n, ok := b.nodes[key]; ok {
		return n
	}
	t := key.of
	n := &node{of: t, slot: len(b.nodes)}
	n.once = n.add(make(map[planKey]int), t, false)
	b.nodes[key] = n
	if n.read = b.reader(n, key); n.read == nil {
		n.left, n.self = true, t.Name() != "" && reflect.PointerTo(t).Implements(selfReader) && !streams(t)
		n.read = func(d *decoder, p unsafe.Pointer) bool { return d.give(n, p) == nil }
	}
	if key.lenient && t.Kind() != reflect.Struct && t != textType {
		n.read = leniently(t, n.read)
	}
	return n
}

// leniently makes a reader that reads zero where a value does not fit, whatever a duplicate has left.
func leniently(t reflect.Type, read reader) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		start, depth := d.Mark(), d.depth
		reflect.NewAt(t, p).Elem().SetZero()
		if !read(d, p) && d.bad == "" {
			reflect.NewAt(t, p).Elem().SetZero()
			d.pos, d.depth = start, depth
			d.Skip()
		}
		return d.bad == ""
	}
}

var (
	textType   = reflect.TypeFor[Text]()
	numberType = reflect.TypeFor[json.Number]()
	timeType   = reflect.TypeFor[time.Time]()
)

// reader chooses how values of a type are read. It is nil for a type that is left to encoding/json.
func (b *builder) reader(n *node, key planKey) reader {
	kind, lenient := key.of.Kind(), key.lenient
	exact, isRow := reflect.TypeAssert[row](reflect.New(key.of))
	switch {
	case key.of == textType:
		return readText
	case lenient && isRow:
		inner := b.node(planKey{exact.of(), false})
		return func(d *decoder, p unsafe.Pointer) bool {
			return exact.read(d, inner, p)
		}
	case lenient && key.of == timeType:
		return readUTC
	case key.of == timeType:
		return readTime
	case !lenient && kind != reflect.Pointer && hasMethod(key.of), key.of == numberType:
		return nil
	case lenient && kind == reflect.Struct:
		return b.record(n, key)
	case kind == reflect.Struct:
		return b.object(n, key)
	case kind == reflect.Pointer:
		return b.pointer(n, key)
	case kind == reflect.Slice && key.of.Elem().Kind() != reflect.Uint8:
		return b.slice(n, key)
	case kind == reflect.Int && lenient:
		return readCount
	}
	n.isText = kind == reflect.String
	return readers[kind]
}

// Null has no effect, as in encoding/json: in records, [leniently] comes first.
var readers = map[reflect.Kind]reader{
	reflect.String: readString, reflect.Bool: readBool, reflect.Float32: readFloat[float32], reflect.Float64: readFloat[float64],
	reflect.Int: readInt[int], reflect.Int8: readInt[int8], reflect.Int16: readInt[int16], reflect.Int32: readInt[int32], reflect.Int64: readInt[int64],
	reflect.Uint: readInt[uint], reflect.Uint8: readInt[uint8], reflect.Uint16: readInt[uint16], reflect.Uint32: readInt[uint32], reflect.Uint64: readInt[uint64],
}

func readString(d *decoder, p unsafe.Pointer) bool {
	if !d.Is('"') {
		return d.Null()
	}
	*(*string)(p) = d.String()
	return d.bad == ""
}

func readBool(d *decoder, p unsafe.Pointer) bool {
	if !d.Is('t') && !d.Is('f') {
		return d.Null()
	}
	*(*bool)(p) = d.Bool()
	return d.bad == ""
}

func readInt[V int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64](d *decoder, p unsafe.Pointer) bool {
	n, scale, end := shortNumber(d.data, d.Mark())
	v := V(n)
	if end == 0 || scale != 0 || int64(v) != n || (n < 0) != (v < 0) {
		return d.Null()
	}
	d.pos, *(*V)(p) = end, v
	return true
}

// readFloat divides short numbers, which is as exact as strconv: both are exact themselves, and the quotient is rounded once.
func readFloat[V float32 | float64](d *decoder, p unsafe.Pointer) bool {
	const exact = 1 << 53
	bits := 8 * int(unsafe.Sizeof(V(0)))
	if n, scale, end := shortNumber(d.data, d.Mark()); end > 0 && bits == 64 && -exact < n && n < exact {
		d.pos, *(*V)(p) = end, V(float64(n)/powers[scale])
		return true
	}
	if b := d.peek(); b != '-' && !isDigit(b) {
		return d.Null()
	}
	v, err := strconv.ParseFloat(string(d.Span()), bits)
	*(*V)(p) = V(v)
	return err == nil
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

func readText(d *decoder, p unsafe.Pointer) bool {
	*(*[]byte)(p) = d.Copy(d.Span())
	return d.bad == ""
}

func readTime(d *decoder, p unsafe.Pointer) bool {
	span := d.Span()
	return span != nil && (*time.Time)(p).UnmarshalJSON(span) == nil
}

// readUTC reads what is no time as zero.
func readUTC(d *decoder, p unsafe.Pointer) bool {
	*(*time.Time)(p), _ = Time(d.Text())
	return d.bad == ""
}

// Time reads an ISO 8601 timestamp as UTC; anything else reads as the zero time.
func Time(text []byte) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	return t.UTC(), err == nil
}

// readCount reads whole numbers of records, which may be written as 1.0.
func readCount(d *decoder, p unsafe.Pointer) (ok bool) {
	*(*int)(p), ok = d.IntOK()
	return ok
}

// shortNumber reads a number of at most 18 characters beside its sign, without exponent: n, divided by 10 to the power of scale. For any
// other text, and for a negative zero, end is 0.
func shortNumber(data []byte, i int) (n int64, scale, end int) {
	const most = 18
	negative := i < len(data) && data[i] == '-'
	if negative {
		i++
	}
	start, point := i, math.MaxInt
	for ; i < len(data) && (isDigit(data[i]) || data[i] == '.' && point > i); i++ {
		if data[i] == '.' {
			point = i
		} else {
			n = 10*n + int64(data[i]-'0')
		}
	}
	if point < i {
		scale = i - point - 1
	}
	digits := min(point, i) - start // before the point
	switch {
	case i-start > most, i < len(data) && data[i]|' ' == 'e', digits == 0, data[start] == '0' && digits > 1, point < i && scale == 0, negative && n == 0:
		return 0, 0, 0
	case negative:
		n = -n
	}
	return n, scale, i
}
