package budget

import (
	"sync"
	"time"
)

// The retry allowance of a surface, in tenths: ten retries at first, then one per ten successful calls. With
// none left, one every thirty seconds.
const (
	aRetry       = 10
	maxRetries   = 10 * aRetry
	freeInterval = 30 * time.Second
)

// RetryAllowance bounds the retries of a surface, so that they cannot multiply the load of a service
// that fails. The zero value is the whole of it.
type RetryAllowance struct {
	mu   sync.Mutex
	used int // tenths of a retry
	last time.Time
}

// Take reports whether a call that reached the service may be retried now.
func (t *RetryAllowance) Take(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.used <= maxRetries-aRetry:
		t.used += aRetry
	case now.Sub(t.last) < freeInterval:
		return false
	}
	t.last = now
	return true
}

// Succeeded gives a tenth of a retry back.
func (t *RetryAllowance) Succeeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used = max(t.used-1, 0)
}
