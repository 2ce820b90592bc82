package budget

import (
	"encoding/binary"
	"math"
)

// A store keeps a list of numbers, each a double in eight bytes, little-endian: all integers here are small enough to be exact.

// format changes with the meaning of the list. A state of another format is discarded.
const format = 6

// wire writes numbers, or reads them back in the same order.
type wire struct {
	data    []byte
	reading bool
	short   bool // or otherwise invalid
}

func (w *wire) float(v *float64) {
	switch {
	case !w.reading:
		w.data = binary.LittleEndian.AppendUint64(w.data, math.Float64bits(*v))
	case len(w.data) < 8:
		w.short = true
		*v = 0
	default:
		*v = math.Float64frombits(binary.LittleEndian.Uint64(w.data))
		w.data = w.data[8:]
	}
}

func number[T ~int | ~int8 | ~int64](w *wire, v *T) {
	f := float64(*v)
	w.float(&f)
	*v = T(f)
}

func numbers[T ~int64](w *wire, vs ...*T) {
	for _, v := range vs {
		number(w, v)
	}
}

// name reads or writes one of a few named values, from zero up to the last.
func name[T ~uint8](w *wire, v *T, last T) {
	n := int(*v)
	if number(w, &n); n < 0 || n > int(last) {
		w.short, n = true, 0
	}
	*v = T(n)
}

func (w *wire) flag(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	number(w, &n)
	*v = n != 0
}

// count reads or writes the length of a list of slots, which take two numbers each.
func (w *wire) count(n int) int {
	number(w, &n)
	if w.reading && (n < 0 || n > len(w.data)/16) {
		w.short = true
		return 0
	}
	return n
}

func (w *wire) header() bool {
	f := format
	number(w, &f)
	return f == format && !w.short
}

func encodeState(s *State, last Instant) []byte {
	w := wire{data: make([]byte, 0, 3072)}
	w.header()
	number(&w, &last)
	w.state(s)
	return w.data
}

func decodeState(data []byte) (s State, last Instant, ok bool) {
	w := wire{data: data, reading: true}
	if !w.header() {
		return s, 0, false
	}
	number(&w, &last)
	w.state(&s)
	return s, last, !w.short && len(w.data) == 0
}

func (w *wire) config(c *Config) {
	number(w, &c.PerMinute)
	number(w, &c.PerDay)
	number(w, &c.Reserve)
	w.float(&c.Share)
}

func (w *wire) state(s *State) {
	w.config(&s.Config)
	numbers(w, &s.Dispatched, &s.Completed, &s.LateOld, &s.LateNew)
	for i := range s.Open {
		number(w, &s.Open[i].From)
		number(w, &s.Open[i].N)
		number(w, &s.Open[i].Trip)
	}
	numbers(w, &s.BlindAt, &s.LateTurn, &s.PacedUntil, &s.HeldUntil, &s.ProbeUntil)
	numbers(w, &s.Born, &s.Epoch)
	number(w, &s.Strikes)
	name(w, &s.HeldIn, Day)
	number(w, &s.Weighs)
	number(w, &s.Refills)
	number(w, &s.Drips)
	w.flag(&s.Told)
	number(w, &s.Silent)
	number(w, &s.Allowed)
	w.figures(&s.Figures)
	w.others(&s.Others)
	for _, window := range [...]Window{Minute, Day} {
		number(w, &s.Limits[window].Max)
		name(w, &s.Limits[window].Source, Learned)
		w.windowCount(&s.Counts[window])
		numbers(w, &s.Edges[window].From, &s.Edges[window].By)
		number(w, &s.Edges[window].Since)
		w.float(&s.Buckets[window].Missing)
		number(w, &s.Buckets[window].At)
	}
}

func (w *wire) figures(f *Figures) {
	w.flag(&f.Valid)
	number(w, &f.Remaining)
	number(w, &f.Known)
	number(w, &f.Mark)
	name(w, &f.Window, Day)
	w.flag(&f.HasReset)
	numbers(w, &f.At, &f.Sent, &f.ResetFrom, &f.ResetBy)
}

func (w *wire) others(o *Others) {
	numbers(w, &o.Low, &o.High, &o.Seen, &o.Mark)
	for _, v := range [...]*float64{&o.Sum, &o.Span, &o.Level} {
		w.float(v)
	}
	number(w, &o.Slides)
	numbers(w, &o.At, &o.Until)
}

// windowCount reads or writes only the slots in use, the oldest first.
func (w *wire) windowCount(l *WindowCount) {
	number(w, &l.Sum)
	number(w, &l.Faded)
	number(w, &l.Opened)
	l.Past = min(w.count(l.Past), slots)
	l.Used = min(w.count(l.Used), slots)
	if w.reading {
		l.Head = l.Past
	}
	for i := -l.Past; i < l.Used; i++ {
		number(w, &l.At[l.slot(i)])
		number(w, &l.N[l.slot(i)])
	}
}
