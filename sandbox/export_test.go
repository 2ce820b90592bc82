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

// What a test sees of the state.

func (sb *Sandbox) Clock() Clock               { return sb.clock }
func (w *Tenant) Facts() []Fact                { return facts.copies(w) }
func (w *Tenant) Hubs() []Hub                  { return newestFirst(hubs.copies(w)) }
func (w *Tenant) SavedSearches() []SavedSearch { return savedSearches.copies(w) }
func (tx *Tx) Disconnect()                     { tx.do("", func(time.Time) error { tx.ws.Accounts = nil; return nil }) }
