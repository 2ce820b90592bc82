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
	found  T
	looked time.Time
	rest   time.Duration
}

// Recall returns what the last look found, when it was, and how long it still rests: nothing if it is time for another look.
func (r *Rests[T]) Recall(key string) (found T, looked time.Time, left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.all[key]
	if left = known.rest - time.Since(known.looked); left <= 0 {
		return found, looked, 0
	}
	return known.found, known.looked, left
}

// Note lets something rest after a look in vain.
func (r *Rests[T]) Note(key string, found T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rest := min(max(firstRest, 2*r.all[key].rest), longestRest)
	if delete(r.all, key); len(r.all) >= maxResting {
		for other := range r.all {
			delete(r.all, other)
			break
		}
	}
	if r.all == nil {
		r.all = map[string]resting[T]{}
	}
	r.all[key] = resting[T]{found, time.Now(), rest}
}

// Forget ends the rest after a look that found something.
func (r *Rests[T]) Forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, key)
}
