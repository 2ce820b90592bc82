package budget

import (
	"sync"
	"time"
)

// The retry budget of a surface: at most one retry per ten successful calls, and one every thirty
// seconds.
const (
	retryTokens     = 10
	tokenPerSuccess = 0.1
	tokenInterval   = 30 * time.Second
)

// RetryTokens bounds the retries of a surface, so that they cannot multiply the load of a service
// that fails.
type RetryTokens struct {
	mu   sync.Mutex
	left float64
	last time.Time
}

// NewRetryTokens returns the tokens of a surface that was never used: all of them.
func NewRetryTokens() *RetryTokens { return &RetryTokens{left: retryTokens} }

// Take reports whether a call that reached the service may be retried now.
func (t *RetryTokens) Take(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.left >= 1:
		t.left--
	case now.Sub(t.last) < tokenInterval:
		return false
	}
	t.last = now
	return true
}

// Succeeded gives a part of a token back.
func (t *RetryTokens) Succeeded() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = min(t.left+tokenPerSuccess, retryTokens)
}
