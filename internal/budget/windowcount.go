package budget

// slots bounds the memory of a window count, which divides a window into about sixty steps.
const slots = 64

// WindowCount counts requests over the length of a window, in a fixed number of slots. A slot expires with its youngest
// request, so the count is never too low.
type WindowCount struct {
	Sum    int64
	Head   int
	Used   int
	Opened Instant // the youngest slot's first request
	At     [slots]Instant
	N      [slots]int64
}

func (l *WindowCount) add(now, length Instant, n int64) {
	l.Sum += n
	last := (l.Head + l.Used - 1 + slots) % slots
	if l.Used > 0 && (now-l.Opened < length/(slots-2) || l.Used == slots) {
		l.At[last], l.N[last] = now, l.N[last]+n
		return
	}
	next := (l.Head + l.Used) % slots
	l.At[next], l.N[next], l.Opened = now, n, now
	l.Used++
}

func (l *WindowCount) expire(now, length Instant) {
	for l.Used > 0 && l.At[l.Head]+length <= now {
		l.Sum -= l.N[l.Head]
		l.Head = (l.Head + 1) % slots
		l.Used--
	}
}

// roomAt is when the window count will be lower by n.
func (l *WindowCount) roomAt(n int64, length Instant) Instant {
	at := Instant(0)
	for i := 0; i < l.Used && n > 0; i++ {
		slot := (l.Head + i) % slots
		at = l.At[slot] + length
		n -= l.N[slot]
	}
	return at
}
