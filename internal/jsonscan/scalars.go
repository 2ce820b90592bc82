package jsonscan

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strconv"
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

func readStringLeniently(d *decoder, p unsafe.Pointer) bool {
	*(*string)(p) = d.c.String()
	return d.c.bad == 0
}

func readBool(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if !c.Is('t') && !c.Is('f') {
		return c.Null()
	}
	*(*bool)(p) = c.Bool()
	return c.bad == 0
}

func readBoolLeniently(d *decoder, p unsafe.Pointer) bool {
	*(*bool)(p) = d.c.Bool()
	return d.c.bad == 0
}

func readIntLeniently(d *decoder, p unsafe.Pointer) bool {
	*(*int)(p) = d.c.Int()
	return d.c.bad == 0
}

func readFloatLeniently(d *decoder, p unsafe.Pointer) bool {
	*(*float64)(p) = d.c.Float()
	return d.c.bad == 0
}

// seldom are the readers of the kinds that are seldom met.
var seldom = [...]reader{
	reflect.Int8: readSigned[int8], reflect.Int16: readSigned[int16], reflect.Int32: readSigned[int32], reflect.Int64: readSigned[int64],
	reflect.Uint: readUnsigned[uint], reflect.Uint8: readUnsigned[uint8], reflect.Uint16: readUnsigned[uint16], reflect.Uint32: readUnsigned[uint32],
	reflect.Uint64: readUnsigned[uint64], reflect.Uintptr: readUnsigned[uintptr],
	reflect.Float32: readFloat32, reflect.UnsafePointer: nil,
}

func readSigned[I int | int8 | int16 | int32 | int64](d *decoder, p unsafe.Pointer) bool {
	c := d.c
	n, scale, end := plainNumber(c.data, c.pos)
	if end > 0 && scale == 0 {
		c.pos = end
	} else {
		span := c.Span()
		var err error
		if n, err = strconv.ParseInt(string(span), 10, 64); err != nil {
			return string(span) == "null"
		}
	}
	*(*I)(p) = I(n)
	return int64(I(n)) == n
}

func readUnsigned[U uint | uint8 | uint16 | uint32 | uint64 | uintptr](d *decoder, p unsafe.Pointer) bool {
	span := d.c.Span()
	n, err := strconv.ParseUint(string(span), 10, 64)
	if err != nil {
		return string(span) == "null"
	}
	*(*U)(p) = U(n)
	return uint64(U(n)) == n
}

func readFloat64(d *decoder, p unsafe.Pointer) bool {
	f, ok := d.float(64)
	if ok {
		*(*float64)(p) = f
		return true
	}
	return d.c.Null()
}

func readFloat32(d *decoder, p unsafe.Pointer) bool {
	f, ok := d.float(32)
	if ok {
		*(*float32)(p) = float32(f)
		return true
	}
	return d.c.Null()
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

func readNumber(d *decoder, p unsafe.Pointer) bool {
	c := d.c
	if !c.more() || c.data[c.pos] != '-' && !isDigit(c.data[c.pos]) {
		return c.Null()
	}
	*(*string)(p) = c.keep(c.Span())
	return c.bad == 0
}

func readRaw(d *decoder, p unsafe.Pointer) bool {
	*(*json.RawMessage)(p) = d.c.Value()
	return d.c.bad == 0
}

func readText(d *decoder, p unsafe.Pointer) bool {
	*(*Text)(p) = d.c.Value()
	return d.c.bad == 0
}

// readTime takes what time.Time itself makes of all but the usual form.
func readTime(d *decoder, p unsafe.Pointer) bool {
	span := d.c.Span()
	if n := len(span) - 1; n > 0 && span[0] == '"' {
		if t, ok := instant(span[1:n]); ok {
			*(*time.Time)(p) = t
			return true
		}
	}
	return span != nil && (*time.Time)(p).UnmarshalJSON(span) == nil
}

func readTimeLeniently(d *decoder, p unsafe.Pointer) bool {
	*(*time.Time)(p) = Time(d.c.Text())
	return d.c.bad == 0
}

// Time reads an ISO 8601 timestamp as UTC; anything else reads as the zero time.
func Time(text []byte) time.Time {
	if t, ok := instant(text); ok {
		return t
	}
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// instant reads the form 2006-01-02T15:04:05Z, with up to nine digits of fractions.
func instant(s []byte) (time.Time, bool) {
	const form = "0000-00-00T00:00:00"
	if len(s) <= len(form) || len(s) > len(form)+11 || s[len(s)-1] != 'Z' {
		return time.Time{}, false
	}
	for i := range len(form) {
		if form[i] == '0' && !isDigit(s[i]) || form[i] != '0' && s[i] != form[i] {
			return time.Time{}, false
		}
	}
	nano := 0
	if fraction := s[len(form) : len(s)-1]; len(fraction) > 0 {
		if fraction[0] != '.' || len(fraction) == 1 {
			return time.Time{}, false
		}
		scale := 1_000_000_000
		for _, b := range fraction[1:] {
			if !isDigit(b) {
				return time.Time{}, false
			}
			scale /= 10
			nano += int(b-'0') * scale
		}
	}
	two := func(i int) int { return 10*int(s[i]-'0') + int(s[i+1]-'0') }
	year, month, day := 100*two(0)+two(2), time.Month(two(5)), two(8)
	hour, minute, second := two(11), two(14), two(17)
	if month < 1 || month > 12 || day < 1 || day > 28 && day > lastDay(year, month) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	return time.Date(year, month, day, hour, minute, second, nano, time.UTC), true
}

func lastDay(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
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

// readSelf reads types that read themselves. They must not keep the text, as encoding/json demands, too.
func readSelf(t reflect.Type) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		span := d.c.Span()
		target, ok := reflect.TypeAssert[json.Unmarshaler](reflect.NewAt(t, p))
		return ok && span != nil && target.UnmarshalJSON(span) == nil
	}
}

func readByText(t reflect.Type) reader {
	return func(d *decoder, p unsafe.Pointer) bool {
		if !d.c.Is('"') {
			return d.c.Null()
		}
		text := d.c.Text()
		target, ok := reflect.TypeAssert[encoding.TextUnmarshaler](reflect.NewAt(t, p))
		return ok && d.c.bad == 0 && target.UnmarshalText(text) == nil
	}
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
