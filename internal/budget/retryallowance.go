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
// that fails.
type RetryAllowance struct {
	mu   sync.Mutex
	left int // tenths of a retry
	last time.Time
}

// NewRetryAllowance returns the allowance of a surface that was never used: the whole of it.
func NewRetryAllowance() *RetryAllowance { return &RetryAllowance{left: maxRetries} }

// Take reports whether a call that reached the service may be retried now.
func (t *RetryAllowance) Take(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.left >= aRetry:
		t.left -= aRetry
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
	t.left = min(t.left+1, maxRetries)
}
