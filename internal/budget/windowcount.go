package budget

// slots bounds the memory of a window count, which divides a window into about sixty steps.
const slots = 64 // a power of two

// WindowCount counts requests over the length of a window, in a fixed number of slots, and remembers those of the length before. A slot
// expires with its youngest request, so the count is never too low. The race detector watches what changes a count, and not the loops
// that only read it, which would take ten times as long.
type WindowCount struct {
	Sum    int64
	Head   int
	Used   int
	Opened Instant // the youngest slot's first request
	Past   int     // slots before the head that are younger than two lengths
	Faded  int64   // the sum of those
	At     [2 * slots]Instant
	N      [2 * slots]int64
}

// slot is the place of a slot, counted from the head.
func (l *WindowCount) slot(i int) int { return (l.Head + i) & (2*slots - 1) }

// since is the first slot that is not older than an instant. Slots follow each other in time.
//
//go:norace
func (l *WindowCount) since(at Instant) int {
	from, to := -l.Past, l.Used
	for from < to {
		if middle := from + (to-from)>>1; l.At[l.slot(middle)] < at {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}

// total is how many requests are in the slots from one to before another.
//
//go:norace
func (l *WindowCount) total(from, to int) (n int64) {
	for i := from; i < to; i++ {
		n += l.N[l.slot(i)]
	}
	return n
}

// step is how long a slot takes requests.
func step(length Instant) Instant { return length / (slots - 2) }

func (l *WindowCount) add(now, length Instant, n int64) {
	l.Sum += n
	last := l.slot(l.Used - 1)
	if l.Used > 0 && (now-l.Opened < step(length) || l.Used == slots) {
		l.At[last], l.N[last] = now, l.N[last]+n
		return
	}
	next := l.slot(l.Used)
	l.At[next], l.N[next], l.Opened = now, n, now
	l.Used++
}

func (l *WindowCount) expire(now, length Instant) {
	for l.Used > 0 && l.At[l.Head]+length <= now {
		l.Sum -= l.N[l.Head]
		l.Faded += l.N[l.Head]
		l.Head = l.slot(1)
		l.Used--
		l.Past++
	}
	for l.Past > 0 && (l.Past > slots || l.At[l.slot(-l.Past)]+2*length <= now) {
		l.Faded -= l.N[l.slot(-l.Past)]
		l.Past--
	}
}

// roomAt is when the window count will be lower by n.
func (l *WindowCount) roomAt(n int64, length Instant) Instant {
	at := Instant(0)
	for i := 0; i < l.Used && n > 0; i++ {
		slot := l.slot(i)
		at = l.At[slot] + length
		n -= l.N[slot]
	}
	return at
}

// weighed is the count of a service that adds those of its last window, weighted by what is left of it: the highest for all instants
// between two at which its window may have begun. Every request counts as late as possible.
//
//go:norace
func (l *WindowCount) weighed(now, length, from, to Instant) float64 {
	i, drop := l.since(from), l.since(from-length)
	before, current := l.total(drop, i), l.total(i, l.Used)
	for most := 0.0; ; {
		began := to
		moves := i < l.Used && l.At[l.slot(i)] < began
		if moves {
			began = l.At[l.slot(i)]
		}
		drops := drop < i && l.At[l.slot(drop)]+length < began
		if drops {
			began = l.At[l.slot(drop)] + length
		}
		most = max(most, float64(current)+float64(before)*(1-float64(now-began)/float64(length)))
		switch {
		case drops:
			before -= l.N[l.slot(drop)]
			drop++
		case moves:
			current, before = current-l.N[l.slot(i)], before+l.N[l.slot(i)]
			i++
		default:
			return most
		}
	}
}

// before is how many requests were certainly counted in the window before one that began between two instants, and the first slot that is
// not older.
func (l *WindowCount) before(length, from, to, trip Instant) (n int64, next int) {
	next = l.since(from + 1)
	return l.total(l.since(to-length+step(length)+trip), next), next
}

// certain is how many requests were certainly counted in the window before one that began between two instants, and in that one.
// Others may be in either. A request was counted so long before it was complete, at most.
func (l *WindowCount) certain(length, from, to, trip Instant) (before, current, unsure int64) {
	long := step(length) + trip
	before, i := l.before(length, from, to, trip)
	later := max(i, l.since(to+long+1))
	return before, l.total(later, l.Used), l.total(i, later)
}
