// Package waits sleeps for a time or until a context ends, retries until patience is over, and shares a listing among those who poll
// it. It knows no API.
package waits

import (
	"context"
	"sync"
	"time"
)

// Shared is a listing that several waiters poll. Each gets a listing that began after it asked, and
// together they send few requests: Every bounds how many in the long run, Burst how many more at
// first. A waiter that is too early waits.
type Shared[T any] struct {
	Every time.Duration // between two requests, on average
	Burst int           // requests that may come earlier

	mu      sync.Mutex
	charged time.Time // up to when the requests so far use up the pace
	running chan struct{}
	last    *result[T]
}

// result is a listing that was read.
type result[T any] struct {
	began time.Time
	items []T
}

// Read returns a listing that began at an instant or later, and when it began: that of another
// waiter, or one that it reads. An error is not shared: it may come from the settings of one waiter.
func (s *Shared[T]) Read(
	ctx context.Context, from time.Time, list func(context.Context) (items []T, requests int, err error),
) (items []T, began time.Time, err error) {
	for {
		r, busy, wait := s.next(from)
		switch {
		case r != nil:
			return r.items, r.began, nil
		case busy != nil:
			select {
			case <-busy:
			case <-ctx.Done():
				return nil, began, ctx.Err()
			}
		case wait > 0:
			if err := Sleep(ctx, wait); err != nil {
				return nil, began, err
			}
		default:
			return s.read(ctx, list)
		}
	}
}

// next says what a waiter does next: use a result, wait for another waiter, wait, or else read,
// which it then has to.
func (s *Shared[T]) next(from time.Time) (r *result[T], busy chan struct{}, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && !s.last.began.Before(from) {
		return s.last, nil, 0
	}
	if s.running != nil {
		return nil, s.running, 0
	}
	if wait = time.Until(s.charged.Add(time.Duration(1-s.Burst) * s.Every)); wait > 0 {
		return nil, nil, wait
	}
	s.running = make(chan struct{})
	return nil, nil, 0
}

func (s *Shared[T]) read(
	ctx context.Context, list func(context.Context) ([]T, int, error),
) (items []T, began time.Time, err error) {
	began = time.Now()
	requests, whole := 1, false
	defer func() { // also if list panics
		s.mu.Lock()
		defer s.mu.Unlock()
		s.charge(began, requests)
		if close(s.running); whole {
			s.last = &result[T]{began, items}
		}
		s.running = nil
	}()
	items, requests, err = list(ctx)
	whole = err == nil
	return items, began, err
}

// Charge counts requests that a waiter has sent beside the listing.
func (s *Shared[T]) Charge(requests int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.charge(time.Now(), requests)
}

func (s *Shared[T]) charge(at time.Time, requests int) {
	if s.charged.Before(at) {
		s.charged = at
	}
	s.charged = s.charged.Add(time.Duration(requests) * s.Every)
}
