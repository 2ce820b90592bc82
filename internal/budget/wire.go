package budget

import (
	"encoding/binary"
	"errors"
	"math"
	"time"
)

// A store keeps a list of numbers, each a double in eight bytes, little-endian. Every language can read that, and all integers here
// are small enough to be exact.

// format changes with the meaning of the list. A state of another format is discarded.
const format = 3

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

func (w *wire) span(v *time.Duration) {
	i := min(max(instant(*v), 0), 2*longestHold)
	number(w, &i)
	*v = i.Duration()
}

// count reads or writes the length of a list whose elements take so many numbers each.
func (w *wire) count(n, size int) int {
	number(w, &n)
	if w.reading && (n < 0 || n > len(w.data)/8/size) {
		w.short = true
		return 0
	}
	return n
}

func list[T any](w *wire, elements *[]T, size int, each func(*wire, *T)) {
	n := w.count(len(*elements), size)
	if w.reading && n > 0 {
		*elements = make([]T, n)
	}
	for i := range *elements {
		each(w, &(*elements)[i])
	}
}

func (w *wire) header() bool {
	f := format
	number(w, &f)
	return f == format && !w.short
}

var errMalformed = errors.New("budget: not what this version writes")

func (w *wire) err() error {
	if w.short || len(w.data) > 0 {
		return errMalformed
	}
	return nil
}

// Encode writes an ask as a list of numbers.
func (a *Ask) Encode() []byte {
	w := wire{data: make([]byte, 0, 8*(10+permitSize*len(a.Reports)+len(a.Wanted)))}
	w.header()
	w.ask(a)
	return w.data
}

// Decode reads what Encode wrote.
func (a *Ask) Decode(data []byte) error {
	w := wire{data: data, reading: true}
	if !w.header() {
		return errMalformed
	}
	w.ask(a)
	return w.err()
}

// Encode writes a reply as a list of numbers.
func (r *Reply) Encode() []byte {
	var w wire
	w.header()
	w.reply(r)
	return w.data
}

// Decode reads what Encode wrote.
func (r *Reply) Decode(data []byte) error {
	w := wire{data: data, reading: true}
	if !w.header() {
		return errMalformed
	}
	w.reply(r)
	return w.err()
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
	return s, last, w.err() == nil
}

func (w *wire) config(c *Config) {
	number(w, &c.PerMinute)
	number(w, &c.PerDay)
	number(w, &c.Reserve)
	w.float(&c.Share)
}

func (w *wire) ask(a *Ask) {
	w.config(&a.Config)
	w.flag(&a.Returned)
	number(w, &a.Elsewhere)
	list(w, &a.Reports, permitSize+observationSize, (*wire).report)
	list(w, &a.Wanted, 1, func(w *wire, p *Priority) { name(w, p, Batch) })
}

const (
	permitSize      = 6
	observationSize = 11
)

func (w *wire) permit(p *Permit) {
	number(w, &p.Then)
	number(w, &p.Epoch)
	number(w, &p.Own)
	number(w, &p.At)
	w.flag(&p.Probe)
	w.flag(&p.Bare)
}

func (w *wire) report(r *Report) {
	w.permit(&r.Permit)
	o := &r.Observation
	number(w, &o.Limit)
	number(w, &o.Remaining)
	w.span(&o.Reset)
	w.flag(&o.HasReset)
	w.flag(&o.RateLimited)
	w.span(&o.RetryAfter)
	w.flag(&o.HasRetry)
	w.flag(&o.NotSent)
	w.flag(&o.Lost)
	number(w, &o.Replays)
	w.float(&o.Jitter)
}

func (w *wire) reply(r *Reply) {
	number(w, &r.Now)
	number(w, &r.Processes)
	number(w, &r.Denied.Until)
	name(w, &r.Denied.Reason, News)
	name(w, &r.Denied.Window, Day)
	list(w, &r.Grants, permitSize+1, func(w *wire, g *Grant) {
		w.permit(&g.Permit)
		name(w, &g.Priority, Batch)
	})
	w.state(&r.State)
}

func (w *wire) state(s *State) {
	w.config(&s.Config)
	numbers(w, &s.Dispatched, &s.Completed, &s.LateOld, &s.LateNew)
	for i := range s.Open {
		number(w, &s.Open[i].From)
		number(w, &s.Open[i].N)
		number(w, &s.Open[i].Trip)
	}
	numbers(w, &s.BlindAt, &s.LateTurn, &s.PacedUntil, &s.HeldUntil, &s.ProbeUntil, &s.Unproven.At)
	number(w, &s.Unproven.Total)
	numbers(w, &s.Born, &s.Epoch)
	number(w, &s.Strikes)
	name(w, &s.HeldIn, Day)
	number(w, &s.RoundsUp)
	number(w, &s.Weighs)
	number(w, &s.Refills)
	number(w, &s.Tried)
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
	for _, v := range [...]*float64{&o.Sum, &o.Span, &o.Level, &o.Recent, &o.Burst} {
		w.float(v)
	}
	number(w, &o.Slides)
	number(w, &o.Regular)
	numbers(w, &o.At, &o.BurstAt, &o.Every, &o.Until)
}

// windowCount reads or writes only the slots in use, the oldest first.
func (w *wire) windowCount(l *WindowCount) {
	number(w, &l.Sum)
	number(w, &l.Faded)
	number(w, &l.Opened)
	l.Past = min(w.count(l.Past, 2), slots)
	l.Used = min(w.count(l.Used, 2), slots)
	if w.reading {
		l.Head = l.Past
	}
	for i := -l.Past; i < l.Used; i++ {
		number(w, &l.At[l.slot(i)])
		number(w, &l.N[l.slot(i)])
	}
}
