package sandbox

import "time"

// window counts requests. A fixed one starts at its first request; a sliding one remembers every request.
type window struct {
	name    string
	length  time.Duration
	limit   int
	sliding bool
	count   int // of a fixed window
	start   time.Time
	taken   []time.Time // of a sliding window, oldest first
}

func (w *window) roll(now time.Time) {
	if !w.sliding {
		if w.count > 0 && !now.Before(w.start.Add(w.length)) {
			w.count = 0
		}
		return
	}
	gone := 0
	for gone < len(w.taken) && !now.Before(w.taken[gone].Add(w.length)) {
		gone++
	}
	w.taken = w.taken[gone:]
}

func (w *window) take(now time.Time) {
	if w.sliding {
		w.taken = append(w.taken, now)
		return
	}
	if w.count == 0 {
		w.start = now
	}
	w.count++
}

func (w *window) used() int {
	if w.sliding {
		return len(w.taken)
	}
	return w.count
}

func (w *window) remaining() int { return w.limit - w.used() }

// resetAt is when the window gives requests back: all of them if it is fixed, the oldest one if it slides.
func (w *window) resetAt(now time.Time) time.Time {
	switch {
	case w.used() == 0:
		return now.Add(w.length)
	case w.sliding:
		return w.taken[0].Add(w.length)
	}
	return w.start.Add(w.length)
}
