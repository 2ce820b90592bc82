package sandbox

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"example.com/prospectkit/internal/op"
)

// assumedLimit is for a surface with undocumented limits, and raisedLimit is one that nobody reaches.
var (
	assumedLimit = Limit{PerMinute: 120, PerDay: 10_000}
	raisedLimit  = Limit{PerMinute: 1_000_000, PerDay: 1_000_000_000}
)

func defaultLimits() map[op.Surface]Limit {
	limits := map[op.Surface]Limit{}
	for surface, w := range op.DocumentedLimits {
		limits[surface] = cmp.Or(Limit(w), assumedLimit)
	}
	return limits
}

// limit sets the limit of a surface. A surface without one gets raisedLimit, because every success has the headers.
func (sb *Sandbox) limit(surface op.Surface, limit Limit) {
	sb.limits[surface] = cmp.Or(limit, raisedLimit)
}

// Consume uses up n requests of a surface, as if somebody had sent them now, or as many as its minute and day have left. To use up a
// day at once, make it small with [Limits].
func (w *Tenant) Consume(surface string, n int) {
	w.withQuota("Consume", surface, func(q *quota, now time.Time) {
		for q.roll(now); n > 0; n-- {
			if _, full := q.fullUntil(); full {
				return
			}
			q.take(now)
		}
	})
}

func (w *Tenant) withQuota(what, surface string, f func(*quota, time.Time)) {
	if _, ok := op.DocumentedLimits[op.Surface(surface)]; !ok {
		w.sb.misuse("%s: no surface %q", what, surface)
		return
	}
	now := w.sb.enter()
	defer w.sb.mu.Unlock()
	f(w.sb.quota(w.ws, op.Surface(surface)), now)
}

// quota is what a workspace has on one surface: one or two windows.
type quota struct{ windows []*window }

func (sb *Sandbox) quota(ws *workspace, surface op.Surface) *quota {
	q := ws.windows[surface]
	if q == nil {
		q = &quota{}
		limit := sb.limits[surface]
		for _, w := range []window{
			{length: time.Minute, limit: limit.PerMinute, sliding: sb.sliding},
			{length: 24 * time.Hour, limit: limit.PerDay, sliding: sb.sliding},
		} {
			if w.limit > 0 {
				q.windows = append(q.windows, &w)
			}
		}
		ws.windows[surface] = q
	}
	return q
}

// describe writes the headers, which are those of the window with the fewest requests left, and of two of those the one that resets later.
func (q *quota) describe(h http.Header, now time.Time) {
	w := slices.MinFunc(q.windows, func(a, b *window) int {
		return cmp.Or(cmp.Compare(a.remaining(), b.remaining()), b.resetAt(now).Compare(a.resetAt(now)))
	})
	h.Set("RateLimit-Limit", strconv.Itoa(w.limit))
	h.Set("RateLimit-Remaining", strconv.Itoa(w.remaining()))
	h.Set("RateLimit-Reset", strconv.Itoa(seconds(w.resetAt(now).Sub(now))))
}

func (q *quota) roll(now time.Time) {
	for _, w := range q.windows {
		w.roll(now)
	}
}

func (q *quota) take(now time.Time) {
	for _, w := range q.windows {
		w.take(now)
	}
}

// fullUntil returns when the last of the used-up windows has room again.
func (q *quota) fullUntil() (at time.Time, full bool) {
	for _, w := range q.windows {
		if w.remaining() > 0 {
			continue
		}
		full = true
		if reset := w.resetAt(at); reset.After(at) {
			at = reset
		}
	}
	return at, full
}

// seconds rounds up, so that the window is open after a wait of that long.
func seconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}

// window counts requests. A fixed one starts at its first request; a sliding one remembers every request.
type window struct {
	length  time.Duration
	limit   int
	sliding bool
	used    int
	taken   []time.Time // that end the window, or a part of it: the first of a fixed one, all of a sliding one, oldest first
}

func (w *window) roll(now time.Time) {
	gone := 0
	for gone < len(w.taken) && !now.Before(w.taken[gone].Add(w.length)) {
		gone++
	}
	w.taken = w.taken[gone:]
	if w.used -= gone; len(w.taken) == 0 {
		w.used = 0
	}
}

func (w *window) take(now time.Time) {
	if w.sliding || w.used == 0 {
		w.taken = append(w.taken, now)
	}
	w.used++
}

func (w *window) remaining() int { return w.limit - w.used }

// resetAt is when the window gives requests back: all of them if it is fixed, the oldest one if it slides.
func (w *window) resetAt(now time.Time) time.Time {
	if w.used == 0 {
		return now.Add(w.length)
	}
	return w.taken[0].Add(w.length)
}
