package budget

import (
	"encoding/binary"
	"math"
	"reflect"
)

// A store keeps the fields of a state, in their order: each number in eight bytes, little-endian.

// format changes with the fields, and with their meaning. A state of another format is discarded.
const format = 9

// wire writes numbers, or reads them back in the same order.
type wire struct {
	data    []byte
	reading bool
	short   bool // or otherwise invalid
}

func encodeState(s *State, last Instant) []byte {
	w := wire{data: make([]byte, 0, 3072)}
	w.int(format)
	w.int(int64(last))
	w.value(reflect.ValueOf(s).Elem())
	return w.data
}

func decodeState(data []byte) (s State, last Instant, ok bool) {
	w := wire{data: data, reading: true}
	if w.int(0) != format {
		return s, 0, false
	}
	last = Instant(w.int(0))
	w.value(reflect.ValueOf(&s).Elem())
	return s, last, !w.short && len(w.data) == 0
}

// word writes a number, or reads the next one instead.
func (w *wire) word(n uint64) uint64 {
	switch {
	case !w.reading:
		w.data = binary.LittleEndian.AppendUint64(w.data, n)
	case len(w.data) < 8:
		w.short, n = true, 0
	default:
		n, w.data = binary.LittleEndian.Uint64(w.data), w.data[8:]
	}
	return n
}

func (w *wire) int(n int64) int64 { return int64(w.word(uint64(n))) } //nolint:gosec // G115: the same bits

// upTo is a number that is not above another.
func (w *wire) upTo(most, n int64) int64 {
	if n = w.int(n); n < 0 || n > most {
		w.short, n = true, 0
	}
	return n
}

// value writes or reads a field, and what is in it.
func (w *wire) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if l, ok := reflect.TypeAssert[*WindowCount](v.Addr()); ok {
			w.windowCount(l)
			return
		}
		for i := range v.NumField() { //nolint:modernize // v.Fields allocates
			w.value(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	case reflect.Bool:
		n := int64(0)
		if v.Bool() {
			n = 1
		}
		v.SetBool(w.upTo(1, n) == 1)
	case reflect.Uint8: // a Window
		v.SetUint(uint64(w.upTo(int64(Day), int64(v.Uint())))) //nolint:gosec // G115: small
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(w.word(math.Float64bits(v.Float()))))
	default:
		v.SetInt(w.int(v.Int()))
	}
}

// windowCount writes or reads only the slots in use, the oldest first.
func (w *wire) windowCount(l *WindowCount) {
	l.Sum, l.Faded, l.Opened = w.int(l.Sum), w.int(l.Faded), Instant(w.int(int64(l.Opened)))
	l.Past, l.Used = int(w.upTo(slots, int64(l.Past))), int(w.upTo(slots, int64(l.Used)))
	if w.reading {
		l.Head = l.Past
	}
	for i := -l.Past; i < l.Used; i++ {
		slot := l.slot(i)
		l.At[slot], l.N[slot] = Instant(w.int(int64(l.At[slot]))), w.int(l.N[slot])
	}
}
