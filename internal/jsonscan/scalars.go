package jsonscan

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

func readString(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if !c.Is('"') {
		if d.plan.lenient {
			*(*string)(p) = ""
		}
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
			return d.null()
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

// readCount reads whole numbers of records, which may be written as 1.0.
func readCount(d *decoder, p unsafe.Pointer) (ok bool) {
	*(*int)(p), ok = d.c.IntOK()
	return ok
}

type anyInteger interface {
	int | int8 | int16 | int32 | int64 | uint | uint8 | uint16 | uint32 | uint64 | uintptr
}

func readWhole[I anyInteger](d *decoder, p unsafe.Pointer) (ok bool) {
	n, negative, scale, end := plainNumber(d.c.data, d.c.Mark())
	if end == 0 || scale > 0 {
		return d.null()
	}
	d.c.pos = end
	*(*I)(p), ok = integer[I](n, negative)
	return ok
}

// integer converts n, or its negative, and reports whether it fits.
func integer[I anyInteger](n uint64, negative bool) (i I, fits bool) {
	if negative {
		i = -I(n)
		return i, I(0)-1 < 0 && i <= 0 && uint64(-int64(i)) == n //nolint:gosec // G115: i is not positive
	}
	i = I(n)
	return i, i >= 0 && uint64(i) == n
}

func readFloat[F float32 | float64](d *decoder, p unsafe.Pointer) bool {
	f, ok := d.float(8 * int(unsafe.Sizeof(F(0))))
	if ok {
		*(*F)(p) = F(f)
	}
	return ok || d.null()
}

// A whole number up to maxExact and a power of ten up to 1e22 have no rounding error as float64, and a quotient of two such is
// rounded once: as correctly as strconv does it.
const maxExact = 1 << 53

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float reads a number. It stays before what is none.
func (d *decoder) float(bits int) (float64, bool) {
	c := d.c
	n, negative, scale, end := plainNumber(c.data, c.Mark())
	if end > 0 && bits == 64 && n <= maxExact && scale < len(powers) {
		c.pos = end
		f := float64(n) / powers[scale]
		if negative {
			f = -f
		}
		return f, true
	}
	if !c.more() || c.data[c.pos] != '-' && !isDigit(c.data[c.pos]) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(c.Span()), bits)
	return f, err == nil && c.bad == 0
}

// plainNumber reads a number without an exponent: n, divided by 10 to the power of scale. For one of more than 64 bits, and for any other
// text, end is 0.
func plainNumber(data []byte, i int) (n uint64, negative bool, scale, end int) {
	if negative = i < len(data) && data[i] == '-'; negative {
		i++
	}
	start := i
	n, i = plainDigits(data, i, 0)
	whole := i - start
	point := i < len(data) && data[i] == '.'
	if point {
		n, i = plainDigits(data, i+1, n)
		scale = i - start - whole - 1
	}
	more := i < len(data) && (isDigit(data[i]) || data[i] == 'e' || data[i] == 'E')
	if more || whole == 0 || data[start] == '0' && whole > 1 || point && scale == 0 {
		return 0, false, 0, 0
	}
	return n, negative, scale, i
}

// plainDigits appends the digits at i to n, as long as there is room for them.
func plainDigits(data []byte, i int, n uint64) (uint64, int) {
	const most = math.MaxUint64
	for ; i < len(data) && isDigit(data[i]); i++ {
		digit := uint64(data[i] - '0')
		if n >= most/10 && (n > most/10 || digit > most%10) {
			break
		}
		n = 10*n + digit
	}
	return n, i
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

// readSelf reads types that read themselves. They must not keep the text, which encoding/json also demands.
func readSelf(t reflect.Type) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		span := d.c.Span()
		target, ok := reflect.TypeAssert[json.Unmarshaler](reflect.NewAt(t, p))
		return ok && span != nil && (d.weighing || target.UnmarshalJSON(span) == nil)
	}
}

func readByText(t reflect.Type) reader {
	return among(`"`, func(d *decoder, p unsafe.Pointer) bool {
		text := d.c.Text()
		target, ok := reflect.TypeAssert[encoding.TextUnmarshaler](reflect.NewAt(t, p))
		return ok && d.c.bad == 0 && (d.weighing || target.UnmarshalText(text) == nil)
	})
}
