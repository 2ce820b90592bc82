package sandbox

import (
	"container/heap"
	"time"
)

// Event is something that happened by the clock.
type Event struct {
	Time    time.Time
	Kind    string // such as "key expired" or "list visible"
	Subject string // an id or a name, never a token
}

type pending struct {
	Event
	order int         // of scheduling, among events of one instant
	apply func() bool // false: it did not happen after all
}

// agenda is the queue of later events. Nothing runs in the background: every request and every inspection first applies the
// events that are due, oldest first.
type agenda struct {
	queue   pendingHeap
	ordinal int
}

func (a *agenda) add(at time.Time, kind, subject string, apply func() bool) {
	a.ordinal++
	heap.Push(&a.queue, pending{Event{at, kind, subject}, a.ordinal, apply})
}

func (a *agenda) due(now time.Time) (happened []Event) {
	for len(a.queue) > 0 && !a.queue[0].Time.After(now) {
		next := heap.Pop(&a.queue).(pending)
		if next.apply() {
			happened = append(happened, next.Event)
		}
	}
	return happened
}

type pendingHeap []pending

func (h pendingHeap) Len() int      { return len(h) }
func (h pendingHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pendingHeap) Push(x any)   { *h = append(*h, x.(pending)) }

func (h pendingHeap) Less(i, j int) bool {
	if h[i].Time.Equal(h[j].Time) {
		return h[i].order < h[j].order
	}
	return h[i].Time.Before(h[j].Time)
}

func (h *pendingHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
