package sandbox

import "time"

// What this system says of a connection.
const (
	ErrRefused = errRefused
	ErrReset   = errReset
)

// Remaining are the requests that the windows of a surface have left.
func (w *Tenant) Remaining(surface string) (left []int) {
	w.withQuota("Remaining", surface, func(q *quota, now time.Time) {
		q.roll(now)
		for _, w := range q.windows {
			left = append(left, w.remaining())
		}
	})
	return left
}
