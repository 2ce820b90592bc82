package jsonscan

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

func readString(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if !c.Is('"') {
		return c.Null()
	}
	*(*string)(p) = c.String()
	return c.bad == 0
}

// reading makes a reader of a method that takes every value.
func reading[V any](value func(*Cursor) V) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		*(*V)(p) = value(d.c)
		return d.c.bad == 0
	}
}

// among makes a reader of values that begin with one of some bytes, and of null, which has no effect.
func among(first string, read reader) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		if c := d.c; !c.more() || strings.IndexByte(first, c.data[c.pos]) < 0 {
			return c.Null()
		}
		return read(d, p)
	}
}

// wholeAndFloat are the readers of the kinds of numbers.
var wholeAndFloat = map[reflect.Kind]reader{
	reflect.Int: readWhole[int], reflect.Int8: readWhole[int8], reflect.Int16: readWhole[int16], reflect.Int32: readWhole[int32], reflect.Int64: readWhole[int64],
	reflect.Uint: readWhole[uint], reflect.Uint8: readWhole[uint8], reflect.Uint16: readWhole[uint16], reflect.Uint32: readWhole[uint32],
	reflect.Uint64: readWhole[uint64], reflect.Uintptr: readWhole[uintptr], reflect.Float32: readFloat[float32], reflect.Float64: readFloat[float64],
}

const mostDigits = 21 // of an integer, and one that is too many

func readWhole[I int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr](d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if n, scale, end := plainNumber(c.data, c.pos); end > 0 && scale == 0 {
		c.pos = end
		*(*I)(p) = I(n)
		return int64(I(n)) == n && (n < 0) == (I(n) < 0)
	}
	span := c.Span()
	text, unsigned := string(span[:min(len(span), mostDigits)]), I(0)-1 > 0
	if u, err := strconv.ParseUint(text, 10, 64); err == nil {
		*(*I)(p) = I(u)
		return uint64(I(u)) == u && I(u) >= 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || unsigned {
		return text == "null"
	}
	*(*I)(p) = I(n)
	return int64(I(n)) == n
}

func readFloat[F float32 | float64](d *decoder, p unsafe.Pointer) bool {
	f, ok := d.float(8 * int(unsafe.Sizeof(F(0))))
	if ok {
		*(*F)(p) = F(f)
	}
	return ok || d.c.Null()
}

// float reads a number. It stays before what is none, or none of that size.
func (d *decoder) float(bits int) (float64, bool) {
	c := d.c
	if n, scale, end := plainNumber(c.data, c.pos); end > 0 && bits == 64 && -maxExact <= n && n <= maxExact {
		c.pos = end
		return float64(n) / powers[scale], true
	}
	if !c.more() || c.data[c.pos] != '-' && !isDigit(c.data[c.pos]) {
		return 0, false
	}
	span := c.Span()
	f, err := strconv.ParseFloat(string(span), bits)
	return f, err == nil && c.bad == 0
}

func readTime(d *decoder, p unsafe.Pointer) bool {
	span := d.c.Span()
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

func readBytes(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if !c.Is('"') {
		*(*[]byte)(p) = nil // of duplicates
		return c.Null()
	}
	text := c.Text()
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	*(*[]byte)(p) = out[:n]
	return err == nil && c.bad == 0
}

// readSelf reads types that read themselves. They must not keep the text, which encoding/json also demands.
func readSelf(t reflect.Type) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		span := d.c.Span()
		target, ok := reflect.TypeAssert[json.Unmarshaler](reflect.NewAt(t, p))
		return ok && span != nil && target.UnmarshalJSON(span) == nil
	}
}

func readByText(t reflect.Type) reader {
	return among(`"`, func(d *decoder, p unsafe.Pointer) bool {
		text := d.c.Text()
		target, ok := reflect.TypeAssert[encoding.TextUnmarshaler](reflect.NewAt(t, p))
		return ok && d.c.bad == 0 && target.UnmarshalText(text) == nil
	})
}

// quoted reads values of the option "string": a number or a boolean in quotes, a string in quotes twice. What is written in
// any unusual way is left to encoding/json.
func (b *builder) quoted(t reflect.Type, n *node) *node {
	if t.Name() == "" && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	scalar := t.Kind() >= reflect.Bool && t.Kind() <= reflect.Float64 || t.Kind() == reflect.String
	if p := reflect.PointerTo(t); !scalar || p.Implements(selfReader) || p.Implements(textReader) || t == numberType {
		return &node{as: n, read: func(*decoder, unsafe.Pointer) bool { return false }} // versions of encoding/json differ
	}
	return &node{as: n, read: func(d *decoder, p unsafe.Pointer) bool {
		if !d.c.Is('"') {
			return false
		}
		outer := d.c
		inner := New(append([]byte(nil), outer.Text()...))
		inner.pos = 0
		if text := inner.data; outer.bad != 0 || len(text) == 0 || text[0] <= ' ' || text[0] == 'n' || bytes.Contains(text, []byte(`\u`)) {
			return false
		}
		d.c = &inner
		fits := n.read(d, p) && inner.pos == len(inner.data)
		d.c = outer
		return fits
	}}
}
