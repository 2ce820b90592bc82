// Package waits sleeps for a time or until a context ends, retries until patience is over, shares a listing among those who poll it, and
// remembers what looks in vain have found. It knows no API and no rate limit, keeps everything in memory, and starts no goroutine.
package waits

import (
	"context"
	"sync"
	"time"
)

// Shared is a listing that several waiters poll. Each gets a listing that began after it asked, and together they send few requests. A
// waiter that is too early waits.
type Shared[T any] struct {
	every time.Duration
	burst int

	turn chan struct{} // taken by the waiter that reads, or waits until it may

	mu      sync.Mutex
	charged time.Time // up to when the requests so far use up the pace
	began   time.Time // of the last listing that was read
	items   []T
}

// NewShared returns a listing for which a request is sent every so often, on average, and some more at first.
func NewShared[T any](every time.Duration, burst int) *Shared[T] {
	return &Shared[T]{every: every, burst: burst, turn: make(chan struct{}, 1)}
}

// Read returns a listing that began at an instant or later, and when it began: that of another
// waiter, or one that it reads. An error is not shared: it may come from the settings of one waiter.
func (s *Shared[T]) Read(
	ctx context.Context, from time.Time, list func(context.Context) (items []T, requests int, err error),
) (items []T, began time.Time, err error) {
	if items, began = s.since(from); !began.IsZero() {
		return items, began, nil
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, began, ctx.Err()
	}
	defer func() { <-s.turn }()
	if items, began = s.since(from); !began.IsZero() {
		return items, began, nil
	}
	if err = Sleep(ctx, s.early()); err != nil {
		return nil, began, err
	}
	began = time.Now()
	requests := 1
	defer func() { s.charge(began, requests) }() // also if list panics
	if items, requests, err = list(ctx); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.began, s.items = began, items
	}
	return items, began, err
}

// since returns the last listing, if it began at an instant or later.
func (s *Shared[T]) since(from time.Time) (items []T, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began.Before(from) {
		return nil, began
	}
	return s.items, s.began
}

// early is how long it is too early for another request.
func (s *Shared[T]) early() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, time.Until(s.charged.Add(time.Duration(1-s.burst)*s.every)))
}

// Charge counts requests that a waiter has sent beside the listing.
func (s *Shared[T]) Charge(requests int) { s.charge(time.Now(), requests) }

func (s *Shared[T]) charge(at time.Time, requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.charged.Before(at) {
		s.charged = at
	}
	s.charged = s.charged.Add(time.Duration(requests) * s.every)
}
