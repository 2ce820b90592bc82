package waits

import (
	"sync"
	"time"
)

// How long what was looked at in vain rests: twice as long after each look.
const (
	firstRest   = time.Minute
	longestRest = time.Hour
	maxResting  = 1000 // what is forgotten beyond it costs a look
)

// Rests remembers what looks in vain have found, so that a loop over many things does not look at each of them all the time. It is
// bounded, and safe for concurrent use. The zero value is empty.
type Rests[T any] struct {
	mu  sync.Mutex
	all map[string]resting[T]
}

type resting[T any] struct {
	found         T
	began, looked time.Time
	rest          time.Duration
}

// Recall returns what the last look found, when it was, and how long it still rests: not above zero if it is time for another look. Looks
// began when it was asked for first.
func (r *Rests[T]) Recall(key string) (found T, looked, began time.Time, left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.all[key]
	if !ok {
		known.began = time.Now()
		r.set(key, known)
	}
	return known.found, known.looked, known.began, known.rest - time.Since(known.looked)
}

// Note lets something rest after a look in vain: until an instant, or if it is zero, longer after each look.
func (r *Rests[T]) Note(key string, found T, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, now := r.all[key], time.Now()
	if known.began.IsZero() {
		known.began = now
	}
	known.found, known.looked, known.rest = found, now, min(max(firstRest, 2*known.rest), longestRest)
	if !until.IsZero() {
		known.rest = until.Sub(now)
	}
	r.set(key, known)
}

func (r *Rests[T]) set(key string, known resting[T]) {
	if delete(r.all, key); len(r.all) >= maxResting {
		for other := range r.all {
			delete(r.all, other)
			break
		}
	}
	if r.all == nil {
		r.all = map[string]resting[T]{}
	}
	r.all[key] = known
}
