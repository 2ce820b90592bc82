package redisbudget

import (
	"slices"
	"sync"

	"example.com/prospectkit/ratelimit"
)

// atOnce is how many asks one turn decides on, at most: far fewer than fit into a lease.
const atOnce = 64

// queue is the asks of this process that wait, in their order. The call that has the turn decides on them.
type queue struct {
	turn chan struct{} // full while a call has it

	mu      sync.Mutex
	waiters []*waiter
}

// waiter is an ask that waits. The reply and the error are there when it is over.
type waiter struct {
	ask   *ratelimit.Ask
	reply ratelimit.Reply
	err   error
	over  chan struct{}
}

func (q *queue) join(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = append(q.waiters, w)
}

func (q *queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = slices.DeleteFunc(q.waiters, func(other *waiter) bool { return other == w })
}

func (q *queue) first(n int) []*waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.waiters[:min(n, len(q.waiters))])
}
